"""Recorded sessions under policies: what each would have saved, or lost, against the recording."""

from bench.replays.plan import Finished, Order, execute

__all__ = ["Finished", "Order", "execute"]
