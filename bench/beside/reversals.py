"""How often salience ranked wrongly what a policy gave up, over the runs of a comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bench.beside.measure import Measure, Watch
from bench.statistics import estimate
from bench.tables.parts import Column, short_tokens, tokens

if TYPE_CHECKING:
    from sim.records import Record
    from sim.script import Script

__all__ = ["MEASURE", "REVERSALS"]

REVERSALS: Mapping[str, tuple[str, str]] = {
    "gone_needs": ("count", "asked for and not there at the call, having left before"),
    "overtaken_needs": ("count", "of those, how many rank above something that was kept"),
    "ranked_pairs": ("count", "pairs with what ranked above it when it left, and was kept"),
    "reversed_pairs": ("count", "of those, how many rank the other way once it is needed"),
}
"""A row's values, each with its unit and meaning, in the order of ``sim.reversals.Reversals``."""


def _watch(script: Script) -> Watch:
    from sim.reversals import reversals

    decay = script.settings["salience.decay"]

    def watch(records: list[Record]) -> dict[str, int]:
        return dict(zip(REVERSALS, reversals(records, decay), strict=True))

    return watch


def _told(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what a policy lost, and the reversals in it.

    ``needs`` and ``missed`` (tokens) are means over its runs. ``overtaken`` is the share of needs
    with a reversal, ``reversed`` that of pairs, over all of these runs together, None where there
    are none; the interval of the latter is that of the runs' own shares.
    """
    import numpy as np

    needs, overtaken, pairs, turned = (sum(row[name] for row in rows) for name in REVERSALS)
    of, by = "ranked_pairs", "reversed_pairs"
    shares = estimate(np.array([row[by] / row[of] for row in rows if row[of]], dtype=float))
    return {
        "missed": sum(row["missed_tokens"] for row in rows) / len(rows) if rows else None,
        "needs": needs / len(rows) if rows else None,
        "overtaken": overtaken / needs if needs else None,
        "reversed": turned / pairs if pairs else None,
        "ci_low": shares.low,
        "ci_high": shares.high,
    }


def _line(line: Mapping[str, Any], wide: bool) -> tuple[str, ...]:
    size = tokens if wide else short_tokens
    share = _percent(line["reversed"])
    if line["ci_low"] is not None:
        share += f" [{100 * line['ci_low']:.1f}, {100 * line['ci_high']:.1f}]"
    return f"{line['needs']:.1f}", size(line["missed"]), _percent(line["overtaken"]), share


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"


MEASURE = Measure(
    name="reversals",
    about="Beside what each policy lost, show how often what left rose above what was kept.",
    columns=REVERSALS,
    watch=_watch,
    told=_told,
    title="salience reversed between leaving and need",
    header=(
        Column("needed", True),
        Column("missed", True),
        Column("overtaken", True),
        Column("pairs reversed"),
    ),
    line=_line,
    note=(
        "needed: asked for and not there, having left before, a run; missed: tokens of all that "
        "was asked for and not there, whole and current. overtaken: of those needed, how many now "
        "rank above something that was kept and ranked above them; pairs reversed: of all such "
        "pairs, with the 95 % interval over runs (docs/model.md)."
    ),
)
