"""Pings and changes as stimuli: in scenario files, in their flips, in script files, by a key."""

from __future__ import annotations

import json
import pickle
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios import catalogue, transcripts
from scenarios.pings import too_many, with_pings
from sim.errors import InputError
from sim.script import CHANGES, Change, KeepAlive, Script, Stimulus, Wait, script_to_json

DEMO = Path(__file__).parents[2] / "examples" / "demo-session.jsonl"

BASE = """\
[settings]
turns = 6
budget = 10_000

[[segment]]
id = "system"
turn = 1
kind = "system"
tokens = 1_000

[[wait]]
id = "lunch"
turn = 3
seconds = 2_400

[[keep-alive]]
id = "ping"
turns = [2, 4]
seconds = 240

[[change]]
id = "tools"
turn = 4
what = "tools"
value = "list-{turn}"

[flips.unpinged]
remove = ["ping"]

[flips.often]
change.ping = { seconds = 60, turns = [3, 3] }

[flips.back]
add.change = [{ turn = 5, what = "tools", value = "default" }]

[variants.later]
change.tools = { turn = 6, what = "effort", value = "high" }
add.wait = [{ turn = 5, seconds = 30 }]
add.keep-alive = [{ turn = 5, seconds = 20 }]
"""


@pytest.fixture
def write(tmp_path):
    def write(text: str, name: str = "mine.toml") -> str:
        file = tmp_path / name
        file.write_text(text, encoding="utf-8")
        return str(file)

    return write


def said(path: str, overrides=None) -> list[str]:
    """What is reported of a file, a sentence each, without the directory."""
    with pytest.raises(InputError) as caught:
        catalogue.load(path, overrides)
    return [one.replace(str(Path(path).parent) + "/", "") for one in str(caught.value).split("\n")]


def of(script: Script, *sorts: type[Stimulus]) -> list[Stimulus]:
    return [s for s in script.stimuli if isinstance(s, sorts)]


# -- scenario files ----------------------------------------------------------------------------


def test_a_file_says_them(write):
    script = catalogue.load(write(BASE)).script(0)
    assert of(script, Wait, KeepAlive, Change) == [
        KeepAlive(2, 240.0),
        Wait(3, 2_400.0),
        KeepAlive(3, 240.0),
        KeepAlive(4, 240.0),
        Change(4, "tools", "list-4"),
    ]
    turns = script.turns()
    assert (turns[3].wait, turns[3].keep_alive) == (2_400.0, 240.0)
    assert turns[4].changes == [Change(4, "tools", "list-4")]


def test_flips_add_remove_and_change_them(write):
    path = write(BASE)

    def flipped(name):
        return of(catalogue.load(f"{path}/{name}").script(0), KeepAlive, Change)

    assert flipped("unpinged") == [Change(4, "tools", "list-4")]
    assert flipped("often") == [KeepAlive(3, 60.0), Change(4, "tools", "list-4")]
    assert flipped("back")[-1] == Change(5, "tools", "default")
    assert flipped("later")[3:] == [KeepAlive(5, 20.0), Change(6, "effort", "high")]


def test_the_hash_of_a_script_covers_them(write):
    path = write(BASE)
    names = ("", "/unpinged", "/often", "/back", "/later", "/back/often")
    assert len({catalogue.load(path + name).script(0).digest() for name in names}) == len(names)


@pytest.mark.parametrize("what", CHANGES)
def test_all_that_can_change(write, what):
    script = catalogue.load(write(BASE.replace('"tools"\nvalue', f'"{what}"\nvalue'))).script(0)
    assert of(script, Change) == [Change(4, what, "list-4")]


WHATS = "change 'tools': what must be one of tools, system, tool_choice, images, effort"

