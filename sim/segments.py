"""A segment: the unit of context, as the log keeps it and the window holds it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sim.keeping import Keeping

__all__ = [
    "DOOR_KINDS",
    "SAID_KINDS",
    "SPENDING_KINDS",
    "WORD_KINDS",
    "Fact",
    "Kind",
    "Segment",
    "State",
    "ancestry",
    "originals",
    "stand_ins",
    "successors",
]


class Kind(StrEnum):
    """What a segment is, in the words of the providers' message formats."""

    TOOLS = "tools"
    SYSTEM = "system"
    TASK = "task"
    USER = "user"
    ASSISTANT = "assistant"
    THINKING = "thinking"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    FILE = "file"
    DIFF = "diff"
    IMAGE = "image"
    SUMMARY = "summary"
    NOTE = "note"


DOOR_KINDS = frozenset({Kind.FILE, Kind.TOOL_RESULT, Kind.DIFF, Kind.IMAGE, Kind.NOTE})
"""Kinds that a guarded door tests; messages and pinned segments pass untested."""

SPENDING_KINDS = frozenset({Kind.FILE, Kind.TOOL_RESULT, Kind.IMAGE})
"""Kinds whose admission spends what a rewrite freed: reads, tool results and their pages."""

WORD_KINDS = frozenset({Kind.ASSISTANT, Kind.THINKING, Kind.DIFF})
"""Kinds that make up an attempt's own words and diff."""


SAID_KINDS = frozenset({Kind.ASSISTANT, Kind.THINKING, Kind.TOOL_CALL})
"""Kinds that the model itself wrote: the usage of the call that wrote them counts them."""


