"""A plain log as it enters: repeats folded, then both ends and the lines that say what is wrong."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest
from string import ascii_letters, digits
from typing import TYPE_CHECKING

from policies.reducers.folding import fold, open_folds, shape
from policies.reducers.form import Found, Laid
from policies.reducers.gap import HeadTail
from policies.reducers.room import clip

if TYPE_CHECKING:
    from policies.reducers.log import Log
    from policies.reducers.room import Room

__all__ = ["ERRORS", "Plain", "lines_with"]

ERRORS = ("error", "Error", "ERROR", "fatal", "Fatal", "FATAL", "panic", "Panic", "PANIC",
           "exception", "Exception", "EXCEPTION", "Traceback", "failed", "Failed", "FAILED",
           "failure", "Failure", "FAILURE", "critical", "Critical", "CRITICAL", "FAIL",
           "cannot ", "Cannot ", "denied", "not found", "exit code", "Killed", "SIGKILL",
           "SIGSEGV", "Segmentation fault")  # fmt: skip
"""What a line holds that says that something went wrong."""
_WARNINGS = (
    "warning",
    "Warning",
    "WARNING",
    "warn",
    "WARN",
    "deprecated",
    "Deprecated",
    "Deprecation",
)
_FINAL = ("##[error]", "Error: ", "ERROR", "error: ", "fatal: ", "FATAL", "make: *** ", "npm ERR!")
"""What the line begins with that says why all ended."""
_FINE = ("✓", "✔", "√", "PASS", "ok ")
"""What a line begins with that speaks of errors and is none."""
_LANDMARKS = ("##[group]Run ", "Step ", "===", "> Task ", "$ ", "+ ")
_AFTER = re.compile(r"s?(?:[ \t\n:：;,!?)\]}'\"`(=\[|*<]|[.-](?!\w)|\Z)")
"""What may follow such a word: so that a part of a name or path is not taken for one."""
_BEFORE = 64
"""Characters before a word that are looked at."""
_NONE_BEFORE = re.compile(r"(?<![\w.,])(?:0|[Nn]o) \Z")
_NONE_AFTER = re.compile(r"s?(?:[)\"']?: ?0(?=[,;)\]}]|[ \t]*+(?:\n|\Z))|=0(?![\d.xX]))")
_EXIT_ZERO = re.compile(r"[ :=]{1,3}0(?![\dxX]|\.\d)")
"""What says that there is none of it: ``0 failed``, ``errors: 0``, ``exit code 0``."""
_LONG = 2_000
"""Characters a line at either end may have, and the average from which folding says little."""
_SMALL = 100
"""Tokens below which only both ends are shown."""
_MARKED = 400
"""Characters of a line that is shown for what it says."""
_SHARE = 0.5
"""Share of the room for such lines, at most."""
_FIRST = 1.6
"""How much of that share the first of them may take: in little room it is all there is."""
_TRIES = 5
"""Attempts to fill the room: how many gaps there will be is not known before."""
_BLOCK = 1_000
"""Lines whose tokens are counted together."""
_MOST = 2_000
"""Such lines of one class that are looked at."""


def lines_with(log: Log, words: Iterable[str], start_only: bool = False) -> list[int]:
    """Return, sorted, the lines of *log* that hold one of *words*, or begin with one.

    A word within a line counts if it stands alone, or ends a longer one in capitals as
    ``TypeError`` does; not as a part of a path or name, and not where none of it is said to be.
    """
    text = log.text
    found: set[int] = set()
    for word in words:
        pattern = f"\n{word}" if start_only else word
        if start_only and text.startswith(word):
            found.add(0)
        at = text.find(pattern)
        while at >= 0:
            stop = at + len(pattern)
            if start_only or _alone(text, at, stop):
                found.add(log.line_at(at + start_only))
                stop = text.find("\n", stop)
                if stop < 0:
                    break
            at = text.find(pattern, stop)
    return sorted(found)


def _alone(text: str, start: int, stop: int) -> bool:
    """Whether the word at *start* to *stop* stands alone and there is some of what it says."""
    if text[stop - 1] != " " and not _AFTER.match(text, stop):
        return False
    if (_EXIT_ZERO if text.startswith("exit", start) else _NONE_AFTER).match(text, stop):
        return False
    before = text[max(0, start - _BEFORE) : start]
    return not _NONE_BEFORE.search(before) and not _named(before, text[start:stop])


def _named(before: str, word: str) -> bool:
    """Whether *word* is, after what stands *before* it, a part of a name, an option or a path."""
    if not before or before[-1].isspace():
        return False
    capital = word[:1].isupper() and word[1:2].islower()
    rest = before.rstrip(ascii_letters + digits)
    edge, name = rest[-1:], before[len(rest) :]
    if edge == "\\" and name in ("n", "r", "t"):
        return False
    if name and not capital:
        return True
    if edge == "_":
        return bool(name) or not word.isupper()
    if edge == "." and not capital:
        return before[-2:-1].isalnum()
    return edge in ("/", "\\", "-")


@dataclass(frozen=True)
class Plain:
    """Lines of no known structure.

    If they do not fit as they are, adjacent lines that differ only in numbers, times or hashes
    are shown once with their count, and as many of them as there is room for at both ends of
    such a run. If that does not fit either: head, tail and between them
    distinct lines with an error, then a warning, then a landmark, each gap marked. *marked* are
    the lines to keep by class, the most important first; None looks for them. *tool* and *counts*
    are for formats whose text is laid out so.
    """

    log: Log
    marked: Sequence[Sequence[int]] | None = None
    counts: Mapping[str, int] = field(default_factory=dict)

    def found(self) -> Found:
        """Return the counts: of plain lines nothing else is known."""
        return Found(counts=dict(self.counts))

    @cached_property
    def _blocks(self) -> dict[int, int]:
        return {}

    @cached_property
    def _classes(self) -> Sequence[Sequence[int]]:
        if self.marked is not None:
            return self.marked
        log = self.log
        errors = lines_with(log, ERRORS)
        return (
            lines_with(log, _FINAL, start_only=True),
            [at for at in errors if not log.lines[at].lstrip().startswith(_FINE)],
            lines_with(log, _WARNINGS),
            lines_with(log, _LANDMARKS, start_only=True),
        )

    @cached_property
    def _starts(self) -> list[int]:
        """The first line of each fold, and the number of lines."""
        apart = self._classes[:2] if self.marked is None else ()
        return fold(self.log, frozenset(line for lines in apart for line in lines))

    def lay(self, room: Room) -> Laid:
        """Return all lines, or all folds, or the ends and the marked lines between them."""
        log = self.log
        if len(log.text) <= 100 * room.limit and log.tokens(room.tokenizer) <= room.limit:
            return Laid(log.text)
        if len(log.text) > _LONG * max(1, len(log)):
            return HeadTail(log).lay(room)
        folds = len(self._starts) - 1
        if folds < len(log) and folds * 2 <= room.limit:
            laid = self._folded(self._starts)
            if len(laid.text) <= 100 * room.limit and room.fits(laid.text):
                return self._opened(laid, room)
        return self._ends(room) if room.limit >= _SMALL else HeadTail(log).lay(room)

    def _folded(self, starts: Sequence[int]) -> Laid:
        """Return the folds that begin at *starts*, each by its first line."""
        text = "\n".join(line for at in range(len(starts) - 1) for line in self._fold(starts, at))
        return Laid(text, {"lines": len(self.log) - len(starts) + 1})

    def _opened(self, laid: Laid, room: Room) -> Laid:
        """Return *laid*, all folds, with as many more of their lines as there is room for."""
        spare = room.limit - room.count(laid.text)
        for _ in range(_TRIES):
            starts = open_folds(self.log.lines, self._starts, spare, room.count)
            opened = self._folded(starts)
            over = room.count(opened.text) - room.limit
            if over <= 0:
                return opened
            spare = spare * 9 // 10 - over
        return laid

    def _fold(self, starts: Sequence[int], at: int, most: int = _LONG) -> Iterator[str]:
        """Yield the first line of fold *at* and, if it stands for more, how many."""
        start, stop = starts[at], starts[at + 1]
        yield clip(self.log.lines[start], most)
        if stop - start > 1:
            first, last = self.log.number(start + 1), self.log.number(stop - 1)
            noun = "line" if stop - start == 2 else "lines"
            yield f"[{stop - start - 1:,} {noun} like it left out ({first:,}–{last:,})]"

    def _cost(self, at: int, room: Room, most: int = _LONG) -> int:
        return sum(room.count(line) + 1 for line in self._fold(self._starts, at, most))

    def _ends(self, room: Room) -> Laid:
        total = self._tokens(0, len(self.log), room)
        gap = room.count(_gap(total, len(self.log), room.ask, f" ({total:,}–{total:,})")) + 1
        best, free = None, room.limit - gap
        low, high = 0, 4 * room.limit
        for _ in range(_TRIES):
            laid = self._choose(room, free, gap)
            if laid is None:
                break
            spare = room.limit - room.count(laid.text)
            if spare >= 0:
                best, low = laid, free
                if spare <= room.limit // 50:
                    break
            else:
                high = free
            step = free + spare
            free = step if low < step < high else (low + high) // 2
        return best or HeadTail(self.log).lay(room)

    def _choose(self, room: Room, free: int, gap: int) -> Laid | None:
        """Lay out about *free* tokens of marked lines and of both ends; None if none fits."""
        folds = len(self._starts) - 1
        marks = self._marks(room, int(free * _SHARE), gap)
        used = sum(marks.values())
        head = self._take(room, (free - used) // 2, range(folds), marks)
        used += sum(head.values())
        tail = self._take(room, free - used, range(folds - 1, -1, -1), {**marks, **head})
        if not marks and not head and not tail:
            return None
        return self._text(sorted({*marks, *head, *tail}), {*marks} - {*head, *tail}, room)

    def _marks(self, room: Room, free: int, gap: int) -> dict[int, int]:
        """Return folds to keep for what they say, with what each costs, a gap before it too."""
        chosen: dict[int, int] = {}
        seen: set[str] = set()
        for lines in self._classes:
            for line in _from_both_ends(lines)[:_MOST]:
                key = self.log.lines[line].strip()[:_MARKED]
                key = shape(key) if self.marked is None else key
                at = bisect_right(self._starts, line) - 1
                if key in seen or at in chosen:
                    continue
                seen.add(key)
                size = self._cost(at, room, _MARKED)
                if at - 1 not in chosen:
                    size += gap
                if size > (free if chosen else free * _FIRST):
                    return chosen
                chosen[at] = size
                free -= size
        return chosen

    def _take(
        self, room: Room, free: int, order: Iterable[int], taken: Mapping[int, int]
    ) -> dict[int, int]:
        """Return the folds from one end that fit into *free*, with what each costs."""
        got: dict[int, int] = {}
        for at in order:
            size = 0 if at in taken else self._cost(at, room)
            if size > free:
                break
            free -= size
            got[at] = size
        return got

    def _tokens(self, start: int, stop: int, room: Room) -> int:
        """Return the tokens of some lines, each block of many of them counted once."""
        total, at = 0, start
        while at < stop:
            block, until = at // _BLOCK, min(stop, (at // _BLOCK + 1) * _BLOCK)
            whole = until - at == _BLOCK
            if whole and block in self._blocks:
                total += self._blocks[block]
            else:
                size = room.count("\n".join(self.log.lines[at:until]) + "\n")
                total += size
                if whole:
                    self._blocks[block] = size
            at = until
        return total

    def _text(self, shown: Sequence[int], short: set[int], room: Room) -> Laid:
        """Return the folds *shown*, those in *short* clipped, with a mark in each gap."""
        parts: list[str] = []
        gone_tokens = gone_lines = at = 0
        ask = room.ask
        for fold_number in [*shown, len(self._starts) - 1]:
            if fold_number > at:
                start, stop = self._starts[at], self._starts[fold_number]
                tokens = self._tokens(start, stop, room)
                first, last = self.log.number(start), self.log.number(stop - 1)
                parts.append(_gap(tokens, stop - start, ask, f" ({first:,}–{last:,})"))
                gone_tokens += tokens
                gone_lines += stop - start
                ask = ""
            if fold_number < len(self._starts) - 1:
                most = _MARKED if fold_number in short else _LONG
                parts += self._fold(self._starts, fold_number, most)
                gone_lines += self._starts[fold_number + 1] - self._starts[fold_number] - 1
            at = fold_number + 1
        dropped = {"tokens": gone_tokens, "lines": gone_lines}
        return Laid("\n".join(parts), {noun: count for noun, count in dropped.items() if count})


def _from_both_ends(lines: Sequence[int]) -> list[int]:
    """Return the first, the last, the second…: what went wrong first and what ended all."""
    half = (len(lines) + 1) // 2
    pairs = zip_longest(lines[:half], reversed(lines[half:]))
    return [line for pair in pairs for line in pair if line is not None]


def _gap(tokens: int, lines: int, ask: str, where: str = "") -> str:
    noun = "line" if lines == 1 else "lines"
    end = f" left out; {ask}]" if ask else " left out]"
    return f"[gap: {tokens:,} tokens in {lines:,} {noun}{where}{end}"
