"""Sections: an output of several tools is split by tool, and each keeps its verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from policies.reducers.form import Form, Found, Laid, Reducer
from policies.reducers.log import Log, Span
from policies.reducers.room import clip

if TYPE_CHECKING:
    from policies.reducers.room import Room

__all__ = ["Section", "Sections", "split"]

_PLAIN_SHARE = 0.1
"""Share of the room that plain lines between the tools get at least, if they need it."""
_LEAST_SHARE = 90
"""Tokens below which a section can say nothing."""


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
        first, last = self.log.first, self.log.first + len(self.log) - 1
        return f"--- {self.tool}, lines {first:,}–{last:,} ---"


def split(log: Log, known: Iterable[Reducer], plain: Reducer) -> list[Section]:
    """Return the sections of *log*, in order: what a tool of *known* claims, and the rest.

    Of two that claim the same lines the one of higher rank has them. The rest goes to *plain*.
    """
    taken: list[tuple[Span, Reducer]] = []
    for reducer in known:
        if reducer.hints and not log.has(*reducer.hints):
            continue
        own = [span for claim in reducer.find(log) for span in _free(claim, taken)]
        taken += [(span, reducer) for span in own]
        taken.sort(key=lambda pair: pair[0].start)
    sections: list[Section] = []
    at = 0
    for span, reducer in taken:
        part = log.part(span)
        form = reducer.read(part)
        if form is None:
            continue
        sections += _rest(log, Span(at, span.start), plain)
        sections.append(Section(reducer, part, form))
        at = span.stop
    return sections + _rest(log, Span(at, len(log)), plain)


def _free(claim: Span, taken: Sequence[tuple[Span, Reducer]]) -> list[Span]:
    """Return the parts of *claim* that none of *taken*, sorted by line, covers."""
    parts, start = [], claim.start
    for span, _ in taken:
        if span.stop <= start:
            continue
        if span.start >= claim.stop:
            break
        if span.start > start:
            parts.append(Span(start, span.start))
        start = max(start, span.stop)
    if start < claim.stop:
        parts.append(Span(start, claim.stop))
    return parts


def _rest(log: Log, span: Span, plain: Reducer) -> list[Section]:
    """Return the section of lines that no tool claimed, if any of them says something."""
    part = log.part(span)
    if not any(line and not line.isspace() for line in part.lines):
        return []
    form = plain.read(part)
    return [] if form is None else [Section(plain, part, form, plain=True)]


class Sections:
    """Several sections laid out one after the other, each with a share of the room."""

    def __init__(self, sections: Sequence[Section]) -> None:
        self.sections = list(sections)

    def found(self) -> Found:
        """Return what was found in all of them."""
        all_found = [section.form.found() for section in self.sections]
        counts: dict[str, int] = {}
        for found in all_found:
            for noun, count in found.counts.items():
                counts[noun] = counts.get(noun, 0) + count
        return Found(
            tuple(dict.fromkeys(file for found in all_found for file in found.files)),
            tuple(failure for found in all_found for failure in found.failures),
            counts,
        )

    def lay(self, room: Room) -> Laid:
        """Return every section in its share: tools first, in turn, then the plain lines."""
        sections = self.sections
        if len(sections) == 1:
            return sections[0].form.lay(room)
        titles = [room.count(section.title) + 2 for section in sections]
        laid = [section.form.lay(room) for section in sections]
        wanted = [room.count(each.text) for each in laid]
        free = room.limit - sum(titles)
        if free < _LEAST_SHARE * len(sections):
            return self._crowded(room)
        while True:
            if sum(wanted) > free:
                shares = self._shares(wanted, free)
                laid = [
                    each if share >= want else section.form.lay(room.of(share))
                    for section, each, share, want in zip(
                        sections, laid, shares, wanted, strict=True
                    )
                ]
            text = "\n".join(
                line
                for section, each in zip(sections, laid, strict=True)
                for line in (section.title, each.text)
            )
            if room.fits(text):
                return Laid(text, _added(each.dropped for each in laid))
            free = int(free * 0.97) - 2

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
            return Sections(merged).lay(room)
        ranked = sorted(self.sections, key=lambda section: section.plain)
        shown = ranked[: max(1, (room.limit - 40) // (_LEAST_SHARE + 20))]
        hidden = ranked[len(shown) :]
        tools = ", ".join(f"{section.tool} ({len(section.log):,} lines)" for section in hidden)
        note = f"[left out: {clip(tools, 80)}; {room.ask}]"
        inner = Sections(shown).lay(room.of(max(1, room.limit - room.count(note) - 2)))
        lines = sum(len(section.log) for section in hidden)
        return Laid(f"{inner.text}\n{note}", _added([inner.dropped, {"lines": lines}]))


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
            lines = [line for part in parts for line in part.log.lines]
            log = Log(lines, section.log.first)
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
