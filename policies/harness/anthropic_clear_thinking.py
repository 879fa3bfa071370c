"""anthropic-clear-thinking: each request keeps the thinking of the last turn alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from policies.harness.editing import Dropping
from policies.options import Option, Options
from sim.actions import Evict
from sim.segments import Kind

if TYPE_CHECKING:
    from sim.segments import Segment
    from sim.view import View

__all__ = ["AnthropicClearThinking"]


def _turns(text: str) -> int | str:
    if text == "all" or (text.isascii() and text.isdigit() and int(text) >= 1):
        return text if text == "all" else int(text)
    raise ValueError(f"{text!r} is not a whole number of turns of at least 1, or all")


class AnthropicClearThinking(Dropping):
    """Drops thinking but that of the last turn that has any, at every request.

    With ``keep=all`` nothing goes, and the cached prefix holds. Source: Anthropic,
    ``clear_thinking_20251015`` (anthropic 2.15.0, types/beta, and the page on context editing;
    read in source and documentation).
    """

    name = "anthropic-clear-thinking"
    summary = "at every request, drops all thinking but that of the last turn with any"
    source = "Anthropic, clear_thinking_20251015"
    version = "anthropic 2.15.0, read in source"
    options = (
        Option(
            "keep",
            "newest turns with thinking that keep it",
            "whole turns, at least 1, or all",
            _turns,
            "1",
        ),
    )

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the edit, unless everything stays."""
        if options["keep"] != "all":
            yield _Edit(options["keep"])


class _Edit:
    def __init__(self, keep: int) -> None:
        self._keep = keep

    def start(self, view: View) -> None:
        self._thinking = view.position_order(_is_thinking)

    def before_call(self, view: View) -> Iterator[Evict]:
        """Drop it, going back from the newest; what is older than that went before."""
        turns: set[int] = set()
        for segment in reversed(self._thinking):
            turns.add(segment.turn)
            if len(turns) > self._keep:
                yield Evict(segment.id, "thinking")


def _is_thinking(segment: Segment) -> bool:
    return segment.kind is Kind.THINKING and not segment.sources
