"""A documented key: its sort, default and limits, and the check of a value against them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, isfinite
from reprlib import Repr
from typing import Any

from sim.errors import nearest

__all__ = ["Key", "shown"]

_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 60
_RANGE = re.compile(r"([\[(])\s*(-?[\d.]+)\s*,\s*(inf|[\d.]+)\s*([\])])")
_SORTS = {bool: "flag", int: "whole", float: "number", str: "text", list: "list"}
_NAMES = {
    "flag": "true or false",
    "list": "a list of texts",
    "number": "a number",
    "span": "the first and the last turn, [FIRST, LAST], whole numbers",
    "string": "a text",
    "table": "a table",
    "tables": "an array of tables",
    "text": "a text that is not empty",
    "whole": "a whole number",
}


def shown(value: object) -> str:
    """Return *value* as an error message shows it: on one line, cut if it is long."""
    if isinstance(value, bool):
        return str(value).lower()
    try:
        return _SHORT.repr(value)
    except ValueError:  # Python prints no number of so many digits
        return "a number of thousands of digits"


@dataclass(frozen=True, slots=True)
class Key:
    """One key that a file may hold, as the reference file documents it.

    *sort* is one of ``whole``, ``number``, ``flag``, ``text``, ``string`` (a text that may be
    empty), ``list`` (of texts), ``span`` (two whole numbers), ``table`` and ``tables`` (arrays of
    tables, of the section *of*). *default* is None for a key that is unset where it is not given.
    """

    name: str
    sort: str
    default: Any = None
    low: float = -inf
    high: float = inf
    low_open: bool = False
    high_open: bool = False
    choices: tuple[str, ...] = ()
    unit: str = ""
    required: bool = False
    of: str = ""

    @classmethod
    def read(cls, name: str, entry: Mapping[str, Any]) -> Key:
        """Return the key that an entry of the reference file describes."""
        default = entry.get("default")
        limits: dict[str, Any] = {}
        if "range" in entry:
            match = _RANGE.fullmatch(entry["range"])
            if match is None:
                raise ValueError(f"{name}: no range {entry['range']!r}")
            opens, low, high, closes = match.groups()
            limits = {
                "low": float(low),
                "high": float(high),
                "low_open": opens == "(",
                "high_open": closes == ")",
            }
        return cls(
            name,
            entry.get("type") or _SORTS[type(default)],
            tuple(default) if isinstance(default, list) else default,
            choices=tuple(entry.get("choices", ())),
            unit=entry.get("unit", ""),
            required=entry.get("required", False),
            of=entry.get("of", ""),
            **limits,
        )

    def check(self, value: Any) -> Any:
        """Return *value*, typed, if the key may hold it; raises ValueError with a sentence."""
        if not self._is_of_sort(value):
            raise self._bad(value)
        if self.sort in ("whole", "number") and not self._in_range(value):
            raise self._bad(value)
        if self.sort == "span" and not (value[0] <= value[1] and all(map(self._in_range, value))):
            raise self._bad(value)
        if self.choices and value not in self.choices:
            raise self._bad(value)
        if self.sort == "number":
            return float(value)
        return tuple(value) if self.sort in ("list", "span") else value

    def parse(self, text: str) -> Any:
        """Return the value that *text*, from the command line, stands for, checked."""
        try:
            value = self._parsed(text.strip())
        except (ValueError, OverflowError):
            raise self._bad(text) from None
        return self.check(value)

    def wanted(self) -> str:
        """Return in words what the key may hold."""
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        return _NAMES[self.sort] + self._limits()

    def _bad(self, value: Any) -> ValueError:
        close = nearest(value, self.choices) if self.choices and isinstance(value, str) else None
        hint = f"; did you mean {close!r}?" if close else ""
        return ValueError(f"{self.name} must be {self.wanted()}, not {shown(value)}{hint}")

    def _is_of_sort(self, value: Any) -> bool:
        match self.sort:
            case "flag":
                return isinstance(value, bool)
            case "whole":
                return _is_whole(value)
            case "number":
                return _is_whole(value) or isinstance(value, float)
            case "text":
                return _is_text(value)
            case "string":
                return _is_string(value)
            case "list":
                return isinstance(value, (list, tuple)) and all(map(_is_text, value))
            case "span":
                two = isinstance(value, (list, tuple)) and len(value) == 2
                return two and all(map(_is_whole, value))
            case "table":
                return isinstance(value, dict)
            case _:
                return isinstance(value, list) and all(isinstance(v, dict) for v in value)

    def _in_range(self, value: float) -> bool:
        above = value > self.low if self.low_open else value >= self.low
        below = value < self.high if self.high_open else value <= self.high
        return above and below and (isinstance(value, int) or isfinite(value))

    def _limits(self) -> str:
        if self.low == -inf:
            return ""
        low, high = f"{self.low:g}", f"{self.high:,.0f}" if self.high > 1 else f"{self.high:g}"
        if self.high == inf:
            return f" {'above' if self.low_open else 'of at least'} {low}"
        if not self.low_open and not self.high_open:
            return f" from {low} to {high}"
        start = f"above {low}" if self.low_open else f"at least {low}"
        end = f"below {high}" if self.high_open else f"at most {high}"
        return f" {start} and {end}"

    def _parsed(self, text: str) -> Any:
        match self.sort:
            case "flag":
                return {"true": True, "false": False}.get(text.lower(), text)
            case "whole":
                try:
                    return int(text)
                except ValueError:
                    number = float(text)
                    return int(number) if number.is_integer() else number
            case "number":
                return float(text)
            case "list":
                return [part.strip() for part in text.split(",") if part.strip()]
            case _:
                return text


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_text(value: Any) -> bool:
    return _is_string(value) and bool(value.strip())


def _is_string(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:  # a lone surrogate, which no output could carry
        return False
    return True
