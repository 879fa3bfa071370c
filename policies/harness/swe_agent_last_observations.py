"""swe-agent-last-observations: all but the newest results are elided, every so many steps."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from policies.harness.caps import CAPS
from policies.harness.editing import Clearing
from policies.options import Options, whole, words
from policies.parts.capping import CAP, capping
from policies.parts.clearing import is_result
from policies.parts.stubs import Newest, Unstubbed, stub

if TYPE_CHECKING:
    from sim.actions import Rewrite
    from sim.segments import Segment
    from sim.view import View

__all__ = ["SweAgentLastObservations"]


class SweAgentLastObservations(Clearing):
    """Elides all but the newest results; with polling only as often as so many have come.

    The count of results that is looked at is that of the last multiple of ``polling``, the
    instance template, which stays, counted as the first. So the number of those that stay moves
    between n and n + polling. n must be given in the harness; 5 is the classic value. A tag that a
    tool gives its results keeps them or elides even the newest; the second wins. Source: SWE-agent,
    agent/history_processors.py at 318f9091, LastNObservations (read in source).
    """

    name = "swe-agent-last-observations"
    summary = "elides all results but the newest 5, at every step or every so many"
    source = "SWE-agent, LastNObservations"
    version = "SWE-agent 318f9091, read in source"
    options = (
        CAP,
        whole("n", "newest results that stay", "results", 5, 1),
        whole("polling", "results between two looks", "results", 1, 1),
        words("keep", "tools whose results stay"),
        words("remove", "tools whose results go at once"),
        whole("stub", "what is put in the place of each", "tokens", 10, 1),
    )

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the cap and the processor."""
        yield from capping(options, CAPS["swe-agent"])
        yield _Processor(options)


class _Processor:
    def __init__(self, options: Options) -> None:
        self._n: int = options["n"]
        self._polling: int = options["polling"]
        self._keep: tuple[str, ...] = options["keep"]
        self._remove: tuple[str, ...] = options["remove"]
        self._stub: int = options["stub"]
        self._results = Newest(is_result)
        self._old = Unstubbed(self._goes, self._stub)
        self._removed = Unstubbed(self._goes_at_once, self._stub)

    def start(self, view: View) -> None:
        for part in (self._results, self._old, self._removed):
            part.start(view)

    def before_call(self, view: View) -> Iterator[Rewrite]:
        observations = 1 + len(self._results)
        elided = observations // self._polling * self._polling - self._n - 1
        begin = self._results.begin(len(self._results) - elided) if elided > 0 else -math.inf
        for result in self._old.in_front_of(view, begin):
            yield stub(result, self._stub, "elided")
        for result in self._removed.in_front_of(view, math.inf):
            yield stub(result, self._stub, "elided")

    def _goes(self, segment: Segment) -> bool:
        return is_result(segment) and segment.tool not in self._keep

    def _goes_at_once(self, segment: Segment) -> bool:
        return is_result(segment) and segment.tool in self._remove
