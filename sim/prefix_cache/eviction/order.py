"""What an order of eviction is asked: which chain of blocks gives up its last ones next."""

from __future__ import annotations

from typing import Protocol

from sim.prefix_cache.tree import Node

__all__ = ["Chains", "EvictionOrder", "Place"]

Place = tuple[Node, int]
"""Where a chain of blocks ends: a node, and how many of the blocks of that node are in it."""


class Chains(Protocol):
    """What an order may ask of the blocks that are there."""

    def depth(self, end: Place) -> int:
        """Return how many blocks a chain has up to *end*."""
        ...

    def loose(self, end: Place) -> bool:
        """Whether the last block at a marked *end* is needed by nothing but that mark."""
        ...


class EvictionOrder(Protocol):
    """Ends of chains that finished requests leave, in the order in which they are freed.

    An end stands for the blocks before it down to the next thing that needs them, and a block is
    freed only when nothing behind it is left. Who keeps an order marks each end that is new to it,
    and unmarks the one that is popped.
    """

    def __init__(self, chains: Chains) -> None: ...

    def add(self, end: Place) -> bool:
        """Note that a request has ended at *end*; return whether it is a new end."""
        ...

    def pop(self) -> tuple[Place, int] | None:
        """Forget and return the end to be freed from, and how many of its blocks go at most.

        None if there is nothing to free.
        """
        ...

    def put_back(self, rest: Place, alone: bool) -> bool:
        """Note where the chain just popped ends now; return whether that is a new end.

        *alone* says that nothing but this chain needs its last block there.
        """
        ...
