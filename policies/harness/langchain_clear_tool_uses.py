"""langchain-clear-tool-uses: past a trigger, old results are cleared until enough has gone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from policies.harness.editing import Clearing
from policies.options import Options, whole, words
from policies.parts.clearing import is_result
from policies.parts.history import History, in_history
from policies.parts.stubs import Newest, Unstubbed, stub

if TYPE_CHECKING:
    from sim.actions import Rewrite
    from sim.view import View

__all__ = ["LangchainClearToolUses"]


class LangchainClearToolUses(Clearing):
    """Clears older results, oldest first, once the history as it was is longer than the trigger.

    It starts from the whole history at each call, of which tools and system prompt are no part.
    ``at_least`` is a stop: it quits once that much has gone, and so clears the same results at
    every call from then on. Source: LangChain 1.5.2, agents/middleware/context_editing.py,
    ClearToolUsesEdit (read in source).
    """

    name = "langchain-clear-tool-uses"
    summary = "past a trigger, clears results but the newest 3, oldest first, until enough has gone"
    source = "LangChain, ClearToolUsesEdit"
    version = "LangChain 1.5.2, read in source"
    options = (
        whole("trigger", "history above which it clears", "tokens", 100_000, 0),
        whole("keep", "newest results that stay", "results", 3, 0),
        whole("at_least", "cleared tokens at which it quits; 0: it clears all", "tokens", 0, 0),
        words("exclude", "tools whose results stay"),
        whole("stub", "what is put in the place of each", "tokens", 3, 1),
    )

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the edit."""
        yield _Edit(options)


class _Edit:
    def __init__(self, options: Options) -> None:
        self._trigger: int = options["trigger"]
        self._keep: int = options["keep"]
        self._at_least: int = options["at_least"]
        self._stub: int = options["stub"]
        self._cleared = 0
        """Tokens that are cleared of the whole history."""
        excluded = options["exclude"]
        self._head = History(lambda s: not in_history(s))
        self._newest = Newest(is_result)
        self._old = Unstubbed(lambda s: is_result(s) and s.tool not in excluded, self._stub)

    def start(self, view: View) -> None:
        self._head.start(view)
        self._newest.start(view)
        self._old.start(view)

    def before_call(self, view: View) -> Iterator[Rewrite]:
        history = view.tokens - sum(map(view.size, self._head))
        if history + self._cleared <= self._trigger:
            return
        for result in self._old.in_front_of(view, self._newest.begin(self._keep)):
            if 0 < self._at_least <= self._cleared:
                return
            self._cleared += view.size(result) - self._stub
            yield stub(result, self._stub, "cleared")