class State(StrEnum):
    """Where a segment of the log stands with regard to the window."""

    RESIDENT = "resident"
    EVICTED = "evicted"
    REWRITTEN = "rewritten"
    TRUNCATED = "truncated"
    NEVER_ADMITTED = "never-admitted"


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact that a segment carries: what queries ask for.

    *prior* is the value a model would make up; *reducible* is False where a reduction by
    structure loses the fact; *at* is where it stands in its segment, in tokens from the front.
    """

    key: str
    value: str = ""
    prior: str = ""
    reducible: bool = True
    at: int | None = None
    """None: at the front if a reduction keeps it, else at the end."""
    draw: str = ""
    """By what name a surrogate draws whether it keeps the fact; empty: by its key. Where keys are
    text of a recording, this is a number, so that the draw is the same without the text."""
    since: int = 0
    """The turn whose query first shows that the segment states it; a policy that looks at facts
    earlier would look ahead. 0: it is known as soon as the segment comes."""


@dataclass(slots=True, eq=False)
class Segment:
    """One unit of context: a log entry, and a part of the window while it is resident.

    Sizes are whole tokens; *turn* counts from 1; *score* is the salience given at turn
    *scored_at*. A surrogate has *sources*; one whose text was made up has *invented* set.
    Policies must treat every field as read-only: the engine alone changes them.
    """

    id: str
    kind: Kind
    tokens: int
    turn: int
    seq: int
    """Order of arrival over the whole run, from 0: the older of two has the smaller."""
    raw_tokens: int = 0
    """Size before any reduction at arrival."""
    version: int = 0
    score: float = 1.0
    scored_at: int = 1
    copy: bool = False
    pinned: bool = False
    """A scenario pin: ground truth for every policy."""
    standing: bool = False
    """A standing user constraint."""
    taggable: bool = True
    path: str | None = None
    tool: str | None = None
    attempt: int | None = None
    pair: str | None = None
    rank: int | None = None
    names: tuple[str, ...] = ()
    """Paths that a diagnostic names."""
    facts: tuple[Fact, ...] = ()
    lost: frozenset[str] = frozenset()
    """Keys of facts that the form in which it entered leaves out."""
    surrogate_tokens: int | None = None
    """Length of the text that a rewrite of this segment would leave, where the script says."""
    max_result_tokens: int | None = None
    least_tokens: int | None = None
    """Size to which it is reduced wherever it is over its tool's limit."""
    reduced_tokens: int | None = None
    """Size after a reduction by structure, where the result is over its tool's limit."""
    blind: bool = False
    """Whether no structure of it is known: a reduction is head and tail."""
    delta_tokens: int | None = None
    """Size of the difference to *previous*."""
    paged: bool = False
    """Whether its tool returns an oversized result page by page."""
    previous: Segment | None = None
    """The result of the same tool before it, resident or not."""

    source_tokens: int = 0
    """Size at which its source first came to the door, of *source_version*."""
    source_version: int = 0

    form: str = ""
    """How it entered: one of ``sim.reduction.FORMS``; empty if it never did."""
    base: Segment | None = None
    """What a ``delta`` is the difference to."""
    page_of: Segment | None = None
    """The result of which this is a further page."""
    number: int = 1
    """Of a page: which it is, from 1."""
    page_size: int = 0
    """Of what entered: tokens of a full page of it."""
    turned: bool = False
    """Whether a page after it has come."""
    pages: list[Segment] = field(default_factory=list)
    """Further pages that were asked for, in the order in which they came."""

    state: State = State.NEVER_ADMITTED
    admitted: bool = False
    """Whether it was ever in the window."""
    booked: bool = False
    """Whether its size at the door has been booked."""
    admitted_turn: int = 0
    """The last turn in which it was admitted or fetched."""
    entered: str = "append"
    """What brought its present content into the window, one of ``sim.attribution.CAUSES``."""
    sent_at: int = -1
    """Tokens in front of it in the last request; below 0: as it is, it was not in it."""
    slot: int = -1
    """Order of position: of two resident segments the one in front has the smaller."""
    own_pin: bool = False
    """Pinned by the policy's own rule."""
    held: bool = False
    """Pinned in effect while resident: by scenario or policy, itself or its call or result."""
    superseded: bool = False
    """A newer result of the same tool, or a newer attempt, has come."""
    overtaken: bool = False
    """A newer result of any tool has come."""

    sources: tuple[Segment, ...] = ()
    tagged: bool = False
    stub: bool = False
    """Whether this is a fixed text of the harness, which no model wrote."""
    keeping: Keeping | None = None
    """Of a surrogate: the rule by which it states some of what its sources state."""
    kept: frozenset[str] = frozenset()
    as_of: Mapping[str, int] = field(default_factory=dict)
    """Of a surrogate: the version of each path-backed original, by id, that it was made from."""
    invented: bool = False
    """Whether this is text that the model made up in place of a surrogate."""
    made_up: frozenset[str] = frozenset()
    """Keys that this text states although no source ever said so."""
    surrogates: list[Segment] = field(default_factory=list)
    """What stands for this segment: surrogates, themselves resident or rewritten in turn."""

    @property
    def is_surrogate(self) -> bool:
        """Whether this is the stand-in that a rewrite left."""
        return bool(self.sources) and not self.invented

    @property
    def resident(self) -> bool:
        """Whether it is in the window."""
        return self.state is State.RESIDENT

    def carries(self, key: str) -> bool:
        """Whether the text of this segment, as it is, states the fact *key*."""
        if self.sources:
            return key in self.kept
        return key not in self.lost and any(fact.key == key for fact in self.facts)

    def __repr__(self) -> str:
        return f"<{self.kind} {self.id} {self.tokens} tokens {self.state}>"


def stand_ins(segment: Segment) -> Iterator[Segment]:
    """Yield the resident surrogates and invented texts that stand for *segment*, each once."""
    return (each for each in successors(segment) if each.resident)


def successors(segment: Segment) -> Iterator[Segment]:
    """Yield what stands for *segment*, resident or replaced in turn, each once."""
    seen: set[Segment] = set()
    todo = segment.surrogates[::-1]
    while todo:
        surrogate = todo.pop()
        if surrogate not in seen:
            seen.add(surrogate)
            yield surrogate
            todo.extend(reversed(surrogate.surrogates))


def ancestry(segments: Iterable[Segment]) -> Iterator[Segment]:
    """Yield *segments* and all that they stand for, at every remove, each once."""
    seen: set[Segment] = set()
    todo = list(segments)
    while todo:
        segment = todo.pop()
        if segment not in seen:
            seen.add(segment)
            yield segment
            todo.extend(segment.sources)


def originals(segments: Iterable[Segment]) -> list[Segment]:
    """Return the segments that *segments* stand for in the end, each once, oldest first."""
    found: dict[str, Segment] = {}
    todo: list[Any] = list(segments)
    while todo:
        segment = todo.pop()
        if segment.sources:
            todo.extend(segment.sources)
        else:
            found[segment.id] = segment
    return sorted(found.values(), key=lambda s: s.seq)
