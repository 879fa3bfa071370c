"""anthropic-clear-tool-uses: past a trigger, the server clears every result but the newest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from policies.harness.editing import Clearing
from policies.options import Options, switch, whole, words
from policies.parts.clearing import is_result
from policies.parts.stubs import Newest, Unstubbed, stub, stubbable
from sim.segments import Kind

if TYPE_CHECKING:
    from sim.actions import Rewrite
    from sim.segments import Segment
    from sim.view import View

__all__ = ["AnthropicClearToolUses"]


class AnthropicClearToolUses(Clearing):
    """Clears all older results once the request with nothing cleared is longer than the trigger.

    The edit is of each request, and the client keeps the whole history: what was cleared counts
    in full towards the trigger. ``at_least`` is a gate: it is skipped unless that much more can go.
    The server's text is not published; its length is assumed. Source: Anthropic,
    ``clear_tool_uses_20250919`` (anthropic 2.15.0, types/beta, and the page on context editing;
    read in source and documentation).
    """

    name = "anthropic-clear-tool-uses"
    summary = "past a trigger, clears every result but the newest 3, if enough can go"
    source = "Anthropic, clear_tool_uses_20250919"
    version = "anthropic 2.15.0, read in source"
    options = (
        whole("trigger", "request above which it clears", "tokens", 100_000, 0),
        whole("uses", "tool uses above which it clears instead; 0: by tokens", "tool uses", 0, 0),
        whole("keep", "newest results that stay", "tool uses", 3, 0),
        whole("at_least", "fewest tokens that are cleared together", "tokens", 0, 0),
        words("exclude", "tools whose results stay"),
        switch("inputs", "clear the arguments of the calls, too", off=True),
        whole("stub", "what is put in the place of each", "tokens", 12, 1),
    )

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the edit."""
        yield _Edit(options)


class _Edit:
    def __init__(self, options: Options) -> None:
        self._trigger: int = options["trigger"]
        self._uses: int = options["uses"]
        self._keep: int = options["keep"]
        self._at_least: int = options["at_least"]
        self._inputs: bool = options.on("inputs")
        self._stub: int = options["stub"]
        self._cleared = 0
        """Tokens that it has cleared."""
        excluded = options["exclude"]
        self._newest = Newest(is_result)
        self._old = Unstubbed(lambda s: is_result(s) and s.tool not in excluded, self._stub)

    def start(self, view: View) -> None:
        self._newest.start(view)
        self._old.start(view)

    def _over(self, view: View) -> bool:
        if self._uses:
            return len(self._newest) > self._uses
        return view.tokens + self._cleared > self._trigger

    def before_call(self, view: View) -> Iterator[Rewrite]:
        if not self._over(view):
            return
        results = self._old.in_front_of(view, self._newest.begin(self._keep))
        due = [part for result in results for part in self._parts(view, result)]
        gains = [view.size(segment) - self._stub for segment in due]
        if sum(gains) < self._at_least:
            return
        self._cleared += sum(gains)
        for segment in due:
            yield stub(segment, self._stub, "cleared")

    def _parts(self, view: View, result: Segment) -> Iterator[Segment]:
        """Yield what is cleared with *result*."""
        yield result
        for mate in view.together(result) if self._inputs else ():
            if mate.kind is Kind.TOOL_CALL and stubbable(mate, self._stub):
                yield mate
