"""The bound: what every policy misses at least, proved in whole numbers.

The linear program's optimum is at most what any weights of its rows say (weak duality), so the
solver's own are rounded to whole 2^-20ths and the sum is made again in integers: no tolerance of
the solver enters, and a solver that fails only makes the bound weaker.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sim.optimum.program import Program, program
from sim.optimum.timeline import Realised, timeline
from sim.script import Script

__all__ = ["bound", "matrix"]

_SCALE = 1 << 20


def bound(script: Script, taken: Realised) -> int:
    """Return the tokens that every policy misses at least where *script* is *taken* so.

    It is the least of the metric ``missed_tokens`` for runs with the same realised script; of runs
    that removed a pin it holds with ``pins_kept`` False.
    """
    made = program(timeline(script, taken), taken.pins_kept)
    held = _at_most(made, _weights(made))
    return made.worth - held


def matrix(made: Program) -> Any:
    """Return the rows of *made* as a sparse matrix."""
    from scipy.sparse import csr_array

    data = [value for row in made.rows for value in row.values()]
    columns = [number for row in made.rows for number in row]
    starts = [0]
    for row in made.rows:
        starts.append(starts[-1] + len(row))
    shape = (len(made.rows), len(made.columns))
    return csr_array((data, columns, starts), shape=shape, dtype=float)


def _weights(made: Program) -> Sequence[float]:
    """Return the weight of each row, at least 0, at which the program is dual optimal."""
    if not made.rows or not made.columns:
        return [0.0] * len(made.rows)
    from scipy.optimize import linprog

    found = linprog(
        [-float(column.value) for column in made.columns],
        A_ub=matrix(made),
        b_ub=[float(limit) for limit in made.limits],
        bounds=[(0.0, 0.0 if n in made.closed else 1.0) for n in range(len(made.columns))],
        method="highs",
    )
    if found.status != 0:
        return [0.0] * len(made.rows)
    return [max(0.0, -float(weight)) for weight in found.ineqlin.marginals]


def _at_most(made: Program, weights: Sequence[float]) -> int:
    """Return what *weights* prove that the program's value is at most, in whole tokens.

    For weights y ≥ 0 of the rows, value·x ≤ limit·y + Σ max(0, value − row·y) for 0 ≤ x ≤ 1.
    """
    scaled = [round(weight * _SCALE) for weight in weights]
    rest = [column.value * _SCALE for column in made.columns]
    total = 0
    for row, limit, weight in zip(made.rows, made.limits, scaled, strict=True):
        total += limit * weight
        if weight:
            for number, coefficient in row.items():
                rest[number] -= coefficient * weight
    total += sum(max(0, r) for n, r in enumerate(rest) if n not in made.closed)
    return total // _SCALE
