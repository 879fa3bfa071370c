"""How far each policy is from the best possible, over the runs of a comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bench.beside.measure import Measure, Watch
from bench.statistics import estimate
from bench.tables.parts import Column, interval, short_tokens, tokens

if TYPE_CHECKING:
    from sim.records import Record
    from sim.script import Script

__all__ = ["BOUND", "MEASURE"]

BOUND = "bound_tokens"
"""Name of a row's bound: the tokens that every policy misses at least on its realised script."""


def _watch(script: Script) -> Watch:
    from sim.optimum.bound import bound
    from sim.optimum.timeline import realised

    known: dict[tuple[Any, ...], int] = {}
    """Bounds by how the script was taken."""

    def watch(records: list[Record]) -> dict[str, int]:
        taken = realised(records)
        key = taken.turns, tuple(sorted(taken.branches.items())), taken.pins_kept
        if key not in known:
            known[key] = bound(script, taken)
        return {BOUND: known[key]}

    return watch


def _told(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what a policy missed beside the bound: means over its runs, in tokens.

    ``above`` is ``missed`` less ``bound``, with a 95 % interval; ``times`` is missed ÷ bound, None
    where the bound is 0; ``reached`` counts the runs that missed no more than the bound.
    """
    import numpy as np

    both = [(row["missed_tokens"], row[BOUND]) for row in rows]
    missed, bound = (sum(each[at] for each in both) for at in (0, 1))
    found = estimate(np.array([m - b for m, b in both], dtype=float))
    return {
        "missed": missed / len(both) if both else None,
        "bound": bound / len(both) if both else None,
        "above": found.mean,
        "ci_low": found.low,
        "ci_high": found.high,
        "times": missed / bound if bound else None,
        "reached": sum(m <= b for m, b in both),
    }


def _line(line: Mapping[str, Any], wide: bool) -> tuple[str, ...]:
    size = tokens if wide else short_tokens
    return (
        size(line["missed"]),
        size(line["bound"]),
        interval(size, line["above"], line["ci_low"], line["ci_high"], wide),
        "–" if line["times"] is None else f"{line['times']:.2f}",
        f"{line['reached']:,}/{line['n']:,}",
    )


MEASURE = Measure(
    name="bound",
    about="Beside what each policy missed, show the least that any could miss on the same script.",
    columns={BOUND: ("tokens", "least that any policy misses on the same script")},
    watch=_watch,
    told=_told,
    title="distance to the best possible",
    header=(
        Column("missed", True),
        Column("bound", True),
        Column("above"),
        Column("times", True),
        Column("reached", True),
    ),
    line=_line,
    note=(
        "missed: smallest size of what was asked for and was not there, whole and current, in "
        "tokens a run. bound: no policy misses less on the same script (docs/bound.md). reached: "
        "runs that missed no more."
    ),
)
