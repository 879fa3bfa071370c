"""The pinned scenarios and the loop they are made of: sizes by hand, draws, and what loads them."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from statistics import median

import pytest

from bench.cells import run_one
from bench.cli import main
from scenarios import catalogue, pinned, reference
from scenarios.families import FAMILIES, GENERATORS
from scenarios.pinned import load_pinned
from sim.errors import InputError
from sim.script import Arrival, Change, Query, Wait, script_from_json, script_to_json
from sim.segments import Kind
from sim.settings import Settings
from tests.support.families import arrivals, check, queries, text

NAMES = pinned.names()
PAGE = (Path(__file__).parents[2] / "docs" / "pinned.md").read_text()
EVERY = pytest.mark.parametrize("name", NAMES)


def script(name, seed=0, **settings):
    return load_pinned(name, {k.replace("__", "."): v for k, v in settings.items()}).script(seed)


def requests(made):
    """Tokens of each request, if nothing is removed."""
    sizes = [0] * made.settings["turns"]
    for arrival in arrivals(made):
        image = arrival.kind is Kind.IMAGE
        sizes[arrival.turn - 1] += made.settings["image_tokens"] if image else arrival.tokens
    return list(accumulate(sizes))


# -- loading -----------------------------------------------------------------------------------


def test_the_four_of_the_file():
    assert NAMES == ("triage-short", "triage-long", "swe", "trace")
    assert catalogue.pinned_names() == list(NAMES)


@EVERY
def test_they_load_by_name_and_are_not_compared_by_default(name):
    scenario = catalogue.load(name)
    assert (scenario.name, scenario.kind, scenario.seeded) == (name, "pinned", True)
    assert scenario.about == catalogue.describe(name) and "\n" not in scenario.about
    assert name not in catalogue.names()
    assert scenario.script(3).scenario == name
    Settings.from_flat(scenario.script(0).settings)


def test_no_family_is_shown_that_is_only_there_for_files():
    assert "tool-loop" not in catalogue.names()
    assert {*FAMILIES, "tool-loop"} == set(GENERATORS) == set(reference.generators())


def test_every_key_of_the_loop_has_a_default_in_its_range():
    flat = reference.defaults("tool-loop")
    assert reference.check(flat, layer="tool-loop") == flat
    Settings.from_flat(flat)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("triage-shrt", "did you mean 'triage-short'"),
        ("trace/flip", "'trace' is pinned and has no flips"),
        ("tool-loop", "unknown scenario 'tool-loop'"),
    ],
)
def test_a_wrong_name_is_said(name, says):
    with pytest.raises(InputError, match=says):
        catalogue.load(name)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"again.shar": "0.1"}, "did you mean 'again.share'"),
        ({"again.share": "1.1"}, "again.share must be a number from 0 to 1"),
        ({"tokens.scale": "0"}, "tokens.scale must be a number"),
        ({"change.turn": "41"}, "change.turn 41 comes after the last of 40 turns"),
    ],
)
def test_a_wrong_setting_is_said(settings, says):
    with pytest.raises(InputError, match=says):
        catalogue.load("triage-short", settings)


def test_a_file_can_use_the_loop(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text('family = "tool-loop"\n[settings]\nturns = 3\nresult.median = 70\n')
    made = catalogue.load(str(file)).script(0)
    assert [a.tokens for a in arrivals(made, Kind.TOOL_RESULT)] == [70, 70]


# -- sizes, by hand ----------------------------------------------------------------------------


def test_the_short_run_grows_as_its_comment_says():
    """1,700 and 2,100 in turn: words 180, framed result 320, text 1,200 or image 1,600."""
    made = script("triage-short")
    sizes = requests(made)
    assert sizes == [4_000 + 1_900 * k - 200 * (k % 2) for k in range(40)]
    assert sum(sizes) == 1_638_000
    assert made.output_tokens == dict.fromkeys(range(2, 41), 180)
    assert made.settings["call.output_tokens"] == 180


@pytest.mark.parametrize(
    ("price", "usd"),
    [
        # 1,638,000 at 2 dollars, and 7,200 of output at 10
        ("uncached", 3.276 + 0.072),
        # the last request holds 77,900, each token of it written once at 2.5 and read by the rest
        ("claude-sonnet-5", 0.0779 * 2.5 + (1.638 - 0.0779) * 0.2 + 0.072),
    ],
)
def test_the_short_run_costs_what_its_comment_says(price, usd):
    metrics, _ = run_one(script("triage-short", price=price), "no-op")
    assert metrics["total_cost_usd"] == pytest.approx(usd, rel=1e-9)


def test_the_short_run_costs_most_where_its_first_line_always_changes():
    """All of it written at 2.5 dollars, every time."""
    made = script("triage-short")
    changes = [Change(turn, "tools", str(turn)) for turn in range(1, 41)]
    stimuli = sorted([*changes, *made.stimuli], key=lambda s: s.turn)
    metrics, _ = run_one(replace(made, stimuli=tuple(stimuli)), "no-op")
    assert metrics["total_cost_usd"] == pytest.approx(1.638 * 2.5 + 0.072, rel=1e-9)


def test_the_long_run_grows_as_its_comment_says():
    """5,800 and 2,600 in turn: words 180; text 400 and result 5,220, or image 1,600 and 820."""
    assert requests(script("triage-long")) == [
        4_000 + 4_200 * k + 1_600 * (k % 2) for k in range(40)
    ]


def test_the_long_run_compacts_above_80_000():
    metrics, records = run_one(script("triage-long"), "compaction")
    asked = [(record[2], record[4]) for record in records if record[0] == "maintain"]
    assert asked[0] == (20, 85_400)
    assert metrics["peak_demand_tokens"] == 85_400


def test_most_of_what_swe_holds_are_observations():
    runs = [script("swe", seed) for seed in range(150)]
    lengths = [made.settings["turns"] for made in runs]
    assert 58 <= median(lengths) <= 72
    results = [a.tokens for made in runs for a in arrivals(made, Kind.TOOL_RESULT)]
    words = 150 * len(results)
    assert 370 <= median(results) <= 430
    assert 0.81 <= sum(results) / (sum(results) + words) <= 0.87


def test_a_trace_ends_where_the_window_is_full():
    runs = [script("trace", seed) for seed in range(150)]
    ends = [requests(made)[-1] for made in runs]
    assert max(ends) <= 200_000
    full = [made for made, end in zip(runs, ends, strict=True) if end > 150_000]
    assert len(full) > 15
    for made in full[:3]:
        longer = script("trace", made.seed, length__full=False)
        drawn = requests(longer)
        assert len(drawn) == made.settings["turns"] or drawn[made.settings["turns"]] > 200_000
        assert text(made) == text(longer, made.settings["turns"])
    unbounded = [script("trace", n, length__full=False).settings["turns"] for n in range(300)]
    assert 11 <= median(unbounded) <= 20
    assert max(unbounded) <= 1_107


def test_what_the_model_writes_in_a_trace():
    made = script("trace", 14)
    for turn in range(2, 40):
        came = {a.kind: a.tokens for a in arrivals(made) if a.turn == turn}
        words = made.output_tokens[turn]
        assert came[Kind.TOOL_CALL] == max(1, round(words * 0.5))
        assert came.get(Kind.THINKING, 0) == min(words - came[Kind.TOOL_CALL], round(words * 0.4))
        assert sum(came.values()) - came[Kind.TOOL_RESULT] == words


def test_another_tokenizer_scales_every_size():
    plain, scaled = script("triage-short"), script("triage-short", tokens__scale=1.3)
    assert scaled.settings["image_tokens"] == 2_080
    for one, other in zip(arrivals(plain), arrivals(scaled), strict=True):
        assert other.id == one.id
        assert abs(other.tokens - 1.3 * one.tokens) <= 1
    assert requests(scaled)[0] == 5_200
    assert scaled.output_tokens[2] == 234


# -- draws -------------------------------------------------------------------------------------


@EVERY
@pytest.mark.parametrize("seed", [0, 1, 14])
def test_a_script_holds_together(name, seed):
    made = script(name, seed, again__share=0.4, pause__share=0.3)
    check(made)
    again = script_from_json(json.loads(json.dumps(script_to_json(made))))
    assert again.digest() == made.digest()


@EVERY
def test_more_turns_only_add_to_the_end(name):
    short, longer = (script(name, 5, turns=turns, again__share=0.5) for turns in (6, 30))
    turns = short.settings["turns"]
    assert text(short) == text(longer, turns)


def test_pauses_come_before_the_share_of_turns_and_nest():
    def paused(share, seed):
        made = script("triage-short", seed, pause__share=share)
        return {s.turn for s in made.stimuli if isinstance(s, Wait)}

    assert paused(0.0, 0) == set()
    assert paused(1.0, 0) == set(range(2, 41))
    shares = [len(paused(0.1, seed)) for seed in range(200)]
    assert 3.4 <= sum(shares) / 200 <= 4.4
    assert all(paused(0.1, seed) <= paused(0.4, seed) for seed in range(20))


def test_pauses_and_changes_leave_the_rest_alone():
    plain = script("triage-short")
    changed = script("triage-short", pause__share=1.0, change__turn=9, change__what="effort")
    extra = [s for s in changed.stimuli if isinstance(s, Wait | Change)]
    assert [s for s in changed.stimuli if s not in extra] == list(plain.stimuli)
    (change,) = (s for s in extra if isinstance(s, Change))
    assert (change.turn, change.what) == (9, "effort")
    assert {s.seconds for s in extra if isinstance(s, Wait)} == {360.0}


def test_results_are_asked_for_every_so_many_turns():
    made = script("trace", 14, again__share=1.0, again__every=5, again__turns=20)
    last = made.settings["turns"]
    asked: dict[str, list[int]] = {}
    for query in queries(made):
        asked.setdefault(query.touches[0], []).append(query.turn)
    for result in arrivals(made, Kind.TOOL_RESULT):
        turns = asked.get(result.id, [])
        first = turns[0] if turns else last + 1
        assert result.turn < first <= result.turn + 5 or first > last
        assert turns == [t for t in range(first, result.turn + 21, 5) if t <= last]


def test_the_share_that_is_asked_for_nests_and_is_none_by_default():
    def asked(share):
        made = script("trace", 14, again__share=share)
        return {q.touches[0] for q in queries(made)}

    assert asked(0.0) == set()
    some, more = asked(0.3), asked(0.6)
    assert some < more
    results = len(arrivals(script("trace", 14), Kind.TOOL_RESULT))
    assert 0.5 <= len(more) / results <= 0.7


def test_asking_leaves_the_rest_alone():
    plain, asking = script("trace", 14), script("trace", 14, again__share=0.6)
    assert [s for s in asking.stimuli if not isinstance(s, Query)] == list(plain.stimuli)


def test_what_was_cleared_is_asked_for_again_within_its_turns():
    """Every result is needed again: each one cleared comes back, unless the run ends before."""
    made = script("trace", 14, again__share=1.0)
    _, records = run_one(made, "lease")
    last = made.settings["turns"]
    gone = {record[4][0]: record[2] for record in records if record[0] == "rewrite"}
    back = {record[3]: record[2] for record in records if record[0] == "fetch"}
    assert gone and back.keys() <= gone.keys()
    for name, turn in gone.items():
        if turn + 8 <= last and name in back:
            assert 0 <= back[name] - turn <= 8
    late = [name for name, turn in gone.items() if name not in back and turn + 8 <= last]
    came = {a.id: a.turn for a in arrivals(made) if isinstance(a, Arrival)}
    assert all(gone[name] - came[name] > 100 - 8 for name in late)


# -- the page ----------------------------------------------------------------------------------


@pytest.mark.parametrize("command", re.findall(r"^ {4}evictbench (.+)$", PAGE, re.M))
def test_each_command_of_the_page_works(command, capsys):
    with pytest.raises(SystemExit) as ended:
        main(shlex.split(command))
    assert ended.value.code == 0
    assert capsys.readouterr().out


def test_the_file_of_the_page_works(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(re.search(r"```toml\n(.*?)```", PAGE, re.S)[1])
    assert catalogue.load(str(file)).script(0).settings["turns"] == 100


def test_the_page_names_them_all():
    assert all(f"| `{name}` |" in PAGE for name in NAMES)