WRONG = [
    ('what = "tools"', 'what = "tolls"', 24, f"{WHATS}, not 'tolls'; did you mean 'tools'?"),
    ('what = "tools"', 'what = "efort"', 24, f"{WHATS}, not 'efort'; did you mean 'effort'?"),
    ('what = "tools"', "what = 3", 24, f"{WHATS}, not 3"),
    ('what = "tools"\n', "", 21, "change 'tools' lacks what"),
    ('value = "list-{turn}"\n', "", 21, "change 'tools' lacks value"),
    ('value = "list', 'valeu = "list', 25, "change 'tools': unknown key 'valeu'; did you mean"),
    ('"list-{turn}"', '" "', 25, "change 'tools': value must be a text that is not empty, not ' '"),
    ("turn = 4", "turn = 7", 23, "change 'tools' comes in turn 7, after the last of 6 turns"),
    ("turn = 4", "turns = [4, 4]\nturn = 4", 21, "change 'tools' must have either turn or turns"),
    ("seconds = 240", "seconds = 0", 19, "keep-alive 'ping': seconds must be a number above 0"),
    ("seconds = 240", "seconds = inf", 19, "keep-alive 'ping': seconds must be a number above 0"),
    ("seconds = 240\n", "", 16, "keep-alive 'ping' lacks seconds"),
    ("[2, 4]", "[2, 9]", 18, "keep-alive 'ping' comes in turn 7, after the last of 6 turns"),
    (
        "[2, 4]",
        "[4, 6]",
        18,
        "keep-alive 'ping' is never sent: no turn of it begins with a wait",
    ),
    (
        "turns = [2, 4]",
        "turn = 2",
        18,
        "keep-alive 'ping' is never sent: no turn of it begins with a wait",
    ),
    ("[[keep-alive]]", "[[keepalive]]", 16, "the file: unknown key 'keepalive'; did you mean 'ke"),
    ("[[change]]", "[[changes]]", 21, "the file: unknown key 'changes'; did you mean 'change'?"),
    (
        "turn = 5, what",
        "turn = 4, what",
        34,
        "change: tools changes in turn 4 already",
    ),
    (
        "add.keep-alive = [{ turn = 5",
        "add.keep-alive = [{ turn = 4",
        39,
        "keep-alive: turn 4 has one already",
    ),
    (
        "[[change]]",
        "[[attempt]]\nnumber = 1\nturn = 6\nkeep-alive = [{ seconds = 3 }]\n[[change]]",
        24,
        "attempt 1: unknown key 'keep-alive'; known: act, ",
    ),
    (
        "[[change]]",
        "[[attempt]]\nnumber = 1\nturn = 6\nchange = [{ what = 'tools' }]\n[[change]]",
        24,
        "attempt 1: unknown key 'change'; known: act, ",
    ),
]


@pytest.mark.parametrize(("old", "new", "line", "sentence"), WRONG)
def test_what_is_wrong_is_said_with_its_line(write, old, new, line, sentence):
    assert old in BASE
    reported = said(write(BASE.replace(old, new, 1)))
    assert any(one.startswith(f"mine.toml:{line}: {sentence}") for one in reported), reported


def test_one_fault_is_one_sentence(write):
    for old, new in (
        ('what = "tools"', 'what = "tolls"'),
        ("seconds = 240", "seconds = 0"),
        ("turns = [2, 4]", "turn = 2"),
        ("seconds = 2_400", "seconds = 0"),
    ):
        text = BASE.split("[flips.often]")[0].replace(old, new)
        assert len(said(write(text))) == 1, (old, new)


def test_a_flip_that_takes_the_wait_away_leaves_a_ping_without_one(write):
    (reported,) = said(write(BASE + '[flips.no-lunch]\nremove = ["lunch"]\n'))
    assert reported.startswith("mine.toml:18: keep-alive 'ping' is never sent")
    catalogue.load(write(BASE + '[flips.no-lunch]\nremove = ["lunch", "ping"]\n') + "/no-lunch")


def test_pings_without_an_end_in_sight_are_refused(write):
    # 2,400 s of wait: one every 0.024 s makes 99,999 pings and none as the turn begins.
    catalogue.load(write(BASE.replace("seconds = 240\n", "seconds = 0.024\n", 1)))
    reported = said(write(BASE.replace("seconds = 240\n", "seconds = 0.0239\n", 1)))
    assert reported == [
        "mine.toml:19: keep-alive 'ping': one every 0.0239 seconds is more than 100,000 pings in "
        "the wait of 2,400 seconds before turn 3"
    ]


def test_pings_of_a_setting_have_the_same_limit():
    settings = {"keep_alive.seconds": "1e-3"}
    with pytest.raises(InputError, match=r"^keep_alive\.seconds: one every 0\.001 seconds is more"):
        catalogue.load("cache-life", settings).script(0)
    waits = (Wait(2, 60.0), Wait(2, 60.0), KeepAlive(2, 50.0))
    assert with_pings(waits, {"keep_alive.seconds": 1e-3}) == waits


