"""anthropic-compact: past a trigger, the server makes one block of everything before it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from policies.harness.summarising import Summarising
from policies.options import Options, whole
from policies.parts.asking import FREE_TEXT, Asking
from policies.parts.compacting import Compacting
from sim.summariser import Summariser

if TYPE_CHECKING:
    from sim.segments import Segment
    from sim.view import View

__all__ = ["AnthropicCompact"]


class AnthropicCompact(Summarising):
    """Replaces the whole history by a block that the server writes in a pass of its own.

    The pass is asked for at the end of the request, and billed. Nothing before the block is kept,
    the task included. Source: ``compact_20260112``, anthropic 2.15.0 (read in the package) and the
    page on compaction (documentation): 150,000 input tokens, at least 50,000.
    """

    name = "anthropic-compact"
    summary = "past a trigger, the server replaces the whole history by one block"
    source = "Anthropic, compact_20260112"
    version = "anthropic 2.15.0, read in the package; compaction page, documentation"
    edits = False
    options = (
        whole("trigger", "request above which it compacts", "tokens", 150_000, 50_000),
        *FREE_TEXT,
    )

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the compaction."""
        yield _Block(Asking.of(options, whole=True), options["trigger"])


class _Block(Compacting):
    """Makes the block once the request is longer than *trigger* tokens."""

    def __init__(self, asking: Asking, trigger: int) -> None:
        super().__init__(asking)
        self._trigger = trigger

    def due(self, view: View) -> bool:
        return view.tokens > self._trigger

    def summarisers(self, view: View, sources: Sequence[Segment]) -> Sequence[Summariser]:
        return (Summariser(cached=True),)
