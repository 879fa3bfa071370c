"""Axes: the keys that a sweep varies, each with the values or the range it goes through."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sim.errors import InputError, unknown

__all__ = ["Axis", "axes"]

_FORM = "KEY=START:STOP:COUNT, KEY=START:STOP:COUNT:log or KEY=A,B,C"


@dataclass(frozen=True, slots=True)
class Axis:
    """One varied *key*: a key of the scenario, or an option of *policy*, ``POLICY:OPTION``.

    It has either *values*, as they are written, or a range from *low* to *high*, both included,
    which a grid cuts into *count* values (None: only a design that needs none can use it), evenly
    or, with *log*, by equal ratios. Of a *whole* key every value of the range is a whole number.
    """

    key: str
    values: tuple[str, ...] = ()
    low: float = 0.0
    high: float = 0.0
    count: int | None = None
    log: bool = False
    whole: bool = False
    policy: str | None = None

    @property
    def option(self) -> str:
        """The name of the policy's option, or the key itself."""
        return self.key if self.policy is None else self.key.rpartition(":")[2]

    @property
    def size(self) -> int | None:
        """How many values a grid has of it, None for a range without a count."""
        return len(self.values) or self.count

    def at(self, share: float) -> Any:
        """Return the value at *share* of the way, 0 ≤ share < 1: each value is as likely."""
        if self.values:
            return self.values[int(share * len(self.values))]
        if self.whole:
            low, high = self._scaled(self.low), self._scaled(self.high + 1.0)
            return min(int(self._back(low + share * (high - low))), int(self.high))
        return self._between(share)

    def steps(self) -> tuple[Any, ...]:
        """Return the values of a grid, in order.

        Raises InputError for a range without a count, and for one of too few whole numbers.
        """
        if self.values:
            return self.values
        if self.count is None:
            raise InputError(
                f"--vary {self.key}: a grid needs the number of values, {self.key}=START:STOP:COUNT"
            )
        if self.count == 1:
            if self.low < self.high:
                raise InputError(
                    f"--vary {self.key}: one value cannot go from {self.low:g} to {self.high:g}; "
                    f"write {self.key}={self.low:g}"
                )
            return (int(self.low) if self.whole else self.low,)
        found = [self._between(step / (self.count - 1)) for step in range(self.count)]
        found[-1] = self.high
        if not self.whole:
            return tuple(found)
        numbers = tuple(dict.fromkeys(round(value) for value in found))
        if len(numbers) < self.count:
            raise InputError(
                f"--vary {self.key}: there are no {self.count:,} whole numbers to go through from "
                f"{self.low:g} to {self.high:g}"
            )
        return numbers

    def _between(self, share: float) -> float:
        low, high = self._scaled(self.low), self._scaled(self.high)
        return self._back(low + share * (high - low))

    def _scaled(self, value: float) -> float:
        return math.log(value) if self.log else value

    def _back(self, value: float) -> float:
        return math.exp(value) if self.log else value


def axes(texts: Iterable[str], keys: Mapping[str, Any], policies: Mapping[str, str]) -> list[Axis]:
    """Return the axes that *texts* describe, in their order.

    *keys* are those of the scenario, by name (``scenarios.keys.Key``); *policies* the specs, by
    label, of those that are compared, whose options can be varied as ``POLICY:OPTION``. Raises
    InputError for a text that is of neither form, for an unknown key or policy, for a key that
    comes twice, and for an option that its policy was given already.
    """
    found: dict[str, Axis] = {}
    for text in texts:
        key, equals, rest = (part.strip() for part in text.partition("="))
        if not key or not equals or not rest:
            raise InputError(f"--vary {text!r} is not {_FORM}")
        if key in found:
            raise InputError(f"--vary names {key} twice")
        found[key] = _axis(key, rest, keys, policies)
    if not found:
        raise InputError(f"there is nothing to vary: give --vary {_FORM}")
    return list(found.values())


def _axis(key: str, rest: str, keys: Mapping[str, Any], policies: Mapping[str, str]) -> Axis:
    policy, whole = None, False
    if ":" in key:
        policy = _label(key, policies)
        whole = _takes_whole(*key.rsplit(":", 1))
    elif key in keys:
        whole = keys[key].sort == "whole"
    else:
        raise InputError(f"--vary: {unknown('key', key, keys)}")
    numbers = _range(rest)
    if numbers is None:
        return _listed(key, rest, policy)
    low, high, count, log = numbers
    if not low < high and count != 1:
        raise InputError(f"--vary {key}: the range {rest} does not go up")
    if log and low <= 0.0:
        raise InputError(f"--vary {key}: a range by equal ratios begins above 0, not at {low:g}")
    if whole and not (low.is_integer() and high.is_integer()):
        raise InputError(f"--vary {key} takes whole numbers, not {rest}")
    return Axis(key, (), low, high, count, log, whole, policy)


def _label(key: str, policies: Mapping[str, str]) -> str:
    """Return the label of the one policy that *key* names; it may have options of its own."""
    from policies import registry
    from policies.options import split

    name, _, option = key.rpartition(":")
    found = [label for label, spec in policies.items() if registry.head(spec) == name]
    if not found:
        names = [registry.head(spec) for spec in policies.values()]
        raise InputError(f"--vary {key}: {unknown('policy', name, names)}")
    if len(found) > 1:
        raise InputError(f"--vary {key}: {' and '.join(found)} are both {name}; sweep one of them")
    given = policies[found[0]][len(name) + 1 :]
    if given and option in split(given, name):
        raise InputError(f"{key} is set and varied; leave one of them out")
    return found[0]


def _listed(key: str, rest: str, policy: str | None) -> Axis:
    values = tuple(value.strip() for value in rest.split(","))
    if "" in values:
        raise InputError(f"--vary {key}: a value of {rest!r} is empty")
    for value in values:
        if values.count(value) > 1:
            raise InputError(f"--vary {key} lists {value} twice")
    return Axis(key, values, policy=policy)


def _range(text: str) -> tuple[float, float, int | None, bool] | None:
    """Return start, stop, count and whether by equal ratios; None for what is a list."""
    parts = [part.strip() for part in text.split(":")]
    log = len(parts) > 2 and parts[-1] == "log"
    if log:
        parts.pop()
    if not 2 <= len(parts) <= 3:
        return None
    try:
        low, high = float(parts[0]), float(parts[1])
    except ValueError:
        return None
    if not (math.isfinite(low) and math.isfinite(high)):
        return None
    if len(parts) == 2:
        return low, high, None, log
    try:
        count = int(parts[2])
    except ValueError:
        count = 0
    if count < 1:
        raise InputError(f"--vary: {parts[2]!r} in {text} is no number of values of at least 1")
    return low, high, count, log


def _takes_whole(policy: str, option: str) -> bool:
    """Whether *option* of *policy* takes whole numbers; raises InputError if there is none."""
    from policies import registry

    if policy not in registry.names():
        return False
    known = {o.name: o for o in registry.options(policy)}
    known |= {o.alias: o for o in registry.options(policy) if o.alias}
    if option not in known:
        raise InputError(f"--vary {policy}: {unknown('option', option, known)}")
    try:
        known[option].parse("1.5")
    except ValueError:
        try:
            known[option].parse("1000")
        except ValueError:
            return False
        return True
    return False
