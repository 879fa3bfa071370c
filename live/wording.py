"""What a request says where a segment does not stand as it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from live.dialects import Dialect
from live.homes import Homes, single
from live.texts import GAP, Count, ends, fit
from scenarios.transcripts.findings import counted, shown
from sim.errors import InputError
from sim.keeping import ByPlace
from sim.ledger import Ledger
from sim.records import Record
from sim.reduction import HEADS
from sim.segments import Kind, Segment, originals
from sim.summariser import Drafting

__all__ = ["Read", "Summarise", "Wording"]

Summarise = Callable[[list[Any], int], str]
"""Returns what messages say in at most so many tokens; asked once for each summary."""

Read = Callable[[str, Any], str | None]
"""Runs a read again, by tool and arguments of its call; None: that cannot be done."""

_RESULTS = (Kind.TOOL_RESULT, Kind.FILE, Kind.DIFF, Kind.IMAGE)
_NEWS = {"rehydration": "brought back", "refresh": "as it is now"}


class Wording:
    """The words for stubs, surrogates, summaries, and for what was brought back or refreshed.

    Each is worded once and then stays byte for byte, so that a cached prefix does. What a policy
    gave a number of tokens is worded in no more of them where any words fit.
    """

    def __init__(
        self,
        dialect: Dialect,
        homes: Homes,
        log: Mapping[str, Segment],
        count: Count,
        summarise: Summarise | None,
        read: Read | None,
    ) -> None:
        self._dialect = dialect
        self._homes = homes
        self._count = count
        self._summarise = summarise
        self._read = read
        self._log = log
        self._said: dict[tuple[str, int, int, str], str] = {}
        self._asked: dict[str, bool] = {}
        """Of each surrogate, whether a model was to write it."""
        self._labels: dict[str, str] = {}
        """The tag of each surrogate, empty if it has none."""
        self._renewed: dict[str, int] = {}
        """The turn in which a segment was last brought back or refreshed."""
        self.render: Callable[[Mapping[Segment, int]], list[Any]] = lambda given: []
        """Returns segments as messages, so many tokens of each."""

    def met(self, record: Record) -> None:
        """Take in what happened: what a surrogate stands for as it is now, when a text is new.

        A summary that the caller writes is asked for when it is first shown.
        """
        kind, _, turn, segment = record[:4]
        if kind == "rewrite":
            asked, surrogate = record[-1], self._log[segment]
            self._asked[segment] = asked
            self._labels[segment] = self._label(surrogate, single(surrogate))
            if not asked or self._summarise is None:
                self.of(surrogate)
        elif kind in ("refresh", "fetch"):
            self._renewed[segment] = turn

    def of(self, segment: Segment) -> str:
        """Return the words for a segment that does not stand as it came."""
        key = segment.id, segment.version, segment.admitted_turn, segment.entered
        if key not in self._said:
            said = self._worded(segment)
            self._said[key] = said if said.strip() else f"[{segment.id}, left out]"
        return self._said[key]

    def front(self, segment: Segment, tokens: int) -> str:
        """Return the first *tokens* of the text of a segment."""
        return fit(self.of(segment), tokens, self._count)

    def brought(self, segment: Segment, tokens: int) -> list[Any]:
        """Return *tokens* of what stands elsewhere than it came, as content of a user's message."""
        home = self._homes.by_id.get(segment.id)
        if home is not None and segment.kind is Kind.IMAGE:
            message = self._homes.plain[home.place - 1]
            image = self._dialect.image(message, home.at[0], home.image)
            return [_text(f"[{segment.id}, brought back:]"), image]
        words = self.of(segment) if tokens >= segment.tokens else self.front(segment, tokens)
        return [_text(words if segment.sources else f"{_heading(segment)}\n{words}")]

    def headings(self, window: Iterable[Segment]) -> int:
        """Return the tokens of the lines in front of what in the *window* was brought back."""
        return sum(self._count(_heading(s)) for s in window if s.entered in _NEWS)

    def absent(self, result: Segment | None, ledger: Ledger) -> str:
        """Return what stands for a result that is not there although its call is."""
        if result is None:
            return "[no result]"
        last = ledger.why(result.id)[-1]
        why = f"not let in: {last[3]}" if last[1] == "never-admitted" else "left out"
        return f"[{result.id}, {result.raw_tokens:,} tokens, {why}]"

    def pointer(self, source: Segment) -> str:
        """Return what stands for a read that brought what *source* holds, which is there."""
        return f"[the same text as {_named(source)}, which stands elsewhere in this conversation]"

    def clipped(self, text: str, tokens: int) -> str:
        """Return the beginning of *text* in *tokens*, marked where it is cut."""
        mark = "\n[cut: there is no room for more]"
        return fit(text, max(1, tokens - self._count(mark)), self._count) + mark

    def count(self, text: str) -> int:
        """Return the tokens of a text."""
        return self._count(text)

    # -- by what a segment is ---------------------------------------------------------------

    def _worded(self, segment: Segment) -> str:
        if segment.invented:
            return self.of(segment.sources[0])
        if segment.sources:
            return self._stand_in(segment)
        if segment.page_of is not None:
            return self._page(segment, segment.page_of)
        text = self._newest(segment)
        if segment.form == "pointer":
            return self._fitted(_pointers(segment), segment.tokens)
        if segment.tokens < segment.raw_tokens:
            return ends(text, segment.tokens, self._count, HEADS.get(segment.form, 0.5))
        return text

    def _stand_in(self, segment: Segment) -> str:
        root, limit = single(segment), segment.tokens
        asked = self._asked.get(segment.id, False)
        label = self._labels[segment.id]
        if isinstance(segment.keeping, ByPlace):
            return self._preview(segment, segment.keeping)
        room = limit - self._count(label)
        if not asked:
            return label or self._fitted([f"[{root.id}, left out]", "[left out]"], limit)
        if self._summarise is not None:
            said = self._summary(segment, max(1, room))
            return " ".join(part for part in (label, fit(said, room, self._count)) if part)
        if root.sources:
            listed = _listing(originals(segment.sources))
            return self._listed(label, listed, limit)
        own = fit(" ".join(self._original(root).split()), room - 1, self._count)
        return " ".join(part for part in (label, own) if part) or "[left out]"

    def _preview(self, segment: Segment, keeping: ByPlace) -> str:
        """Return the ends of its source that a stub keeps, behind a tag if there is room."""
        source, limit = segment.sources[0], segment.tokens
        head, tail = keeping.head, max(0, source.tokens - keeping.tail)
        if not head and not tail:
            return self._labels[segment.id] or self._fitted(_pointers(source)[-2:], limit)
        text = self._worded(source)
        ends = fit(text, head, self._count), fit(text, tail, self._count, tail=True)
        shown = GAP.join(part for part in ends if part)
        labels = _pointers(source) if segment.tagged else []
        texts = [*(f"{label}\n{shown}" for label in labels), shown]
        return fit(self._fitted(texts, limit), limit, self._count)

    def _summary(self, segment: Segment, tokens: int) -> str:
        assert self._summarise is not None
        given = {source: source.tokens for source in segment.sources}
        if isinstance(segment.keeping, Drafting):
            given = {source: segment.keeping.shown.get(source, 0) for source in given}
        said = self._summarise(self.render(given), tokens)
        if not isinstance(said, str):
            raise InputError(f"summarise returns a text, not {shown(type(said).__name__)}")
        return said

    def _listed(self, label: str, lines: Sequence[str], limit: int) -> str:
        """Return *label* and as many of *lines* as there is room for, and how many there is not."""
        for kept in range(len(lines), 0, -1):
            rest = len(lines) - kept
            more = [f"and {rest} more"] if rest else []
            text = "\n".join([part for part in (label, *lines[:kept], *more) if part])
            if self._count(text) <= limit:
                return text
        return label or self._fitted(["[earlier messages, left out]", "[left out]"], limit)

    def _label(self, segment: Segment, root: Segment) -> str:
        """Return the tag: what is gone, its size and how to get it back, if there is room."""
        if not segment.tagged:
            return ""
        if root.sources:
            sources = originals(segment.sources)
            tokens = sum(source.raw_tokens for source in sources)
            parts = counted(len(sources), "part", "parts")
            texts = [
                f"[{segment.id}: {parts} of this conversation, {tokens:,} tokens, left out; ask "
                "for what is missing]",
                f"[{segment.id}: {parts}, {tokens:,} tokens, left out]",
            ]
            return self._fitted([*texts, f"[{segment.id}, left out]", "[left out]"], segment.tokens)
        return self._fitted(_pointers(root), segment.tokens)

    def _fitted(self, texts: Iterable[str], limit: int) -> str:
        """Return the first of *texts* that has at most *limit* tokens, or the last."""
        text = ""
        for text in texts:
            if self._count(text) <= limit:
                break
        return text

    def _page(self, page: Segment, whole: Segment) -> str:
        """Return a page of a result: its share of the text."""
        text = self._original(whole)
        start = (page.number - 1) * whole.page_size / whole.raw_tokens
        end = start + page.raw_tokens / whole.raw_tokens
        return text[round(start * len(text)) : round(end * len(text))]

    # -- texts of the history ---------------------------------------------------------------

    def _original(self, segment: Segment) -> str:
        home = self._homes.by_id.get(segment.id)
        if home is None or not home.place:
            return ""
        return self._dialect.text(self._homes.plain[home.place - 1], home.at)

    def _newest(self, segment: Segment) -> str:
        """Return what a segment's source holds by now, as far as that is known."""
        called = self._called(segment)
        if segment.path is None or segment.entered not in _NEWS or called is None:
            return self._original(segment)
        said = None if self._read is None else self._read(*called)
        if said is not None and not isinstance(said, str):
            raise InputError(f"read returns a text or None, not {shown(type(said).__name__)}")
        return self._seen(segment, called) if said is None else said

    def _called(self, segment: Segment) -> tuple[str, Any] | None:
        """Return the tool and the arguments of the call that brought *segment*."""
        name = None if segment.pair is None else self._homes.calls.get(segment.pair)
        if name is None:
            return None
        home = self._homes.by_id[name]
        return self._dialect.called(self._homes.plain[home.place - 1], home.at[0])

    def _seen(self, segment: Segment, called: tuple[str, Any]) -> str:
        """Return what the newest such call in the history brought when *segment* was renewed.

        Another call may have shown another part of the file.
        """
        turn = self._renewed.get(segment.id, segment.turn)
        logged = (s for s in self._log.values() if s.turn <= turn and s.path == segment.path)
        same = (s for s in logged if not s.sources and self._called(s) == called)
        return self._original(max(same, key=lambda s: s.seq, default=segment))


