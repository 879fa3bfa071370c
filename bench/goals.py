"""What a comparison is asked to find: requirements, and the metric to be least or most."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

from sim.errors import InputError, unknown

if TYPE_CHECKING:
    from sim.metrics import Metric

__all__ = ["Goal", "Requirement", "goal", "metric_named"]

_FORM = re.compile(r"\s*([\w-]+)\s*(<=|>=|=)\s*(\S.*?)\s*")


@dataclass(frozen=True, slots=True)
class Requirement:
    """That a *metric* is ``=``, ``<=`` or ``>=`` a *value*: *relation* is that sign.

    ``=`` is meant of every run, the other two of the mean over runs.
    """

    metric: Metric
    relation: str
    value: float

    def __str__(self) -> str:
        return f"{self.metric.name}{self.relation}{self.value:.9g}"


@dataclass(frozen=True, slots=True)
class Goal:
    """Of the policies that meet all *requirements*, the one whose mean of *metric* is best.

    *better* is ``less`` or ``more``.
    """

    requirements: tuple[Requirement, ...]
    metric: Metric
    better: str

    def words(self) -> dict[str, Any]:
        """Return the words that :func:`goal` takes, for this goal."""
        wanted = "minimise" if self.better == "less" else "maximise"
        return {"require": list(map(str, self.requirements)), wanted: self.metric.name}

    def __str__(self) -> str:
        what = f"{'least' if self.better == 'less' else 'most'} {self.metric.name}"
        where = " and ".join(map(str, self.requirements))
        return f"{what} where {where}" if where else what


def goal(
    require: Iterable[str] = (), minimise: str | None = None, maximise: str | None = None
) -> Goal | None:
    """Return the goal that these words name, None if there are none.

    A requirement is ``METRIC=VALUE``, ``METRIC<=VALUE`` or ``METRIC>=VALUE``. Raises InputError
    for one of another form, an unknown metric, and where it is not said what the best is best in.
    """
    wanted = [require] if isinstance(require, str) else list(require)
    if minimise is not None and maximise is not None:
        raise InputError("one metric decides: give --minimise or --maximise, not both")
    name = maximise if minimise is None else minimise
    if name is None:
        if wanted:
            raise InputError("--require needs --minimise METRIC or --maximise METRIC beside it")
        return None
    requirements = tuple(_requirement(text) for text in wanted)
    return Goal(requirements, metric_named(name), "less" if maximise is None else "more")


def metric_named(name: str) -> Metric:
    """Return the metric *name*; raises InputError, with the nearest name, for an unknown one."""
    from sim.metrics import METRICS

    known = {metric.name: metric for metric in METRICS}
    if name not in known:
        raise InputError(unknown("metric", name, known))
    return known[name]


def _requirement(text: str) -> Requirement:
    match = _FORM.fullmatch(text)
    if match is None:
        raise InputError(
            f"the requirement {text!r} is not METRIC=VALUE, METRIC<=VALUE or METRIC>=VALUE"
        )
    name, relation, value = match.groups()
    try:
        number = float(value)
    except ValueError:
        number = float("nan")
    if not isfinite(number):
        hint = "; a share of 5 % is written 0.05" if value.endswith("%") else ""
        raise InputError(
            f"the requirement {text!r} compares with {value!r}, which is no number{hint}"
        )
    return Requirement(metric_named(name), relation, number)
