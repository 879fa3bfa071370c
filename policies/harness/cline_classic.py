"""cline-classic: near the window, repeated reads go, and if that is too little, half of all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from policies.harness.caps import CAPS
from policies.harness.editing import Clearing
from policies.options import Options, number, switch, whole
from policies.parts.capping import CAP, capping
from policies.parts.history import History, in_history, said
from policies.parts.reads import OlderReads
from policies.parts.stubs import stub
from sim.actions import Evict

if TYPE_CHECKING:
    from sim.actions import Action
    from sim.segments import Segment
    from sim.view import View

__all__ = ["ClineClassic"]

_LIMITS = {64_000: 37_000, 128_000: 98_000, 200_000: 160_000}
"""Tokens from which on it acts, by W."""


class ClineClassic(Clearing):
    """Clears repeated reads, and drops half of the messages where that saves too little.

    It acts from 37,000 of 64,000 tokens on, 98,000 of 128,000, 160,000 of 200,000; of any other W
    it is 40,000 less, or 0.8 of it if that is more. A note takes the place of each read of a file
    that was read again. If that saves 30 % of the history's characters, that is all; else the older
    half of the messages behind the first two goes, or three quarters where half of the tokens are
    over the limit, too. An even number goes. Where the provider refuses, three quarters go.
    Messages alternate: what the model said, and all that came in between. A call leaves with its
    result. Source: Cline 3.89.2, apps/vscode/src/core/context/context-management, ContextManager.ts
    and context-window-utils.ts (read in source).
    """

    name = "cline-classic"
    summary = "near the window, clears repeated reads, and else drops half of the messages"
    source = "Cline 3.89, ContextManager.ts"
    version = "Cline 3.89.2, read in source"
    options = (
        CAP,
        switch("reads", "clear reads of files that were read again"),
        number("saved", "share of characters that this must save to be enough", 0.3, 0.0, 1.0),
        whole("stub", "what is put in the place of a read", "tokens", 25, 1),
    )

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the cap and the truncation."""
        yield from capping(options, CAPS["cline-classic"])
        yield _Truncation(options)


class _Truncation:
    def __init__(self, options: Options) -> None:
        self._saved: float = options["saved"]
        self._stub: int = options["stub"]
        self._reads = OlderReads(self._stub) if options.on("reads") else None
        self._history = History(in_history)

    def start(self, view: View) -> None:
        self._history.start(view)
        if self._reads is not None:
            self._reads.start(view)

    def before_call(self, view: View) -> Iterator[Action]:
        tokens, limit = view.tokens, _limit(view.context_window)
        if tokens < limit:
            return
        before = sum(map(view.characters, self._history))
        for segment in self._reads.waiting() if self._reads is not None else ():
            yield stub(segment, self._stub, "read again")
        saved = before - sum(map(view.characters, self._history))
        if saved == 0 or saved < self._saved * before:
            yield from self._truncated(3 if tokens / 2 > limit else 2)

    def on_overflow(self, view: View) -> Iterator[Evict]:
        yield from self._truncated(3)

    def _truncated(self, quarters: int) -> Iterator[Evict]:
        """Drop so many *quarters* of the messages behind the first two, the oldest."""
        rest = _messages(list(self._history))[2:]
        for message in rest[: len(rest) * quarters // 4 // 2 * 2]:
            for segment in message:
                if segment.resident:
                    yield Evict(segment.id, "truncated")


def _limit(window: int) -> float:
    """Return the tokens from which on it acts where W is *window*."""
    return _LIMITS.get(window, max(window - 40_000, 0.8 * window))


def _messages(history: Sequence[Segment]) -> list[list[Segment]]:
    """Return *history* as messages of the user and of the model in turn."""
    return [list(run) for _, run in groupby(history, said)]
