"""Stack traces in a log: each distinct one once, with its number and its last frames."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

from policies.reducers.findings import Findings, Item
from policies.reducers.form import Form
from policies.reducers.log import Log, Span
from policies.reducers.room import clip
from policies.reducers.tracebacks import Frame

__all__ = ["Bounds", "Trace", "Tracer", "frame_lines"]

_LINE = 240
"""Characters of a line of detail."""
_FRAMES = 4
"""Last frames that are shown of a trace."""
_MESSAGE = 8
"""Lines of a message beyond its first that are shown."""
_NAME = 200
"""Characters of the words by which a trace is known."""


class Bounds(NamedTuple):
    """Lines *start* to *stop* of a log, that are a trace; *mark* is the one it is known by."""

    start: int
    mark: int
    stop: int


@dataclass(slots=True)
class Trace:
    """A trace: those of one *key* are one distinct failure.

    *said* are the lines of what was raised, *where* the words, as printed, that name the frame in
    the project, *frames* the lines of the last frames.
    """

    key: Hashable
    said: Sequence[str]
    where: str = ""
    frames: Sequence[str] = field(default_factory=tuple)

    def item(self) -> Item:
        """Return the trace as it is told: what was raised and where, then its frames."""
        first = next((line.strip() for line in self.said if line.strip()), "")
        text = clip(first, 2 * _LINE)
        if self.where and self.where not in text:
            text = f"{text} ({clip(self.where, _LINE)})" if text else clip(self.where, _LINE)
        rest = [line.rstrip() for line in self.said if line.strip() and line.strip() != first]
        detail = [f"    {clip(line, _LINE)}" for line in rest[:_MESSAGE]]
        if len(rest) > _MESSAGE:
            detail.append(f"    [… {len(rest) - _MESSAGE:,} more lines of the message]")
        detail += [f"  {clip(line, _LINE)}" for line in self.frames[-_FRAMES:]]
        known_as = [name for name in (self.where, first) if name and len(name) <= _NAME]
        return Item(
            text, key=self.key, detail="\n".join(detail), names=tuple(known_as[:1]) or (text,)
        )


class Tracer:
    """A reducer of stack traces of one language, wherever they stand in a log.

    A subclass says in :meth:`bounds` where they are and reads one in :meth:`trace`. All of them
    are one section.
    """

    name: str = ""
    about: str = "each distinct stack trace once: what was raised, where, the last frames"
    kind: str = "trace"
    rank: int = 30
    hints: tuple[str, ...] = ()
    noun: ClassVar[str] = "exception"

    def bounds(self, log: Log) -> Iterator[Bounds]:
        """Yield where the traces are, in order."""
        raise NotImplementedError

    def trace(self, log: Log, at: Bounds) -> Trace | None:
        """Return the trace at those lines of *log*; None if there is no frame in it."""
        raise NotImplementedError

    def find(self, log: Log) -> Iterator[Span]:
        """Yield the lines of each trace."""
        for at in self.bounds(log):
            yield Span(at.start, at.stop)

    def read(self, log: Log) -> Form | None:
        """Return every trace in *log*; None if there is none."""
        traces = (self.trace(log, at) for at in self.bounds(log))
        items = [trace.item() for trace in traces if trace]
        if not items:
            return None
        counts = {f"{self.noun}s": len(items)}
        return Findings(self.name, items, by="key", noun=self.noun, counts=counts)


def frame_lines(frames: Iterable[Frame], last: Frame | None) -> list[str]:
    """Return *frames*, outermost first, as lines, as far as *last* and the one it called."""
    every = list(frames)
    if last is not None and last in every:
        every = every[: len(every) - every[::-1].index(last) + 1]
    lines = []
    for frame in every[-_FRAMES:]:
        where = f" in {frame.name}" if frame.name else ""
        source = f": {frame.source}" if frame.source else ""
        lines.append(f"at {frame.place}{where}{source}")
    return lines
