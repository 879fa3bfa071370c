"""A scenario, loaded and checked: something that makes the script of a run for any seed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from scenarios.complaint import Complaint
from scenarios.tools import Tool
from sim.errors import InputError
from sim.script import Arrival, Attempt, Compaction, Script, Stimulus

__all__ = ["AGENTS", "PinsOverBudget", "Scenario", "Source", "capabilities", "pins_over_budget"]

AGENTS = "agents"
"""The common key that says how many agents share one server."""


class PinsOverBudget(InputError):
    """The segments pinned in the first turn of a script exceed its budget: no policy can run it."""


@dataclass(frozen=True, slots=True)
class Source:
    """By what a scenario is loaded again: its *name* or path, and the *settings* laid over it."""

    name: str
    settings: Mapping[str, Any]


@dataclass(frozen=True)
class Scenario:
    """What a run is made from: a name, complete settings and a maker of scripts.

    *settings* are flat and dotted, typed and complete: every common key that is set, `price`,
    `reader` and what overrides the price row (`cache.*`) among them. *make* must be picklable, so
    that a worker process can call it: a module's function, or a `functools.partial` of one. It
    takes a seed and, where *seeded*, a replicate of it.

    Raises InputError for several agents of a workload that is not seeded: they would be one.
    """

    name: str
    kind: str
    """``story``, ``family``, ``pinned``, ``replay`` or ``script``."""
    settings: Mapping[str, Any]
    make: Callable[..., Script]
    seeded: bool = False
    """False: every seed gives the same workload, one run says all."""
    flips: tuple[str, ...] = ()
    """Names of the patches that change the outcome; ``NAME/FLIP`` loads one."""
    variants: tuple[str, ...] = ()
    """Names of the patches that show another case."""
    about: str = ""
    tools: Mapping[str, Tool] = field(default_factory=dict)
    """What its tools declare, by name; a family and a script have it in their arrivals alone."""
    notes: tuple[str, ...] = ()
    """What a user should be told about it, a sentence each."""
    complaint: Complaint | None = None
    """The failure that its file tells of; None under a flip or variant."""
    source: Source | None = None
    """By what ``scenarios.catalogue.load`` made it; None for a recording and for Python's own."""

    def __post_init__(self) -> None:
        if self.agents > 1 and not self.seeded:
            raise InputError(
                f"agents of {self.name!r} must be 1, not {self.agents:,}: only a family makes "
                "a script for each of several agents"
            )

    @property
    def agents(self) -> int:
        """How many agents share one server, each with a script of its own."""
        count: int = self.settings.get(AGENTS, 1)
        return count

    def script(self, seed: int, replicate: int = 0) -> Script:
        """Return the script of *seed*, for the agent *replicate*.

        Raises PinsOverBudget if its first pins exceed the budget, ValueError for a replicate above
        0 of a workload that is not seeded.
        """
        if replicate and not self.seeded:
            raise ValueError(f"{self.name!r} is one workload and has no replicate {replicate}")
        script = self.make(seed, replicate) if replicate else self.make(seed)
        fault = pins_over_budget(script.stimuli, script.settings["budget"])
        if fault is not None:
            raise PinsOverBudget(f"scenario {self.name!r}: {fault}")
        return script


def pins_over_budget(stimuli: Iterable[Stimulus], budget: int) -> str | None:
    """Return the sentence that says the pinned segments of turn 1 exceed *budget*, or None."""
    pinned = [s for s in stimuli if isinstance(s, Arrival) and s.turn == 1 and s.pinned]
    tokens = sum(s.tokens for s in pinned)
    if tokens <= budget:
        return None
    parts = ", ".join(f"{s.id} {s.tokens:,}" for s in pinned[:5])
    more = f" and {len(pinned) - 5} more" if len(pinned) > 5 else ""
    return (
        f"the segments pinned in turn 1 hold {tokens:,} tokens ({parts}{more}), "
        f"more than the budget of {budget:,}"
    )


def capabilities(stimuli: Iterable[Stimulus], attempts: Iterable[Attempt] = ()) -> frozenset[str]:
    """Return what a workload offers to policies that need it.

    ``roles``: its segments have kinds and tools, so that what is superseded can be told; every
    script has them. ``ranks``: some file has a retrieval rank. ``facts``: some segment has one.
    ``recording``: it says where the harness of a recording compacted.
    """
    offered = {"roles"}
    guarded = (s for attempt in attempts for s in (*attempt.ok, *attempt.failed))
    for stimulus in (*stimuli, *guarded):
        if isinstance(stimulus, Compaction):
            offered.add("recording")
        if isinstance(stimulus, Arrival):
            if stimulus.rank is not None:
                offered.add("ranks")
            if stimulus.facts:
                offered.add("facts")
    return frozenset(offered)
