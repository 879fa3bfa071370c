"""gemini-cli: at half the window, old results are cut and the older 70 % become a snapshot."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from policies.harness.caps import CAPS
from policies.harness.summarising import Summarising
from policies.options import Options, number, whole
from policies.parts.asking import FREE_TEXT, Asking
from policies.parts.capping import CAP, capping
from policies.parts.clearing import is_result
from policies.parts.compacting import Compacting
from policies.parts.history import before_pairs, said, typed
from policies.parts.rewriting import taggable
from sim.actions import Rewrite
from sim.segments import Kind
from sim.summariser import Summariser

if TYPE_CHECKING:
    from sim.actions import Action
    from sim.segments import Segment
    from sim.view import View

__all__ = ["GeminiCli"]


class GeminiCli(Summarising):
    """Cuts results beyond the newest 50,000 tokens, then replaces the older 70 % by a snapshot.

    The share is one of characters, and the cut is at a message of the user; if none stands far
    enough back and the last word is the model's, everything goes, and else what stands in front of
    the user's last message. With one message alone there is nothing to cut at. A second request
    verifies the first. Once a snapshot has come to nothing, results are cut and no more is asked.
    A cut result leaves its last lines and the path of a file. Source: Gemini CLI at 5411f113,
    packages/core/src/context/chatCompressionService.ts (read in source), whose models have a W of
    1,048,576.
    """

    name = "gemini-cli"
    summary = "at half the window, cuts old results and summarises the older 70 % of characters"
    source = "Gemini CLI, chatCompressionService.ts"
    version = "Gemini CLI 5411f113, read in source"
    options = (
        CAP,
        number("threshold", "share of W from which on it compresses", 0.5, 0.0, 1.0),
        number("keep", "share of the history's characters that stays", 0.3, 0.01, 0.99),
        whole("results", "newest results that stay whole", "tokens", 50_000, 0),
        whole("lines", "what is left of one that is cut, its last", "lines", 30, 0),
        whole("calls", "requests that a snapshot takes", "requests", 2, 1),
        *FREE_TEXT,
    )

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the cap and the compression."""
        yield from capping(options, CAPS["gemini-cli"])
        yield _Compression(Asking.of(options), options)


class _Compression(Compacting):
    def __init__(self, asking: Asking, options: Options) -> None:
        super().__init__(asking)
        self._threshold: float = options["threshold"]
        self._keep: float = options["keep"]
        self._results: int = options["results"]
        self._lines: int = options["lines"]
        self._calls: int = options["calls"]
        self._failed = False

    def due(self, view: View) -> bool:
        return view.tokens >= self._threshold * view.context_window

    def compact(self, view: View) -> Generator[Action, None, bool]:
        yield from self._shortened(view)
        history = list(self.history)
        if self._failed or not self.chosen(view, history):
            return False
        came = yield from super().compact(view)
        self._failed = not came
        return came

    def _shortened(self, view: View) -> Iterator[Rewrite]:
        """Cut each result that does not fit what is left for results, from the newest back."""
        counted = 0
        for segment in list(reversed(self.history)):
            if not is_result(segment):
                continue
            room = self._lines * view.settings.line_characters
            tail = view.tokens_of(room, segment.kind)
            left = tail + view.settings.surrogate_tag_tokens
            whole = counted + view.size(segment) <= self._results
            if whole or segment.sources or not 0 < left < segment.tokens:
                counted += view.size(segment)
                continue
            counted += left
            names = (segment.id,)
            says = taggable([segment])
            preview = (0, tail)
            yield Rewrite(names, left, says, "cut", stub=True, preview=preview, saves=True)

    def chosen(self, view: View, history: Sequence[Segment]) -> Sequence[Segment]:
        sizes = [view.characters(segment) for segment in history]
        goal = (1 - self._keep) * sum(sizes)
        before, cut = 0, 0
        for at, segment in enumerate(history):
            if typed(segment):
                cut = at
                if before >= goal:
                    break
            before += sizes[at]
        else:
            last = history[-1] if history else None
            if last is not None and said(last) and last.kind is not Kind.TOOL_CALL:
                return history
        return history[: before_pairs(view, history, cut)]

    def summarisers(self, view: View, sources: Sequence[Segment]) -> Sequence[Summariser]:
        return (Summariser(window=view.context_window, calls=self._calls),)
