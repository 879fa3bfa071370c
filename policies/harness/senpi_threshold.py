"""senpi-threshold: old results are hidden while usage is over a threshold, and shown below it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from policies.options import Options, number, whole
from policies.parts.toggling import Toggled
from policies.policy import Composed

__all__ = ["SenpiThreshold"]


class SenpiThreshold(Composed):
    """Prunes the request, not the log, for as long as the window is at least so full.

    Usage is the window as the pass finds it, pruned or not, as a share of W. With one threshold for
    both, pruning takes the usage below it and so ends itself; the repair that was reported stops at
    0.85. What is pruned is not reported: all results but the newest few is assumed.

    Source: code-yeongyu/senpi, pull request 425 (thread): one threshold, then 0.95 and 0.85.
    """

    name = "senpi-threshold"
    summary = "hides old results while usage is over one threshold, and shows them again below it"
    source = "code-yeongyu/senpi, pull request 425"
    version = "before that pull request (thread)"
    options = (
        number("start", "share of W from which old results are hidden", 0.95, 0.0, 1.0),
        number("stop", "share of W below which they are shown again", 0.95, 0.0, 1.0),
        whole("keep", "newest results that stay; assumed", "results", 3, 0),
        whole("stub", "what is put in the place of each, with its tag", "tokens", 12, 1),
    )

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the toggled pruning."""
        yield Toggled(options["start"], options["stop"], options["keep"], options["stub"])

    def breaks(self, options: Options) -> Iterable[str]:
        """Return that room is spent in the turn that makes it."""
        return ("spends",)
