"""naive-rewrite: compresses whatever has become irrelevant, and says nowhere that it did."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from policies.options import Options, setting, switch
from policies.parts.budget import RewriteUntilFit
from policies.parts.ranking import full
from policies.parts.relevance import RelevancePass
from policies.parts.restoring import RestoreFromNothing
from policies.parts.rewriting import Rewriting
from policies.policy import Composed

__all__ = ["NaiveRewrite"]


class NaiveRewrite(Composed):
    """Rewrites below a salience, then the least salient while over budget, without tags.

    A surrogate may be longer than its source, and may be spent in the same turn. Asked for
    detail that a surrogate has lost, it keeps what the model makes up. What is still over the
    budget when nothing full is left goes to the backstop. Source: S0, the observed policy.
    """

    name = "naive-rewrite"
    summary = "rewrites what is irrelevant as untagged text, and restores it from nothing"
    source = "S0"
    options = (
        switch("relevance", "rewrite, every turn, what is below rewrite.below"),
        switch("budget", "rewrite the least salient while the window does not fit"),
        switch("restore", "put what the model makes up in the place of its surrogate"),
        setting("rewrite.below"),
        setting("surrogate.tokens"),
        setting("restore_tokens"),
    )

    def compose(self, options: Options) -> Iterable[Any]:
        """Return relevance pass, budget pass and restoration."""
        rewriting = Rewriting(
            options.value("surrogate.tokens"), lambda view: 0, tagged=False, shrinks=False
        )
        if options.on("relevance"):
            yield RelevancePass(options.value("rewrite.below"), full, rewriting, defer=False)
        if options.on("budget"):
            yield RewriteUntilFit(full, rewriting, defer=False, drop=False)
        if options.on("restore"):
            yield RestoreFromNothing(options.value("restore_tokens"))

    def breaks(self, options: Options) -> Iterable[str]:
        """Return that it leaves untagged, growing and spent surrogates."""
        return ("untagged", "grows", "spends")