def test_waits_of_a_turn_are_one_to_its_pings():
    waits, ping = (Wait(2, 600_000.0), Wait(2, 600_000.0), Wait(3, 1.0)), KeepAlive(2, 11.9)
    assert too_many([ping], waits[1:]) == []
    assert [found for found, _ in too_many([ping, KeepAlive(3, 1.0)], waits)] == [ping]


def test_a_family_has_its_own(write):
    text = 'family = "doc-analysis"\nchange = [{ turn = 2, what = "effort", value = "x" }]\n'
    (reported,) = said(write(text))
    assert reported == "mine.toml:2: change: the stimuli come from family 'doc-analysis'"


# -- script files ------------------------------------------------------------------------------


@pytest.fixture
def load(tmp_path):
    def load(document, overrides=None):
        file = tmp_path / "mine.json"
        file.write_text(json.dumps(document, indent=1))
        return catalogue.load(str(file), overrides)

    return load


def made(*more):
    """Return the script of the story cache-life as JSON, with stimuli of its own."""
    document = script_to_json(catalogue.load("cache-life").script(0))
    document["stimuli"].extend(more)
    return document


PING = {"type": "keep-alive", "turn": 3, "seconds": 240}
TOOLS = {"type": "change", "turn": 3, "what": "tools", "value": "more"}


def test_a_script_says_them_and_comes_back_the_same(load, tmp_path):
    document = made(PING, TOOLS)
    scenario = load(document)
    assert of(scenario.script(0), KeepAlive, Change) == [
        KeepAlive(3, 240),
        Change(3, "tools", "more"),
    ]
    assert script_to_json(scenario.script(0)) == document
    assert load(script_to_json(scenario.script(0))).script(0) == scenario.script(0)
    assert len({load(made(*more)).script(0).digest() for more in ((), (PING,), (TOOLS,))}) == 3


def test_the_example_of_the_docs_is_taken(load):
    docs = (Path(__file__).parents[2] / "docs" / "script.md").read_text()
    (example,) = re.findall(r"```json\n(\[.*?\])\n```", docs, re.S)
    document = made()
    document["settings"]["turns"] = 5
    document["stimuli"] = [s for s in document["stimuli"] if s["type"] != "wait"]
    document["stimuli"] += json.loads(example)
    assert of(load(document).script(0), Wait, KeepAlive, Change) == [
        Wait(3, 400),
        KeepAlive(3, 240),
        Change(5, "tools", "with-search"),
    ]


def test_in_a_script_a_ping_without_a_wait_does_nothing(load):
    assert load(made({**PING, "turn": 2})).script(0).turns()[2].keep_alive == 240


def test_in_a_script_a_branch_may_hold_them_as_it_may_a_wait(load):
    document = script_to_json(catalogue.load("stale-file").script(0))
    branch = document["attempts"][1]["failed"]
    branch += [{"type": "wait", "turn": 2, "seconds": 400}, {**PING, "turn": 2}]
    branch.append({**TOOLS, "turn": 2})
    document["attempts"][1]["ok"].append({**TOOLS, "turn": 2})
    script = load(document).script(0)
    assert script.attempts[1].failed[-3:] == (
        Wait(2, 400),
        KeepAlive(2, 240),
        Change(2, "tools", "more"),
    )
    branch.append({**TOOLS, "turn": 2})
    with pytest.raises(InputError, match="change: tools changes in turn 2 already"):
        load(document)


@pytest.mark.parametrize(
    ("stimulus", "sentence"),
    [
        ({**TOOLS, "what": "tolls"}, "change: what must be one of tools, system, tool_choice, "),
        ({**TOOLS, "value": ""}, "change: value must be a text that is not empty, not ''"),
        ({**TOOLS, "turn": 4}, "change comes in turn 4, after the last of 3 turns"),
        ({**TOOLS, "turns": [1, 2]}, "change: unknown key 'turns'; did you mean 'turn'?"),
        ({**TOOLS, "type": "chnge"}, "unknown type of stimulus 'chnge'; did you mean 'change'?"),
        ({"type": "change", "turn": 3}, "change lacks what and value"),
        ({**PING, "seconds": 0}, "keep-alive: seconds must be a number above 0 and at most "),
        ({**PING, "type": "keep_alive"}, "unknown type of stimulus 'keep_alive'; did you mean 'k"),
        ({"type": "keep-alive", "turn": 3}, "keep-alive lacks seconds"),
    ],
)
def test_what_is_wrong_with_a_script(load, stimulus, sentence):
    with pytest.raises(InputError) as caught:
        load(made(stimulus))
    assert caught.value.message.startswith(sentence)
    assert caught.value.line is not None


