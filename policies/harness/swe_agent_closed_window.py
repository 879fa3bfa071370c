"""swe-agent-closed-window: of each file only the newest view stays open."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from policies.harness.caps import CAPS
from policies.harness.editing import Clearing
from policies.options import Options, whole
from policies.parts.capping import CAP, capping
from policies.parts.reads import OlderReads
from policies.parts.stubs import stub

if TYPE_CHECKING:
    from sim.actions import Rewrite
    from sim.view import View

__all__ = ["SweAgentClosedWindow"]


class SweAgentClosedWindow(Clearing):
    """Closes each view of a file once a newer one has come, whatever part of it that shows.

    Source: SWE-agent, agent/history_processors.py at 318f9091, ClosedWindowHistoryProcessor (read
    in source).
    """

    name = "swe-agent-closed-window"
    summary = "of each file, keeps the newest view and puts a note in the place of older ones"
    source = "SWE-agent, ClosedWindowHistoryProcessor"
    version = "SWE-agent 318f9091, read in source"
    options = (
        CAP,
        whole("stub", "what is put in the place of each", "tokens", 10, 1),
    )

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the cap and the processor."""
        yield from capping(options, CAPS["swe-agent"])
        yield _Processor(options["stub"])


class _Processor:
    def __init__(self, tokens: int) -> None:
        self._stub = tokens
        self._views = OlderReads(tokens)

    def start(self, view: View) -> None:
        self._views.start(view)

    def before_call(self, view: View) -> Iterator[Rewrite]:
        for segment in self._views.waiting():
            yield stub(segment, self._stub, "closed")
