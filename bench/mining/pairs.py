"""Every mined query of recorded sessions as a pair of a mention and its source, and a sample.

The sample is simple: each pair has a draw of its own, keyed by the seed and by what the pair is,
and those with the lowest are taken. So no order of files matters, a smaller sample begins a larger
one, another file changes the sample only by the pairs it puts into it, and every pair is as likely
as any other, which is what an exact interval for a share asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from bench.mining.arguments import kind_of
from scenarios.transcripts.builder import Builder
from scenarios.transcripts.events import Event, Message, ToolCall, ToolResult
from scenarios.transcripts.findings import Findings
from scenarios.transcripts.formats import get_format
from scenarios.transcripts.recording import Recording
from scenarios.transcripts.session import Asked, Session, clean
from scenarios.transcripts.sources import SCRIPT, Source, find
from scenarios.transcripts.values import argument_values, values
from sim.errors import InputError
from sim.segments import Kind
from sim.streams import uniform
from sim.tokens import tokenizer

__all__ = ["Pair", "Thread", "draw", "pairs_in", "threads_in"]

_HASH_BYTES = 8


@dataclass(frozen=True, slots=True, order=True)
class Pair:
    """A mention and the result that the miner takes for its source.

    *file* is the path below the folder that was given, for a session of several files that of the
    first, with the name of the thread behind ``#``. *mention* and *source* are places in it: lines,
    or in a JSON document messages. *value* is what links the two, *back* how many model calls lie
    between them.
    """

    file: str
    mention: int
    source: int
    kind: str
    value: str
    back: int

    @property
    def hash(self) -> str:
        """The blake2b of the value, 8 bytes as hexadecimal digits."""
        text = self.value.encode("utf-8", "surrogatepass")
        return blake2b(text, digest_size=_HASH_BYTES).hexdigest()


@dataclass(frozen=True, slots=True)
class Thread:
    """One session with the events that it was made of."""

    file: str
    session: Session
    events: Sequence[Event]

    def at(self, place: int) -> Iterator[Event]:
        """Yield the events at *place*."""
        return (event for event in self.events if event.place == place)


def threads_in(
    paths: Sequence[Path], warn: Callable[[str], object] = lambda warning: None
) -> Iterator[Thread]:
    """Yield every session recorded in *paths*, one at a time.

    Raises InputError where there is none; what is met in a folder and is no recording is passed
    over, with a warning.
    """
    for source in find(paths, False, warn):
        if source.format == SCRIPT:
            continue
        try:
            yield from _threads(source, _name(source, paths))
        except InputError as error:
            if source.given:
                raise
            warn(f"{error} (passed over)")


def _name(source: Source, paths: Sequence[Path]) -> str:
    first = source.files[0]
    for path in paths:
        if path.is_dir() and first.is_relative_to(path):
            return clean(first.relative_to(path).as_posix())
    return clean(first.name)


def _threads(source: Source, name: str) -> Iterator[Thread]:
    counter = tokenizer("bytes/4")
    findings = Findings(source.place)
    recording = Recording(source.files[0], source.files[1:])
    for thread in get_format(source.format).threads(recording, findings):
        builder = Builder(counter, findings)
        events = []
        for event in thread.events:
            builder.take(event)
            events.append(event)
        session = builder.finish()
        yield Thread(f"{name}#{clean(thread.name)}" if thread.name else name, session, events)


def pairs_in(thread: Thread) -> list[Pair]:
    """Return the pairs of a session, in the order of their mentions."""
    places: dict[int, list[Event]] = {}
    for event in thread.events:
        places.setdefault(event.place, []).append(event)
    return [_pair(thread.file, asked, places) for asked in thread.session.asked]


def _pair(file: str, asked: Asked, places: dict[int, list[Event]]) -> Pair:
    mention, source = asked.mention, asked.source
    wrote = (
        each
        for each in places[mention.place]
        if isinstance(each, ToolCall if mention.kind is Kind.TOOL_CALL else Message)
        and isinstance(each, (Message, ToolCall))
    )
    kind = kind_of(next(each for each in wrote if holds(each, asked.key)), asked.key)
    back = asked.turn - source.turn + 1  # the call that fetched it, before its turn
    return Pair(file, mention.place, source.place, kind, asked.key, back)


def holds(event: Event, value: str) -> bool:
    """Whether *value* is one of the values that are mined from *event*."""
    if isinstance(event, ToolCall):
        found = argument_values(event.arguments)
    elif isinstance(event, (Message, ToolResult)):
        found = values(event.text)
    else:
        return False
    return value in found or value in map(clean, found)


def draw(pairs: Iterable[Pair], seed: int, number: int) -> list[Pair]:
    """Return *number* of the *pairs*, or all if there are fewer, in their order.

    Raises ValueError for a number below 1.
    """
    if number < 1:
        raise ValueError(f"a sample has at least one pair, not {number}")
    return sorted(sorted(pairs, key=lambda pair: (_drawn(pair, seed), pair))[:number])


def _drawn(pair: Pair, seed: int) -> float:
    name = pair.file.rpartition("/")[2]
    return uniform(seed, "mining", name, pair.mention, pair.source, pair.hash)
