"""Reducing a tool result at arrival: what enters the window, and what is lost by it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from policies.reducers import registry
from policies.reducers.form import Form, Found, Laid
from policies.reducers.gap import HeadTail
from policies.reducers.log import Log, decode
from policies.reducers.room import Room
from policies.reducers.sections import Section, Sections, split
from sim.tokens import tokenizer

__all__ = ["FALLBACK", "FALLBACK_ABOUT", "PLAIN", "Output", "Reduced", "reduce", "reduced"]

PLAIN = "log"
"""The reducer of lines that no tool claims."""
FALLBACK = "head-tail"
"""The name of what is done without any structure."""
_CODES_MARK = 24
"""Tokens that the mark of what was cleaned off takes, at most."""
FALLBACK_ABOUT = "any output: both ends around a marked gap"


class Output:
    """A raw tool result, and what the reducers read in it, once it is asked for.

    *tool* is the reducer its tool declares; without one, or where it finds nothing of its own,
    the format is recognised by content. Bytes are decoded, invalid ones replaced. Raises
    InputError if no reducer is called *tool*.
    """

    def __init__(self, raw: str | bytes, tool: str | None = None) -> None:
        self.text = decode(raw) if isinstance(raw, bytes) else raw
        self._declared = None if tool in (None, FALLBACK) else registry.make(tool)
        self._blind = tool == FALLBACK
        self._tokens: dict[str, int] = {}

    def tokens(self, room: Room) -> int:
        """Return the tokens of the raw text, counted once by each tokenizer."""
        name = room.tokenizer.name
        if name not in self._tokens:
            self._tokens[name] = room.count(self.text)
        return self._tokens[name]

    @cached_property
    def log(self) -> Log:
        """The output as clean lines."""
        return Log.of(self.text)

    @cached_property
    def sections(self) -> list[Section]:
        """The output by tool."""
        if self._blind:
            return []
        known, declared = registry.reducers(), self._declared
        others = [reducer for name, reducer in known.items() if name != PLAIN]
        if declared is not None:
            if next(iter(declared.find(self.log)), None) is None:
                own = declared.read(self.log)
                if own is not None:
                    return [Section(declared, self.log, own)]
            others.sort(key=lambda reducer: reducer is not declared)
        return split(self.log, others, known[PLAIN])

    @cached_property
    def form(self) -> Form:
        """What was read in it."""
        return Sections(self.sections) if self.sections else HeadTail(self.log)

    @property
    def tool(self) -> str:
        """The tools that were recognised, joined by ``+``; lines of none do not count."""
        tools = dict.fromkeys(section.tool for section in self.sections if not section.plain)
        return "+".join(tools) or (PLAIN if self.sections else FALLBACK)

    def found(self) -> Found:
        """Return what the output reports."""
        return self.form.found()

    def laid(self, room: Room) -> Laid:
        """Return the text that enters: all of it if it fits, else what its structure leaves."""
        if self.tokens(room) <= room.limit:
            return Laid(self.text)
        clean = self.log.tokens(room.tokenizer)
        if clean <= room.limit - _CODES_MARK:
            codes = self.tokens(room) - clean
            mark = f"[left out: {codes:,} tokens of escape codes, control characters and clocks]"
            return Laid(f"{self.log.text}\n{mark}" if self.log.text else mark)
        laid = self._marked(self.form, room)
        if not room.fits(laid.text):
            laid = self._marked(HeadTail(self.log), room)
        return laid

    def _marked(self, form: Form, room: Room) -> Laid:
        """Return *form* laid out; what it passes over as nothing of its own is marked as well."""
        laid = form.lay(room)
        if laid.dropped:
            return laid
        mark = f"[{self.tokens(room) - room.count(laid.text):,} tokens left out; {room.ask}]"
        text = f"{laid.text}\n{mark}" if laid.text else mark
        if room.fits(text):
            return Laid(text)
        laid = form.lay(room.of(max(1, room.limit - room.count(mark) - 2)))
        return laid if laid.dropped else Laid(f"{laid.text}\n{mark}")


@dataclass(frozen=True, slots=True)
class Reduced:
    """A result as it enters the window.

    *dropped* says by noun how many things are not in the text; it is empty where all are.
    *tokenizer* is the name of what counted.
    """

    tool: str
    text: str
    tokens_before: int
    tokens_after: int
    tokenizer: str
    dropped: Mapping[str, int] = field(default_factory=dict)

    @property
    def whole(self) -> bool:
        """Whether nothing was left out."""
        return self.tokens_before == self.tokens_after


def reduced(output: Output, room: Room) -> Reduced:
    """Return *output* as it enters in *room*."""
    laid = output.laid(room)
    before, after = output.tokens(room), room.count(laid.text)
    dropped = dict(laid.dropped)
    if before > room.limit:
        dropped["tokens"] = before - after
    return Reduced(output.tool, laid.text, before, after, room.tokenizer.name, dropped)


def reduce(
    raw: str | bytes | bytearray | memoryview, max_result_tokens: int, tool: str | None = None
) -> Reduced:
    """Return *raw* reduced to at most *max_result_tokens*, by the structure of its format.

    A result within the limit is returned as it is. *tool* names a reducer; without it the format
    is recognised by content. Raises InputError if the limit is below 40 tokens or there is no
    reducer *tool*, and TypeError for a result that is neither text nor bytes and for a limit that
    is no whole number.
    """
    if isinstance(raw, (bytearray, memoryview)):
        raw = bytes(raw)
    if not isinstance(raw, (str, bytes)):
        raise TypeError(f"a result must be text or bytes, not {type(raw).__name__}")
    if not isinstance(max_result_tokens, int):
        kind = type(max_result_tokens).__name__
        raise TypeError(f"max_result_tokens must be a whole number, not {kind}")
    Room.check(max_result_tokens, "max_result_tokens")
    return reduced(Output(raw, tool), Room(max_result_tokens, tokenizer()))
