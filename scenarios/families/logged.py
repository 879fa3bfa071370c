"""Results that are real logs: sizes, facts and differences as they were measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from scenarios.families.builder import Builder
from scenarios.tool_logs import LogFile
from sim.measured import Point
from sim.script import Arrival, Structure
from sim.segments import Fact
from sim.streams import uniform

__all__ = ["NOT_THERE", "Logged", "Output"]

NOT_THERE = "not there"
"""The prior of a fact whose log says nothing else that could be taken for it."""


@dataclass(frozen=True, slots=True)
class Output:
    """What a tool returns: its size, what it states, and how it gets smaller over its limit.

    A synthetic one may have a *structure*; of a real one *reduced_tokens* was measured.
    """

    tokens: int
    facts: tuple[Fact, ...] = ()
    structure: Structure | None = None
    reduced_tokens: int | None = None


class Logged:
    """Draws the results of one script from the logs of its builder, where there are any.

    Which log a result is, and what of it is asked about, hangs on the result's id alone.
    """

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self._logs = builder.logs
        self._came: dict[str, LogFile] = {}
        """The logs of results that have not been put in order, by id."""
        self._last: dict[str, LogFile] = {}
        """The log of the last result of each tool."""

    def result(self, tool: str, id: str, limit: int) -> Output | None:
        """Return what result *id* of *tool* is, None where it has no log and stays synthetic."""
        log = None if self._logs is None else self._logs.draw(self._builder.seed, tool, id)
        if self._logs is None or log is None:
            return None
        self._came[id] = log
        found = self._logs.measured(log, limit)
        tokens = max(1, found.tokens)
        reduced = max(1, found.reduced_tokens) if tokens > limit else None
        return Output(tokens, self._facts(id, found.points, tokens), reduced_tokens=reduced)

    def _facts(self, id: str, points: Sequence[Point], tokens: int) -> tuple[Fact, ...]:
        """Return what some of *points* say, as many as a result has facts; their order is drawn.

        Without points there are none: what such a text says, and a reduction of it, is not known.
        """
        seed = self._builder.seed
        drawn = sorted(
            range(len(points)), key=lambda number: (uniform(seed, "point", id, number), number)
        )
        facts = []
        for place, number in enumerate(drawn[: self._builder.settings["facts.count"]]):
            point = points[number]
            others = (points[other].says for other in (*drawn[place + 1 :], *drawn[:place]))
            prior = next((says for says in others if says != point.says), NOT_THERE)
            key = f"{id}:f{place + 1}"
            at = min(point.at, tokens - 1)
            facts.append(Fact(key, point.says, prior, point.kept, at))
        return tuple(facts)

    def in_order(self, results: Iterable[Arrival]) -> list[Arrival]:
        """Return the *results* of a turn, each with its difference to the one before of its tool.

        The one before is the one that finished before.
        """
        results = list(results)
        deltas: dict[str, int | None] = {}
        for result in sorted(results, key=lambda each: each.time):
            log = self._came.pop(result.id, None)
            if log is None or self._logs is None:
                continue
            assert result.tool is not None and result.max_result_tokens is not None
            before = self._last.get(result.tool)
            if before is not None:
                deltas[result.id] = self._logs.delta(log, result.max_result_tokens, before)
            self._last[result.tool] = log
        return [
            replace(each, delta_tokens=deltas[each.id]) if deltas.get(each.id) else each
            for each in results
        ]
