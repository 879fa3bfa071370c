"""openclaw: once the cached prefix has expired, one request goes out with old results pruned."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from policies.harness.editing import Clearing
from policies.options import Options, number, whole
from policies.parts.clearing import is_result
from policies.parts.history import History, in_history, said, typed
from policies.parts.stubs import stub
from sim.actions import Reveal
from sim.segments import Kind, stand_ins

if TYPE_CHECKING:
    from sim.actions import Action, Rewrite
    from sim.segments import Segment
    from sim.view import View

__all__ = ["Openclaw"]

_CHARACTERS = 4
"""Characters that it takes a token of the context window for."""

_IMAGE = 8_000
"""Characters that it takes an image for."""


class Openclaw(Clearing):
    """Prunes the request alone, and only where the last one is older than the cache's life.

    The next request that is not pruned shows everything again. Fullness is the characters of the
    history by 4 for each token of W. From a share on, the long results in between the first message
    of the user and the last turns of the assistant are trimmed to both ends; if that leaves more
    than another share, and enough could go, they are cleared, oldest first, until it does not.
    Of results that are images the newest 3 in between stay, too, and older ones are cleared only.
    The lengths of the texts in the place of results are assumed. Source: OpenClaw,
    docs/concepts/session-pruning.md at 013c24e7 and
    src/agents/pi-extensions/context-pruning/pruner.ts at 0a1ebf1d (read in source).
    """

    name = "openclaw"
    summary = "where the cached prefix has expired, prunes old results of that one request"
    source = "OpenClaw, cache-ttl pruning"
    version = "OpenClaw 0a1ebf1d, read in source"
    options = (
        number("ttl", "seconds since the last request from which on it prunes", 300, 0),
        number("soft", "fullness from which on long results are trimmed", 0.3, 0.0),
        number("hard", "fullness from which on results are cleared", 0.5, 0.0),
        whole("keep", "newest turns of the assistant, whose results stay", "turns", 3, 0),
        whole("images", "newest results in front of them that stay as images", "images", 3, 0),
        whole("long", "what a result is longer than that is trimmed", "characters", 4_000, 0),
        whole("end", "what stays of each of its ends", "characters", 1_500, 0),
        whole("least", "least that results hold to be cleared", "characters", 50_000, 0),
        whole("note", "note on a trimmed result", "tokens", 25, 0),
        whole("stub", "what is put in the place of a cleared one", "tokens", 10, 1),
    )

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the pruning."""
        yield _Pruning(options)


class _Pruning:
    def __init__(self, options: Options) -> None:
        self._ttl: float = options["ttl"]
        self._soft: float = options["soft"]
        self._hard: float = options["hard"]
        self._keep: int = options["keep"]
        self._images: int = options["images"]
        self._long: int = options["long"]
        self._end: int = options["end"]
        self._least: int = options["least"]
        self._note: int = options["note"]
        self._stub: int = options["stub"]
        self._history = History(in_history)
        self._pruned: list[Segment] = []
        """What the last request did not show."""

    def start(self, view: View) -> None:
        self._history.start(view)

    def before_call(self, view: View) -> Iterator[Action]:
        yield from self._shown()
        pause = view.seconds_since_call
        if pause is None or pause < self._ttl:
            return
        for rewrite in self._plan(view):
            self._pruned.append(view.log[rewrite.sources[0]])
            yield rewrite

    def _shown(self) -> Iterator[Reveal]:
        """Show again what the last request did not, but for what was read anew."""
        pruned, self._pruned = self._pruned, []
        for segment in pruned:
            stand_in = next(stand_ins(segment), None)
            if stand_in is not None and stand_in.stub and not segment.resident:
                yield Reveal(stand_in.id)

    def _plan(self, view: View) -> list[Rewrite]:
        """Return what is done to the request, front-most first."""
        history = list(self._history)
        full = view.context_window * _CHARACTERS
        total = sum(_characters(view, segment) for segment in history)
        if total < self._soft * full:
            return []
        prunable = self._prunable(history)
        held = {segment: _characters(view, segment) for segment in prunable}
        plan: dict[Segment, Rewrite] = {}
        for segment in prunable:
            end, tokens = self._trimmed(view, segment)
            if tokens < segment.tokens:
                after = math.floor(tokens * view.settings.characters[segment.kind])
                total, held[segment] = total + after - held[segment], after
                plan[segment] = stub(segment, tokens, "trimmed", (end, end))
        if sum(held.values()) < self._least:
            return list(plan.values())
        for segment in prunable:
            if total < self._hard * full:
                break
            if segment.tokens > self._stub:
                after = math.floor(self._stub * view.settings.characters[segment.kind])
                total += after - held[segment]
                plan[segment] = stub(segment, self._stub, "cleared")
        return list(plan.values())

    def _trimmed(self, view: View, segment: Segment) -> tuple[int, int]:
        """Return what stays of each end of a result, and of all of it: all unless long text."""
        short = view.characters(segment) <= max(self._long, 2 * self._end)
        if short or segment.kind is Kind.IMAGE:
            return 0, segment.tokens
        end = view.tokens_of(self._end, segment.kind)
        return end, max(1, 2 * end + self._note)

    def _prunable(self, history: list[Segment]) -> list[Segment]:
        """Return the results between the first message of the user and the last turns."""
        first = next((at for at, s in enumerate(history) if typed(s)), len(history))
        between = history[first : self._cutoff(history)]
        images = [s for s in between if _is_image(s)]
        kept = set(images[max(0, len(images) - self._images) :])
        return [s for s in between if (_is_text(s) or _is_image(s)) and s not in kept]

    def _cutoff(self, history: list[Segment]) -> int:
        """Return where the newest turns of the assistant begin, 0 where there are too few."""
        if self._keep == 0:
            return len(history)
        turns = dict.fromkeys(s.turn for s in reversed(history) if said(s))
        if len(turns) < self._keep:
            return 0
        oldest = list(turns)[self._keep - 1]
        return next(at for at, s in enumerate(history) if said(s) and s.turn == oldest)


def _is_text(segment: Segment) -> bool:
    return is_result(segment) and not segment.sources


def _is_image(segment: Segment) -> bool:
    by_call = segment.kind is Kind.IMAGE and segment.pair is not None
    return by_call and not segment.sources


def _characters(view: View, segment: Segment) -> int:
    whole = segment.kind is Kind.IMAGE and not segment.sources
    return _IMAGE if whole else view.characters(segment)
