"""Pauses, pings and changes of the families: what they add, and that they change nothing else."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from statistics import mean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenarios import catalogue, reference
from scenarios.families import FAMILIES
from sim.errors import InputError
from sim.script import CHANGES, Change, KeepAlive, Script, Stimulus, Wait
from tests.support.families import check, flat, script, text

NAMES = ("coding-agent", "doc-analysis", "support-agent")
EVERY = pytest.mark.parametrize("name", NAMES)


def of(made: Script, *sorts: type[Stimulus]) -> list[Stimulus]:
    return [s for s in made.stimuli if isinstance(s, sorts)]


def bare(made: Script) -> list[Stimulus]:
    return [s for s in made.stimuli if not isinstance(s, (Wait, KeepAlive, Change))]


def waits(made: Script) -> dict[int, float]:
    """Return the seconds before each turn; no turn has two waits."""
    found = {s.turn: s.seconds for s in made.stimuli if isinstance(s, Wait)}
    assert len(found) == len(of(made, Wait))
    return found


@EVERY
def test_by_default_nothing_pauses_and_nothing_is_kept_alive(name: str) -> None:
    values = flat(name)
    keys = ("pause.share", "pause.seconds", "keep_alive.seconds", "change.turn", "change.what")
    assert [values[key] for key in keys] == [0.0, 360.0, 0.0, 0, "tools"]
    made = script(name, 3)
    assert not of(made, KeepAlive, Change)
    assert text(made) == text(script(name, 3, pause__seconds=9.0, change__what="effort"))


@EVERY
@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 2**32), shares=st.lists(st.floats(0, 1), min_size=2, max_size=5).map(sorted)
)
def test_a_larger_share_pauses_the_turns_of_a_smaller_one(
    name: str, seed: int, shares: list[float]
) -> None:
    by_user = waits(script(name, seed, turns=60))
    made = [script(name, seed, turns=60, pause__share=share) for share in shares]
    for one in made:
        check(one)
        assert bare(one) == bare(script(name, seed, turns=60))
        assert waits(one).items() >= by_user.items()
        assert {s for turn, s in waits(one).items() if turn not in by_user} <= {360.0}
    for fewer, more in pairwise(made):
        assert waits(fewer).items() <= waits(more).items()


@EVERY
def test_with_a_share_of_1_every_turn_but_the_first_waits(name: str) -> None:
    made = script(name, 5, pause__share=1.0, pause__seconds=2700.0)
    last = max(s.turn for s in made.stimuli)
    assert sorted(waits(made)) == list(range(2, last + 1))
    attempts = {attempt.turn for attempt in made.attempts}
    assert all(waits(made)[turn] == 2700.0 for turn in attempts)
    assert len(attempts) > 2 or name != "coding-agent"


@EVERY
def test_the_share_is_one_of_the_turns_that_the_model_starts(name: str) -> None:
    long = {"turns": 4000} | ({"attempts__max": 0} if name == "coding-agent" else {})
    plain, paused = script(name, 1, **long), script(name, 1, **long, pause__share=0.1)
    own = set(range(2, 4001)) - waits(plain).keys()
    assert mean(turn in waits(paused) for turn in own) == pytest.approx(0.1, abs=0.02)


@EVERY
def test_a_wait_stands_in_front_of_its_turn(name: str) -> None:
    made = script(name, 2, pause__share=0.5, keep_alive__seconds=240.0, change__turn=7)
    for before, s in pairwise(made.stimuli):
        if isinstance(s, Wait):
            assert before.turn < s.turn
        if isinstance(s, KeepAlive):
            assert before == Wait(s.turn, waits(made)[s.turn])


@EVERY
def test_every_wait_is_kept_alive_and_nothing_else(name: str) -> None:
    plain = script(name, 4, pause__share=0.3)
    pinged = script(name, 4, pause__share=0.3, keep_alive__seconds=240.0)
    assert of(pinged, KeepAlive) == [KeepAlive(turn, 240.0) for turn in waits(plain)]
    assert [s for s in pinged.stimuli if not isinstance(s, KeepAlive)] == list(plain.stimuli)
    check(pinged)


@EVERY
@pytest.mark.parametrize("what", CHANGES)
def test_one_thing_changes_once(name: str, what: str) -> None:
    for turn in (1, 2, 17):
        made = script(name, 6, change__turn=turn, change__what=what, pause__share=0.4)
        assert of(made, Change) == [Change(turn, what, "changed")]
        assert bare(made) == bare(script(name, 6))
        check(made)


@EVERY
def test_a_change_comes_in_an_attempt_and_in_a_users_turn_too(name: str) -> None:
    plain = script(name, 8)
    for turn in (*list(waits(plain))[:2], *(a.turn for a in plain.attempts[:2])):
        assert of(script(name, 8, change__turn=turn), Change) == [Change(turn, "tools", "changed")]


@EVERY
@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("pause.share", "1.1", "pause.share must be a number from 0 to 1, not 1.1"),
        ("pause.share", "nan", "pause.share must be a number from 0 to 1, not nan"),
        ("pause.seconds", "0", "pause.seconds must be a number above 0 and at most"),
        ("pause.second", "9", "unknown key 'pause.second'; did you mean 'pause.seconds'?"),
        ("keep_alive.seconds", "-1", "keep_alive.seconds must be a number from 0 to 1,000,000,000"),
        ("keep-alive.seconds", "9", "unknown key 'keep-alive.seconds'; did you mean 'keep_alive."),
        ("change.turn", "201", "change.turn 201 comes after the last of 200 turns"),
        ("change.turn", "1.5", "change.turn must be a whole number from 0 to 1,000,000, not 1.5"),
        ("change.what", "efort", "change.what must be one of tools, system, tool_choice, images, "),
    ],
)
def test_what_is_wrong_is_said(name: str, key: str, value: str, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        catalogue.load(name, {key: value})
    assert str(caught.value).startswith(sentence)


def test_a_story_does_not_pause_by_a_share() -> None:
    with pytest.raises(InputError, match=r"unknown key 'pause\.share'"):
        catalogue.load("cache-life", {"pause.share": "0.1"})


def test_every_family_documents_the_same_keys() -> None:
    names = ("pause.share", "pause.seconds", "change.turn", "change.what")
    assert len({tuple(reference.section(name)[key] for key in names) for name in NAMES}) == 1
    assert set(NAMES) <= set(FAMILIES)


DOCS = Path(__file__).parents[2] / "docs"
COMMANDS = re.findall(r"^    evictbench (compare .+)$", (DOCS / "families.md").read_text(), re.M)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_settings_that_the_docs_show_are_taken(command: str) -> None:
    given = dict(re.findall(r"--set (\S+?)=(\S+)", command))
    given.pop("tool_logs", None)
    names = [word for word in command.split() if word in NAMES]
    assert names
    for name in names:
        assert catalogue.load(name, given).settings.keys() >= given.keys()
