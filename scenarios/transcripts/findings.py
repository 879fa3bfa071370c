"""What is wrong with a recording and what is worth knowing about it, named with place and count."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sim.errors import InputError

__all__ = ["Findings", "counted", "shown"]

_MOST = 20
"""Kinds of breakage reported one by one; the rest is counted."""


def shown(value: object, most: int = 60) -> str:
    """Return *value* as one short printable line in quotes: no control character survives."""
    text = value if isinstance(value, str) else repr(value)
    if len(text) > most:
        text = text[: most - 1] + "…"
    return "'" + "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text) + "'"


def counted(number: int, one: str, more: str) -> str:
    """Return *number* with the noun that goes with it."""
    return f"{number:,} {one if number == 1 else more}"


class Findings:
    """Collects what breaks the pattern of one recording, and names each kind once.

    Under *strict* the first breakage raises InputError. *unit* says what a place counts, ``line``
    or ``message``. Notes are facts about the reading, not faults: they never raise.
    """

    def __init__(self, file: Path | str, *, strict: bool = False, unit: str = "line") -> None:
        self.file = str(file)
        self.strict = strict
        self.unit = unit
        self.notes: list[str] = []
        self._seen: dict[tuple[str, str], list[int]] = {}

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

    def warnings(self) -> list[str]:
        """Return a sentence for each kind of breakage, the first place first."""
        rows = sorted((place, *what, count) for what, (place, count) in self._seen.items())
        out = [self._sentence(*row) for row in rows[:_MOST]]
        if len(rows) > _MOST:
            rest = sum(count for *_, count in rows[_MOST:])
            out.append(f"{self.file}: {len(rows) - _MOST} more kinds of breakage, {rest} in all")
        return out

    def _sentence(self, place: int, what: str, done: str, count: int) -> str:
        times = done if count == 1 else f"{count} of them, this is the first; {done}"
        where = self.file
        if place:
            where += f":{place}" if self.unit == "line" else f": {self.unit} {place}"
        return f"{where}: {what} ({times})"

    def report(self, warn: Callable[[str], object], note: Callable[[str], object]) -> None:
        """Hand over a sentence for each kind of breakage, then the notes."""
        for text in self.warnings():
            warn(text)
        for text in self.notes:
            note(f"{self.file}: {text}")
