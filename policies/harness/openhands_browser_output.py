"""openhands-browser-output: every step, all but the newest output of the browser is left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from policies.harness.caps import CAPS
from policies.harness.editing import Clearing
from policies.options import Options, whole, words
from policies.parts.capping import CAP, capping
from policies.parts.clearing import is_result
from policies.parts.stubs import Newest, Unstubbed, stub
from policies.parts.tools import named

if TYPE_CHECKING:
    from sim.actions import Rewrite
    from sim.segments import Segment
    from sim.view import View

__all__ = ["OpenhandsBrowserOutput"]


class OpenhandsBrowserOutput(Clearing):
    """Puts the address and a note in the place of each output of the browser but the newest.

    What the browser brought is told by the name of the tool. 1 is the default of the condenser; the
    default pipeline has 2. How long the note is, is assumed. Source: OpenHands V0,
    memory/condenser/impl at 156d0686 (read in source).
    """

    name = "openhands-browser-output"
    summary = "every step, leaves the address alone of all output of the browser but the newest"
    source = "OpenHands V0, BrowserOutputCondenser"
    version = "OpenHands 156d0686, read in source"
    options = (
        CAP,
        whole("attention_window", "newest outputs of the browser that stay", "results", 1, 0),
        words(
            "tools",
            "words of which one is in the name of a browser's tool",
            *("browse", "browser", "fetch", "page", "web"),
        ),
        whole("stub", "what is put in the place of each", "tokens", 20, 1),
    )

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the cap and the condenser."""
        yield from capping(options, CAPS["openhands"])
        yield _Condenser(options["attention_window"], options["tools"], options["stub"])


class _Condenser:
    def __init__(self, keep: int, tools: tuple[str, ...], tokens: int) -> None:
        def browsed(segment: Segment) -> bool:
            return is_result(segment) and named(segment, tools)

        self._keep = keep
        self._stub = tokens
        self._newest = Newest(browsed)
        self._old = Unstubbed(browsed, tokens)

    def start(self, view: View) -> None:
        self._newest.start(view)
        self._old.start(view)

    def before_call(self, view: View) -> Iterator[Rewrite]:
        for result in self._old.in_front_of(view, self._newest.begin(self._keep)):
            yield stub(result, self._stub, "browsed")
