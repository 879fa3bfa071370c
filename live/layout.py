"""From a window to a request: which blocks of the history stand in it, and in which order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from live.blocks import Shown, Sort
from live.dialects import Dialect
from live.dialects.dialect import Fragment
from live.homes import Echo, Home, Homes, Spot, single
from live.wording import Wording
from sim.ledger import Ledger
from sim.segments import Kind, Segment

__all__ = ["Layout", "Room"]


@dataclass(slots=True)
class Room:
    """The *tokens* that the request of a *turn* has beside its window.

    They are given out to reads that came again.
    """

    tokens: int
    turn: int


class Layout:
    """Lays out a window in the order of its segments; call and result always stand together.

    A segment that stands where it came is its blocks of the history; what was brought back or
    stands for several is a text of the user's. What the simulator knows nothing of goes with the
    blocks beside it, and a message of nothing else stays.
    """

    def __init__(
        self,
        dialect: Dialect,
        homes: Homes,
        wording: Wording,
        log: Mapping[str, Segment],
        ledger: Ledger,
    ) -> None:
        self._dialect = dialect
        self._homes = homes
        self._wording = wording
        self._log = log
        self._ledger = ledger
        self._short: set[Echo] = set()
        """Reads that came again and are no longer shown in full."""
        self._gone: set[Echo] = set()
        """Those that are not shown at all any more."""

    def begin(self, room: Room) -> None:
        """Take in the turn of a request: a read that has no room now never has it again."""
        if self._homes.echoes:
            list(self._echoes(_Page(self._homes), room))

    def request(self, window: Sequence[Segment], room: Room) -> list[Fragment]:
        """Return the request of a *window*, in which the reads that came again find *room*."""
        page = _Page(self._homes)
        echoes = list(self._echoes(page, room))
        carried = {echo.source for echo, carries in echoes if carries}
        at_home = self._fill(page, window, carried)
        self._head_of_loop(page)
        request = _joined(self._emit(page, window, at_home, carried))
        return self._ended(request)

    def extract(self, given: Mapping[Segment, int]) -> list[Fragment]:
        """Return segments, resident or not, as a stretch of a request.

        *given* says how many tokens of each there are, from its front.
        """
        page = _Page(self._homes, loose=False)
        segments = [segment for segment, tokens in given.items() if tokens > 0]
        at_home = self._fill(page, segments, set(), given)
        return _joined(self._emit(page, segments, at_home, set(), given))

    # -- what is shown ----------------------------------------------------------------------

    def _fill(
        self,
        page: _Page,
        window: Sequence[Segment],
        carried: set[str],
        given: Mapping[Segment, int] | None = None,
    ) -> dict[Segment, Home]:
        """Show on *page* what stands where it came, and return it."""
        at_home: dict[Segment, Home] = {}
        for segment in window:
            home = self._homes.by_id.get(single(segment).id)
            if home is not None and home.place and segment.slot == home.slot:
                at_home[segment] = home
        calls = {home.pair for home in at_home.values() if self._is_call(home)}
        for segment, home in list(at_home.items()):
            orphan = home.pair is not None and home.pair not in calls
            if orphan or segment.id in carried:
                del at_home[segment]
        present = {single(segment).id for segment in at_home}
        for segment, home in at_home.items():
            tokens = segment.tokens if given is None else given[segment]
            self._show(page, segment, home, present, tokens)
        page.settle()
        return at_home

    def _is_call(self, home: Home) -> bool:
        call = None if home.pair is None else self._homes.calls.get(home.pair)
        return call is not None and self._homes.by_id[call] is home

    def _show(
        self, page: _Page, segment: Segment, home: Home, present: set[str], tokens: int
    ) -> None:
        words = None
        if tokens < segment.tokens:
            words = self._wording.front(segment, tokens)
        elif not _as_it_came(segment):
            words = self._wording.of(segment)
        shown = page.shown[home.place]
        if home.pair is None or self._is_call(home):
            for number in home.at if words is None else home.at[:1]:
                shown[number] = Shown(words)
            return
        (at,) = home.at
        if at not in shown:
            shown[at] = Shown(text=False)
            for name in self._homes.results[home.pair]:
                other = self._homes.by_id[name]
                if other.image and name not in present:
                    shown[at].images[other.image] = None
                elif not other.image and name in present:
                    shown[at].text = True
            if all(self._homes.by_id[n].image for n in self._homes.results[home.pair]):
                shown[at].text = True
        if not home.image:
            shown[at].words = words
        elif words is not None:
            shown[at].images[home.image] = words

    def _echoes(self, page: _Page, room: Room) -> Iterator[tuple[Echo, bool]]:
        """Show the reads that came again, newest first; yield them and whether one is its source.

        One is shown in its own turn, and as long as its source stands: in full where there is
        room, else by a word about where the text is, and where there is no room for that and the
        call, not at all. What was fetched for it stands as it.
        """
        carried: set[str] = set()
        for echo in reversed(self._homes.echoes):
            source = self._log[echo.source]
            if echo in self._gone or (not source.resident and echo.turn != room.turn):
                continue
            fetched = source.resident and source.entered == "rehydration"
            carries = fetched and source.admitted_turn == echo.turn and source.id not in carried
            called = self._wording.count(self._text(echo.call))
            if carries:
                carried.add(source.id)
            elif echo.turn != room.turn:
                words = self._wording.count(self._wording.pointer(source))
                if called + words > room.tokens:
                    self._gone.add(echo)
                    continue
            room.tokens -= called
            page.shown[echo.call[0]][echo.call[1]] = Shown()
            shown = self._carried(echo, source) if carries else self._beside(echo, source, room)
            page.shown[echo.result[0]][echo.result[1]] = shown
            page.answers[echo.call] = echo.result
            page.extra.update((echo.call[0], echo.result[0]))
            yield echo, carries

    def _carried(self, echo: Echo, source: Segment) -> Shown:
        text, words = self._text(echo.result), self._wording.of(source)
        return Shown() if words == text else Shown(words)

    def _beside(self, echo: Echo, source: Segment, room: Room) -> Shown:
        text = self._text(echo.result)
        tokens = self._wording.count(text)
        if echo not in self._short and tokens <= room.tokens:
            room.tokens -= tokens
            return Shown()
        if not source.resident:
            clipped = self._wording.clipped(text, room.tokens)
            room.tokens -= self._wording.count(clipped)
            return Shown(clipped)
        self._short.add(echo)
        words = self._wording.pointer(source)
        room.tokens -= self._wording.count(words)
        return Shown(words)

    def _text(self, spot: Spot) -> str:
        place, at = spot
        return self._dialect.text(self._homes.plain[place - 1], [at])

    def _head_of_loop(self, page: _Page) -> None:
        """Keep the thoughts of the last message of the assistant if a call of it stands.

        Providers want the thoughts of a tool loop under way back as they were.
        """
        plain = self._homes.plain
        place = next(
            (n for n in range(len(plain), 0, -1) if plain[n - 1]["role"] == "assistant"), 0
        )
        blocks = self._homes.of(place) if place else []
        if any(blocks[number].sort is Sort.CALL for number in page.shown.get(place, ())):
            for number, block in enumerate(blocks):
                if block.sort is Sort.THINKING:
                    page.shown[place][number] = Shown()

    def _ended(self, request: list[Fragment]) -> list[Fragment]:
        """Return *request* with a word of the user's where it is empty, or has to have one.

        Where the history itself begins or ends with the assistant's, that stays.
        """
        roles = [message["role"] for message in self._homes.plain]
        strict = self._dialect.user_ends
        first, last = (strict and roles[end] != "assistant" for end in (0, -1))
        if not request or (first and request[0].role == "assistant"):
            request.insert(0, _words("[earlier messages, left out]"))
        if last and request[-1].role == "assistant":
            request.append(_words("[the last messages, left out]"))
        return request

    # -- in which order ---------------------------------------------------------------------

    def _emit(
        self,
        page: _Page,
        window: Sequence[Segment],
        at_home: Mapping[Segment, Home],
        carried: set[str],
        given: Mapping[Segment, int] | None = None,
    ) -> Iterator[Fragment]:
        for segment in window:
            home = at_home.get(segment)
            if home is not None:
                for place in page.before(home.place):
                    yield from self._message(page, place)
            elif segment.id not in carried and self._is_message(segment):
                tokens = segment.tokens if given is None else given[segment]
                yield Fragment("user", content=self._wording.brought(segment, tokens))
        for place in page.before(len(self._homes.plain) + 1):
            yield from self._message(page, place)

    def _is_message(self, segment: Segment) -> bool:
        home = self._homes.by_id.get(single(segment).id)
        return home is None or bool(home.place)

    def _message(self, page: _Page, place: int) -> Iterator[Fragment]:
        """Yield what is shown of a message, and behind its calls what is shown of their results."""
        blocks, shown = self._homes.of(place), page.shown.get(place, {})
        role = self._homes.plain[place - 1]["role"]
        own = {n: each for n, each in sorted(shown.items()) if blocks[n].sort is not Sort.RESULT}
        if own or not blocks:
            yield Fragment(role, place, own)
        calls = [(place, n) for n in own if blocks[n].sort is Sort.CALL]
        yield from self._results(page, calls)

    def _results(self, page: _Page, calls: Sequence[Spot]) -> Iterator[Fragment]:
        found: dict[int, dict[int, Shown]] = defaultdict(dict)
        missing: list[Spot] = []
        for call in calls:
            place, at = self._answer(page, call)
            if at in page.shown.get(place, {}):
                found[place][at] = page.shown[place][at]
            else:
                missing.append(call)
        for place, shown in sorted(found.items()):
            role = self._homes.plain[place - 1]["role"]
            yield Fragment(role, place, dict(sorted(shown.items())))
        for place, at in missing:
            message, block = self._homes.plain[place - 1], self._homes.of(place)[at]
            result = self._result_of((place, at))
            words = self._wording.absent(result, self._ledger)
            yield self._dialect.missing(message, block.id, words)

    def _answer(self, page: _Page, call: Spot) -> Spot:
        """Return where the result of a call is, (0, 0) if there is none."""
        if call in page.answers:
            return page.answers[call]
        result = self._result_of(call)
        home = None if result is None else self._homes.by_id[result.id]
        return (0, 0) if home is None else (home.place, home.at[0])

    def _result_of(self, call: Spot) -> Segment | None:
        pair = self._homes.pair_at(call)
        names = self._homes.results.get(pair, []) if pair is not None else []
        return self._log[names[0]] if names else None


class _Page:
    """What is shown of each message, and which messages are done."""

    def __init__(self, homes: Homes, loose: bool = True) -> None:
        self.shown: dict[int, dict[int, Shown]] = defaultdict(dict)
        self.answers: dict[Spot, Spot] = {}
        """Where the result of a call is that is no segment."""
        self.extra: set[int] = set()
        """Messages that have to be shown although no segment leads to them."""
        self.done: set[int] = set()
        self._homes = homes
        self._loose = loose

    def settle(self) -> None:
        """Show what goes with what is shown, and no call of the provider's without its result."""
        for place, shown in self.shown.items():
            blocks = self._homes.of(place)
            self._served(place, shown)
            if shown:
                for number in range(len(blocks)):
                    if self._homes.rides(place, number):
                        shown[number] = Shown()
        for place in self._homes.loose() if self._loose else ():
            self.extra.add(place)
            self.shown[place] = {n: Shown() for n in range(len(self._homes.of(place)))}
        self._waiting = sorted(self.extra, reverse=True)

    def _served(self, place: int, shown: dict[int, Shown]) -> None:
        blocks = self._homes.of(place)
        whole = {
            blocks[number].id
            for number, each in shown.items()
            if blocks[number].sort is Sort.SERVED_RESULT and each.whole
        }
        for number, block in enumerate(blocks):
            if block.sort is Sort.SERVED_CALL and number in shown:
                if block.id in whole:
                    shown[number] = Shown()
                else:
                    del shown[number]

    def before(self, place: int) -> Iterator[int]:
        """Yield the messages to be shown up to *place*, each once, those in front of it first."""
        while self._waiting and self._waiting[-1] < place:
            waiting = self._waiting.pop()
            if waiting not in self.done:
                self.done.add(waiting)
                yield waiting
        if place not in self.done and place <= len(self._homes.blocks):
            self.done.add(place)
            yield place


def _joined(fragments: Iterable[Fragment]) -> list[Fragment]:
    """Return *fragments* with those of one message that follow each other as one."""
    out: list[Fragment] = []
    for fragment in fragments:
        if out and fragment.place and out[-1].place == fragment.place:
            out[-1].shown |= fragment.shown
        else:
            out.append(fragment)
    return out


def _words(text: str) -> Fragment:
    return Fragment("user", content=[{"type": "text", "text": text}])


def _as_it_came(segment: Segment) -> bool:
    """Whether a segment is its blocks and no more or less; an image cannot be reduced."""
    whole = segment.tokens == segment.raw_tokens or segment.kind is Kind.IMAGE
    here = segment.entered in ("append", "rewrite")
    return whole and here and not segment.sources and not segment.page_of
