import math
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scenarios import reference
from scenarios.keys import Key
from sim.errors import InputError
from sim.prices import EVICTIONS, MARKS
from sim.script import CHANGES
from sim.segments import Kind
from sim.settings import KEYS, Settings

TEXT = reference.FILE.read_text()

DEFAULTS = {
    "salience.decay": 0.85,
    "rehydrate.threshold": 0.6,
    "rehydrate.margin": 0.1,
    "rehydrate.comparison": "min",
    "slack.trigger": 1.0,
    "slack.occupancy": "tokens",
    "rewrite.below": 0.25,
    "surrogate.tokens": 12,
    "surrogate.tag_tokens": 8,
    "surrogate.keep": 0.17,
    "surrogate.taggable": 1.0,
    "line_tokens": 12,
    "restore_tokens": 40,
    "image_tokens": 1600,
    "compaction.at": 1.0,
    "compaction.share": 0.05,
    "call.output_tokens": 200,
    "copies.file": 1.0,
    "copies.tool_result": 0.0,
    "relevance.note": 1.0,
    "price": "claude-sonnet-5",
    "reader": "strict",
    "reader.invent_untagged": 1.0,
    "reader.fetch_tagged": 1.0,
    "reader.abstain_tagged": 0.0,
    "reader.invent_tagged": 0.0,
    "reader.distraction": 0.0,
    "reader.refetch": "tag",
    "clock.turn_seconds": 0.0,
    "clock.extra_call_seconds": 0.0,
    "cache.breakpoints": (),
    "cache.long": 0,
    "history": "editable",
    "keep_alive.seconds": 0.0,
}


@pytest.mark.parametrize(("key", "value"), DEFAULTS.items())
def test_default(key, value):
    default = reference.defaults()[key]
    assert default == value
    assert type(default) is type(value)


def test_defaults_are_complete_but_for_turns_and_budget():
    flat = reference.defaults()
    assert set(KEYS.values()) - set(flat) == {"turns", "budget"}
    for kind in Kind:
        assert {f"copies.{kind}", f"relevance.{kind}"} <= set(flat)
    settings = Settings.from_flat({**flat, "turns": 1, "budget": 1})
    assert settings.copies["file"] == 1.0
    cache = {key for key in flat if key.startswith("cache.")}
    assert cache == {"cache.breakpoints", "cache.long"}


def test_files_with_their_own_stimuli_have_a_clock_and_lose_every_fact():
    story = reference.defaults("story")
    assert story["clock.turn_seconds"] == 20
    assert story["clock.extra_call_seconds"] == 5
    assert story["surrogate.keep"] == 0


def blocks(section):
    """The blank-line separated blocks of a section that hold keys."""
    body = TEXT.split(f"\n[{section}]\n")[1].split("\n[")[0]
    return [block for block in body.split("\n\n") if re.search(r'^"', block, re.M)]


@pytest.mark.parametrize("block", blocks("common"), ids=lambda b: re.search('"(.*?)"', b)[1])
def test_every_common_key_is_explained_and_says_its_source(block):
    lines = block.strip().split("\n")
    comment = " ".join(line[2:] for line in lines if line.startswith("# "))
    assert comment.index("Source: ") > 20
    for line in lines:
        assert line.startswith(("# ", '"'))


@pytest.mark.parametrize("layer", ["common", "story", *reference.families()])
def test_every_default_lies_in_its_own_range(layer):
    for key in reference.section(layer).values():
        if key.default is not None:
            assert key.check(key.default) == key.default


@pytest.mark.parametrize("family", reference.families())
def test_families_have_complete_defaults(family):
    flat = reference.defaults(family)
    assert reference.check(flat, layer=family) == flat
    Settings.from_flat(flat)


def test_no_family_key_means_different_things_to_the_check_of_its_sort():
    sorts: dict[str, set[str]] = {}
    for family in reference.families():
        for name, key in reference.section(family).items():
            sorts.setdefault(name, set()).add(key.sort)
    assert all(len(found) == 1 for found in sorts.values())


