"""The script of a run: its JSON form, the hash of what every policy meets, its turns."""

from __future__ import annotations

import json
from dataclasses import replace

from hypothesis import given, settings

from sim.script import (
    STIMULI,
    Act,
    Attempt,
    Change,
    Compaction,
    KeepAlive,
    Operator,
    Query,
    Script,
    Structure,
    Turn,
    Wait,
    WorldRefresh,
    Write,
    script_from_json,
    script_to_json,
)
from sim.segments import Fact, Kind
from tests.sim.build import come, elsewhere, script
from tests.support.scripts import scripts

EVERY = script(
    come(
        1,
        "r",
        90,
        kind=Kind.TOOL_RESULT,
        score=0.3,
        time=1.5,
        facts=(Fact("k", "v", "p", False),),
        copy=True,
        pinned=True,
        standing=True,
        taggable=False,
        path="ä.py",
        tool="lint",
        pair="r",
        attempt=2,
        rank=3,
        names=("a.py", "b.py"),
        surrogate_tokens=5,
        max_result_tokens=40,
        structure=Structure(9, 3, 10, 4),
    ),
    Write(1, "a.py"),
    Write(1, "a.py", 12, (), 2),
    Write(1, "a.py", 12, (Fact("k2"),)),
    WorldRefresh(1, "r", 50),
    Query(2, "q", "k", 0.5, ("r", "x")),
    Act(2, "a", ("r",)),
    Operator(2, "o", "r"),
    Wait(2, 30.0),
    KeepAlive(2, 12.5),
    Change(2, "effort", "low"),
    Compaction(2, 40, "manual", ("r",)),
    attempts=(
        Attempt(1, 1),
        Attempt(2, 2, ("k",), ("a.py",), (come(2, "ok", 1),), (come(2, "no", 2), Wait(2, 1.0))),
        Attempt(3, 3, failed=(come(3, "too", 2),)),
    ),
    capabilities=("facts", "ranks"),
    output_tokens={1: 10, 2: 0},
    settings={"cache.breakpoints": ("r",)},
)


def back(it: Script) -> Script:
    return script_from_json(json.loads(json.dumps(script_to_json(it), allow_nan=False)))


def test_every_field_comes_back() -> None:
    it = replace(EVERY, tokens_from="bytes/4", recorded={2: {"input": 7}})
    assert back(it) == it
    assert {type(s) for s in it.stimuli} == set(STIMULI.values())


@given(scripts())
@settings(max_examples=150, deadline=None)
def test_every_script_comes_back(it: Script) -> None:
    again = back(it)
    assert again == it
    assert again.digest() == it.digest()
    assert script_to_json(again) == script_to_json(it)


def test_what_is_as_usual_is_left_out() -> None:
    data = script_to_json(script(come(1, "x", 5), Write(1, "p")))
    assert data["stimuli"] == [
        {"type": "arrival", "turn": 1, "id": "x", "kind": "note", "tokens": 5, "score": 1.0},
        {"type": "write", "turn": 1, "path": "p"},
    ]


def test_the_hash_is_of_the_unguarded_stimuli_alone() -> None:
    digest = EVERY.digest()
    assert replace(EVERY, attempts=(), seed=9, settings={}, scenario="other").digest() == digest
    changed = [replace(EVERY, stimuli=EVERY.stimuli[:-1])]
    changed += [replace(EVERY, stimuli=EVERY.stimuli[::-1])]
    changed += [replace(EVERY, stimuli=(replace(EVERY.stimuli[0], tokens=91), *EVERY.stimuli[1:]))]
    assert digest not in {it.digest() for it in changed}


def test_the_hash_is_the_same_in_another_process() -> None:
    code = "from tests.sim.test_script import EVERY; print(EVERY.digest())"
    assert elsewhere(code, 1) == elsewhere(code, 2) == EVERY.digest()


def test_a_turn_holds_its_stimuli_by_kind_in_the_order_of_the_script() -> None:
    turns = script(
        come(1, "b", 1), Wait(2, 1.0), come(1, "a", 1), Write(1, "p"), WorldRefresh(1, "a", 2),
        Wait(2, 2.5),
    ).turns()  # fmt: skip
    assert sorted(turns) == [1, 2]
    assert [a.id for a in turns[1].arrivals] == ["b", "a"]
    assert [type(w) for w in turns[1].writes] == [Write, WorldRefresh]
    assert turns[2].wait == 3.5


def test_joining_leaves_the_turn_as_it_was() -> None:
    turn = Turn([come(1, "a", 1)], wait=1.0)
    both = turn.joined((come(1, "b", 1), Wait(1, 2.0), Query(1, "q", "k", 0.5, ("a",))))
    assert [a.id for a in both.arrivals] == ["a", "b"]
    assert (both.wait, len(both.queries)) == (3.0, 1)
    assert ([a.id for a in turn.arrivals], turn.wait, turn.queries) == (["a"], 1.0, [])


def test_what_makes_an_attempt_guarded() -> None:
    assert not Attempt(1, 1).guarded
    assert Attempt(1, 1, facts=("k",)).guarded
    assert Attempt(1, 1, paths=("p",)).guarded
