"""claude-code: near the window, everything becomes a summary and recent files are read again."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from policies.harness.caps import CAPS
from policies.harness.summarising import Summarising
from policies.options import Options, whole
from policies.parts.asking import FREE_TEXT, Asking
from policies.parts.capping import CAP, capping
from policies.parts.compacting import OnOverflow
from sim.actions import Reread
from sim.segments import originals

if TYPE_CHECKING:
    from sim.actions import Action
    from sim.segments import Segment
    from sim.view import View

__all__ = ["ClaudeCode"]


class ClaudeCode(Summarising):
    """Summarises the whole history and brings back the files that were read last.

    Up to 5 of them; of one over 5,000 tokens the path alone comes back, which leads a reader to
    nothing here. Tools and system prompt, and with it instructions, stay. Skills in use and a
    plan, which the harness puts behind the summary, are not modelled. Where the window is full
    again within 3 turns, 3 times running, it stops. The window in effect is W less what is set
    aside for the summary, so that it acts at about 83 % of 200,000. It acts where the provider
    refuses, too. Source: anthropics/claude-code issues 31806, 12004, 86863 and 72857 (issue
    threads) and a page that quotes the vendor's (secondary); none of it was read in source.
    """

    name = "claude-code"
    summary = "near the window, summarises everything and reads the most recent files again"
    source = "Claude Code, issue threads"
    version = "issues of 2025 and 2026, issue threads"
    options = (
        CAP,
        whole("reserve", "what of W is set aside for the summary", "tokens", 20_000, 0),
        whole("buffer", "what of the rest it leaves free", "tokens", 13_000, 0),
        whole("files", "most recent files that are read again", "files", 5, 0),
        whole("file", "longest file that is read again", "tokens", 5_000, 0),
        whole("refilled", "turns within which a window is full again too soon", "turns", 3, 0),
        whole("thrash", "how often running that stops it; 0: never", "times", 3, 0),
        *FREE_TEXT,
    )

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the cap and the compaction."""
        yield from capping(options, CAPS["claude-code"])
        yield _Compact(Asking.of(options), options)


class _Compact(OnOverflow):
    def __init__(self, asking: Asking, options: Options) -> None:
        super().__init__(asking)
        self._free: int = options["reserve"] + options["buffer"]
        self._files: int = options["files"]
        self._file: int = options["file"]
        self._soon: int = options["refilled"]
        self._thrash: int = options["thrash"]
        self._last: int | None = None
        """The turn of the last compaction."""
        self._running = 0
        """How often running the window was full again too soon."""

    def due(self, view: View) -> bool:
        return view.tokens >= view.context_window - self._free

    def compact(self, view: View) -> Generator[Action, None, bool]:
        soon = self._last is not None and view.turn - self._last <= self._soon
        running = self._running + 1 if soon else 0
        if self._thrash and running >= self._thrash:
            return False
        came = yield from super().compact(view)
        if came:
            self._last, self._running = view.turn, running
        return came

    def afterwards(self, view: View, sources: Sequence[Segment]) -> Iterator[Action]:
        read = [s for s in originals(sources) if s.path is not None and s.copy and s.admitted]
        newest = {s.path: s for s in sorted(read, key=lambda s: (s.admitted_turn, s.seq))}
        for segment in list(newest.values())[-self._files or len(newest) :]:
            absent = not segment.resident and segment.page_of is None
            if absent and view.fetched_tokens(segment) <= self._file:
                yield Reread(segment.id)
