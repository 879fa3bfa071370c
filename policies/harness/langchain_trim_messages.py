"""langchain-trim-messages: the newest messages that fit, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from policies.harness.editing import Dropping
from policies.options import Options, switch, whole
from policies.parts.history import History, in_history, is_event
from sim.actions import Evict
from sim.segments import Kind

if TYPE_CHECKING:
    from sim.view import View

__all__ = ["LangchainTrimMessages"]


class LangchainTrimMessages(Dropping):
    """Drops messages from the front until the rest fits; by default the system prompt is the first.

    The caller must say what fits; here it is the budget where nobody does. The tool list is no
    message: it neither counts nor goes, so that a request may be over all the same. A message is
    a segment. The harness may leave a result without its call, which providers refuse; here both
    go. Source: LangChain, langchain_core 1.8.4, messages/utils.py (read in source).
    """

    name = "langchain-trim-messages"
    summary = "keeps the newest messages that fit, the system prompt or task not set apart"
    source = "LangChain, trim_messages"
    version = "langchain_core 1.8.4, read in source"
    options = (
        whole("max_tokens", "what fits; 0: the budget", "tokens", 0, 0),
        switch("include_system", "keep the system prompt", off=True),
    )

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the trimming."""
        yield _Trim(options["max_tokens"], options.on("include_system"))


class _Trim:
    def __init__(self, most: int, include_system: bool) -> None:
        self._most = most
        self._messages = History(in_history if include_system else is_event)
        self._tools = History(lambda s: s.kind is Kind.TOOLS)

    def start(self, view: View) -> None:
        self._messages.start(view)
        self._tools.start(view)

    def before_call(self, view: View) -> Iterator[Evict]:
        most = (self._most or view.budget) + sum(map(view.size, self._tools))
        for message in self._messages:
            if view.tokens <= most:
                return
            yield Evict(message.id, "trimmed")
