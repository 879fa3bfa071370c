"""letta-0.6: on overflow, the older three quarters become a summary; recall has the rest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from policies.harness.caps import CAPS
from policies.harness.summarising import Summarising
from policies.options import Options, number, whole
from policies.parts.asking import KEPT_ON_DISK, Asking
from policies.parts.capping import CAP, capping
from policies.parts.compacting import OnOverflow
from policies.parts.history import before_messages, in_history, is_event, messages, said

if TYPE_CHECKING:
    from sim.segments import Segment
    from sim.view import View

__all__ = ["Letta06"]


class Letta06(Summarising):
    """Waits for the provider to refuse, then summarises the oldest messages.

    They go until three quarters of the buffer have gone and the last of them is the model's, or
    only the newest 3 are left. The system prompt stays, and the summary stands behind it. Messages
    remain in recall storage, which the agent searches, so the summary leads back to them. The
    warning at 0.75 of W changes nothing in the window. Source: Letta 0.6.0, letta/agent.py,
    constants.py and memory.py (read in source).
    """

    name = "letta-0.6"
    summary = "on overflow, summarises the older three quarters; recall storage has all of it"
    source = "Letta 0.6, agent.py"
    version = "Letta 0.6.0, read in source"
    options = (
        CAP,
        number("pressure", "share of the buffer that goes", 0.75, 0.0, 1.0),
        whole("keep", "newest messages that stay", "messages", 3, 0),
        *KEPT_ON_DISK,
    )

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the cap and the compaction."""
        yield from capping(options, CAPS["letta-06"])
        yield _Buffer(Asking.of(options, saves=True), options["pressure"], options["keep"])


class _Buffer(OnOverflow):
    def __init__(self, asking: Asking, share: float, keep: int) -> None:
        super().__init__(asking, is_event)
        self._share = share
        self._keep = keep

    def due(self, view: View) -> bool:
        return False

    def chosen(self, view: View, history: Sequence[Segment]) -> Sequence[Segment]:
        wanted = self._share * sum(map(view.size, history))
        history = [segment for segment in history if in_history(segment)]
        found = messages(history)
        sizes = [sum(map(view.size, message)) for message in found]
        most = max(0, len(found) - self._keep)
        totals = zip(found[:most], accumulate(sizes[:most]), strict=True)
        ends = (n for n, (m, total) in enumerate(totals, 1) if total >= wanted and said(m[0]))
        went = found[: next(ends, most)]
        return history[: before_messages(view, history, sum(map(len, went)))]
