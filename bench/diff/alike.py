"""Whether two results may be compared: the same workloads, at the same settings and prices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bench.results import Results
from sim.errors import InputError

__all__ = ["check_alike"]

_PLACES = frozenset({"price", "prices", "tool_logs"})
"""Settings that say where something is found: what is found there is compared itself."""

_SPREAD = ("vary", "design", "points")
"""What the settings of a sweep follow from; a comparison has none of them."""

_MOST = 3
"""Differences that a sentence names."""


def check_alike(a: Results, b: Results) -> None:
    """Raise InputError if runs of *a* and *b* cannot be compared, and say what differs.

    Of the scenarios that both have, kind, settings, prices and stimuli must be the same; the
    stimuli of two sweeps can be compared where both have the same settings.
    """
    if a.key != b.key:
        one, other = (_words(each.key[:-4]) for each in (a, b))
        raise InputError(f"the two do not vary the same settings: {one} and {other}")
    if a.manifest.get("strict") != b.manifest.get("strict"):
        raise InputError("only one of the two was run with --strict")
    others = b.manifest["scenarios"]
    for name, mine in a.manifest["scenarios"].items():
        if isinstance(mine, Mapping) and isinstance(others.get(name), Mapping):
            _check_scenario(name, mine, others[name], frozenset(a.key))
            if all(a.manifest.get(what) == b.manifest.get(what) for what in _SPREAD):
                _check_stimuli(name, mine, others[name])


def _check_scenario(
    name: str, one: Mapping[str, Any], other: Mapping[str, Any], varied: frozenset[str]
) -> None:
    kinds = [facts.get("kind") for facts in (one, other)]
    if kinds[0] != kinds[1]:
        raise InputError(f"{name} is a {kinds[0]} in the one and a {kinds[1]} in the other")
    _same(f"settings of {name}", one.get("settings"), other.get("settings"), _PLACES | varied)
    rows = _prices(other)
    for price, row in _prices(one).items():
        if price in rows:
            _same(f"prices of {price}", row, rows[price])


def _check_stimuli(name: str, one: Mapping[str, Any], other: Mapping[str, Any]) -> None:
    meets = _mapping(other.get("stimuli"))
    for seed, met in _mapping(one.get("stimuli")).items():
        if meets.get(seed, met) != met:
            raise InputError(
                f"{name} is not the same workload in the two: what seed {seed} meets differs"
            )


def _same(what: str, one: object, other: object, but: frozenset[str] = frozenset()) -> None:
    mine, theirs = _mapping(one), _mapping(other)
    apart = [
        f"{key} {mine.get(key)} and {theirs.get(key)}"
        for key in sorted({*mine, *theirs} - but)
        if mine.get(key) != theirs.get(key)
    ]
    if apart:
        more = f", and {len(apart) - _MOST} more" if len(apart) > _MOST else ""
        raise InputError(f"the {what} differ: {', '.join(apart[:_MOST])}{more}")


def _prices(facts: Mapping[str, Any]) -> dict[str, Any]:
    rows = facts.get("prices")
    return {row["name"]: row for row in rows or () if isinstance(row, Mapping) and "name" in row}


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _words(names: tuple[str, ...]) -> str:
    return ", ".join(names) or "none"
