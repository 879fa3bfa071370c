"""Cost views of one run, made from its records alone: per cause, per turn, per pass."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sim.break_even import Pass
    from sim.records import Record

__all__ = ["by_cause", "by_turn", "passes_of"]

_PAID = {
    "call": "call",
    "maintain": "maintenance",
    "wasted": "maintenance",
    "ping": "maintenance",
}
"""Records that cost something, and whether it is the agent's own call."""


def by_cause(records: Iterable[Record]) -> list[dict[str, Any]]:
    """Return what a run cost by cause, in a fixed order; the output of the calls is one of them.

    Each has `cause`, `tokens` and `usd` of the agent's own calls, `maintenance_tokens` and
    `maintenance_usd` of rewriting calls and pings. The dollars sum to `total_cost_usd`.
    """
    found: dict[str, dict[str, float]] = {}
    for kind, cause, tokens, usd in _parts(records):
        line = found.setdefault(cause, dict.fromkeys(_COLUMNS, 0))
        prefix = "" if kind == "call" else "maintenance_"
        line[f"{prefix}tokens"] += tokens
        line[f"{prefix}usd"] += usd
    return [{"cause": cause, **found[cause]} for cause in _causes() if cause in found]


def by_turn(records: Iterable[Record]) -> list[dict[str, Any]]:
    """Return what each turn cost, with the dollars of each cause in it, `output` among them."""
    turns: dict[int, dict[str, float]] = {}
    for record in records:
        for _, cause, _, usd in _parts([record]):
            causes = turns.setdefault(record[2], {})
            causes[cause] = causes.get(cause, 0.0) + usd
    order = _causes()
    return [
        {
            "turn": turn,
            "usd": sum(causes.values()),
            "causes": {cause: causes[cause] for cause in order if cause in causes},
        }
        for turn, causes in turns.items()
    ]


def passes_of(records: Sequence[Record]) -> list[dict[str, Any]]:
    """Return every pass as `sim.break_even.Pass` has it, with R and the calls it needs to pay back.

    ``pays_for_all`` is whether it would have paid back had all that was broken counted as S: what
    was lost in front of the cut, because no entry ends there, too.

    `ratio` is R, None where reading is free. `calls_needed` leaves refetches out: more than R·S/b;
    None where nothing was removed or reading is free.
    """
    from sim.break_even import passes

    read = next((r[8][2] for r in records if r[0] == "run"), 0.0)
    return [_pass(each, read) for each in passes(records)]


def _pass(each: Pass, read: float) -> dict[str, Any]:
    ratio = (each.write - read) / read if read else None
    pays = ratio is not None and each.removed > 0
    return {
        **each._asdict(),
        "pays_for_all": None if each.paid_back is None else each.saved_usd > _all_lost(each, read),
        "ratio": ratio,
        "calls_needed": (ratio or 0.0) * each.behind / each.removed if pays else None,
    }


def _all_lost(each: Pass, read: float) -> float:
    return each.broken * (each.write - read) / 1_000_000 + each.refetch_usd


_COLUMNS = ("tokens", "usd", "maintenance_tokens", "maintenance_usd")


def _causes() -> tuple[str, ...]:
    from sim.attribution import CAUSES

    return (*CAUSES, "output")


def _parts(records: Iterable[Record]) -> Iterable[tuple[str, str, int, float]]:
    """Yield (kind of call, cause, tokens, dollars) of everything that was paid for."""
    from sim.records import FIELDS

    for record in records:
        kind = _PAID.get(record[0])
        if kind is None:
            continue
        values = dict(zip(FIELDS[record[0]], record[3:], strict=True))
        for cause, tokens, usd in values["causes"]:
            yield kind, cause, tokens, usd
        if kind == "call":
            yield kind, "output", values["output"], values["output_usd"]
