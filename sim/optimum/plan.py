"""The plan: the program solved in whole uses, as what to hold at each call."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from sim.optimum.bound import matrix
from sim.optimum.program import Program, program
from sim.optimum.silence import silenced
from sim.optimum.timeline import Realised, Timeline, timeline
from sim.script import Script

__all__ = ["Plan", "plan"]

_NODES = 100_000
"""Nodes of the search after which it is given up: no clock decides."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to *hold* at the call of each turn: id → whether it has to be current there.

    *stubs* are what a stub stands for at that call. *taken* is how it supposes the script to be.
    *missed* tokens follow; *gap* is by how much less it might be, 0 where the search ended.
    """

    taken: Realised
    hold: dict[int, dict[str, bool]]
    stubs: dict[int, set[str]]
    missed: int
    gap: int


def plan(script: Script, taken: Realised) -> Plan:
    """Return what misses least of *script*, as it is *taken*."""
    scene = timeline(script, taken)
    made = program(scene, whole=True)
    chosen, best = _solve(made)
    hold: dict[int, dict[str, bool]] = defaultdict(dict)
    stubs: dict[int, set[str]] = defaultdict(set)
    held = 0
    for number in chosen:
        column = made.columns[number]
        if column.stub:
            stubs[column.turns[0]].add(column.id)
            continue
        held += column.value
        for turn in column.turns:
            hold[turn][column.id] = _current(scene, column.id, column.state, turn)
    return Plan(taken, dict(hold), dict(stubs), made.worth - held, max(0, best - held))


def _current(scene: Timeline, name: str, state: int | None, turn: int) -> bool:
    """Whether what is held has to be brought up to date for the call of *turn*."""
    item = scene.items[name]
    if state is not None:
        return state == item.current(turn)
    return turn in item.touches


def _solve(made: Program) -> tuple[list[int], int]:
    """Return the columns to hold, and a value that no choice exceeds."""
    if not made.columns:
        return [], 0
    free = [n for n in range(len(made.columns)) if n not in made.closed]
    if not made.rows:
        return free, sum(made.columns[n].value for n in free)
    from numpy import inf
    from scipy.optimize import Bounds, LinearConstraint, milp

    upper = [0.0 if n in made.closed else 1.0 for n in range(len(made.columns))]
    with silenced():
        found = milp(
            [-float(column.value) for column in made.columns],
            integrality=[1] * len(made.columns),
            bounds=Bounds(0.0, upper),
            constraints=LinearConstraint(matrix(made), -inf, [float(v) for v in made.limits]),
            options={"mip_rel_gap": 0.0, "node_limit": _NODES},
        )
    if found.x is None:
        return [], sum(made.columns[n].value for n in free)
    chosen = [n for n, x in enumerate(found.x) if x > 0.5]
    value = sum(made.columns[n].value for n in chosen)
    if found.status == 0:
        return chosen, value
    return chosen, int(-found.mip_dual_bound)
