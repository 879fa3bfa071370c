"""context-editing: past a trigger, every result but the newest ones is a stub."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from policies.options import Options, switch, whole
from policies.parts.clearing import AllButNewest
from policies.parts.summarising import WHEN_FULL, when_full
from policies.policy import Composed

__all__ = ["ContextEditing"]


class ContextEditing(Composed):
    """Clears old results once the history is longer than the trigger, and from then on every turn.

    The length is that of the history with nothing cleared, since it is cleared for each request
    anew. With ``at_least`` it waits until so much more can go. What then does not fit is left to a
    summary of everything, as in ``compaction``. Source: Anthropic's clear_tool_uses
    (platform.claude.com, context editing): 100,000 tokens, the newest 3 results kept.
    """

    name = "context-editing"
    summary = "past a trigger, keeps the newest results and puts stubs in the place of all others"
    source = "field"
    options = (
        switch("clear", "clear what is not among the newest results"),
        whole("trigger", "length of the history above which it clears", "tokens", 100_000, 0),
        whole("keep", "newest results that stay", "results", 3, 0),
        whole("at_least", "fewest tokens that are cleared together", "tokens", 0, 0),
        whole("stub", "what is put in the place of each, with its tag", "tokens", 12, 1),
        *WHEN_FULL,
    )

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the clearing and the summary, in that order."""
        if options.on("clear"):
            numbers = (options[name] for name in ("keep", "trigger", "at_least", "stub"))
            yield AllButNewest(*numbers)
        yield from when_full(options)

    def breaks(self, options: Options) -> Iterable[str]:
        """Return that room is spent in the turn that makes it."""
        return ("spends",)
