"""deepagents: cuts old arguments short, then summarises all but a share and saves the history."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from policies.harness.caps import CAPS
from policies.harness.summarising import Summarising
from policies.options import Options, number, switch, whole
from policies.parts.asking import KEPT_ON_DISK, Asking
from policies.parts.capping import CAP, capping
from policies.parts.compacting import OnOverflow
from policies.parts.history import before_messages, newest
from policies.parts.rewriting import taggable
from sim.actions import Rewrite
from sim.segments import Kind

if TYPE_CHECKING:
    from sim.actions import Action
    from sim.segments import Segment
    from sim.view import View

__all__ = ["Deepagents"]


class Deepagents(Summarising):
    """Summarises all but the newest tenth of W, and leaves the path of a file with the history.

    Arguments of old calls are cut short first; if that is enough, there is no summary. What is
    summarised can be fetched from the file. Where a model's W is not known, the harness takes
    170,000 tokens and the newest 6 messages; here it always is. Source: deepagents 0.7.32,
    middleware/summarization.py (read in source).
    """

    name = "deepagents"
    summary = "near the window, summarises all but the newest tenth, with a file of the history"
    source = "deepagents, SummarizationMiddleware"
    version = "deepagents 0.7.32, read in source"
    options = (
        CAP,
        number("trigger", "share of W from which on it acts", 0.85, 0.0, 1.0),
        number("keep", "share of W, the newest, that stays as it is", 0.10, 0.0, 1.0),
        switch("arguments", "cut the arguments of old calls short before anything else"),
        whole("argument", "what is left of the arguments of an old call", "characters", 2_000, 1),
        *KEPT_ON_DISK,
    )

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the cap and the compaction."""
        yield from capping(options, CAPS["deepagents"])
        yield _History(Asking.of(options, saves=True), options)


class _History(OnOverflow):
    def __init__(self, asking: Asking, options: Options) -> None:
        super().__init__(asking)
        self._trigger: float = options["trigger"]
        self._keep: float = options["keep"]
        self._argument: int | None = options["argument"] if options.on("arguments") else None

    def due(self, view: View) -> bool:
        return view.tokens >= int(self._trigger * view.context_window)

    def chosen(self, view: View, history: Sequence[Segment]) -> Sequence[Segment]:
        room = int(self._keep * view.context_window)
        cut = newest([view.size(segment) for segment in history], room)
        return history[: before_messages(view, history, cut)]

    def compact(self, view: View) -> Generator[Action, None, bool]:
        over = view.over > 0
        yield from self._shortened(view)
        enough = view.over <= 0 if over else not self.due(view)
        return False if enough else (yield from super().compact(view))

    def _shortened(self, view: View) -> Iterator[Rewrite]:
        if self._argument is None:
            return
        tokens = max(1, view.tokens_of(self._argument, Kind.TOOL_CALL))
        for call in self.chosen(view, list(self.history)):
            if call.kind is Kind.TOOL_CALL and not call.sources and call.tokens > tokens:
                says = taggable([call])
                preview = (tokens, 0)
                yield Rewrite((call.id,), tokens, says, "arguments", stub=True, preview=preview)
