"""The tables of break-even: the passes of each policy beside the published ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bench.break_even import PUBLISHED, QUARTILES, RATIOS
from bench.tables.parts import Column, Line, Table, number, tokens

__all__ = ["COLUMNS", "break_even_tables", "document", "rows"]

Row = Mapping[str, Any]

_PLAIN = ("scenario", "policy", "runs", "completed", "requests", "passes", "apart")
_SHARES = ("paid_back", "forced", "cold", "truncated", "lost_in_front", "refetched")
_AFTER = ("ratio", *_SHARES, "reason")
_AT = {ratio: f"pays_at_{ratio:g}" for ratio in RATIOS}

COLUMNS = (
    *_PLAIN,
    *(f"{name}_q{quarter}" for name in QUARTILES for quarter in (1, 2, 3)),
    *_AT.values(),
    *_AFTER,
)
"""Of the CSV."""


def document(summary: Sequence[Row], manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return what ``--format json`` prints."""
    published = {**PUBLISHED, "ratios": RATIOS}
    return {"summary": list(summary), "published": published, "manifest": dict(manifest)}


def rows(summary: Sequence[Row]) -> list[dict[str, Any]]:
    """Return *summary* with one value a column, the published row in front."""
    return [_flat({"policy": "published", **PUBLISHED}), *map(_flat, summary)]


def _flat(row: Row) -> dict[str, Any]:
    flat = {name: row.get(name) for name in (*_PLAIN, *_AFTER)}
    for name in QUARTILES:
        for quarter, value in enumerate(row.get(name) or (None,) * 3, 1):
            flat[f"{name}_q{quarter}"] = value
    for name, share in zip(_AT.values(), row.get("pays_at") or (None,) * len(RATIOS), strict=True):
        flat[name] = share
    return flat


def break_even_tables(summary: Sequence[Row]) -> list[Table]:
    """Return for each scenario what its passes came to, and what they were."""
    groups: dict[str, list[Row]] = {}
    for row in summary:
        groups.setdefault(row["scenario"], []).append(row)
    return [table for name, group in groups.items() for table in _tables(name, group)]


def _tables(scenario: str, group: Sequence[Row]) -> Iterator[Table]:
    able = [row for row in group if row["runs"]]
    yield Table(
        f"{scenario}: what the passes came to",
        (
            Column("policy"),
            Column("passes", right=True),
            Column("S/b", right=True),
            Column("L", right=True),
            *(Column(f"R={value:g}", right=True) for value in RATIOS),
            Column("own", right=True),
        ),
        (
            Line(_came_to({"policy": "published", **PUBLISHED}), marked=True),
            *(Line(_came_to(row)) for row in group),
        ),
        (
            "Medians and quartiles. R: percent of the passes that pay back at that (w − r) / r, "
            f"refetches left out{_own(able)}.",
            f"Published: {PUBLISHED['source']}.",
            *_apart(able),
            *_not_applicable(group),
        ),
    )
    yield Table(
        f"{scenario}: what the passes were",
        (
            Column("policy"),
            Column("b", right=True),
            Column("S", right=True),
            Column("forced", right=True),
            Column("cold", right=True),
            Column("front", right=True),
            Column("back", right=True),
            Column("calls", right=True),
        ),
        tuple(Line(_were(row)) for row in group),
        (
            "b: tokens removed, less what stands for them; S: cached tokens behind the cut. "
            "Percent: forced, over the budget without it; cold, nothing was cached; front, of what "
            "a cut lost, the part in front of it; back, of what left, the part brought back. "
            "calls: the median of a run.",
            *_differences(able),
        ),
    )


def _came_to(row: Row) -> tuple[str, ...]:
    pays = row.get("pays_at") or (None,) * len(RATIOS)
    return (
        str(row["policy"]),
        tokens(row["passes"]) if row["passes"] else "–",
        _spread(row["behind_by_removed"], _short),
        _spread(row["calls"], _whole),
        *map(_percent, pays),
        _percent(row.get("paid_back")),
    )


def _were(row: Row) -> tuple[str, ...]:
    return (
        str(row["policy"]),
        _spread(row["removed"], _thousands),
        _spread(row["behind"], _thousands),
        *(_percent(row[name]) for name in ("forced", "cold", "lost_in_front", "refetched")),
        "–" if row["requests"] is None else _whole(row["requests"]),
    )


def _own(able: Sequence[Row]) -> str:
    """Say what the last column is, if there is anything in it to say it of."""
    if not able:
        return ""
    ratio = next((row["ratio"] for row in able if row["ratio"] is not None), None)
    if ratio is None:
        return "; own: at the price's own, which has none since reads are free"
    return f"; own: at the price's own {number(ratio)}, with them"


def _not_applicable(group: Sequence[Row]) -> Iterator[str]:
    reasons: dict[str, list[str]] = {}
    for row in group:
        if row.get("reason"):
            reasons.setdefault(row["reason"], []).append(row["policy"])
    for reason, names in reasons.items():
        yield f"not applicable: {', '.join(names)}; {reason}"


def _apart(able: Sequence[Row]) -> Iterator[str]:
    apart = [f"{row['policy']} {tokens(row['apart'])}" for row in able if row["apart"]]
    if apart:
        yield f"Left out, since they left the window no smaller: {', '.join(apart)}."


def _differences(able: Sequence[Row]) -> Iterator[str]:
    """Say, from the figures, why the passes differ from the published ones."""
    cut = [row for row in able if row["behind_by_removed"]]
    middle, calls = PUBLISHED["behind_by_removed"][1], PUBLISHED["calls"][1]
    dear = [row["policy"] for row in cut if row["behind_by_removed"][1] > 2 * middle]
    if dear:
        cheap = [row["policy"] for row in cut if row["policy"] not in dear]
        who = ", ".join(dear)
        if len(dear) > len(cheap):
            who = f"all but {', '.join(cheap)}" if cheap else "all"
        yield (
            f"S/b is more than twice the published {middle:g} for {who}: the published batches "
            "clear 30,000 tokens at once; these remove what one request is over, or what has just "
            "sunk below a limit, and what stands behind is computed again each time."
        )
    short = [row for row in cut if row["calls"][1] < calls]
    if short:
        ends = sorted({tokens(round(row["requests"])) for row in short}, key=lambda t: (len(t), t))
        span = ends[0] if len(ends) == 1 else f"{ends[0]} to {ends[-1]}"
        late = any(row["forced"] for row in short)
        yield (
            f"L is shorter than the published {calls:g} where the run is: {span} calls"
            + (
                ", of which a forced pass sees only those after the window is full."
                if late
                else "."
            )
        )


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.0f}"


def _spread(found: Sequence[float] | None, form: Any) -> str:
    if found is None:
        return "–"
    low, middle, high = map(form, found)
    return f"{middle} ({low}–{high})"


def _short(value: float) -> str:
    """Return *value* with at most two decimals, the fewer the larger it is: 0.71, 12.3, 169."""
    return f"{value:,.{2 if value < 10 else 1 if value < 100 else 0}f}"


def _whole(value: float) -> str:
    return tokens(round(value))


def _thousands(value: float) -> str:
    """Return tokens in few characters: 640, 8.3k, 169k, 1.2M."""
    size = abs(value)
    if size < 1_000:
        return tokens(value)
    if size < 1_000_000:
        return f"{value / 1e3:.{1 if size < 10_000 else 0}f}k"
    return f"{value / 1e6:.1f}M"