@given(st.floats())
@example(math.nan)
@example(1.0)
@example(0.0)
@example(-0.0)
@example(math.nextafter(1.0, 2))
def test_decay_lies_above_0_and_up_to_1(decay):
    if 0 < decay <= 1:
        assert reference.check({"salience.decay": decay}) == {"salience.decay": decay}
    else:
        with pytest.raises(InputError, match=r"^salience.decay must be a number above 0 and at"):
            reference.check({"salience.decay": decay})


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("turns", 0),
        ("turns", True),
        ("turns", 2.0),
        ("budget", -5),
        ("budget", "40000"),
        ("budget", 16**5000),
        ("budget", [16**5000]),
        ("surrogate.keep", 1.01),
        ("surrogate.taggable", -0.01),
        ("surrogate.tokens", 0),
        ("compaction.share", 0),
        ("compaction.at", 1.5),
        ("copies.file", None),
        ("copies.file", True),
        ("relevance.note", [1]),
        ("reader", "lenient"),
        ("reader", ["strict"]),
        ("reader.distraction", math.inf),
        ("rehydrate.comparison", "mean"),
        ("slack.trigger", 0),
        ("slack.trigger", math.inf),
        ("clock.turn_seconds", -1),
        ("cache.ttl", 0),
        ("cache.rule", "lru"),
        ("cache.step", 0),
        ("cache.breakpoints", "rank-4"),
        ("cache.breakpoints", [""]),
        ("cache.breakpoints", [1]),
        ("cache.long", 5),
        ("cache.long", -1),
        ("cache.long", 1.0),
        ("history", "append"),
        ("history", True),
        ("keep_alive.seconds", -1),
        ("keep_alive.seconds", math.inf),
        ("price", ""),
        ("price", "  "),
        ("price", "\ud800"),
    ],
    ids=lambda value: value if isinstance(value, str) and value.isascii() else "",
)
def test_bad_value(key, value):
    with pytest.raises(InputError, match=f"^{key} must be .+, not .+$") as caught:
        reference.check({key: value})
    assert len(str(caught.value)) < 250


def test_all_faults_are_reported_at_once():
    flat = {"salience.decoy": 1, "budget": 0, "turns": 5, "copies.fiel": 1.0, "reader": "x"}
    with pytest.raises(InputError) as caught:
        reference.check(flat, "here.toml")
    assert str(caught.value).split("\n") == [
        "here.toml: unknown key 'salience.decoy'; did you mean 'salience.decay'?",
        "here.toml: budget must be a whole number from 1 to 1,000,000,000, not 0",
        "here.toml: unknown key 'copies.fiel'; did you mean 'copies.file'?",
        "here.toml: reader must be one of strict, measured, not 'x'",
    ]


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("budget", "40000", 40_000),
        ("budget", " 40_000 ", 40_000),
        ("budget", "4e4", 40_000),
        ("salience.decay", "1", 1.0),
        ("salience.decay", ".5", 0.5),
        ("reader", "measured", "measured"),
        ("price", "gpt-5.5", "gpt-5.5"),
        ("cache.breakpoints", "a, b", ("a", "b")),
        ("cache.breakpoints", "", ()),
        ("cache.ttl", "300", 300.0),
    ],
)
def test_parse(key, text, value):
    parsed = reference.parse(key, text)
    assert parsed == value
    assert type(parsed) is type(value)


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("budget", "40k"),
        ("budget", "1.5"),
        ("budget", "1e999"),
        ("budget", "nan"),
        ("budget", ""),
        ("budget", "9" * 5000),
        ("salience.decay", "nan"),
        ("salience.decay", "0x1"),
        ("salience.decay", "1,5"),
        ("reader", "Strict"),
        ("reader", ""),
    ],
)
def test_parse_rejects(key, text):
    with pytest.raises(InputError, match=f"^{key} must be"):
        reference.parse(key, text)


def test_parse_of_an_unknown_key_names_the_nearest():
    with pytest.raises(InputError, match=r"unknown key 'surrogate.tag'; did you mean 'surrogate"):
        reference.parse("surrogate.tag", "8")


TAGGED = ("reader.fetch_tagged", "reader.abstain_tagged", "reader.invent_tagged")


def tagged(*layers):
    flat = reference.settle(reference.defaults(), *layers)
    return pytest.approx(tuple(flat[key] for key in TAGGED))


def test_preset_measured():
    flat = reference.settle(reference.defaults(), {"reader": "measured"})
    assert flat["reader"] == "measured"
    assert flat["reader.invent_untagged"] == 0.40
    assert tagged({"reader": "measured"}) == (0.75, 0.10, 0.15)


