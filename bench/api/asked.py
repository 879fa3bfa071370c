"""What every verb is asked for: how many seeds and workers, and at which prices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

from bench.selection import select_prices, with_book, with_price
from sim.errors import InputError

if TYPE_CHECKING:
    from bench.goals import Goal

__all__ = ["SEEDS", "at_least_one", "with_prices", "words"]

SEEDS = 30
"""Seeds of a comparison that does not say how many."""


def at_least_one(**counts: int) -> None:
    """Raise InputError, which has its name, for one of *counts* that is below 1."""
    for name, count in counts.items():
        if count < 1:
            raise InputError(f"{name} must be at least 1, not {count}")


def with_prices(
    settings: Mapping[str, object] | None,
    price: str | Iterable[str] | None,
    book: str | PathLike[str] | None,
) -> tuple[dict[str, object], tuple[str, ...]]:
    """Return the settings to lay over scenarios, one price among them, and all prices wanted."""
    wanted = with_book(settings or {}, book)
    prices = select_prices(price, wanted)
    return with_price(wanted, prices[0] if len(prices) == 1 else None), prices


def words(baseline: str | None, pareto: bool, goal: Goal | None) -> dict[str, Any]:
    """Return what the manifest keeps of how rows are to be read, as the words that asked for it."""
    return {
        "baseline": baseline,
        "pareto": pareto,
        **({} if goal is None else {"goal": goal.words()}),
    }
