"""What is wrong with a recording and what is worth knowing about it, named with place and count."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from sim.errors import InputError

__all__ = ["Findings", "Note", "counted", "folded", "named", "shown", "told"]

_MOST = 20
"""Kinds of breakage reported one by one; the rest is counted."""

_NAMED = 60
"""Characters of the names of sessions shown where many have the same note, about."""

_NUMBER = re.compile(r"(?<![\w.,-])\d(?:[\d,]*\d)?(?:\.\d+)?(?![\w])")


def named(path: object) -> str:
    """Return *path* as it can stand in a sentence: no control character, and on one line."""
    text = str(path)
    return text if text.isprintable() else "".join(map(_printable, text))


def told(error: InputError) -> str:
    """Return what *error* says as one line, its file fit to stand there."""
    file = None if error.file is None else named(error.file)
    return "; ".join(str(InputError(error.message, file=file, line=error.line)).split("\n"))


def _printable(character: str) -> str:
    return character if character.isprintable() else ascii(character)[1:-1]


def shown(value: object, most: int = 60) -> str:
    """Return *value* as one short printable line in quotes: no control character survives."""
    text = value if isinstance(value, str) else repr(value)
    if len(text) > most:
        text = text[: most - 1] + "…"
    return "'" + "".join(map(_printable, text)) + "'"


def counted(number: int, one: str, more: str) -> str:
    """Return *number* with the noun that goes with it."""
    return f"{number:,} {one if number == 1 else more}"


def _times(done: str, count: int) -> str:
    return done if count == 1 else f"{count} of them, this is the first; {done}"


class Note(str):
    """A sentence about the reading of a session, which knows its parts.

    *file* is the recording, *session* the name of the scenario, *says* what is said of it.
    """

    file: str
    session: str
    says: str

    def __new__(cls, file: str, session: str, says: str, full: bool = True) -> Note:
        note = super().__new__(cls, f"{file if full else session}: {says}")
        note.file, note.session, note.says = file, session, says
        return note

    def __reduce__(self) -> tuple[object, ...]:
        full = str(self) == f"{self.file}: {self.says}"
        return Note, (self.file, self.session, self.says, full)


def folded(notes: Iterable[str]) -> list[str]:
    """Return *notes* with what is the same of several sessions in one line, with their number.

    Notes are the same that differ in their numbers alone; the line has the least and the greatest
    of each. A file is named in full where a line is about it alone for the first time.
    """
    groups: dict[str, list[str]] = {}
    for note in dict.fromkeys(notes):
        key = _NUMBER.sub("0", note.says) if isinstance(note, Note) else note
        groups.setdefault(key, []).append(note)
    known: set[str] = set()
    return [_line(group, known) for group in groups.values()]


def _line(group: list[str], known: set[str]) -> str:
    """Return what a group of notes says in one line; *known* are the files named in full so far."""
    notes = [note for note in group if isinstance(note, Note)]
    if not notes:
        return group[0]
    sessions = list(dict.fromkeys(note.session for note in notes))
    says = _ranged([note.says for note in notes])
    if len(sessions) == 1:
        file = notes[0].file
        line = f"{sessions[0] if file in known else file}: {says}"
        known.add(file)
        return line
    return f"{len(sessions):,} sessions ({_some(sessions)}): {says}"


def _some(names: list[str]) -> str:
    """Return the first of *names*, as many as there is room for."""
    kept = names[:1]
    for name in names[1:]:
        if len(", ".join([*kept, name])) > _NAMED:
            return ", ".join([*kept, "…"])
        kept.append(name)
    return ", ".join(kept)


def _ranged(texts: list[str]) -> str:
    """Return the texts, which differ in their numbers alone, as one with the range of each."""
    columns = [_span(each) for each in zip(*map(_NUMBER.findall, texts), strict=True)]
    rest = iter(columns)
    return _NUMBER.sub(lambda number: next(rest), texts[0])


def _span(numbers: Iterable[str]) -> str:
    ordered = sorted(numbers, key=lambda number: float(number.replace(",", "")))
    return ordered[0] if ordered[0] == ordered[-1] else f"{ordered[0]} to {ordered[-1]}"


class Findings:
    """Collects what breaks the pattern of one recording, and names each kind once.

    Under *strict* the first breakage raises InputError. *unit* says what a place counts, ``line``
    or ``message``. Notes are facts about the reading, not faults: they never raise.
    """

    def __init__(self, file: Path | str, *, strict: bool = False, unit: str = "line") -> None:
        self.file = named(file)
        self.strict = strict
        self.unit = unit
        self.notes: list[str] = []
        self._seen: dict[tuple[str, str], list[int]] = {}
        self._named = False
        """Whether the file has been named in full."""

    def breaks(self, what: str, place: int | None, done: str = "skipped") -> None:
        """Take in that *what* stands at *place*; *done* says what is done with it."""
        if self.strict:
            if self.unit == "line" or not place:
                raise InputError(what, file=self.file, line=place or None)
            raise InputError(f"{self.unit} {place}: {what}", file=self.file)
        seen = self._seen.setdefault((what, done), [place or 0, 0])
        seen[0] = min(seen[0], place or 0)
        seen[1] += 1

    def note(self, text: str) -> None:
        """Take in a fact about the reading."""
        self.notes.append(text)

    def restart(self) -> None:
        """Forget what has been reported: another session of the file follows."""
        self.notes.clear()
        self._seen.clear()

    def warnings(self, where: str | None = None) -> list[str]:
        """Return a sentence for each kind of breakage, the first place first.

        *where* is what they call the file, by default its path.
        """
        where = where or self.file
        rows = self._rows()
        out = [f"{where}{self._at(place)}: {says}" for place, says, _ in rows[:_MOST]]
        if len(rows) > _MOST:
            rest = sum(count for *_, count in rows[_MOST:])
            out.append(f"{where}: {len(rows) - _MOST} more kinds of breakage, {rest} in all")
        return out

    def first(self) -> str:
        """Return the first kind of breakage without its file, empty if there is none."""
        for place, says, _ in self._rows():
            return f"{self.unit} {place}: {says}" if place else says
        return ""

    def _rows(self) -> list[tuple[int, str, int]]:
        """Return the first place, the sentence and the number of each kind of breakage."""
        rows = sorted((place, *what, count) for what, (place, count) in self._seen.items())
        return [
            (place, f"{what} ({_times(done, count)})", count) for place, what, done, count in rows
        ]

    def _at(self, place: int) -> str:
        if not place:
            return ""
        return f":{place}" if self.unit == "line" else f": {self.unit} {place}"

    def report(
        self, warn: Callable[[str], object], note: Callable[[str], object], session: str
    ) -> None:
        """Hand over a sentence for each kind of breakage, then the notes, as :class:`Note`.

        The first of a file names it in full; the others begin with the name of the *session*.
        """
        full = [] if self._named else self.warnings()[:1]
        for text in [*full, *self.warnings(session)[len(full) :]]:
            warn(text)
            self._named = True
        for text in self.notes:
            note(Note(self.file, session, text, not self._named))
            self._named = True
