"""What the model does not claim: the limits that a reader of any figure should know.

README.md has the same sentences, in the same order; a test holds the two together.
"""

from __future__ import annotations

__all__ = ["LIMITS"]

LIMITS = (
    "The reader is a table of rules with probabilities, not a model. `reader=strict` is what the "
    "design's sources observed (an untagged surrogate is always filled in, a tagged one always "
    "followed); `reader=measured` uses published rates. Sweep them before you trust a ranking that "
    "hangs on them.",
    "No published comparison of tagged with untagged placeholders is known: those probabilities "
    "are proposals with wide ranges.",
    "Relevance is the workload's. A policy never guesses it wrongly here, a real harness does.",
    "What a summary loses is one probability per fact; kinds of facts are not told apart.",
    "Recorded sessions are replayed with the script they had: what the agent would have done under "
    "another policy is not known.",
    "Prices and cache rules carry their source and date, and say what is assumed (`evictbench list "
    "prices`); a book of your own is laid over them.",
)
"""Sentences, each a limit."""
