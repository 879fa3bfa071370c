"""One model server that many agents share: prefill slots, a queue for them, one prefix cache."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import nullcontext
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

import simpy

from sim.prefix_cache import make_cache
from sim.prefix_cache.blocks import BlockCache, Ticket

if TYPE_CHECKING:
    from sim.prefix_cache import PrefixCache, Prompt, Usage
    from sim.prices import Price

__all__ = ["Client", "Served", "Server", "queue_lengths"]


class Served(NamedTuple):
    """A request that a server has answered: whose it was, its times in seconds, its tokens."""

    agent: int
    arrived: float
    started: float
    """Its prefill began, and what it reads was looked up."""
    computed: float
    """Its prefill ended: first token, the slot is free, others can read its blocks."""
    finished: float
    tokens: int
    read: int
    """Tokens read from the cache."""

    @property
    def waited(self) -> float:
        """Seconds in the queue for a slot."""
        return self.started - self.arrived


class Server:
    """A model server in a SimPy environment, at the rules and the speed of one price row.

    A request queues for one of `Price.slots` prefill slots (None: there is always one), first come
    first served; requests of one time come in the order in which they were sent. It looks up what
    it can read when its prefill begins, so that what others have computed while it waited is a hit,
    and holds the slot until its prefill ends. Then others can read its blocks (vLLM's rule). It
    decodes without a slot and frees its blocks at the end. The tokens that it writes take no room.

    Under a provider's rule, which is not `blocks`, what a request stores can be read from its start
    on.
    """

    def __init__(self, env: simpy.Environment, price: Price) -> None:
        self.env = env
        self.price = price
        self.cache: PrefixCache = make_cache(price.rules)
        self.served: list[Served] = []
        """Requests answered, in the order in which they were finished."""
        self.agents = 0
        """Clients given out."""
        self.slots = None if price.slots is None else simpy.Resource(env, price.slots)

    def client(self, agent: int) -> Client:
        """Return what *agent* sends its requests through."""
        self.agents += 1
        return Client(self, agent)

    def figures(self) -> dict[str, float | int | None]:
        """Return how busy the server was up to now, from what it has served; None where undefined.

        `seconds` is the time now, `utilisation` the share of it in which a slot was held, over all
        slots; `mean_queue` and `longest_queue` count the requests that waited, over time; the waits
        are seconds, percentiles by nearest rank; `hit_rate` is tokens read ÷ tokens.
        """
        served, seconds = self.served, self.env.now
        waits = sorted(request.waited for request in served)
        prefill = sum(request.computed - request.started for request in served)
        capacity = 0.0 if self.price.slots is None else self.price.slots * seconds
        return {
            "agents": self.agents,
            "requests": len(served),
            "seconds": seconds,
            "slots": self.price.slots,
            "utilisation": _ratio(prefill, capacity),
            "mean_queue": _ratio(sum(waits), seconds),
            "longest_queue": max((length for _, length in queue_lengths(served)), default=0),
            "mean_wait": _ratio(sum(waits), len(waits)),
            "p50_wait": _rank(waits, 0.50),
            "p95_wait": _rank(waits, 0.95),
            "longest_wait": waits[-1] if waits else None,
            "hit_rate": _ratio(sum(r.read for r in served), sum(r.tokens for r in served)),
        }


class Client:
    """One agent's way to a server; it has one request under way at most."""

    def __init__(self, server: Server, agent: int) -> None:
        self.agent = agent
        self._server = server
        self._busy = False
        self._sending = False
        self._ticket: Ticket | None = None

    @property
    def env(self) -> simpy.Environment:
        """The environment of the server."""
        return self._server.env

    @property
    def cache(self) -> PrefixCache:
        """The cache that all agents of the server share."""
        return self._server.cache

    def call(
        self,
        prompt: Prompt,
        now: float,
        breakpoints: Sequence[int] | None = None,
        long: int = 0,
    ) -> Usage:
        """Send *prompt* to the shared cache and return how it is billed: `PrefixCache.call`.

        What `serve` sends holds its blocks until it is finished. Anything else is a request beside
        the queue, which takes no slot and ends at once.
        """
        cache = self.cache
        if not (self._sending and isinstance(cache, BlockCache)):
            return cache.call(prompt, now, breakpoints, long)
        if self._ticket is not None:
            raise ValueError(f"agent {self.agent} sends two requests as one")
        self._ticket = cache.begin(prompt, now, breakpoints, long)
        return self._ticket.usage

    def serve(self, send: Callable[[], Usage], output: int) -> Generator[simpy.Event, Any, Served]:
        """Have a request of *output* tokens answered: a part of a SimPy process.

        *send* is called when a slot is free; it makes one `call` and returns its usage. Raises
        ValueError if the agent has a request under way already.
        """
        if self._busy:
            raise ValueError(f"agent {self.agent} has a request under way already")
        self._busy = True
        try:
            server, speed = self._server, self._server.price.speed
            env, arrived = server.env, server.env.now
            with nullcontext() if server.slots is None else server.slots.request() as claim:
                if claim is not None:
                    yield claim
                started, usage = env.now, self._send(send)
                yield env.timeout(speed.prefill_seconds(usage.tokens - usage.read, usage.read))
                self._computed()
            computed = env.now
            yield env.timeout(speed.decode_seconds(output))
        finally:
            self._end()
        times = (arrived, started, computed, env.now)
        served = Served(self.agent, *times, usage.tokens, usage.read)
        server.served.append(served)
        return served

    def _send(self, send: Callable[[], Usage]) -> Usage:
        self._sending = True
        try:
            return send()
        finally:
            self._sending = False

    def _computed(self) -> None:
        cache = self.cache
        if self._ticket is not None and isinstance(cache, BlockCache):
            cache.computed(self._ticket)

    def _end(self) -> None:
        cache = self.cache
        if self._ticket is not None and isinstance(cache, BlockCache):
            cache.finish(self._ticket)
        self._ticket = None
        self._busy = False


def queue_lengths(served: Iterable[Served]) -> list[tuple[float, int]]:
    """Return how many requests wait for a slot from which time on, where that changes."""
    changes: dict[float, int] = {}
    for request in served:
        if request.waited > 0:
            changes[request.arrived] = changes.get(request.arrived, 0) + 1
            changes[request.started] = changes.get(request.started, 0) - 1
    lengths, waiting = [], 0
    for time, change in sorted(changes.items()):
        waiting += change
        if change:
            lengths.append((time, waiting))
    return lengths


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _rank(ordered: Sequence[float], share: float) -> float | None:
    """Return the least value that so great a share of *ordered* does not exceed."""
    return ordered[max(0, ceil(share * len(ordered)) - 1)] if ordered else None
