"""A tool's output as clean lines: decoded, without escape codes, with one kind of line end."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from policies.reducers.trigrams import LONG, Trigrams

if TYPE_CHECKING:
    from sim.tokens import Tokenizer

__all__ = ["Log", "Span", "decode"]

_ESCAPE = re.compile(
    r"\x1b(?:\[[0-?]*+[ -/]*+[@-~]?|\][^\x07\x1b\n]*+(?:\x07|\x1b\\)|[ -/]++[0-~]?|[0-Z\\-~])?"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]")
_CLOCK = re.compile(
    r"^(?:[^\t\n]*+\t[^\t\n]*+\t)?\ufeff?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d++Z ?", re.MULTILINE
)
_MATCHER = re.compile(r"^##\[(?:error|warning)\](?=[^\s:(]++[:(]\d)", re.MULTILINE)
_DOCKER = re.compile(r"^#\d++ (?:\[|DONE |CACHED)", re.MULTILINE)
_DOCKER_CLOCK = re.compile(r"^#\d++ \d++\.\d++ ", re.MULTILINE)
_TASK = re.compile(r"^@?[\w./-]++:(?=[a-zA-Z])[\w-]++: ?", re.MULTILINE)
"""What turbo puts before each line of a task: the package and the task."""
_TASKS = ("\n Tasks: ", "Packages in scope: ", "• Running ")
_OFTEN = 5
"""Lines that must begin alike before that is taken for the name of a task."""
_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_TOGETHER = 6
"""Strings with one start from which it is faster to look for all of them at once."""
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
    """The lines of one output, or of parts of it.

    *first* is the number, from 1, of its first line in the whole output. *clock* is the number of
    lines from which a runner's clock, or its mark of a line that a problem matcher knows, was
    taken off. *notes* is for what a reducer finds out about the lines and needs again.
    """

    def __init__(self, lines: list[str], first: int = 1, clock: int = 0) -> None:
        self.lines = lines
        self.first = first
        self.clock = clock
        self.notes: dict[str, Any] = {}
        self._tokens: dict[str, int] = {}
        self._known: dict[tuple[str, tuple[str, ...]], bool] = {}
        self._at = [0]
        self._numbers = [first]

    @classmethod
    def of(cls, text: str) -> Log:
        """Return the log of *text*, cleaned: every line end is one, and no escape code is left."""
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        if "\x1b" in text:
            text = _ESCAPE.sub("", text)
        text, clock = _without_clock(_CONTROL.sub("", text))
        if not text:
            return cls([])
        if text.endswith("\n"):
            text = text[:-1]
        log = cls(text.split("\n"), clock=clock)
        log.__dict__["text"] = text
        return log

    @classmethod
    def joined(cls, parts: Sequence[Log]) -> Log:
        """Return the lines of all *parts* as one log that still knows their numbers."""
        if len(parts) == 1:
            return parts[0]
        lines = [line for part in parts for line in part.lines]
        log = cls(lines, parts[0].first if parts else 1, sum(part.clock for part in parts))
        ends = accumulate((len(part) for part in parts), initial=0)
        pieces = [
            (start + at, number)
            for part, start in zip(parts, ends, strict=False)
            for at, number in zip(part._at, part._numbers, strict=True)
        ]
        if pieces:
            log._at = [at for at, _ in pieces]
            log._numbers = [number for _, number in pieces]
        return log

    def __len__(self) -> int:
        return len(self.lines)

    @cached_property
    def text(self) -> str:
        """The lines as one text."""
        return "\n".join(self.lines)

    @cached_property
    def _starts(self) -> array[int]:
        return array("q", accumulate((len(line) + 1 for line in self.lines), initial=0))

    def tokens(self, tokenizer: Tokenizer) -> int:
        """Return the tokens of the text, counted once."""
        if tokenizer.name not in self._tokens:
            self._tokens[tokenizer.name] = tokenizer.count(self.text)
        return self._tokens[tokenizer.name]

    def line_at(self, offset: int) -> int:
        """Return the number, from 0, of the line that holds character *offset* of the text."""
        return bisect_right(self._starts, offset) - 1

    def number(self, line: int) -> int:
        """Return the number, from 1, in the whole output of *line*, counted from 0 here."""
        at = bisect_right(self._at, line) - 1
        return self._numbers[at] + line - self._at[at]

    def part(self, span: Span) -> Log:
        """Return the lines of *span* as a log of their own."""
        start, stop = max(0, span.start), min(span.stop, len(self.lines))
        if start == 0 and stop == len(self.lines):
            return self
        part = Log(self.lines[start:stop], self.number(start), min(self.clock, stop - start))
        inner = self._at[bisect_right(self._at, start) : bisect_left(self._at, stop)]
        part._at += [at - start for at in inner]
        part._numbers += [self.number(at) for at in inner]
        return part

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
        """Return whether any of *strings* occurs; each is looked for once."""
        return any(self._found(start, ends) for start, ends in _by_start(strings))

    def _found(self, start: str, ends: tuple[str, ...]) -> bool:
        known = self._known.get((start, ends))
        if known is None:
            if not self._may_hold(start, ends):
                known = False
            elif ends:
                known = _one_of(start, ends).search(self.text) is not None
            else:
                known = start in self.text
            self._known[start, ends] = known
        return known

    def _may_hold(self, start: str, ends: tuple[str, ...]) -> bool:
        if len(self.text) < LONG:
            return True
        return any(self._trigrams.may_hold(start + end) for end in ends or ("",))

    @cached_property
    def _trigrams(self) -> Trigrams:
        return Trigrams(self.text)


@cache
def _by_start(strings: tuple[str, ...]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return *strings*, many with the same two first characters as one start and its ends."""
    starts: dict[str, list[str]] = {}
    for string in dict.fromkeys(strings):
        starts.setdefault(string[:2], []).append(string)
    found: list[tuple[str, tuple[str, ...]]] = []
    for start, group in starts.items():
        if len(group) < _TOGETHER:
            found += ((string, ()) for string in group)
        else:
            found.append((start, tuple(sorted(string[2:] for string in group))))
    return tuple(found)


@cache
def _one_of(start: str, ends: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(re.escape(start) + "(?:" + "|".join(map(re.escape, ends)) + ")")


def _without_clock(text: str) -> tuple[str, int]:
    """Return *text* without what a runner put before its lines, and how many had it."""
    clock = 0
    if _CLOCK.match(text):
        lines = text.count("\n") + (not text.endswith("\n"))
        found = sum(1 for _ in _CLOCK.finditer(text))
        if found >= _MOSTLY * lines:
            text, clock = _CLOCK.sub("", text), found
    if "##[" in text:
        text, found = _MATCHER.subn("", text)
        clock = max(clock, found)
    if ("\n#" in text or text.startswith("#")) and _DOCKER.search(text):
        text, found = _DOCKER_CLOCK.subn("", text)
        clock += found
    if any(mark in text for mark in _TASKS):
        seen = Counter(match[0] for match in _TASK.finditer(text))
        names = sorted(map(re.escape, (name for name in seen if seen[name] >= _OFTEN)))
        if names:
            text, found = re.subn(f"^(?:{'|'.join(names)})", "", text, flags=re.MULTILINE)
            clock = max(clock, found)
    return text, clock