def test_what_is_given_beside_a_preset_stands():
    layer = {"reader": "measured", "reader.invent_untagged": 0.9}
    assert reference.settle(reference.defaults(), layer)["reader.invent_untagged"] == 0.9


def test_a_later_preset_replaces_what_an_earlier_layer_gave():
    first = {"reader.invent_untagged": 0.9, "reader.fetch_tagged": 0.2}
    flat = reference.settle(reference.defaults(), first, {"reader": "measured"})
    assert flat["reader.invent_untagged"] == 0.40
    assert tagged(first, {"reader": "measured"}) == (0.75, 0.10, 0.15)


def test_the_rest_is_shared_in_the_proportion_of_the_preset():
    # 0.10 : 0.15 = 0.2 : 0.3
    assert tagged({"reader": "measured", "reader.fetch_tagged": 0.5}) == (0.5, 0.2, 0.3)
    # 0.75 : 0.10 of 0.6
    half = (0.6 * 75 / 85, 0.6 * 10 / 85, 0.4)
    assert tagged({"reader": "measured", "reader.invent_tagged": 0.4}) == half
    # strict has nothing to share: abstaining takes it
    assert tagged({"reader.fetch_tagged": 0.5}) == (0.5, 0.5, 0.0)
    assert tagged({"reader.fetch_tagged": 0.5, "reader.abstain_tagged": 0.2}) == (0.5, 0.2, 0.3)


@given(st.dictionaries(st.sampled_from(TAGGED), st.floats(0, 1), max_size=2))
def test_the_three_make_one_whatever_is_given(layer):
    if sum(layer.values()) <= 1:
        flat = reference.settle(reference.defaults(), {"reader": "measured"}, layer)
        assert sum(flat[key] for key in TAGGED) == pytest.approx(1)
        assert all(flat[key] == value for key, value in layer.items())
        assert not list(reference.conflicts(flat))


@pytest.mark.parametrize(
    "flat",
    [
        {"reader.fetch_tagged": 0.8, "reader.invent_tagged": 0.3},
        {"reader.fetch_tagged": 0.5, "reader.abstain_tagged": 0.2, "reader.invent_tagged": 0.1},
        {"slack.occupancy": "tokens", "slack.trigger": 1.5},
        {"cache.breakpoints": ["a", "b", "c", "d"]},
        {"turns": 9, "change.turn": 10},
    ],
)
def test_values_that_do_not_go_together(flat):
    with pytest.raises(InputError, match=r"must|after the last"):
        reference.check(flat)


@pytest.mark.parametrize("section", ["change", *reference.families()])
def test_what_can_change_is_what_the_model_knows(section):
    name = "what" if section == "change" else "change.what"
    key = reference.section(section).get(name)
    assert key is None or key.choices == CHANGES


def test_a_change_in_the_last_turn_and_none_at_all():
    for turn in (0, 9):
        flat = {"turns": 9, "change.turn": turn}
        assert reference.check(flat, layer="doc-analysis") == flat


def test_a_mass_trigger_may_exceed_1():
    flat = {"slack.occupancy": "mass", "slack.trigger": 4.5}
    assert reference.check(flat) == flat


@pytest.mark.parametrize(
    ("limits", "inside", "outside"),
    [
        ("[0, 1]", (0, 1, 0.5), (-1e-9, 1.0001)),
        ("(0, 1]", (1e-9, 1), (0, -1)),
        ("[0, 1)", (0, 0.999), (1,)),
        ("(0, inf)", (1e300,), (0, math.inf, math.nan)),
        ("[-2, 2]", (-2, 2), (-2.1,)),
    ],
)
def test_ranges(limits, inside, outside):
    key = Key.read("x", {"type": "number", "range": limits})
    for value in inside:
        assert key.check(value) == value
    for value in outside:
        with pytest.raises(ValueError, match=r"^x must be a number"):
            key.check(value)


def test_a_range_that_is_none_is_a_programming_error():
    with pytest.raises(ValueError, match="no range"):
        Key.read("x", {"type": "number", "range": "0..1"})


def test_the_words_of_a_cache_rule_are_the_simulators():
    known = reference.every_key()
    assert tuple(known["cache.evict"].choices) == EVICTIONS
    assert tuple(known["cache.marks"].choices) == MARKS
