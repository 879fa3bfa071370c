"""A tool's output as clean lines: decoded, without escape codes, with one kind of line end."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sim.tokens import Tokenizer

__all__ = ["Log", "Span", "decode"]

_ESCAPE = re.compile(
    r"\x1b(?:\[[0-?]*+[ -/]*+[@-~]?|\][^\x07\x1b\n]*+(?:\x07|\x1b\\)?|[ -/]++[0-~]?|[0-Z\\-~])?"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]")
_CLOCK = re.compile(
    r"^(?:[^\t\n]*+\t[^\t\n]*+\t)?\ufeff?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d++Z ?", re.MULTILINE
)
_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_MOSTLY = 0.9
"""Share of the lines that must begin with a runner's clock for it to be taken off."""


def decode(raw: bytes) -> str:
    """Return *raw* as text: UTF-8, or UTF-16 where it says so; what is neither is replaced."""
    for mark, name in _MARKS:
        if raw.startswith(mark):
            return raw[len(mark) :].decode(name, "replace")
    head = raw[:2000]
    if 5 * head[1::2].count(0) > 2 * len(head[1::2]) and not head[::2].count(0):
        return raw.decode("utf-16-le", "replace")
    return raw.decode("utf-8", "replace")


class Span:
    """Lines *start* to *stop*, the last left out, counted from 0."""

    __slots__ = ("start", "stop")

    def __init__(self, start: int, stop: int) -> None:
        self.start = start
        self.stop = stop

    def __repr__(self) -> str:
        return f"Span({self.start}, {self.stop})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Span) and (self.start, self.stop) == (other.start, other.stop)

    def __hash__(self) -> int:
        return hash((self.start, self.stop))


class Log:
    """The lines of one output, or of one part of it.

    *first* is the number, from 1, of its first line in the whole output. *clock* is the number of
    lines from which the clock of a runner was taken off.
    """

    def __init__(self, lines: list[str], first: int = 1, clock: int = 0) -> None:
        self.lines = lines
        self.first = first
        self.clock = clock
        self._tokens: dict[str, int] = {}

    @classmethod
    def of(cls, text: str) -> Log:
        """Return the log of *text*, cleaned: every line end is one, and no escape code is left."""
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        if "\x1b" in text:
            text = _ESCAPE.sub("", text)
        text = _CONTROL.sub("", text)
        lines = text.count("\n") + (not text.endswith("\n"))
        clock = 0
        if _CLOCK.match(text):
            clock = sum(1 for _ in _CLOCK.finditer(text))
            if clock >= _MOSTLY * lines:
                text = _CLOCK.sub("", text)
            else:
                clock = 0
        split = text.split("\n")
        if split and not split[-1]:
            split.pop()
        return cls(split, clock=clock)

    def __len__(self) -> int:
        return len(self.lines)

    @cached_property
    def text(self) -> str:
        """The lines as one text."""
        return "\n".join(self.lines)

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *accumulate(len(line) + 1 for line in self.lines)]

    def tokens(self, tokenizer: Tokenizer) -> int:
        """Return the tokens of the text, counted once."""
        if tokenizer.name not in self._tokens:
            self._tokens[tokenizer.name] = tokenizer.count(self.text)
        return self._tokens[tokenizer.name]

    def line_at(self, offset: int) -> int:
        """Return the number, from 0, of the line that holds character *offset* of the text."""
        return bisect_right(self._starts, offset) - 1

    def part(self, span: Span) -> Log:
        """Return the lines of *span* as a log of their own."""
        return Log(self.lines[span.start : span.stop], self.first + span.start)

    def matching(self, pattern: re.Pattern[str]) -> Iterator[tuple[int, re.Match[str]]]:
        """Yield (line number from 0, match) for each match of *pattern*, compiled MULTILINE."""
        for match in pattern.finditer(self.text):
            yield self.line_at(match.start()), match

    def runs(self, pattern: re.Pattern[str], gap: int = 0, least: int = 1) -> Iterator[Span]:
        """Yield the spans of lines that *pattern* matches.

        Matches with at most *gap* other lines between them are one span; a span with fewer than
        *least* matches is left out.
        """
        start, stop, count = 0, -1, 0
        for number, _ in self.matching(pattern):
            if stop >= 0 and number > stop + gap:
                if count >= least:
                    yield Span(start, stop)
                start, count = number, 0
            elif stop < 0:
                start = number
            stop, count = number + 1, count + 1
        if stop >= 0 and count >= least:
            yield Span(start, stop)

    def has(self, *strings: str) -> bool:
        """Whether any of *strings* occurs."""
        return any(string in self.text for string in strings)
