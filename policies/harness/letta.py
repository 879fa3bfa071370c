"""letta: after a step near the window, a growing share of the messages becomes a summary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from policies.harness.caps import CAPS
from policies.harness.summarising import Summarising
from policies.options import Options, number, whole
from policies.parts.asking import KEPT_ON_DISK, Asking
from policies.parts.capping import CAP, capping
from policies.parts.compacting import Compacting
from policies.parts.history import before_messages, messages, said
from sim.segments import Kind
from sim.summariser import Summariser

if TYPE_CHECKING:
    from sim.actions import Action
    from sim.segments import Segment
    from sim.view import View

__all__ = ["Letta"]


class Letta(Summarising):
    """Summarises the oldest messages after a step that left more than 0.9 of W, or on overflow.

    The share of the messages that go is 0.3 to begin with and grows by 0.1 *before* each try, the
    first included, until what stays is below 0.7 of W. The cut is at the newest message of the
    model up to there. Where there is none, or nothing would stay, all of it is summarised. The
    summary is cut off at 50,000 characters; where the summariser overflows it is asked again with
    results at 5,000, then with the oldest left out, which stands for the cut through the middle.
    Messages remain in recall storage, so the summary leads back to them. Source: Letta 0.16,
    letta/services/summarizer, settings.py and constants.py at 60d68b8a (read in source).
    """

    name = "letta"
    summary = "after a step near the window, summarises 40 % of the messages or more"
    source = "Letta 0.16, services/summarizer"
    version = "Letta 60d68b8a, read in source"
    options = (
        CAP,
        number("trigger", "share of W above which it compacts after a step", 0.9, 0.0, 1.0),
        number("evict", "share of the messages that goes, before the first step", 0.3, 0.0, 1.0),
        number("step", "what is added to it before each try", 0.1, 0.01, 1.0),
        whole("tries", "compactions on overflow", "times", 3, 0),
        whole("clip", "length at which a summary is cut off", "characters", 50_000, 1),
        whole("results", "what is shown of a result on a second try", "characters", 5_000, 1),
        *KEPT_ON_DISK,
    )

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the cap and the compaction."""
        yield from capping(options, CAPS["letta"])
        yield _Window(Asking.of(options, saves=True), options)


class _Window(Compacting):
    def __init__(self, asking: Asking, options: Options) -> None:
        super().__init__(asking)
        self._trigger: float = options["trigger"]
        self._evict: float = options["evict"]
        self._step: float = options["step"]
        self._tries: int = options["tries"]
        self._clip: int = options["clip"]
        self._results: int = options["results"]

    def due(self, view: View) -> bool:
        return False

    def after_turn(self, view: View) -> Iterator[Action]:
        if view.tokens > self._trigger * view.context_window:
            yield from self.compact(view)

    def on_overflow(self, view: View) -> Iterator[Action]:
        for _ in range(self._tries):
            if view.over <= 0:
                return
            yield from self.compact(view)

    def chosen(self, view: View, history: Sequence[Segment]) -> Sequence[Segment]:
        found = messages(history)
        cut = self._cut(view, found)
        if cut is None:
            return history
        return history[: before_messages(view, history, sum(map(len, found[:cut])))]

    def _cut(self, view: View, found: Sequence[Sequence[Segment]]) -> int | None:
        """Return the first of the messages *found* that stays, None if none does.

        The harness counts the system prompt as a message, the first.
        """
        left = [sum(map(view.size, message)) for message in found]
        head = view.tokens - sum(left)
        goal = (1 - self._evict) * view.context_window
        share = self._evict
        while share < 1.0:
            # A sum of tenths in floating point is what the harness has, too.
            share += self._step
            upto = min(round(share * (len(found) + 1)) - 1, len(found) - 1)
            cut = next((n for n in range(upto, -1, -1) if said(found[n][0])), None)
            if cut is not None and head + sum(left[cut:]) < goal:
                return cut if 0 < cut < len(found) - 1 and share < 1.0 else None
        return None

    def summarisers(self, view: View, sources: Sequence[Segment]) -> Sequence[Summariser]:
        window = view.context_window
        clip = max(1, view.tokens_of(self._clip, Kind.SUMMARY))
        cap = max(1, view.tokens_of(self._results, Kind.TOOL_RESULT))
        return (
            Summariser(window=window, clip=clip),
            Summariser(window=window, clip=clip, result_cap=cap),
            Summariser(window=window, clip=clip, result_cap=cap, drops=True),
        )
