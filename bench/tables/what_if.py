"""What a policy came to against a recording: which is the best, and which lost what is pinned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench.eligible import unsafe
from bench.tables.comparison import shown_label

__all__ = ["Row", "best_of", "marked", "part_of", "shortened"]

Row = Mapping[str, Any]


def marked(row: Row, wide: bool) -> str:
    """Return the policy of a run, with a ``!`` if it is none to choose."""
    return shown_label(row["policy"], wide) + (" !" if unsafe(row) else "")


def best_of(rows: Sequence[Row]) -> Row | None:
    """Return the run that saves most dollars, of those that may be chosen."""
    able = [row for row in rows if row["saved_usd"] is not None and not unsafe(row)]
    return max(able, key=lambda row: row["saved_usd"], default=None)


def part_of(part: int | None, whole: int | None) -> str:
    """Return ``part/whole``, – where either is not known or there is nothing to be a part of."""
    return "–" if part is None or not whole else f"{part:,}/{whole:,}"


def shortened(name: str, wide: bool) -> str:
    """Return the name of a session without its middle, if it is long."""
    most = 32 if wide else 22
    half = most // 2
    return name if len(name) <= most else f"{name[: half - 1]}…{name[-half:]}"
