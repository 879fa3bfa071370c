"""How often salience ranked wrongly what a policy gave up, over the runs of a comparison."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bench.statistics import estimate

if TYPE_CHECKING:
    from sim.records import Record

__all__ = ["REVERSALS", "counts", "reversal_lines"]

REVERSALS = ("gone_needs", "overtaken_needs", "ranked_pairs", "reversed_pairs")
"""Names of a row's values, in the order of ``sim.reversals.Reversals``."""


def counts(records: Iterable[Record], decay: float) -> dict[str, int]:
    """Return the values of a run by name; *decay* is its decay of salience a turn."""
    from sim.reversals import reversals

    return dict(zip(REVERSALS, reversals(records, decay), strict=True))


def reversal_lines(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return a line for each scenario, price and policy: its losses, and the reversals in them.

    ``needs`` and ``missed`` (tokens) are means over the `n` runs that have them. ``overtaken`` is
    the share of needs with a reversal, ``reversed`` that of pairs, over all of these runs together,
    None where there are none; the interval of the latter is that of the runs' own shares.
    """
    import numpy as np

    groups: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        mine = groups.setdefault((row["scenario"], row["price"], row["policy"]), [])
        if row.get(REVERSALS[0]) is not None:
            mine.append(row)
    lines = []
    for (scenario, price, policy), mine in groups.items():
        needs, overtaken, pairs, turned = (sum(row[name] for row in mine) for name in REVERSALS)
        of, by = REVERSALS[2:]
        shares = estimate(np.array([row[by] / row[of] for row in mine if row[of]], dtype=float))
        lines.append(
            {
                "scenario": scenario,
                "price": price,
                "policy": policy,
                "n": len(mine),
                "missed": _mean(mine, "missed_tokens"),
                "needs": _mean(mine, REVERSALS[0]),
                "overtaken": overtaken / needs if needs else None,
                "reversed": turned / pairs if pairs else None,
                "ci_low": shares.low,
                "ci_high": shares.high,
            }
        )
    return lines


def _mean(rows: Sequence[Mapping[str, Any]], name: str) -> float | None:
    known = [row[name] for row in rows if row[name] is not None]
    return sum(known) / len(known) if known else None
