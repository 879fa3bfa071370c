"""A history that grows, read as a recording is: turn by turn, and no message twice."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scenarios.pings import with_pings
from scenarios.transcripts.assemble import (
    Stated,
    arrival,
    fetch_query,
    mention_query,
    unrecorded,
)
from scenarios.transcripts.builder import Builder
from scenarios.transcripts.events import Event
from scenarios.transcripts.findings import Findings
from scenarios.transcripts.relevance import Relevance
from scenarios.transcripts.session import Draft, Fetched, Session
from sim.script import Query, Stimulus, Turn, Wait, Write
from sim.segments import Fact
from sim.tokens import Tokenizer

__all__ = ["Answered", "Growth", "Led", "Read"]

Read = Callable[[Any, Findings, int], Iterator[Event]]
"""What reads a document: its events without those of so many first messages."""


@dataclass(frozen=True, slots=True)
class Led:
    """What leads up to a call: the turn to be played, where it comes from, and reads once more."""

    turn: Turn
    drafts: Sequence[Draft]
    fetched: Sequence[Fetched]


@dataclass(frozen=True, slots=True)
class Answered:
    """What the answer to a call shows: its queries, facts by segment, and its length in tokens."""

    queries: Sequence[Query]
    facts: Sequence[tuple[str, Fact]]
    output: int


class Growth:
    """Reads messages into the steps of turns, by the reader and the builder of recordings.

    Every assistant message is the answer to a call, and what stands before it led up to it; the
    messages behind the last of them lead up to the call that is made now. So the steps depend on
    the history alone, however it was given. *head* is what the document of a recording holds
    besides its messages, *overhead* the tokens of what no message holds.
    """

    def __init__(
        self,
        read: Read,
        tokenizer: Tokenizer,
        settings: Mapping[str, Any],
        head: Mapping[str, Any],
        overhead: int = 0,
    ) -> None:
        self.findings = Findings("the history", unit="message")
        self._read = read
        self._settings = settings
        self._head = head
        self._overhead = overhead
        self._builder = Builder(tokenizer, self.findings)
        self._relevance = Relevance()
        self._stated = Stated()
        self._seen = 0
        self._call = ""
        self._arrived = self._written = self._fetched = self._known = self._asked = 0
        """How many of each in the session have been made steps."""

    def steps(self, messages: Sequence[dict[str, Any]]) -> Iterator[Led | Answered]:
        """Yield what the new ones of *messages* make, up to the call that they lead up to now."""
        events: dict[int, list[Event]] = defaultdict(list)
        document = {**self._head, "messages": list(messages)}
        for event in self._read(document, self.findings, self._seen):
            events[event.place].append(event)
        for event in events.pop(0, ()):
            self._builder.take(event)
        for place in range(self._seen + 1, len(messages) + 1):
            if messages[place - 1]["role"] == "assistant":
                yield from self._begin(place)
            for event in events.pop(place, ()):
                self._builder.take(event)
        self._seen = len(messages)
        yield from self._begin(self._seen + 1)

    def _begin(self, place: int) -> Iterator[Led | Answered]:
        """Begin the call whose answer is the message at *place*, unless it is under way."""
        call = f"call {place}"
        if call == self._call:
            return
        self._call = call
        session = self._builder.begin(call, place)
        if session.turns > 1:
            yield self._answered(session, session.turns - 1)
        yield self._led(session, session.turns)

    def _led(self, session: Session, turn: int) -> Led:
        drafts = session.arrivals[self._arrived :]
        self._arrived += len(drafts)
        if turn == 1 and self._overhead:
            drafts.insert(0, unrecorded(self._overhead))
        stimuli: list[Stimulus] = []
        if turn in session.waits:
            stimuli.append(Wait(turn, session.waits[turn]))
        for draft in drafts:
            facts = self._stated.facts(draft)
            stimuli.append(arrival(draft, self._settings, self._relevance, 0, facts))
        written = session.writes[self._written :]
        self._written += len(written)
        stimuli.extend(Write(each.turn, each.path, each.tokens) for each in written)
        fetched = session.fetched[self._fetched :]
        self._fetched += len(fetched)
        made = Turn()
        for stimulus in with_pings(stimuli, self._settings):
            made.add(stimulus)
        return Led(made, drafts, fetched)

    def _answered(self, session: Session, turn: int) -> Answered:
        queries: list[Query] = []
        facts: list[tuple[str, Fact]] = []
        while self._known < len(session.fetched) and session.fetched[self._known].turn <= turn:
            fetched = session.fetched[self._known]
            self._known += 1
            queries.append(fetch_query(fetched, self._known, self._relevance))
            facts += self._learnt(turn, fetched.source.text_key, (fetched.source,))
        for asked in session.asked[self._asked :]:
            self._asked += 1
            queries.append(mention_query(asked, self._asked, self._relevance))
            facts += self._learnt(turn, asked.key, asked.holders)
        return Answered(queries, facts, session.output_tokens[turn])

    def _learnt(self, turn: int, key: str, holders: Sequence[Draft]) -> list[tuple[str, Fact]]:
        self._stated.learn(turn, key, holders)
        return [(draft.id, self._stated.fact(draft, key)) for draft in holders]
