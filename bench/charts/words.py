"""Words and numbers on a chart: short names, and quantities in their unit."""

from __future__ import annotations

__all__ = ["quantity", "shortened"]

_LONGEST = 28

_THOUSAND = 1000


def shortened(name: str, longest: int = _LONGEST) -> str:
    """Return *name*, with … in its middle where it has more than *longest* characters."""
    if len(name) <= longest:
        return name
    end = (longest - 1) // 2
    return f"{name[: longest - 1 - end]}…{name[-end:]}"


def quantity(value: float, unit: str, signed: bool = False) -> str:
    """Return *value* of a metric's *unit* as a short text: 128k, $1.20, 6.8 %, 12 s.

    With *signed*, one above zero has its plus; a minus is a minus sign, not a hyphen.
    """
    sign = "−" if value < 0 else "+" if signed and value > 0 else ""
    size = abs(value)
    if unit == "share":
        return f"{sign}{_digits(100 * size)} %"
    if unit in ("USD", "$"):
        return f"{sign}${_digits(size)}"
    if unit == "tokens":
        return f"{sign}{_large(size)}"
    return f"{sign}{_large(size)}{' s' if unit in ('s', 'seconds') else ''}"


def _large(size: float) -> str:
    for factor, letter in ((_THOUSAND**3, "G"), (_THOUSAND**2, "M"), (_THOUSAND, "k")):
        if size >= factor:
            return f"{_digits(size / factor)}{letter}"
    return _digits(size)


def _digits(size: float) -> str:
    """Return *size* with three digits that count, and no zeros behind them."""
    if size >= 100:
        return f"{size:,.0f}"
    text = f"{size:.3g}"
    return f"{size:.1g}" if "e" in text else text
