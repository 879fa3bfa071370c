"""Gate cache-break-timing: what a change of the requests costs, by when in the session it comes."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from bench.gates import arms
from bench.gates.gate import INFERRED, Criterion, Gate, Inputs, Verdict, rising

if TYPE_CHECKING:
    from sim.script import Change

__all__ = ["GATE", "gate"]

_SCENARIO = "triage-long"
_POLICY = "compaction"
_PRICE = "claude-sonnet-5"
_MID = (12, 17)
"""Requests that the source's session changed at before it compacted."""


class _Arm(NamedTuple):
    """What a session cost, which turn compacted it first, and what that pass cost."""

    usd: float
    turn: int
    pass_usd: float


def _play(policy: str, changes: Iterable[Change] = ()) -> _Arm:
    from bench.cells import run_one
    from sim.records import to_dict

    made = arms.with_stimuli(arms.script(_SCENARIO, {"price": _PRICE}), changes)
    metrics, records = run_one(made, policy)
    first = next(to_dict(record) for record in records if record[0] == "maintain")
    return _Arm(metrics["total_cost_usd"], first["turn"], first["usd"])


def _change(what: str, turns: Iterable[int]) -> list[Change]:
    """Return a change of *what* at each of *turns*, each to a value that it has not had."""
    from sim.script import Change

    return [Change(turn, what, f"value {number}") for number, turn in enumerate(turns, 1)]


def _arms(policy: str, what: str) -> dict[str, _Arm]:
    """Return the arms by name: no change of *what*, and one at each of three times."""
    none = _play(policy)
    times = {
        "mid-session": _MID,
        "on the compacting request": (none.turn,),
        "after compaction": (none.turn + 1,),
    }
    return {
        "no change": none,
        **{name: _play(policy, _change(what, turns)) for name, turns in times.items()},
    }


def _judge(policy: str, more: tuple[str, ...], inputs: Inputs) -> Verdict:
    inputs.report(0, 2)
    found = _arms(policy, "effort")
    inputs.report(1, 2)
    tools = _arms(policy, "tools")
    inputs.report(2, 2)
    usd = {name: arm.usd for name, arm in found.items()}
    none, mid, on, after = usd.values()
    intact, broken = found["no change"].pass_usd, found["on the compacting request"].pass_usd
    return Verdict(
        simulated={**usd, "mid - after": mid - after, "pass": intact, "pass, broken": broken},
        criteria=(
            rising({"after": after, "on request": on, "mid-session": mid}, "$"),
            Criterion("mid-session less after", mid - after, 0.11, 0.29, "$"),
            Criterion("pass, prefix broken", broken, 0.18, 0.24, "$"),
            Criterion("pass, prefix read", intact, 0.03, 0.05, "$"),
            Criterion("after less no change", after - none, -0.02, 0.02, "$"),
        ),
        context={
            "compacting request": found["no change"].turn,
            **{f"{name}, tool list": arm.usd for name, arm in tools.items()},
        },
        notes=(
            "Dollars a session; the effort changes, mid-session at the 12th and the 17th request.",
            "The sizes of its parts are inferred from how fast the source's session grows.",
            "That a change after compaction came out cheaper than none is, by the source's own "
            "note, its lower effort: only that it costs next to nothing is judged.",
            "The later a session compacts, the more a change on that request breaks: the scenario "
            "pins the source's trigger of 80,000.",
            *more,
        ),
    )


_ABOUT = "a change of effort costs most mid-session and next to nothing right after a compaction"
_SOURCE = "platform.claude.com, Optimizing for cost and intelligence: when to change, Sonnet 5"


def gate(name: str, policy: str, notes: tuple[str, ...] = ()) -> Gate:
    """Return the gate with this *policy* for the one that compacts, and *notes* about it."""
    return Gate(
        name=name,
        about=_ABOUT,
        published={
            "no change": 0.81,
            "mid-session": 0.95,
            "on the compacting request": 0.92,
            "after compaction": 0.75,
            "mid - after": "0.11 to 0.29",
            "pass": 0.04,
            "pass, broken": 0.21,
        },
        grade="P",
        setting=INFERRED,
        source=_SOURCE,
        judge=partial(_judge, policy, notes),
        headline="mid - after",
    )


GATE = gate("cache-break-timing", _POLICY)
