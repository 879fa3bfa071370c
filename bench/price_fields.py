"""The fields of a price book: which there are, what each may hold, and what a rule reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from datetime import date
from math import inf
from typing import Any

from sim.errors import unknown
from sim.prices import EVICTIONS, MARKS, RULES, CacheRules, Price, Speed

__all__ = [
    "DEFAULTS",
    "ORIGIN_FIELDS",
    "OVERRIDES",
    "PRICE_FIELDS",
    "READ_BY",
    "ROW_FIELDS",
    "ROW_NEEDS",
    "RULE_FIELDS",
    "RULE_NEEDS",
    "SOURCE_FIELDS",
    "SPEED_DEFAULTS",
    "SPEED_FIELDS",
    "SPEED_NEEDS",
    "BadField",
    "build",
    "check_value",
    "pick",
]

ORIGIN_FIELDS = frozenset({"assumed", "date", "like", "note", "source", "sources"})
"""What a row says of itself: where its other fields are from."""

RULE_FIELDS = frozenset(field.name for field in fields(CacheRules))
SPEED_FIELDS = frozenset(field.name for field in fields(Speed))
PRICE_FIELDS = frozenset(field.name for field in fields(Price)) - {
    *("name", "rules", "speed", "source", "date", "assumed")
}
ROW_FIELDS = PRICE_FIELDS | RULE_FIELDS | {"speed"}
OVERRIDES = PRICE_FIELDS | RULE_FIELDS | SPEED_FIELDS
"""Fields that a single run may replace; see `bench.prices.get_price`."""

SOURCE_FIELDS = ("date", "gives", "name")
"""What a table [sources.NAME] holds: the text shown, its date, and the fields it can give."""

ROW_NEEDS = ("input", "write", "read", "output", "rule")
RULE_NEEDS: Mapping[str, tuple[str, ...]] = {
    "auto": ("minimum", "step", "ttl"),
    "blocks": ("step", "capacity"),
    "breakpoints": ("minimum", "ttl", "lookback"),
    "none": (),
}
"""Fields without which a rule says nothing."""

READ_BY: Mapping[str, tuple[str, ...]] = {
    "auto": ("minimum", "step", "ttl", "renews"),
    "blocks": ("step", "capacity", "evict"),
    "breakpoints": (
        *("minimum", "ttl", "renews", "lookback"),
        *("matched", "marks", "long_ttl"),
    ),
    "none": (),
}
"""Fields of a rule that it looks at; the others lie idle."""

SPEED_NEEDS = ("prefill_rate", "cached_rate", "overhead", "decode_rate")
SPEED_DEFAULTS: Mapping[str, Any] = {"hit_uncached": 0}
"""Fields of a speed that a row may leave out; what then stands there is assumed."""

DEFAULTS: Mapping[str, Any] = {
    field.name: field.default
    for kind in (Price, CacheRules)
    for field in fields(kind)
    if field.default is not MISSING
}
"""What the fields hold that a row leaves out."""

_NO_END = frozenset({"capacity", "lookback", "matched", "slots", "ttl"})
"""Fields that may be "unlimited"."""
_NO_SUCH = frozenset({"cliff_tokens", "long_ttl", "long_write"})
"""Fields that may be "none"."""
_WHOLE = frozenset(
    {"capacity", "cliff_tokens", "hit_uncached", "lookback", "matched", "minimum", "slots", "step"}
)
_FLAGS = frozenset({"cliff_inclusive", "no_edit", "renews"})
_LISTS = frozenset({"assumed", "gives", "sources"})
_TEXTS = frozenset({"date", "evict", "like", "marks", "name", "note", "rule", "source", "speed"})
_CHOICES = {"evict": EVICTIONS, "marks": MARKS, "rule": RULES}
_RATES = frozenset({"cached_rate", "decode_rate", "prefill_rate"})
_MOST = 2**53
_SLOWEST = 1e-6
"""Tokens a second, below which the seconds of a long prompt are no number any more."""


class BadField(Exception):
    """A field of a row, None for the row as a whole, and what is wrong with it."""

    def __init__(self, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


def check_value(field: str, value: Any) -> Any:
    """Return *value*, as a file or an option gives it, if it is of the sort that *field* holds.

    "unlimited" and "none" become what the simulator has for them, None or an infinite life.
    Raises BadField with a sentence.
    """
    if field in _LISTS:
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return tuple(value)
        raise BadField(f"{field} must be a list of names, not {value!r}", field)
    if field in _FLAGS:
        if isinstance(value, bool):
            return value
        raise BadField(f"{field} must be true or false, not {value!r}", field)
    if field in _TEXTS:
        return _text(field, value)
    word = _word(field)
    if value is not None and value == word:
        return inf if field == "ttl" else None
    if value is None and word and field != "ttl":
        return None
    return _number(field, value, f' or "{word}"' if word else "")


def _word(field: str) -> str | None:
    if field in _NO_END:
        return "unlimited"
    return "none" if field in _NO_SUCH else None


def _number(field: str, value: Any, alternative: str) -> int | float:
    whole = field in _WHOLE
    sort = int if whole else (int, float)
    good = isinstance(value, sort) and not isinstance(value, bool)
    if field == "ttl" and good and value == inf:
        return inf
    if not good or not abs(value) <= _MOST:
        wanted = "a whole number" if whole else "a finite number"
        raise BadField(f"{field} must be {wanted}{alternative}, not {value!r}", field)
    if value < 0:
        raise BadField(f"{field} cannot be negative, but is {value!r}", field)
    if field in _RATES and 0 < value < _SLOWEST:
        raise BadField(f"{field} must be at least {_SLOWEST:f}, not {value!r}", field)
    return int(value) if whole else float(value)


def _text(field: str, value: Any) -> str:
    if field == "date" and type(value) is date:
        return value.isoformat()  # as TOML writes one without quotation marks
    if not isinstance(value, str) or not value.strip():
        raise BadField(f"{field} must be a text, not {value!r}", field)
    choices: Iterable[str] | None = _CHOICES.get(field)
    if choices is not None and value not in choices:
        raise BadField(unknown(field, value, choices), field)
    if field == "date":
        try:
            date.fromisoformat(value)
        except ValueError:
            raise BadField(f"date must be like 2026-12-02, not {value!r}", field) from None
    return value


def pick(values: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return what *values* holds of *names*."""
    return {name: values[name] for name in names if name in values}


def build(make: Any, *arguments: Any, **values: Any) -> Any:
    """Return what *make* makes of them; its ValueError becomes a BadField."""
    try:
        return make(*arguments, **values)
    except ValueError as error:
        raise BadField(str(error), str(error).split()[0]) from None
