"""A gate: a published result, what the simulator makes of it, and whether the two agree."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any

__all__ = [
    "GRADES",
    "INFERRED",
    "RECORDED",
    "STATED",
    "Criterion",
    "Figures",
    "Gate",
    "Inputs",
    "Verdict",
    "rising",
    "unjudged",
]

Figures = Mapping[str, Any]
"""Figures by name; the same name in what is published and in what is simulated is one thing."""

GRADES: Mapping[str, str] = MappingProxyType(
    {
        "P": "the source was read",
        "X": "an excerpt or abstract was read",
        "S": "a third party's note",
        "D": "derived",
    }
)
"""How well a published figure is known."""

INFERRED = "inferred composition"
"""The setting of a gate whose source leaves out sizes or options that had to be filled in."""

STATED = "stated by the source"
"""The setting of a gate whose source says all that its figures rest on."""

RECORDED = "recorded calls"
"""The setting of a gate that replays recorded calls."""


def _silent(done: int, planned: int) -> None:
    """Take a report of progress and show nothing."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a gate may use: the folder of recordings, worker processes, a report of progress.

    *data* is None where no folder was given. *report* is told how many steps of how many are
    done.
    """

    data: Path | None = None
    jobs: int = 1
    report: Callable[[int, int], object] = _silent


@dataclass(frozen=True, slots=True)
class Criterion:
    """One thing asked of a figure: that it lies between *low* and *high*.

    The bounds belong to what passes, unless *open* says they do not; None is no bound. *unit* is
    a word such as ``points`` or ``%``. A *figure* of None means that there was nothing to measure.
    """

    name: str
    figure: float | None
    low: float | None = None
    high: float | None = None
    unit: str = ""
    open: bool = False

    @property
    def passed(self) -> bool | None:
        """Whether the figure is in its bounds; None if there is no figure."""
        if self.figure is None:
            return None
        above = self.low is None or self.low < self.figure
        below = self.high is None or self.figure < self.high
        if self.open:
            return above and below
        return (above or self.figure == self.low) and (below or self.figure == self.high)


def rising(values: Mapping[str, float | None], unit: str = "") -> Criterion:
    """Return the criterion that *values* rise, each strictly above the one before it.

    Its name is their names with ``<`` between, its figure the smallest step from one to the next.
    """
    name = " < ".join(values)
    known = [value for value in values.values() if value is not None]
    if len(known) < len(values):
        return Criterion(name, None, low=0.0, unit=unit, open=True)
    step = min(after - before for before, after in pairwise(known))
    return Criterion(name, step, low=0.0, unit=unit, open=True)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of a gate: figures, the criteria they were held against, and what is not judged.

    *simulated* has the names of what is published where there is such a figure; *context* are
    figures that are shown and not judged. *reason* says why nothing could be judged, empty
    otherwise; *notes* are sentences for a person.
    """

    simulated: Figures = field(default_factory=dict)
    criteria: tuple[Criterion, ...] = ()
    context: Figures = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    reason: str = ""

    @property
    def agrees(self) -> bool | None:
        """Whether every criterion is met; None if one could not be judged and none is broken."""
        passed = [criterion.passed for criterion in self.criteria]
        if False in passed:
            return False
        return None if self.reason or None in passed or not passed else True


def unjudged(reason: str) -> Verdict:
    """Return the verdict of a gate that cannot be judged, for a *reason* that is a sentence."""
    return Verdict(reason=reason)


@dataclass(frozen=True, slots=True)
class Gate:
    """A published result that the simulator is held against.

    *about* is the claim in one line. *published* are the source's own figures, *grade* a key of
    :data:`GRADES`, *setting* one of :data:`INFERRED`, :data:`STATED`, :data:`RECORDED`, and
    *source* names where the figures stand, *headline* the one that stands for all of them in a
    summary. *judge* works the verdict out; it is called only if
    every file of *needs*, paths inside the folder of recordings, is there.
    Raises ValueError for an unknown grade, setting or headline.
    """

    name: str
    about: str
    published: Figures
    grade: str
    setting: str
    source: str
    judge: Callable[[Inputs], Verdict]
    headline: str
    needs: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        if self.grade not in GRADES:
            raise ValueError(f"unknown grade {self.grade!r}; known: {', '.join(GRADES)}")
        if self.setting not in (INFERRED, STATED, RECORDED):
            raise ValueError(f"unknown setting {self.setting!r}")
        if self.headline not in self.published:
            raise ValueError(f"{self.headline!r} is no published figure")

    def run(self, inputs: Inputs) -> Verdict:
        """Return the verdict; where the recordings it needs are not given, one that says so.

        Raises InputError if a recording is not what it should be.
        """
        if self.needs and inputs.data is None:
            return unjudged(f"it replays {', '.join(self.needs)}: name its folder with --data DIR")
        for needed in self.needs:
            if inputs.data is not None and not (inputs.data / needed).is_file():
                return unjudged(f"{inputs.data} has no {needed}")
        return self.judge(inputs)
