"""doc-analysis: iterative reading, with returns to what was read long ago (S0's agent)."""

from __future__ import annotations

from scenarios.families.asking import Asking
from scenarios.families.builder import Builder
from scenarios.families.calls import MOST, Call, Calls
from scenarios.families.common import Family
from scenarios.families.past import Item, Past
from scenarios.families.sizes import Lognormal, spread
from scenarios.families.talk import Talk
from sim.script import Arrival
from sim.segments import Kind

__all__ = ["FAMILY"]


class _Reader:
    """Reads pages of one document after the other, searches, and takes notes."""

    def __init__(self, builder: Builder) -> None:
        settings = builder.settings
        self._builder = builder
        self._past = Past()
        self._talk = Talk(builder)
        self._calls = Calls(builder)
        self._asking = Asking(builder, self._past)
        self._page = Lognormal.of(settings, "read")
        self._hits = Lognormal.of(settings, "search")
        self._limit: int = settings["search.limit"]
        self._call_tokens: int = settings["call.tokens"]
        self._notes = builder.rows("note", 2)
        self._next = builder.rows("document", MOST)
        self._document = 1
        self._pages = 0

    def turn(self, turn: int) -> None:
        """Put everything that *turn* brings."""
        if turn == 1:
            self._talk.begin()
        by_user = self._talk.by_user(turn)
        self._talk.open(turn, by_user)
        self._talk.say(turn)
        if by_user:
            self._builder.put(self._talk.user(turn))
        else:
            pairs = [self._read(turn, call) for call in self._calls.of(turn)]
            self._builder.put(*(call for call, _ in pairs), *(result for _, result in pairs))
        self._note(turn)
        self._asking.ask(turn)
        self._past.close()

    def _read(self, turn: int, call: Call) -> tuple[Arrival, Arrival]:
        """Return the call and the page or the hits that it brings."""
        settings = self._builder.settings
        if call.what < settings["search.share"]:
            return self._search(turn, call)
        if self._pages and self._next[turn][call.number - 1] * settings["document.pages"] < 1.0:
            self._document += 1
            self._pages = 0
        self._pages += 1
        path = f"doc{self._document}/p{self._pages}"
        name = f"read{call.number}"
        facts = self._builder.facts(path)
        self._past.add(Item(f"t{turn}.{name}", path, tuple(f.key for f in facts), self._document))
        return self._builder.pair(
            turn,
            name,
            Kind.FILE,
            self._page.tokens(call.size),
            call.score,
            call_tokens=self._call_tokens,
            tool="read",
            time=call.seconds,
            path=path,
            facts=facts,
        )

    def _search(self, turn: int, call: Call) -> tuple[Arrival, Arrival]:
        name = f"search{call.number}"
        id = f"t{turn}.{name}"
        tokens = self._hits.tokens(call.size)
        facts = self._builder.stated(id, tokens, self._limit)
        self._past.add(Item(id, id, tuple(f.key for f in facts), self._document))
        return self._builder.pair(
            turn,
            name,
            Kind.TOOL_RESULT,
            tokens,
            call.score,
            call_tokens=self._call_tokens,
            tool="search",
            time=call.seconds,
            facts=facts,
            max_result_tokens=self._limit,
        )

    def _note(self, turn: int) -> None:
        settings = self._builder.settings
        draw, score = self._notes[turn]
        if draw < settings["notes.share"]:
            id = f"t{turn}.note"
            facts = self._builder.facts(id)
            self._past.add(Item(id, id, tuple(f.key for f in facts), self._document))
            self._builder.put(
                self._builder.arrival(
                    turn,
                    id,
                    Kind.NOTE,
                    settings["notes.tokens"],
                    spread(settings["score.low"], settings["score.high"], score),
                    facts=facts,
                )
            )


def _fill(builder: Builder) -> None:
    reader = _Reader(builder)
    for turn in range(1, builder.turns + 1):
        reader.turn(turn)


FAMILY = Family(
    name="doc-analysis",
    summary="iterative reading of pages and search hits, with returns to old topics",
    capabilities=frozenset({"facts", "roles"}),
    fill=_fill,
)
