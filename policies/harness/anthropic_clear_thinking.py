"""anthropic-clear-thinking: each request keeps the thinking of the model's last turn alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from policies.harness.editing import Dropping
from policies.options import Option, Options
from policies.parts.history import typed
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
    """Drops thinking but that of the model's last turn that has any, at every request.

    A turn of the model lasts from one message of the user to the next: a loop of tool calls is one.
    With ``keep=all`` nothing goes, and the cached prefix holds. Source: Anthropic,
    ``clear_thinking_20251015`` (anthropic 2.15.0, types/beta, and the pages on context editing and
    on thinking with tools; read in source and documentation).
    """

    name = "anthropic-clear-thinking"
    summary = "at every request, drops all thinking but that of the model's last turn with any"
    source = "Anthropic, clear_thinking_20251015"
    version = "anthropic 2.15.0, read in source"
    options = (
        Option(
            "keep",
            "newest turns of the model with thinking that keep it",
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
        self._typed = view.position_order(typed)

    def before_call(self, view: View) -> Iterator[Evict]:
        """Drop it, going back from the newest; what is older than that went before."""
        turns: set[Segment | None] = set()
        messages = reversed(self._typed)
        message = next(messages, None)
        for thinking in reversed(self._thinking):
            while message is not None and message.slot > thinking.slot:
                message = next(messages, None)
            turns.add(message)
            if len(turns) > self._keep:
                yield Evict(thinking.id, "thinking")


def _is_thinking(segment: Segment) -> bool:
    return segment.kind is Kind.THINKING and not segment.sources