def _text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def _named(segment: Segment) -> str:
    """Return what a segment is called, with the path or the tool that tells more."""
    more = segment.path or segment.tool
    return f"{segment.id} ({more})" if more else segment.id


def _way(segment: Segment) -> str:
    """Return how what is gone can be had again."""
    if segment.path is not None:
        return f"; read {segment.path} again"
    return "; call it again" if segment.kind in _RESULTS else ""


def _heading(segment: Segment) -> str:
    """Return the line in front of a text that stands elsewhere than it came."""
    news = _NEWS.get(segment.entered, "")
    return f"[{', '.join(part for part in (_named(segment), news) if part)}:]"


def _pointers(segment: Segment) -> list[str]:
    """Return texts that say what is gone of *segment* and how to get it back, the longest first."""
    named, way = _named(segment), _way(segment)
    size = f"{segment.raw_tokens:,} tokens"
    return [
        f"[{named}, {size}, left out{way}]",
        f"[{segment.id}, {size}, left out{way}]",
        f"[{segment.id}, {size}, left out]",
        f"[{segment.id}, left out]",
        "[left out]",
    ]


def _listing(segments: Sequence[Segment]) -> list[str]:
    """Return what *segments* are, alike ones in one line, in the order in which they first came."""
    numbers: Counter[str] = Counter()
    tokens: Counter[str] = Counter()
    for segment in segments:
        kind = str(segment.kind).replace("_", " ")
        what = f"{kind}: {segment.path or segment.tool}" if segment.path or segment.tool else kind
        numbers[what] += 1
        tokens[what] += segment.raw_tokens
    return [
        f"- {what}{f' × {number}' if number > 1 else ''}, {tokens[what]:,} tokens"
        for what, number in numbers.items()
    ]
