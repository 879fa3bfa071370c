"""Sections: an output of several tools is split by tool, and each keeps its verdict."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from policies.reducers.form import Form, Found, Laid, Reducer
from policies.reducers.log import Log, Span

if TYPE_CHECKING:
    from policies.reducers.room import Room

__all__ = ["Section", "Sections", "split"]

_PLAIN_SHARE = 0.1
"""Share of the room that plain lines between the tools get at least, if they need it."""
_WORTH = {"tests": 0, "typecheck": 1, "lint": 2, "trace": 3, "build": 4}
"""Which sorts of output come first where there is not room for all."""
_LEAST_SHARE = 90
"""Tokens below which a section can say nothing."""
_SCATTERED = 30
"""Rank up to which the spans of a format, wherever they stand, are one: traces, matches, lists."""
_MANY = 24
"""Spans of one format above which they are one section, whatever the rank."""
_NAMES = 3
"""Sections left out that are named."""
_SESSION = 60
"""Rank from which a claim around a whole quotation owns it: a test run may print a diff."""
_CLOCK_NOTE = "[the runner's clock and marks were taken off the lines]"


@dataclass(frozen=True, slots=True)
class Section:
    """Lines of one tool, and what its reducer reads in them; *plain* if no tool claimed them."""

    reducer: Reducer
    log: Log
    form: Form
    plain: bool = False

    @property
    def tool(self) -> str:
        """The name of the reducer."""
        return self.reducer.name

    @property
    def title(self) -> str:
        """The line that stands above it where there are several."""
        log = self.log
        first, last = log.first, log.number(max(0, len(log) - 1))
        within = "" if last - first + 1 == len(log) else f"{len(log):,} within "
        return f"--- {self.tool}, lines {within}{first:,}–{last:,} ---"


def split(log: Log, known: Iterable[Reducer], plain: Reducer) -> list[Section]:
    """Return the sections of *log*, in order: what a tool of *known* claims, and the rest.

    Of two that claim the same lines the one of higher rank has them. What a tool claims and
    cannot read goes to *plain*, with all that no tool claims. Traces, matches and lists are one
    section each, and so is any format with many spans: it stands where its first span stood.
    A reducer with ``quotes`` reads text that may look like any tool's: what another claims within
    its spans is its own, whatever the ranks.
    """
    known = [each for each in known if not each.hints or log.has(*each.hints)]
    quoted = {
        reducer.name: _sorted(reducer.find(log), len(log))
        for reducer in known
        if getattr(reducer, "quotes", False)
    }
    taken: list[tuple[Span, Section]] = []
    for reducer in known:
        claims = quoted.get(reducer.name)
        if claims is None:
            claims = _sorted(reducer.find(log), len(log))
            for spans in quoted.values():
                claims = _free(claims, _within(spans, claims, reducer.rank))
        own = _free(claims, [span for span, _ in taken])
        taken += _read(reducer, log, own)
        taken.sort(key=lambda pair: pair[0].start)
    return list(_in_order(log, taken, plain))


def _within(quoted: Sequence[Span], claims: Sequence[Span], rank: int) -> list[Span]:
    """Return those of *quoted* that none of *claims*, if of a session or a build, is around."""
    if rank < _SESSION:
        return list(quoted)
    starts = [claim.start for claim in claims]
    kept = []
    for span in quoted:
        at = bisect_left(starts, span.start) - 1
        if at < 0 or claims[at].stop < span.stop:
            kept.append(span)
    return kept


def _sorted(claims: Iterable[Span], lines: int) -> list[Span]:
    """Return *claims* in order, within *lines*, those that overlap made one."""
    merged: list[Span] = []
    for claim in sorted(claims, key=lambda span: span.start):
        start, stop = max(0, claim.start), min(claim.stop, lines)
        if start >= stop:
            continue
        if merged and start < merged[-1].stop:
            start, stop = merged[-1].start, max(stop, merged[-1].stop)
            merged.pop()
        merged.append(Span(start, stop))
    return merged


def _free(claims: Sequence[Span], taken: Sequence[Span]) -> list[Span]:
    """Return the parts of *claims* that none of *taken* covers; both are sorted and disjoint."""
    parts, at = [], 0
    for claim in claims:
        start = claim.start
        while at < len(taken) and taken[at].stop <= start:
            at += 1
        following = at
        while following < len(taken) and taken[following].start < claim.stop:
            if taken[following].start > start:
                parts.append(Span(start, taken[following].start))
            start = max(start, taken[following].stop)
            following += 1
        at = max(at, following - 1)
        if start < claim.stop:
            parts.append(Span(start, claim.stop))
    return parts


def _read(reducer: Reducer, log: Log, spans: Sequence[Span]) -> Iterator[tuple[Span, Section]]:
    """Yield each of *spans* that *reducer* can read with its section; joined ones share one."""
    if len(spans) > 1 and (reducer.rank <= _SCATTERED or len(spans) > _MANY):
        whole = Log.joined([log.part(span) for span in spans])
        form = reducer.read(whole)
        if form is not None:
            section = Section(reducer, whole, form)
            yield from ((span, section) for span in spans)
        return
    for span in spans:
        part = log.part(span)
        form = reducer.read(part)
        if form is not None:
            yield span, Section(reducer, part, form)


def _in_order(log: Log, taken: Sequence[tuple[Span, Section]], plain: Reducer) -> Iterator[Section]:
    """Yield the sections of *taken*, each once, and between them one of *plain* for the rest."""
    seen: set[int] = set()
    rest: list[Span] = []
    at = 0
    for span, section in taken:
        rest.append(Span(at, span.start))
        at = span.stop
        if id(section) in seen:
            continue
        seen.add(id(section))
        yield from _rest(log, rest, plain)
        rest = []
        yield section
    yield from _rest(log, [*rest, Span(at, len(log))], plain)


def _rest(log: Log, spans: Sequence[Span], plain: Reducer) -> Iterator[Section]:
    """Yield the section of lines that no tool claimed, if any of them says something."""
    parts = [log.part(said) for span in spans for said in _said(log.lines, span)]
    if parts:
        part = Log.joined(parts)
        form = plain.read(part)
        if form is not None:
            yield Section(plain, part, form, plain=True)


class Sections:
    """Several sections laid out one after the other, each with a share of the room."""

    def __init__(self, sections: Sequence[Section]) -> None:
        self.sections = list(sections)

    def found(self) -> Found:
        """Return what was found in all of them; what two tools both count stands by the tool."""
        all_found = [section.form.found() for section in self.sections]
        tools: dict[str, set[str]] = {}
        for section, found in zip(self.sections, all_found, strict=True):
            for noun, count in found.counts.items():
                tools.setdefault(noun, set()).update([section.tool] if count else [])
        counts: dict[str, int] = {}
        for section, found in zip(self.sections, all_found, strict=True):
            for noun, count in found.counts.items():
                name = f"{section.tool} {noun}" if count and len(tools[noun]) > 1 else noun
                if count or len(tools[noun]) < 2:
                    counts[name] = counts.get(name, 0) + count
        return Found(
            tuple(dict.fromkeys(file for found in all_found for file in found.files)),
            tuple(failure for found in all_found for failure in found.failures),
            counts,
        )

    def lay(self, room: Room) -> Laid:
        """Return every section in its share: tools first, in turn, then the plain lines."""
        clock = any(section.log.clock for section in self.sections)
        if not clock or room.limit < 2 * _LEAST_SHARE:
            return self._lay(room)
        laid = self._lay(room.of(room.limit - room.count(_CLOCK_NOTE) - 2))
        return Laid(f"{laid.text}\n{_CLOCK_NOTE}", laid.dropped)

    def _lay(self, room: Room) -> Laid:
        sections = self.sections
        if len(sections) == 1:
            return _laid(sections[0], room)
        free = room.limit - sum(room.count(section.title) + 2 for section in sections)
        if free < _LEAST_SHARE * len(sections):
            return self._crowded(room)
        laid = [_laid(section, room) for section in sections]
        wanted = [room.count(each.text) for each in laid]
        while True:
            if sum(wanted) > free:
                shares = self._shares(wanted, free)
                laid = [
                    each if share >= want else _laid(section, room.of(share))
                    for section, each, share, want in zip(
                        sections, laid, shares, wanted, strict=True
                    )
                ]
            text = "\n".join(
                line
                for section, each in zip(sections, laid, strict=True)
                for line in (section.title, each.text)
            )
            if free <= 0 or room.fits(text):
                return Laid(text, _added(each.dropped for each in laid))
            wanted = [room.count(each.text) for each in laid]
            free = int(min(free, sum(wanted)) * 0.97) - 2

    def _shares(self, wanted: Sequence[int], free: int) -> list[int]:
        """Divide *free* tokens: no section gets more than it wants, nor the small ones less."""
        plain = [number for number, section in enumerate(self.sections) if section.plain]
        tools = [number for number, section in enumerate(self.sections) if not section.plain]
        least = min(
            sum(wanted[n] for n in plain),
            max(int(free * _PLAIN_SHARE), _LEAST_SHARE * len(plain)),
        )
        shares = [0] * len(wanted)
        left = free - _fill(shares, wanted, tools, free - least)
        _fill(shares, wanted, plain, left)
        return shares

    def _crowded(self, room: Room) -> Laid:
        """Lay out more sections than the room can hold: one for each tool, plain lines last."""
        merged = _merged(self.sections)
        if len(merged) < len(self.sections):
            return Sections(merged)._lay(room)
        ranked = sorted(
            self.sections, key=lambda each: (each.plain, _WORTH.get(each.reducer.kind, 9))
        )
        shown = ranked[: max(1, (room.limit - 40) // (_LEAST_SHARE + 20))]
        hidden = ranked[len(shown) :]
        names = [f"{section.tool} ({len(section.log):,} lines)" for section in hidden]
        if len(names) > _NAMES:
            names[_NAMES:] = [f"{len(names) - _NAMES:,} more"]
        note = f"[left out: {', '.join(names)}; {room.ask}]"
        inner = Sections(shown)._lay(room.of(max(1, room.limit - room.count(note) - 2)))
        lines = sum(len(section.log) for section in hidden)
        return Laid(f"{inner.text}\n{note}", _added([inner.dropped, {"lines": lines}]))


def _laid(section: Section, room: Room) -> Laid:
    """Lay out *section*; if its form says nothing of lines it does not show, say how many.

    Forms of findings show errors, not the notes, sources and blank talk around them.
    """
    laid = section.form.lay(room)
    if "left out" in laid.text or getattr(section.form, "complete", False):
        return laid
    shown = {line.strip() for line in laid.text.split("\n")}
    gone = sum(line.strip() not in shown for line in section.log.lines if line.strip())
    if not gone:
        return laid
    note = f"[{gone:,} other {'line' if gone == 1 else 'lines'} left out; {room.ask}]"
    text = f"{laid.text}\n{note}"
    if not room.fits(text):
        laid = section.form.lay(room.of(max(0, room.limit - room.count(note) - 2)))
        text = laid.text if "left out" in laid.text else f"{laid.text}\n{note}"
    return Laid(text, _added([laid.dropped, {"lines": gone}]))


def _said(lines: Sequence[str], span: Span) -> Iterator[Span]:
    """Yield *span* without the blank lines at its ends, if any other is left."""
    start, stop = span.start, span.stop
    while start < stop and not lines[start].strip():
        start += 1
    while start < stop and not lines[stop - 1].strip():
        stop -= 1
    if start < stop:
        yield Span(start, stop)


def _fill(shares: list[int], wanted: Sequence[int], who: Sequence[int], free: int) -> int:
    """Give *who* equal parts of *free*, what one does not want to the others; return the sum."""
    given, waiting = 0, sorted(who, key=lambda number: wanted[number])
    for position, number in enumerate(waiting):
        part = max(0, free - given) // (len(waiting) - position)
        shares[number] = min(wanted[number], part)
        given += shares[number]
    return given


def _merged(sections: Sequence[Section]) -> list[Section]:
    """Return one section for each tool, of all its lines together, in the order of the first."""
    by_tool: dict[str, list[Section]] = {}
    for section in sections:
        by_tool.setdefault(section.tool, []).append(section)
    merged = []
    for parts in by_tool.values():
        section = parts[0]
        if len(parts) > 1:
            log = Log.joined([part.log for part in parts])
            form = section.reducer.read(log) or section.form
            section = Section(section.reducer, log, form, section.plain)
        merged.append(section)
    return merged


def _added(all_dropped: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for dropped in all_dropped:
        for noun, count in dropped.items():
            total[noun] = total.get(noun, 0) + count
    return total
