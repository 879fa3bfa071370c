"""The meter: what each request costs in tokens, seconds and dollars, and what made it cost that."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import NamedTuple

from sim.attribution import Cause, Tally
from sim.prefix_cache import MAX_BREAKPOINTS, PrefixCache, Prompt, Usage, make_cache
from sim.prices import Price
from sim.segments import Kind, Segment
from sim.window import Window

__all__ = ["Meter", "Sent"]

Run = tuple[str | int, int, int]
"""Tokens of a request from one place to another: new, and then what brought them, or sent before,
and then how much further back they stood."""

Send = Callable[[Prompt, float, Sequence[int] | None, int], Usage]
"""What sends a prompt at a time, with its breakpoints and how many ask for the longer life."""

_BEFORE = {"tools": (), "system": (Kind.TOOLS,)}
"""What a change comes in behind: nothing, or these kinds of segment at the front."""

_HEAD = (Kind.TOOLS, Kind.SYSTEM)

_REMOVALS = frozenset({"eviction", "rewrite", "compaction", "truncation"})
"""Cuts that take something out; a refresh or a change breaks the prefix, too, but frees nothing."""

UNCHANGED = "default"
"""The value of everything that can change until something changes it."""


class Sent(NamedTuple):
    """A request and how it was billed.

    *causes* say of each token what it is due to. *behind* counts the tokens behind the first cut
    that stayed, were computed again and would have been read but for it, where that cut is a
    removal; *broken* counts those in front of it, too, that were found no more; *live* is what the
    request before, sent again as it was, would have read; *write* is w, the price of what was
    written.
    """

    usage: Usage
    causes: tuple[Cause, ...]
    behind: int
    broken: int
    live: int
    write: float


class Meter:
    """Sends the window to a prefix cache, request by request, at one price.

    The prompt follows the window from the first change on, so a request costs as much time as
    has changed since the one before. *cache* is one that others share; *owner* then tells the
    segments of this window from theirs, all but tools and system, which are the same for all. By
    default the window has a cache of its own. *send* is what requests go through, in place of the
    cache's `call`.
    """

    def __init__(
        self,
        window: Window,
        price: Price,
        breakpoints: Sequence[str] = (),
        long: int = 0,
        cache: PrefixCache | None = None,
        owner: Hashable = None,
        send: Send | None = None,
    ) -> None:
        self.price = price
        self.breakpoints: tuple[str, ...] = tuple(breakpoints)
        """Segments after which a breakpoint stands, besides one at the end if fewer than four do;
        empty: the rule's default."""
        self.long = long
        """How many breakpoints, the first ones, ask for the longer life."""
        self.requests = 0
        """Requests sent so far, pings and those for summaries among them."""
        self._window = window
        self._cache: PrefixCache = make_cache(price.rules) if cache is None else cache
        self._prompt = self._cache.prompt()
        self._owner = owner
        self._send: Send = self._cache.call if send is None else send
        self._places: list[int] | None = None
        """Breakpoints of the last request."""
        self._values: dict[str, str] = {}

    # -- requests --------------------------------------------------------------------------

    def request(
        self, now: float, log: Mapping[str, Segment], prompt: int = 0, due: str = "append"
    ) -> Sent:
        """Send the window as it is and return how its tokens were billed.

        *prompt* is text behind it, in tokens, that is *due* to that cause and that no cache keeps.
        """
        live, kept = self._expected(now)
        runs = self._follow()
        self._places = self._marks(log)
        usage = self._call(now)
        if prompt:
            runs.append((due, usage.tokens, usage.tokens + prompt))
            usage = usage._replace(tokens=usage.tokens + prompt, plain=usage.plain + prompt)
        return self._explain(usage, runs, live, kept)

    def ping(self, now: float) -> Sent:
        """Send the last request again, as it was."""
        live, kept = self._expected(now)
        usage = self._call(now)
        tally = Tally(usage, self.price)
        tally.add_old("rule", 0, usage.tokens, 0, live, kept)
        return Sent(usage, tally.causes(), 0, 0, live, self.write)

    def close(self) -> None:
        """Send nothing more: give back what only this window's requests needed of the cache."""
        self._prompt.close()

    def change(self, what: str, value: str) -> None:
        """Give *what* of the requests another value: the prefix breaks where it comes in."""
        if self._values.get(what, UNCHANGED) == value:
            return
        self._values[what] = value
        if value == UNCHANGED:
            del self._values[what]
        self._window.breaks(self._scope(_BEFORE.get(what, _HEAD)), "change")

    def live(self, now: float) -> int:
        """Return the tokens that the last request would read if it were sent again *now*."""
        return self._cache.lookup(self._prompt, now, self._places)

    def unbroken(self, segment: Segment) -> tuple[int, int] | None:
        """Return where a resident segment and the unbroken prefix end, in tokens from the front.

        None if the prefix is broken in front of the segment, or ends there.
        """
        at, first = self._window.index(segment) + 1, self._window.first_changed
        path = self._prompt.path
        return None if at > first else (path[at].end, path[first].end)

    def _expected(self, now: float) -> tuple[int, int]:
        """Return what the last request, sent again, would read now and would have read at once."""
        live = self.live(now)
        if live == self._prompt.tokens:
            return live, live
        return live, self._cache.kept(self._prompt, self._places)

    def _call(self, now: float) -> Usage:
        self.requests += 1
        cache, prompt, places = self._cache, self._prompt, self._places
        long = min(self.long, cache.long_marks(prompt, places)) if self.long else 0
        return self._send(prompt, now, places, long)

    def _follow(self) -> list[Run]:
        """Bring the prompt up to date, and return what stands behind the first cut."""
        prompt, window, owner = self._prompt, self._window, self._owner
        first = window.first_changed
        if first < len(prompt):
            prompt.truncate(first)
        scopes = self._scopes() if self._values else {}
        runs: list[Run] = []
        start = end = prompt.tokens
        run: str | int = ""
        for place, segment in enumerate(window.segments[first:], first):
            was, tokens = segment.sent_at, segment.tokens
            here = segment.entered if was < 0 else was - end
            if here != run:
                if end > start:
                    runs.append((run, start, end))
                run, start = here, end
            shared = owner is None or segment.kind in _HEAD
            key: Hashable = segment.id if shared else (owner, segment.id)
            if place in scopes:
                key = (key, scopes[place])
            prompt.append(key, segment.version, tokens, segment.kind)
            segment.sent_at = end
            end += tokens
        if end > start:
            runs.append((run, start, end))
        return runs

    def _scopes(self) -> dict[int, tuple[tuple[str, str], ...]]:
        """Return what has changed, by the position in front of which it comes in."""
        found: dict[int, tuple[tuple[str, str], ...]] = {}
        for what, value in sorted(self._values.items()):
            at = self._scope(_BEFORE.get(what, _HEAD))
            found[at] = (*found.get(at, ()), (what, value))
        return found

    def _scope(self, kinds: tuple[Kind, ...]) -> int:
        """Return how many segments at the front are of these *kinds*."""
        at = 0
        for segment in self._window.segments:
            if segment.kind not in kinds:
                break
            at += 1
        return at

    def _explain(self, usage: Usage, runs: list[Run], live: int, kept: int) -> Sent:
        window = self._window
        cut = window.broken_by
        cause = cut or "rule"
        tally = Tally(usage, self.price)
        front = self._prompt.path[window.first_changed].end
        broken = tally.add_old(cause, 0, front, 0, live, kept)
        behind = 0
        for run, start, end in runs:
            if isinstance(run, str):
                tally.add(run, start, end)
            else:
                behind += tally.add_old(cause, start, end, run, live, kept)
        if cut not in _REMOVALS:
            broken = behind = 0
        window.sent()
        return Sent(usage, tally.causes(), behind, broken + behind, live, self.write)

    def _marks(self, log: Mapping[str, Segment]) -> list[int] | None:
        if not self.breakpoints:
            return None
        places = {
            self._window.index(log[name]) + 1
            for name in self.breakpoints
            if name in log and log[name].resident
        }
        if len(places) < MAX_BREAKPOINTS:
            places.add(len(self._window))
        return sorted(places - {0})[:MAX_BREAKPOINTS]

    # -- prices ----------------------------------------------------------------------------

    @property
    def write(self) -> float:
        """w, the price of a token written, in US dollars per million.

        It is that of the longer life where all breakpoints of the last request ask for it.
        """
        price = self.price
        if price.long_write is None or not self.long:
            return price.write
        marks = self._cache.long_marks(self._prompt, self._places)
        return price.long_write if 0 < marks <= self.long else price.write

    def input_usd(self, usage: Usage) -> float:
        """Return the price of a request's input."""
        return self.price.input_cost(usage)

    def output_usd(self, tokens: int, request_tokens: int) -> float:
        """Return the price of *tokens* of output to a request of *request_tokens*."""
        return self.price.output_cost(tokens, request_tokens)

    def prefill_seconds(self, usage: Usage) -> float:
        """Return the seconds until the first token of the answer."""
        return self.price.speed.prefill_seconds(usage.tokens - usage.read, usage.read)

    def decode_seconds(self, tokens: int) -> float:
        """Return the seconds that *tokens* of output take."""
        return self.price.speed.decode_seconds(tokens)
