"""What a policy may know of the prefix cache: prices, calls so far, and what a cut would cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sim.segments import Segment
    from sim.world import World

__all__ = ["Forecast"]


class Forecast:
    """The prefix cache as a policy sees it before a call, without changing it.

    Prices are US dollars per million tokens, sizes whole tokens.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        price = world.meter.price
        self.read = price.read
        """r, the price of a token that is read."""
        self._live = 0
        self._known: tuple[float, int] | None = None

    @property
    def write(self) -> float:
        """w, the price of a token that is written, for the longer life where that is asked for."""
        return self._world.meter.write

    @property
    def calls(self) -> int:
        """Calls of the agent's own so far: what L counts; neither pings nor calls for summaries."""
        return self._world.calls

    @property
    def live(self) -> int:
        """Tokens that the last request would read now, if it were sent again as it was.

        0 where nothing of it is cached any more: then a cut costs nothing.
        """
        world = self._world
        known = (world.now, world.meter.requests)
        if known != self._known:
            self._known, self._live = known, world.meter.live(world.now)
        return self._live

    def cached(self, segment: Segment) -> int:
        """Return how many tokens of a resident segment the next request would read."""
        ends = self._world.meter.unbroken(segment)
        if ends is None:
            return 0
        return max(0, min(self.live, ends[0]) - (ends[0] - segment.tokens))

    def behind(self, segment: Segment) -> int:
        """Return the tokens behind a resident segment that a cut there would have computed again.

        Those are the ones that were sent, stand unbroken so far and are live.
        """
        ends = self._world.meter.unbroken(segment)
        return 0 if ends is None else max(0, min(self.live, ends[1]) - ends[0])
