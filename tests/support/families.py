"""Scripts of the families, and what tests look up in them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from statistics import quantiles
from typing import Any

from scenarios import reference
from scenarios.families import FAMILIES
from sim.script import Act, Arrival, Query, Script, Stimulus, script_from_json, script_to_json
from sim.segments import Kind


def flat(name: str, **changes: Any) -> dict[str, Any]:
    """Return the family's settings; ``a__b=1`` changes the key ``a.b``."""
    typed = {key.replace("__", "."): value for key, value in changes.items()}
    return reference.settle(reference.defaults(name), reference.check(typed, layer=name))


def script(name: str, seed: int = 0, **changes: Any) -> Script:
    return FAMILIES[name].script(flat(name, **changes), seed)


@cache
def long(name: str) -> Script:
    """Return a long script at the defaults, with attempts to its end."""
    endless = {"attempts__max": 0} if name == "coding-agent" else {}
    return script(name, seed=7, turns=4000, **endless)


def arrivals(made: Script, kind: Kind | None = None, tool: str | None = None) -> list[Arrival]:
    return [
        s
        for s in made.stimuli
        if isinstance(s, Arrival) and kind in (None, s.kind) and tool in (None, s.tool)
    ]


def queries(made: Script) -> list[Query]:
    return [s for s in made.stimuli if isinstance(s, Query)]


def everything(made: Script) -> Iterator[Stimulus]:
    yield from made.stimuli
    for attempt in made.attempts:
        yield from attempt.ok
        yield from attempt.failed


def text(made: Script, upto: int | None = None) -> str:
    """Return the JSON of a script without its settings, up to a turn."""
    data = script_to_json(made)
    del data["settings"], data["attempts_cut"]
    if upto is not None:
        for part in ("stimuli", "attempts"):
            data[part] = [entry for entry in data[part] if entry["turn"] <= upto]
        data["output_tokens"] = {
            turn: n for turn, n in data["output_tokens"].items() if int(turn) <= upto
        }
    return json.dumps(data, sort_keys=True)


def without(made: Script, *fields: str) -> str:
    """Return the JSON of the stimuli without some of their fields."""
    data = script_to_json(made)
    for stimulus in data["stimuli"]:
        for field in fields:
            stimulus.pop(field, None)
    return json.dumps(data["stimuli"], sort_keys=True)


def check(made: Script) -> None:
    """Assert what holds for every script of every family."""
    check_arrivals(made)
    check_pairs(made.stimuli)
    check_questions(made)
    for attempt in made.attempts:
        for branch in (attempt.ok, attempt.failed):
            check_pairs(branch)
            assert all(s.turn == attempt.turn for s in branch)
    read = script_from_json(json.loads(json.dumps(script_to_json(made))))
    assert (read.stimuli, read.attempts) == (made.stimuli, made.attempts)
    assert read.digest() == made.digest() and read.output_tokens == made.output_tokens


def check_arrivals(made: Script) -> None:
    turns = [s.turn for s in made.stimuli]
    assert turns == sorted(turns)
    assert set(turns) <= set(range(1, made.settings["turns"] + 1))
    came = [s for s in everything(made) if isinstance(s, Arrival)]
    assert len({a.id for a in came}) == len(came)
    for arrival in came:
        assert arrival.tokens >= 1 and isinstance(arrival.tokens, int)
        assert 0.0 <= arrival.score <= 1.0
        assert arrival.time >= 0.0
        assert all(fact.value != fact.prior for fact in arrival.facts)
    pinned = [a for a in came if a.pinned]
    assert [(a.id, a.turn) for a in pinned] == [("system", 1), ("task", 1)]


def check_pairs(stimuli: tuple[Stimulus, ...]) -> None:
    pairs: dict[str, list[Arrival]] = defaultdict(list)
    for s in stimuli:
        if isinstance(s, Arrival) and s.pair is not None:
            pairs[s.pair].append(s)
        assert not (isinstance(s, Arrival) and s.kind is Kind.TOOL_RESULT and s.pair is None)
    for pair, members in pairs.items():
        call, result = members
        assert call.kind is Kind.TOOL_CALL and result.kind in (Kind.TOOL_RESULT, Kind.FILE)
        assert call.turn == result.turn and call.time <= result.time
        assert call.tool == result.tool and result.id == pair


def check_questions(made: Script) -> None:
    """A question asks for a fact of an arrival that has come, and touches nothing that has not."""
    stated: dict[str, set[str]] = {}
    ids: set[str] = set()
    for s in made.stimuli:
        if isinstance(s, Arrival):
            stated[s.id] = {fact.key for fact in s.facts}
        elif isinstance(s, Query):
            assert s.id not in ids
            ids.add(s.id)
            assert s.key in stated[s.touches[0]]
            assert len(set(s.touches)) == len(s.touches)
            assert all(touched in stated for touched in s.touches)
        elif isinstance(s, Act):
            assert s.requires and all(required in stated for required in s.requires)


def tail(values: list[float], level: int) -> float:
    return quantiles(values, n=100)[level - 1]
