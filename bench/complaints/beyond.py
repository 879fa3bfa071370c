"""What was reported and no scenario tells of: what it is, and why the model cannot express it."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["BEYOND", "Beyond"]


class Beyond(NamedTuple):
    """A reported failure, or the part of one, that is not told, and *why*."""

    row: int
    threads: tuple[str, ...]
    fails: str
    why: str


BEYOND = (
    Beyond(
        9,
        ("langchain-ai/langchain#33245", "langchain-ai/langchain#34282", "cline/cline#7225"),
        "the history was cut between a call and its result, and the provider refused the request",
        "a call and its result leave the window together, and a policy that would part them is "
        "refused: the request that failed cannot be made",
    ),
    Beyond(
        14,
        ("aaif-goose/goose#11072",),
        "the window was looked at between turns of the user only",
        "what that harness looks at between turns only was not read; one-turn-job shows the same "
        "of another one",
    ),
)
"""By the number of the row."""
