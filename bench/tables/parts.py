"""What a table is made of, and how a number is written in one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import floor, log10

__all__ = [
    "Column",
    "Line",
    "Table",
    "dollars",
    "interval",
    "number",
    "percent",
    "short_tokens",
    "thousands",
    "tokens",
]

Format = Callable[[float], str]


@dataclass(frozen=True, slots=True)
class Column:
    """A column by its *header*; numbers stand to the *right*, and a *name* is never folded."""

    header: str
    right: bool = False
    name: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A row of texts; a *marked* one stands out."""

    cells: tuple[str, ...]
    marked: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A title, columns, rows and notes below; without rows it is its notes alone."""

    title: str = ""
    columns: tuple[Column, ...] = ()
    rows: tuple[Line, ...] = ()
    notes: tuple[str, ...] = ()


def number(value: float) -> str:
    """Return *value* with as many decimals as its size calls for: 11, 0.4, 12.3."""
    return _signed(value, 0 if value == round(value) or abs(value) >= 1_000 else 1)


def tokens(value: float) -> str:
    """Return *value* as whole tokens: 127,370."""
    return _signed(value, 0)


def short_tokens(value: float) -> str:
    """Return *value* in at most six or seven characters: 8,250, 127.4k, 1.27M."""
    if abs(value) < 10_000:
        return _signed(value, 0)
    if abs(value) < 1_000_000:
        return f"{thousands(value)}k"
    return _signed(value / 1_000_000, 2) + "M"


def thousands(value: float) -> str:
    """Return *value* in thousands, with one decimal: 127.4."""
    return _signed(value / 1_000, 1)


def percent(value: float) -> str:
    """Return the share *value* in percent, without the sign: 21.3, and 0 or 100 as such."""
    hundredths = 100.0 * value
    return _signed(hundredths, 0 if hundredths in (0.0, 100.0) else 1)


def dollars(value: float, digits: int = 3, beside: float = 0.0) -> str:
    """Return *value* with *digits* significant digits and no exponent: 0.421, 12.3, 0.000512.

    It has no more decimals than the larger value *beside* it would.
    """
    size = max(abs(value), abs(beside))
    return _signed(value, max(0, digits - 1 - floor(log10(size)))) if value else "0"


def interval(
    form: Format, mean: float | None, low: float | None, high: float | None, wide: bool
) -> str:
    """Return a mean with its interval, alone where the interval is that mean or there is none."""
    if mean is None:
        return "–"
    if low is None or high is None or low == high:
        return form(mean)
    return f"{form(mean)} [{form(low)},{' ' if wide else ''}{form(high)}]"


def _signed(value: float, decimals: int) -> str:
    text = f"{value:,.{decimals}f}".replace("-", "−")
    return text if any(digit in text for digit in "123456789") else text.lstrip("−")
