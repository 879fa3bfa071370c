"""gemini-cli-masking: old results go to files in batches, and previews of them stay."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from policies.harness.caps import CAPS
from policies.harness.editing import Clearing
from policies.options import Options, whole, words
from policies.parts.capping import CAP, capping
from policies.parts.clearing import is_result
from policies.parts.stubs import stub
from policies.parts.tools import is_command, named

if TYPE_CHECKING:
    from sim.actions import Rewrite
    from sim.orders import Order
    from sim.segments import Segment
    from sim.view import View

__all__ = ["GeminiCliMasking"]


class GeminiCliMasking(Clearing):
    """Masks all results behind the newest 50,000 tokens of them, once that is 30,000 tokens.

    What came in this turn neither counts nor goes. The result that exceeds the newest goes, too.
    Both ends of a result stay, by characters, of a command's by lines, and the path of a file that
    holds all of it; what has no more than its preview stays as it is, and counts again the next
    time. Source: Gemini CLI at 5411f113, packages/core/src/context/toolOutputMaskingService.ts
    (read in source).
    """

    name = "gemini-cli-masking"
    summary = "in batches, leaves previews and files of all but the newest tokens of results"
    source = "Gemini CLI, toolOutputMaskingService.ts"
    version = "Gemini CLI 5411f113, read in source"
    options = (
        CAP,
        whole("protect", "newest results that stay", "tokens", 50_000, 0),
        whole("batch", "fewest tokens of results that are masked together", "tokens", 30_000, 1),
        whole("characters", "what stays of each end of a result", "characters", 250, 0),
        whole("lines", "what stays of each end of a command's result", "lines", 10, 0),
        words(
            "exempt",
            "words of which one is in the name of a tool that is never masked",
            *("ask", "plan", "skill"),
        ),
    )

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the cap and the masking."""
        yield from capping(options, CAPS["gemini-cli"])
        yield _Masking(options)


class _Masking:
    def __init__(self, options: Options) -> None:
        self._protect: int = options["protect"]
        self._batch: int = options["batch"]
        self._characters: int = options["characters"]
        self._lines: int = options["lines"]
        self._exempt: tuple[str, ...] = options["exempt"]
        self._results: Order

    def start(self, view: View) -> None:
        self._results = view.position_order(self._member)

    def _member(self, segment: Segment) -> bool:
        return is_result(segment) and not segment.sources and not named(segment, self._exempt)

    def before_call(self, view: View) -> Iterator[Rewrite]:
        due = list(self._prunable(view))
        if sum(map(view.size, due)) < self._batch:
            return
        for segment in due:
            end = self._end(view, segment)
            left = 2 * end + max(1, view.settings.surrogate_tag_tokens)
            if left < segment.tokens:
                yield stub(segment, left, "masked", (end, end), saves=True)

    def _prunable(self, view: View) -> Iterator[Segment]:
        """Yield the results behind those that are protected, the newest first."""
        counted = 0
        for segment in reversed(self._results):
            if segment.admitted_turn == view.turn:
                continue
            counted += view.size(segment)
            if counted > self._protect:
                yield segment

    def _end(self, view: View, segment: Segment) -> int:
        """Return the tokens of each end that the preview has."""
        lines = self._lines * view.settings.line_characters
        return view.tokens_of(lines if is_command(segment) else self._characters, segment.kind)
