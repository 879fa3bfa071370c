"""Stopping on precision: seeds are added until intervals are narrow enough, at fixed looks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from math import ceil, isfinite
from typing import TYPE_CHECKING, Any

from bench.goals import metric_named
from bench.samples import Row, Runs, comparable, grouped, samples
from bench.statistics import difference, estimate, zero_limit
from bench.summary import baseline_of
from sim.errors import InputError

if TYPE_CHECKING:
    from bench.statistics import Sample
    from sim.metrics import Metric

__all__ = [
    "FIRST",
    "GROWTH",
    "MOST",
    "Precision",
    "Width",
    "looks",
    "precise",
    "precision",
    "told",
    "widths",
]

FIRST = 20
"""Seeds of the first look: with fewer, an interval knows too little of its own width."""

GROWTH = 1.5
"""How many times the seeds of one look the next one has, rounded up."""

MOST = 300
"""Seeds of the last look where it is not said."""


@dataclass(frozen=True, slots=True)
class Precision:
    """The largest *half_width* of an interval of *metric*, of the baseline's mean if *relative*."""

    metric: Metric
    half_width: float
    relative: bool

    def __str__(self) -> str:
        if self.relative:
            return f"{self.metric.name}={100 * self.half_width:.9g}%"
        return f"{self.metric.name}={self.half_width:.9g}"


@dataclass(frozen=True, slots=True)
class Width:
    """How wide a policy's interval is: its *half_width*, None if it has none, and the *largest*."""

    scenario: str
    price: str
    policy: str
    half_width: float | None
    largest: float

    @property
    def wide(self) -> bool:
        """Whether that is not narrow enough."""
        return self.half_width is None or self.half_width > self.largest


def precision(text: str) -> Precision:
    """Return the precision that ``METRIC=HALFWIDTH`` or ``METRIC=PERCENT%`` asks for.

    Raises InputError for one of another form, an unknown metric, and what is no number above 0.
    """
    name, equals, value = (part.strip() for part in text.partition("="))
    if not equals or not name:
        raise InputError(f"{text!r} is not METRIC=HALFWIDTH or METRIC=PERCENT%")
    metric = metric_named(name)
    relative = value.endswith("%")
    try:
        number = float(value.removesuffix("%"))
    except ValueError:
        number = 0.0
    if not isfinite(number) or number <= 0.0:
        raise InputError(f"{text!r}: a half-width is a number above 0, not {value!r}")
    return Precision(metric, number / 100.0 if relative else number, relative)


def looks(most: int) -> list[int]:
    """Return the numbers of seeds at which is looked, the last of them *most*: a fixed schedule."""
    found = []
    seeds = FIRST
    while seeds < most:
        found.append(seeds)
        seeds = ceil(GROWTH * seeds)
    return [*found, most]


def told(wanted: Precision, seen: Sequence[tuple[int, Sequence[Width]]]) -> dict[str, Any]:
    """Return what the manifest says of the looks that were *seen*: seeds, and the widths there.

    ``reached`` says whether the last of them was precise enough, ``looks`` has the seeds and the
    widest interval of each, and ``says`` the same as a sentence.
    """
    lines = [
        {"seeds": seeds, **(asdict(found[0]) if found else {}), "precise": precise(found)}
        for seeds, found in seen
    ]
    seeds, found = seen[-1]
    at = ", ".join(f"{n:,}" for n, _ in seen)
    if precise(found):
        says = f"reached at {seeds:,} seeds (looks: {at})"
    elif found:
        widest = found[0]
        half = "no interval, with fewer than two values to take it of"
        if widest.half_width is not None:
            half = f"a half-width of {widest.half_width:.4g}, over {widest.largest:.4g}"
        who = f"{widest.policy} on {widest.scenario} has {half}"
        says = f"not reached by --seeds {seeds:,} (looks: {at}): {who}"
    else:
        says = f"not reached by --seeds {seeds:,} (looks: {at}): no policy was run on several"
    return {
        "asked": str(wanted),
        "reached": precise(found),
        "looks": lines,
        "says": f"--until-ci {wanted}: {says}",
    }


def precise(found: Sequence[Width]) -> bool:
    """Return whether the *found* widths, of which there must be some, are all narrow enough."""
    return bool(found) and not any(width.wide for width in found)


def widths(rows: Iterable[Row], wanted: Precision, baseline: str | None) -> list[Width]:
    """Return how wide the interval of each policy of *rows* is, widest for what is wanted first.

    It is that of the paired difference to the *baseline*, by default that of the summary; of the
    mean where there is no other policy. A share that was always 0 counts as wide as its exact
    limit. Policies that are not applicable, and scenarios that are run once, have none.
    """
    found = []
    for (scenario, price), runs in grouped(rows).items():
        tried = {
            policy: mine
            for policy, mine in runs.items()
            if any(row["status"] != "not-applicable" for row in mine)
        }
        if max((len(mine) for mine in tried.values()), default=0) > 1:
            found += _of_group(scenario, price, tried, wanted, baseline or baseline_of(runs))
    return sorted(found, key=_excess, reverse=True)


def _of_group(
    scenario: str, price: str, runs: Runs, wanted: Precision, baseline: str
) -> list[Width]:
    values = samples(runs, comparable(wanted.metric))
    base = values.pop(baseline) if baseline in values and len(values) > 1 else None
    middle = estimate(next(iter(values.values())) if base is None else base).mean
    largest = wanted.half_width * (abs(middle or 0.0) if wanted.relative else 1.0)
    return [
        Width(scenario, price, policy, _half_width(mine, base, wanted.metric), largest)
        for policy, mine in values.items()
    ]


def _half_width(values: Sample, base: Sample | None, metric: Metric) -> float | None:
    half = (estimate(values) if base is None else difference(values, base)).half_width
    own = estimate(values)
    if half is not None and metric.unit == "share" and own.mean == 0.0:
        return max(half, zero_limit(own.n) or 0.0)
    return half


def _excess(width: Width) -> tuple[bool, float]:
    """Return the key that sorts widths: those without an interval are the widest."""
    half = width.half_width or 0.0
    if width.largest == 0.0:
        return width.half_width is None, float("inf") if half else 0.0
    return width.half_width is None, half / width.largest
