"""Tools that a user declares for a recording: results over their budget are really reduced."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Protocol

from scenarios.tools import Tool
from scenarios.transcripts.findings import shown
from scenarios.transcripts.session import Draft, Place
from scenarios.transcripts.values import decoded
from sim.segments import Kind
from sim.tokens import Tokenizer

__all__ = ["Budgets", "Declared", "Reduction", "Reductions"]

_MOST_NAMED = 5
_NEAR = 0.5


@dataclass(frozen=True, slots=True)
class Reduction:
    """A result as it enters the window: its text, and the tokens of that."""

    text: str
    tokens: int


class Reductions(Protocol):
    """What reduces texts; it counts with the tokenizer that the recording is counted with."""

    def reduce(self, text: str, limit: int, reducer: str | None) -> Reduction:
        """Return *text* in at most *limit* tokens, by a reducer by name, or by content (None)."""
        ...

    def difference(self, before: str, after: str, limit: int) -> int | None:
        """Return the tokens of the difference between two results, None if over *limit*."""
        ...


@dataclass(frozen=True, slots=True)
class Declared:
    """The tools of a tools *file* by name, and what reduces their results."""

    file: str
    tools: Mapping[str, Tool]
    reductions: Reductions

    def unused(self, drafts: Iterable[Draft]) -> str | None:
        """Return the sentence that says that no tool of the file occurs, None if one does."""
        known = sorted({draft.tool for draft in drafts if draft.tool is not None})
        if not known or not self.tools or any(tool in self.tools for tool in known):
            return None
        pairs = [(_likeness(tool, near), near, tool) for tool in self.tools for near in known]
        likeness, near, tool = max(pairs, key=lambda pair: pair[0])
        if likeness < _NEAR:
            named = ", ".join(shown(name) for name in known[:_MOST_NAMED])
            more = ", …" if len(known) > _MOST_NAMED else ""
            hint = f"it calls {named}{more}"
        else:
            hint = f"did you mean {shown(near)} for {shown(tool)}?"
        return f"no tool that {self.file} declares is called in it; {hint}"


@dataclass(frozen=True, slots=True)
class _Cut:
    """A result that is over its budget and what is left of it, both packed."""

    whole: bytes
    reduced: bytes


class Budgets:
    """Reduces the results of one session as they come, and says what of them is left.

    Of each tool the last text is held, and what is over its budget, packed, until the
    session has been read: which of its values will be asked for is not known before.
    """

    def __init__(self, declared: Declared | None, tokenizer: Tokenizer) -> None:
        self._declared = declared
        self._tokenizer = tokenizer
        self._cuts: dict[str, _Cut] = {}
        self._came: dict[str, str] = {}
        """The texts of results that have not been put in order, by id."""
        self._last: dict[str, str] = {}
        """The text of the last result of each tool."""

    def take(self, draft: Draft, text: str) -> None:
        """Give *draft*, whose text is *text*, what its tool declares."""
        tool = self._tool(draft)
        if tool is None or tool.max_result_tokens is None or self._declared is None:
            return
        limit = draft.max_result_tokens = tool.max_result_tokens
        draft.pages = tool.pages
        if draft.tokens > limit:
            reduction = self._declared.reductions.reduce(text, limit, tool.reducer)
            draft.reduced_tokens = max(1, reduction.tokens)
            self._cuts[draft.id] = _Cut(_packed(text), _packed(reduction.text))
        if draft.kind is Kind.TOOL_RESULT:
            self._came[draft.id] = text

    def _tool(self, draft: Draft) -> Tool | None:
        if self._declared is None or draft.tool is None:
            return None
        return self._declared.tools.get(draft.tool)

    def settle(self, drafts: Iterable[Draft]) -> None:
        """Give each result of a turn the size of its difference to the one that came before.

        *drafts* have the latencies by which they arrive.
        """
        if self._declared is None:
            return
        for draft in sorted(drafts, key=lambda each: each.time or 0.0):
            after = self._came.pop(draft.id, None)
            if after is None or draft.tool is None or draft.max_result_tokens is None:
                continue
            before = self._last.get(draft.tool)
            if before is not None:
                limit = draft.max_result_tokens
                tokens = self._declared.reductions.difference(before, after, limit)
                draft.delta_tokens = None if tokens is None else max(1, tokens)
            self._last[draft.tool] = after

    def place(self, draft: Draft, value: str) -> Place | None:
        """Return where *value* stands in *draft* and whether a reduction keeps it.

        None if *draft* is within its budget, where that makes no difference.
        """
        cut = self._cuts.get(draft.id)
        if cut is None:
            return None
        before = _before(value, _unpacked(cut.whole))
        at = None if before is None else self._tokenizer.count(before)
        return Place(at, _before(value, _unpacked(cut.reduced)) is not None)


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one.lower(), other.lower()).ratio()


def _before(value: str, text: str) -> str | None:
    """Return what stands in *text* before *value*, as a whole word; None if it is not there.

    A value that is there with escapes in it is looked for without them.
    """
    start = r"(?<!\w)" if re.match(r"\w", value) else ""
    end = r"(?!\w)" if re.search(r"\w\Z", value) else ""
    pattern = re.compile(start + re.escape(value) + end)
    for readable in (text, decoded(text)):
        match = pattern.search(readable)
        if match is not None:
            return readable[: match.start()]
    return None


def _packed(text: str) -> bytes:
    return zlib.compress(text.encode("utf-8", "surrogatepass"), 1)


def _unpacked(packed: bytes) -> str:
    return zlib.decompress(packed).decode("utf-8", "surrogatepass")
