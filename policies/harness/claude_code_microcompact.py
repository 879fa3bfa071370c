"""claude-code-microcompact: after a long pause, all but the newest results are cleared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from policies.harness.caps import CAPS
from policies.harness.editing import Clearing
from policies.options import Options, number, whole
from policies.parts.capping import CAP, capping
from policies.parts.clearing import is_result
from policies.parts.stubs import Newest, Unstubbed, stub

if TYPE_CHECKING:
    from sim.actions import Rewrite
    from sim.view import View

__all__ = ["ClaudeCodeMicrocompact"]


class ClaudeCodeMicrocompact(Clearing):
    """Clears old results where so long has passed since the last request that the cache is cold.

    The pause was reported as about an hour. Source: anthropics/claude-code#42542 and
    cnighswonger/claude-code-cache-fix#36 (issue threads); none of it was read in source.
    """

    name = "claude-code-microcompact"
    summary = "after a pause of an hour, clears all results but the newest 5"
    source = "Claude Code, issue 42542"
    version = "issues of 2026, issue threads"
    options = (
        CAP,
        number("idle", "seconds since the last request from which on it clears", 3_600, 0),
        whole("keep", "newest results that stay", "results", 5, 0),
        whole("stub", "what is put in the place of each", "tokens", 8, 1),
    )

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the cap and the clearing."""
        yield from capping(options, CAPS["claude-code"])
        yield _Microcompact(options["idle"], options["keep"], options["stub"])


class _Microcompact:
    def __init__(self, idle: float, keep: int, tokens: int) -> None:
        self._idle = idle
        self._keep = keep
        self._stub = tokens
        self._newest = Newest(is_result)
        self._old = Unstubbed(is_result, tokens)

    def start(self, view: View) -> None:
        self._newest.start(view)
        self._old.start(view)

    def before_call(self, view: View) -> Iterator[Rewrite]:
        pause = view.seconds_since_call
        if pause is None or pause < self._idle:
            return
        for result in self._old.in_front_of(view, self._newest.begin(self._keep)):
            yield stub(result, self._stub, "microcompact")
