"""no-op: removes nothing, so that the backstop alone decides."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from policies.options import Options
from policies.policy import Composed

__all__ = ["NoOp"]


class NoOp(Composed):
    """Takes no action at all. Source: the baseline of the design."""

    name = "no-op"
    summary = "removes nothing: what the backstop alone does"
    source = "baseline"
    edits = False

    def compose(self, options: Options) -> Iterable[Any]:
        """Return no parts."""
        return ()
