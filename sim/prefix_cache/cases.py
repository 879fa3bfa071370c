"""Worked cases of prefix-cache accounting, as a JSON document holds them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, fields
from math import isfinite
from typing import Any

from sim.errors import InputError, unknown
from sim.prices import EVICTIONS, MARKS, RULES, CacheRules, Price, Speed
from sim.segments import Kind

__all__ = ["Call", "Case", "parse_cases"]

_TOP_KEYS = ("cases", "request", "units")
_CASE_KEYS = ("breakpoints", "calls", "expect", "got", "long", "name", "price", "rules")
_CALL_KEYS = ("at", "breakpoints", "long", "request")
_RULE_KEYS = tuple(field.name for field in fields(CacheRules))
_PRICE_KEYS = (
    "cliff_inclusive",
    "cliff_input",
    "cliff_tokens",
    "input",
    "long_write",
    "read",
    "storage",
    "write",
)
_NULL_RULES = ("capacity", "long_ttl", "lookback", "matched")
"""Fields of the rules that may be null: no limit, or no longer life."""
_NULL_PRICES = ("cliff_tokens", "long_write")
"""Fields of the price that may be null: no cliff, or no longer life."""
_WORDS = {"evict": ("order", EVICTIONS), "marks": ("placement", MARKS)}
"""Fields that hold one word of a few: what such a word is, and which there are."""
_KINDS = tuple(kind.value for kind in Kind)
_MOST = 2**53
_SPEED = Speed(prefill_rate=1.0, cached_rate=1.0, overhead=0.0, decode_rate=1.0)


class _NotANumber(Exception):
    pass


@dataclass(frozen=True, slots=True)
class Call:
    """One request: its start in seconds, its segments (key, version, tokens, kind), its marks.

    The first *long* of its marks ask for the longer life.
    """

    at: float
    request: tuple[tuple[str, int, int, str], ...]
    breakpoints: tuple[int, ...] | None
    long: int = 0


@dataclass(frozen=True, slots=True)
class Case:
    """Calls of one agent to one cache that starts empty; *label* names the case in messages."""

    label: str
    rules: CacheRules
    price: Price
    calls: tuple[Call, ...]


def parse_cases(text: str) -> tuple[dict[str, Any], list[Case]]:
    """Return the JSON document *text* as it stands and the cases it holds.

    The document is an object whose `cases` each have `rules`, `price`, `calls` and, where wanted,
    `name`, `expect`, `breakpoints` (one list for every call, or a list with each call's) and
    `long`; a call has `at`, `request` and, where wanted, `breakpoints` and `long` of its own. The
    rules are fields of `CacheRules`, the price those of `Price` that bill input. Raises InputError,
    with the line or the case, for anything else.
    """
    try:
        document = json.loads(text, parse_constant=_refuse, parse_float=_finite)
    except _NotANumber as error:
        raise InputError(f"{error} is not a number", line=_line_of(text, str(error))) from None
    except json.JSONDecodeError as error:
        raise InputError(f"not valid JSON: {error.msg}", line=error.lineno) from None
    except (RecursionError, ValueError):
        raise InputError("not valid JSON: nested too deep or a number too long") from None
    top = _object(document, "the document", _TOP_KEYS, ("cases",))
    cases = [_case(item, number) for number, item in enumerate(_list(top["cases"], "cases"), 1)]
    return top, cases


def _case(value: Any, number: int) -> Case:
    label = f"case {number}"
    if isinstance(value, dict) and isinstance(value.get("name"), str):
        label += f" ({value['name']})"
    case = _object(value, label, _CASE_KEYS, ("calls", "price", "rules"))
    items = _list(case["calls"], f"{label}: calls")
    common = _common_breakpoints(case.get("breakpoints"), label, len(items))
    long = _whole(case.get("long", 0), f"{label}: long")
    calls = tuple(
        _call(item, f"{label}, call {i}", marks, long)
        for i, (item, marks) in enumerate(zip(items, common, strict=True), 1)
    )
    rules = _rules(case["rules"], label)
    return Case(label, rules, _price(case["price"], label, rules), calls)


def _common_breakpoints(value: Any, label: str, calls: int) -> list[tuple[int, ...] | None]:
    """Return for each call what the case says of its breakpoints."""
    if not isinstance(value, list) or not any(
        item is None or isinstance(item, list) for item in value
    ):
        return [_breakpoints(value, label)] * calls
    if len(value) != calls:
        raise InputError(f"{label}: {len(value)} lists of breakpoints for {calls} calls")
    return [_breakpoints(item, f"{label}, call {i}") for i, item in enumerate(value, 1)]


def _call(value: Any, where: str, common: tuple[int, ...] | None, long: int) -> Call:
    call = _object(value, where, _CALL_KEYS, ("at", "request"))
    marks = _breakpoints(call["breakpoints"], where) if "breakpoints" in call else common
    segments = _list(call["request"], f"{where}: request")
    request = tuple(_segment(item, f"{where}, segment {i}") for i, item in enumerate(segments, 1))
    long = _whole(call.get("long", long), f"{where}: long")
    return Call(_number(call["at"], f"{where}: at"), request, marks, long)


def _segment(value: Any, where: str) -> tuple[str, int, int, str]:
    parts = _list(value, where)
    if len(parts) != 4:
        raise InputError(
            f"{where}: expected [segment id, version, tokens, kind], not {_show(parts)}"
        )
    key, version, tokens, kind = parts
    if not isinstance(key, str):
        raise InputError(f"{where}: the segment id must be text, not {_show(key)}")
    if not isinstance(kind, str) or kind not in _KINDS:
        raise InputError(f"{where}: {unknown('kind', str(kind), _KINDS)}")
    version = _whole(version, f"{where}: version", least=-_MOST)
    return key, version, _whole(tokens, f"{where}: tokens"), kind


def _rules(value: Any, label: str) -> CacheRules:
    where = f"{label}: rules"
    rules = _object(value, where, _RULE_KEYS, ("rule",))
    if not isinstance(rules["rule"], str) or rules["rule"] not in RULES:
        raise InputError(f"{where}: {unknown('rule', str(rules['rule']), RULES)}")
    given = {
        key: _field(key, rules[key], f"{where}: {key}", _NULL_RULES)
        for key in rules
        if key != "rule"
    }
    try:
        return CacheRules(rule=rules["rule"], **given)
    except ValueError as error:
        raise InputError(f"{where}: {error}") from None


def _price(value: Any, label: str, rules: CacheRules) -> Price:
    where = f"{label}: price"
    price = _object(value, where, _PRICE_KEYS, ("input", "read", "write"))
    given = {key: _field(key, price[key], f"{where}: {key}", _NULL_PRICES) for key in price}
    try:
        return Price(label, output=0.0, rules=rules, speed=_SPEED, **given)
    except ValueError as error:
        raise InputError(f"{where}: {error}") from None


def _field(key: str, value: Any, where: str, null: Iterable[str]) -> Any:
    """Return a field of the rules or of the price in the type that its name asks for."""
    if value is None and key in null:
        return None
    if key in ("cliff_inclusive", "renews"):
        if not isinstance(value, bool):
            raise InputError(f"{where} must be true or false, not {_show(value)}")
        return value
    if key in _WORDS:
        noun, words = _WORDS[key]
        if not isinstance(value, str) or value not in words:
            raise InputError(f"{where}: {unknown(noun, str(value), words)}")
        return value
    if key in ("capacity", "cliff_tokens", "lookback", "matched", "minimum", "step"):
        return _whole(value, where)
    return _number(value, where)


def _breakpoints(value: Any, where: str) -> tuple[int, ...] | None:
    if value is None:
        return None
    return tuple(
        _whole(item, f"{where}: breakpoints") for item in _list(value, f"{where}: breakpoints")
    )


def _object(value: Any, where: str, keys: Iterable[str], needed: Iterable[str]) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{where} must be an object, not {_show(value)}")
    for key in value:
        if key not in keys:
            raise InputError(f"{where}: {unknown('key', key, keys)}")
    for key in needed:
        if key not in value:
            raise InputError(f"{where} lacks {key!r}")
    return value


def _list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise InputError(f"{where} must be a list, not {_show(value)}")
    return value


def _whole(value: Any, where: str, least: int = 0) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= _MOST:
        bound = "" if least else " from 0 on"
        raise InputError(f"{where} must be a whole number{bound}, not {_show(value)}")
    return value


def _number(value: Any, where: str) -> float:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not abs(value) <= _MOST or not isfinite(value):
        raise InputError(f"{where} must be a finite number, not {_show(value)}")
    return float(value)


def _show(value: Any) -> str:
    """Return *value* as JSON, cut to a length that fits in a sentence."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _refuse(text: str) -> float:
    raise _NotANumber(text)


def _finite(text: str) -> float:
    number = float(text)
    return number if isfinite(number) else _refuse(text)


def _line_of(text: str, token: str) -> int:
    """Return the line of the first *token* that stands outside quotes."""
    for match in re.finditer(rf'"(?:[^"\\]|\\.)*"|{re.escape(token)}', text):
        if match[0] == token:
            return text.count("\n", 0, match.start()) + 1
    return 1