def test_two_in_one_turn(load):
    for stimulus, sentence in (
        (PING, "keep-alive: turn 3 has one already"),
        (TOOLS, "change: tools changes in turn 3 already"),
    ):
        with pytest.raises(InputError, match=sentence):
            load(made(stimulus, stimulus))
    load(made(TOOLS, {**TOOLS, "what": "effort"}, {**TOOLS, "turn": 2}))


def test_a_script_from_before_there_were_longer_lives_means_what_it_meant(load):
    document = made()
    for key in ("cache.long", "history", "keep_alive.seconds"):
        del document["settings"][key]
    settings = load(document).script(0).settings
    assert (settings["cache.long"], settings["history"]) == (0, "editable")
    assert load(document, {"history": "append-only"}).settings["history"] == "append-only"


# -- the key -----------------------------------------------------------------------------------


def test_a_story_gets_a_ping_for_every_wait(write):
    path = write(
        BASE.replace("[2, 4]", "[2, 3]").replace(
            "turn = 3\nseconds = 2", "turns = [3, 5]\nseconds = 2"
        )
    )
    script = catalogue.load(path, {"keep_alive.seconds": "100"}).script(0)
    assert of(script, Wait, KeepAlive) == [
        KeepAlive(2, 240.0),
        Wait(3, 2_400.0),
        KeepAlive(3, 240.0),
        Wait(4, 2_400.0),
        KeepAlive(4, 100.0),
        Wait(5, 2_400.0),
        KeepAlive(5, 100.0),
    ]


def test_the_key_says_what_the_flip_says():
    flip = catalogue.load("cache-life/keep-alive").script(0)
    key = catalogue.load("cache-life", {"keep_alive.seconds": 240}).script(0)
    assert key.turns() == flip.turns()


def test_a_scenario_with_pings_can_be_sent_to_a_worker(write):
    scenario = catalogue.load(write(BASE), {"keep_alive.seconds": 9})
    assert pickle.loads(pickle.dumps(scenario)).script(3) == scenario.script(3)


def test_a_script_has_its_pings_already(load):
    with pytest.raises(InputError, match=r"keep_alive\.seconds of a script cannot be set"):
        load(made(), {"keep_alive.seconds": "9"})


def test_a_recorded_session_gets_them_too():
    def replayed(**settings):
        (scenario,) = transcripts.load([DEMO], settings=settings, tokenizer="bytes/4")
        return scenario.script(0)

    plain, pinged = replayed(), replayed(**{"keep_alive.seconds": "240"})
    waits = [s.turn for s in of(plain, Wait)]
    assert waits and not of(plain, KeepAlive)
    assert of(pinged, KeepAlive) == [KeepAlive(turn, 240.0) for turn in waits]
    assert [s for s in pinged.stimuli if not isinstance(s, KeepAlive)] == list(plain.stimuli)
    assert pinged.digest() != plain.digest()


@given(
    st.lists(
        st.one_of(
            st.builds(Wait, st.integers(1, 5), st.just(9.0)),
            st.builds(KeepAlive, st.integers(1, 5), st.just(3.0)),
            st.builds(Change, st.integers(1, 5), st.just("tools"), st.just("x")),
        )
    ),
    st.sampled_from([0, 0.0, 4.0]),
)
def test_pings_go_beside_waits_and_nothing_else_changes(stimuli, seconds):
    out = with_pings(stimuli, {"keep_alive.seconds": seconds})
    own = {s.turn for s in stimuli if isinstance(s, KeepAlive)}
    waits = {s.turn for s in stimuli if isinstance(s, Wait)}
    added = [s for s in out if isinstance(s, KeepAlive) and s.seconds == 4.0]
    assert [s for s in out if s not in added] == stimuli
    assert {s.turn for s in added} == (waits - own if seconds else set())
    assert len(added) == len({s.turn for s in added})
    for ping in added:
        assert isinstance(out[out.index(ping) - 1], Wait)
        assert out[out.index(ping) - 1].turn == ping.turn
