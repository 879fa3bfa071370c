"""The ceiling: how large a loop's window can get, from what its tools declare, before it runs.

First fill, and for each attempt the declared budget of every result and the rest of what it brings,
against the window. Source: S3. Sizes are whole tokens; exactly full still fits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from bench.worst_case import is_result, stages, tool_of

if TYPE_CHECKING:
    from sim.script import Arrival, Script

__all__ = [
    "LEAST",
    "POLICY",
    "Ceiling",
    "GivenUp",
    "Remedy",
    "Step",
    "Surrender",
    "capped",
    "give_up",
]

LEAST = 40
"""The smallest budget that a tool can declare."""

POLICY = "tiered"
"""The policy whose order of giving up is shown."""

_ENDS = ("", "attempts exhausted")


@dataclass(frozen=True, slots=True)
class Step:
    """What an attempt, a turn or the first fill can bring: budgets of results, and the rest."""

    name: str
    turn: int
    results: tuple[tuple[str, int], ...]
    """Tool and declared budget of each result, in order."""
    material: int
    attempt: bool = False

    @property
    def budgets(self) -> int:
        """Tokens of all results at their budgets."""
        return sum(tokens for _, tokens in self.results)

    @property
    def adds(self) -> int:
        """Tokens of all it can bring."""
        return self.budgets + self.material


@dataclass(frozen=True, slots=True)
class Remedy:
    """One thing that, alone, would make the loop fit: *what* is *now* and may be at most *to*.

    Of the ``budget`` it is the least. *to* is None where it alone cannot do it. A ``tool`` has its
    name in *tool*.
    """

    what: str
    now: int
    to: int | None
    tool: str | None = None


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The worst-case growth of a loop: *fill*, of which *pinned* cannot go, then the *steps*."""

    budget: int
    fill: Step
    pinned: int
    steps: tuple[Step, ...]

    @classmethod
    def of(cls, script: Script) -> Ceiling:
        """Return the ceiling of a worst case (see :mod:`bench.worst_case`)."""
        fill, found = stages(script)
        return cls(
            script.settings["budget"],
            _step("first fill", 1, fill),
            sum(arrival.tokens for arrival in fill if arrival.pinned),
            tuple(
                _step(s.name, s.turn, s.arrivals, s.growth, attempt=s.attempt is not None)
                for s in found
            ),
        )

    @property
    def running(self) -> list[int]:
        """The worst case after the fill and after each step."""
        return list(accumulate(step.adds for step in self.everything))

    @property
    def everything(self) -> tuple[Step, ...]:
        """The fill and the steps."""
        return (self.fill, *self.steps)

    @property
    def total(self) -> int:
        """The worst case at the end."""
        return self.running[-1]

    @property
    def over(self) -> int:
        """By how much that is more than the budget, at least 0."""
        return max(0, self.total - self.budget)

    @property
    def breaks_at(self) -> Step | None:
        """The first step with which it no longer fits, None if it does."""
        return next(
            (s for s, at in zip(self.everything, self.running, strict=True) if at > self.budget),
            None,
        )

    @property
    def tools(self) -> dict[str, list[int]]:
        """The budgets of all results by tool, the one that carries the most first."""
        found: dict[str, list[int]] = {}
        for step in self.everything:
            for tool, tokens in step.results:
                found.setdefault(tool, []).append(tokens)
        return dict(sorted(found.items(), key=lambda pair: (-sum(pair[1]), pair[0])))

    def remedies(self) -> list[Remedy]:
        """Return what would make it fit, each alone; nothing if it does."""
        return list(self._remedies()) if self.over else []

    def _remedies(self) -> Iterator[Remedy]:
        for tool, budgets in self.tools.items():
            least = capped(budgets, sum(budgets) - self.over)
            least = None if least is None or least < LEAST else least
            yield Remedy("tool", max(budgets), least, tool)
        fill = self.fill.adds - self.over
        yield Remedy("fill", self.fill.adds, fill if fill >= self.pinned else None)
        material = [step.material for step in self.steps if step.material]
        if material:
            to = capped(material, sum(material) - self.over)
            yield Remedy("material", max(material), to)
        if self.steps:
            yield self._fewer()
        yield Remedy("budget", self.budget, self.total)

    def _fewer(self) -> Remedy:
        """Return how many attempts, or turns where there are none, fit."""
        attempts = [step for step in self.steps if step.attempt]
        counted = attempts or list(self.steps)
        fit = self._fitting()
        count = sum(step in fit for step in counted)
        return Remedy("attempts" if attempts else "turns", len(counted), count or None)

    def _fitting(self) -> list[Step]:
        after = zip(self.steps, self.running[1:], strict=True)
        return [step for step, tokens in after if tokens <= self.budget]


@dataclass(frozen=True, slots=True)
class GivenUp:
    """One thing that a policy gives up: *segments* of *before* tokens leave *after*.

    *how* is ``line`` (one line stands for them), ``evicted``, or ``cut`` by the backstop.
    """

    step: str
    turn: int
    how: str
    segments: tuple[str, ...]
    before: int
    after: int
    reason: str


@dataclass(frozen=True, slots=True)
class Surrender:
    """What a policy gives up in the worst case, in order, and the largest request it sends.

    *ended* says why the run could not go on, in the step *at*; both are empty if it could.
    """

    given_up: tuple[GivenUp, ...]
    peak: int | None
    ended: str = ""
    at: str = ""


def give_up(script: Script, policy: str = POLICY) -> Surrender:
    """Run a worst case under *policy*, for real, and return what it gives up."""
    from bench.cells import run_one
    from sim.records import to_dicts

    metrics, records = run_one(script, policy)
    _, found = stages(script)
    names = {stage.turn: stage.name for stage in found}
    events = list(to_dicts(records))
    given = tuple(
        each
        for event in events
        for each in _given_up(event, names.get(event["turn"], "first fill"))
    )
    end = events[-1]
    ended = "" if end["reason"] in _ENDS else str(end["reason"])
    at = names.get(end["turn"], f"turn {end['turn']}") if ended else ""
    return Surrender(given, metrics["peak_tokens"], ended, at)


def _given_up(event: Mapping[str, Any], step: str) -> Iterator[GivenUp]:
    turn = event["turn"]
    match event["type"]:
        case "rewrite":
            segments = tuple(event["sources"])
            before, after = event["before"], event["after"]
            yield GivenUp(step, turn, "line", segments, before, after, event["reason"])
        case "evict":
            segments = (event["segment"],)
            yield GivenUp(step, turn, "evicted", segments, event["tokens"], 0, event["reason"])
        case "truncate":
            segments = (event["segment"],)
            yield GivenUp(step, turn, "cut", segments, event["tokens"], 0, "backstop")


def capped(sizes: Iterable[int], allowed: int) -> int | None:
    """Return the largest cap under which *sizes* sum to at most *allowed*; None if there is none.

    Sizes below the cap stay as they are. *allowed* is less than the sum of *sizes*.
    """
    if allowed < 0:
        return None
    ordered = sorted(sizes)
    for index, size in enumerate(ordered):
        left = len(ordered) - index
        if size * left > allowed:
            return allowed // left
        allowed -= size
    return ordered[-1]


def _step(
    name: str, turn: int, arrivals: Iterable[Arrival], growth: int = 0, attempt: bool = False
) -> Step:
    arrivals = list(arrivals)
    results = tuple((tool_of(a), a.tokens) for a in arrivals if is_result(a))
    rest = sum(a.tokens for a in arrivals if not is_result(a))
    return Step(name, turn, results, rest + growth, attempt)
