"""The role of each segment in the agent's loop: what is current, and what has been superseded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from sim.segments import WORD_KINDS, Kind, Segment

__all__ = ["Roles"]


class Roles:
    """Tracks the newest result per tool, the newest attempt, named paths and written paths.

    A result is superseded as soon as a newer one of its tool arrives, admitted or not; an
    attempt's words and diff as soon as a newer attempt begins.
    """

    __slots__ = ("_latest", "_named", "_words", "attempt", "last_result", "written")

    def __init__(self) -> None:
        self.attempt: int | None = None
        self.last_result: Segment | None = None
        self.written: dict[str, None] = {}
        """Paths written in the current attempt, in order."""
        self._latest: dict[str, Segment] = {}
        self._named: Counter[str] = Counter()
        self._words: dict[int, list[Segment]] = {}

    def named(self, path: str | None) -> bool:
        """Whether a current diagnostic, the newest result of its tool, names *path*."""
        return path is not None and self._named[path] > 0

    def latest(self, tool: str) -> Segment | None:
        """Return the most recent result of *tool*, resident or not."""
        return self._latest.get(tool)

    def words(self, attempt: int) -> list[Segment]:
        """Return the words and diffs that belong to *attempt*, oldest first."""
        return self._words.get(attempt, [])

    def begin(self, attempt: int) -> tuple[list[Segment], list[str]]:
        """Make *attempt* the current one.

        Returns the segments it supersedes and the paths written in the one before, whose role
        ends with it.
        """
        if self.attempt is not None and attempt <= self.attempt:
            return [], []
        before, self.attempt = self.attempt, attempt
        paths = list(self.written)
        self.written.clear()
        superseded = [] if before is None else list(self.words(before))
        for segment in superseded:
            segment.superseded = True
        return superseded, paths

    def arrive(self, segment: Segment) -> tuple[list[Segment], list[str]]:
        """Take in an arrival; return the segments and paths whose role it changes."""
        changed: list[Segment] = []
        paths: list[str] = []
        if segment.attempt is not None:
            changed, paths = self.begin(segment.attempt)
            if segment.kind in WORD_KINDS:
                self._words.setdefault(segment.attempt, []).append(segment)
                segment.superseded = segment.attempt != self.attempt
        if (
            segment.page_of is None
            and segment.kind is Kind.TOOL_RESULT
            and segment.tool is not None
        ):
            changed.extend(self._overtake(segment, paths))
        return changed, paths

    def _overtake(self, result: Segment, paths: list[str]) -> Iterable[Segment]:
        assert result.tool is not None
        older, self._latest[result.tool] = self._latest.get(result.tool), result
        last, self.last_result = self.last_result, result
        result.previous = older
        for segment in (*_rests(older), *_rests(last)):
            segment.overtaken = True
            yield segment
        if older is not None:
            for segment in _rests(older):
                segment.superseded = True
            self._named.subtract(older.names)
            paths.extend(older.names)
        self._named.update(result.names)
        paths.extend(result.names)

    def turn(self, page: Segment) -> list[Segment]:
        """Take in that *page* entered: its result is read on from what came before.

        Returns the segments whose role that changes.
        """
        result = page.page_of
        assert result is not None
        turned = [s for s in (result, *result.pages) if s is not page and not s.turned]
        for segment in turned:
            segment.turned = True
        return turned

    def rest_on(self, delta: Segment) -> list[Segment]:
        """Take in that *delta* entered as a difference: what it rests on is not superseded.

        Returns the segments whose role that changes.
        """
        needed = list(_rests(delta.base))
        for segment in needed:
            segment.superseded = segment.overtaken = False
        return needed

    def write(self, path: str) -> None:
        """Take in a successful write of *path* in the current attempt."""
        self.written[path] = None


def _rests(result: Segment | None) -> Iterator[Segment]:
    """Yield *result*, its pages, and what it rests on as a difference, and so on."""
    while result is not None:
        yield result
        yield from result.pages
        result = result.base
