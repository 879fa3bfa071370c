"""tag-or-drop: a surrogate says what it stands for, or the segment is dropped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from policies.options import Options, setting, switch
from policies.parts.budget import RewriteUntilFit
from policies.parts.ranking import BySalience, full, unpinned
from policies.parts.relevance import RelevancePass
from policies.parts.removal import EvictUntilFit
from policies.parts.restoring import RestoreFromNothing
from policies.parts.rewriting import Rewriting
from policies.policy import Composed

__all__ = ["REWRITING", "TagOrDrop", "rewrite_breaches", "rewriting"]

REWRITING = (
    switch("relevance", "act, every turn, on what is below rewrite.below"),
    switch("rewrite", "rewrite; off: evict instead"),
    switch("tag", "tag surrogates, drop what cannot be tagged; off: untagged text, restored"),
    switch("shrink", "drop what would grow without a copy; off: rewrite it all the same"),
    switch("defer", "rewrite nothing in a turn that admitted something without a copy"),
    setting("rewrite.below"),
    setting("surrogate.tokens"),
    setting("surrogate.tag_tokens"),
    setting("restore_tokens"),
)
"""Options of a policy that rewrites with tags."""


def rewriting(options: Options) -> Rewriting | None:
    """Return how surrogates are made under *options*, None if they are not."""
    if not options.on("rewrite"):
        return None
    return Rewriting(
        options.value("surrogate.tokens"),
        options.value("surrogate.tag_tokens"),
        tagged=options.on("tag"),
        shrinks=options.on("shrink"),
    )


def rewrite_breaches(options: Options) -> Iterator[str]:
    """Yield the rules that rewriting under *options* breaks."""
    if options.on("rewrite"):
        if not options.on("tag"):
            yield "untagged"
        if not options.on("shrink"):
            yield "grows"
        if not options.on("defer"):
            yield "spends"


class TagOrDrop(Composed):
    """Rewrites below a salience, then the least salient while over budget, with tags.

    What cannot be tagged, or would grow without a copy, is evicted instead, at any time. A turn
    that has admitted something without an external copy rewrites nothing: there, and when nothing
    full is left, the least salient are evicted until it fits. Source: S0.
    """

    name = "tag-or-drop"
    summary = "rewrites with tags or drops, and never spends in the same turn what it freed"
    source = "S0"
    options = (
        *REWRITING,
        switch("budget", "rewrite the least salient while the window does not fit"),
        switch("evict", "evict the least salient where rewriting does not make it fit"),
    )

    def compose(self, options: Options) -> Iterable[Any]:
        """Return relevance pass, budget pass and eviction."""
        made, defer = rewriting(options), options.on("defer")
        if options.on("relevance"):
            yield RelevancePass(options.value("rewrite.below"), full, made, defer=defer)
        if options.on("budget") and made is not None:
            yield RewriteUntilFit(full, made, defer=defer, drop=options.on("shrink"))
        if options.on("evict"):
            yield EvictUntilFit(BySalience(unpinned), "budget")
        if made is not None and not options.on("tag"):
            yield RestoreFromNothing(options.value("restore_tokens"))

    def breaks(self, options: Options) -> Iterable[str]:
        """Return what follows from the rules switched off."""
        return rewrite_breaches(options)
