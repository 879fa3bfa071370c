"""codex: near the window, only the newest messages of the user and a summary stay."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from policies.harness.caps import CAPS
from policies.harness.summarising import Summarising
from policies.options import Options, number, whole
from policies.parts.asking import FREE_TEXT, Asking
from policies.parts.capping import CAP, capping
from policies.parts.compacting import Compacting
from policies.parts.history import newest, typed
from sim.summariser import Summariser

if TYPE_CHECKING:
    from sim.segments import Segment
    from sim.view import View

__all__ = ["Codex"]


class Codex(Summarising):
    """Drops all that the model and its tools said, for a summary behind the user's messages.

    Of these the newest 20,000 tokens stay, whole ones. It asks at the end of the current request;
    where that overflows, the oldest is left out. Tools and system prompt stay. The summary stands
    where the last of what it stands for stood. Source: Codex, codex-rs/core/src/compact.rs at
    e06dd0e5 and protocol/src/openai_models.rs at 0d4367d0 (read in source).
    """

    name = "codex"
    summary = "near the window, keeps the newest messages of the user and a summary of the rest"
    source = "Codex, compact.rs"
    version = "Codex e06dd0e5, read in source"
    edits = False
    options = (
        CAP,
        number("trigger", "share of W from which on it compacts", 0.9, 0.0, 1.0),
        whole("keep", "newest messages of the user that stay", "tokens", 20_000, 0),
        *FREE_TEXT,
    )

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the cap and the compaction."""
        yield from capping(options, CAPS["codex"])
        asking = Asking.of(options, whole=True, last=True)
        yield _Compact(asking, options["trigger"], options["keep"])


class _Compact(Compacting):
    def __init__(self, asking: Asking, trigger: float, keep: int) -> None:
        super().__init__(asking)
        self._trigger = trigger
        self._keep = keep

    def due(self, view: View) -> bool:
        return view.tokens >= self._trigger * view.context_window

    def chosen(self, view: View, history: Sequence[Segment]) -> Sequence[Segment]:
        heard = [segment for segment in history if typed(segment)]
        first = newest([view.size(segment) for segment in heard], self._keep)
        staying = set(heard[first:])
        return [segment for segment in history if segment not in staying]

    def summarisers(self, view: View, sources: Sequence[Segment]) -> Sequence[Summariser]:
        return (Summariser(cached=True, window=view.context_window, drops=True),)
