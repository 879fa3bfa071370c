"""langchain-summarization: all but the newest messages become one message of the user."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from policies.harness.summarising import Summarising
from policies.options import Options, number, whole
from policies.parts.asking import FREE_TEXT, Asking
from policies.parts.compacting import Compacting
from policies.parts.history import before_messages, messages
from sim.summariser import Summariser

if TYPE_CHECKING:
    from sim.segments import Segment
    from sim.view import View

__all__ = ["LangchainSummarization"]


class LangchainSummarization(Summarising):
    """Summarises all messages but the newest, the task included, and shows the model little of it.

    It has no trigger unless one is set; any of those set is enough. What the model said in one
    turn is one message. The cut moves back so that no call loses its result. The summariser sees
    the newest 4,000 tokens of what goes, from the first word of the user in them; with no such word
    a fixed text takes the place of the summary. Source: SummarizationMiddleware, langchain 1.5.2,
    agents/middleware/summarization.py (read in source).
    """

    name = "langchain-summarization"
    summary = "at a trigger that must be set, summarises all but the newest messages"
    source = "LangChain, SummarizationMiddleware"
    version = "langchain 1.5.2, read in source"
    options = (
        whole("tokens", "request from which on it summarises; 0: none", "tokens", 0, 0),
        whole("messages", "messages from which on it summarises; 0: none", "messages", 0, 0),
        number("fraction", "share of W from which on it summarises; 0: none", 0.0, 0.0, 1.0),
        whole("keep", "newest messages that stay", "messages", 20, 0),
        whole("input", "what the summariser sees of the rest, the newest", "tokens", 4_000, 1),
        whole("tries", "how often it is asked", "times", 3, 1),
        *FREE_TEXT,
    )

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the summaries."""
        yield _Summaries(Asking.of(options), options)


class _Summaries(Compacting):
    def __init__(self, asking: Asking, options: Options) -> None:
        super().__init__(asking)
        self._tokens: int = options["tokens"]
        self._messages: int = options["messages"]
        self._fraction: float = options["fraction"]
        self._keep: int = options["keep"]
        self._summariser = Summariser(
            input_cap=options["input"], tries=options["tries"], from_user=True
        )

    def due(self, view: View) -> bool:
        share = int(self._fraction * view.context_window)
        if (self._tokens and view.tokens >= self._tokens) or (share and view.tokens >= share):
            return True
        # There are never more messages than segments, which need no counting.
        many = self._messages and len(self.history) >= self._messages
        return bool(many) and len(messages(list(self.history))) >= self._messages

    def chosen(self, view: View, history: Sequence[Segment]) -> Sequence[Segment]:
        went = messages(history)[: -self._keep or None]
        return history[: before_messages(view, history, sum(map(len, went)))]

    def summarisers(self, view: View, sources: Sequence[Segment]) -> Sequence[Summariser]:
        return (self._summariser,)
