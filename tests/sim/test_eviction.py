"""Orders in which `blocks` frees: against a list that is scanned for the victim, and by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.prefix_cache import Prompt, Usage, make_cache
from sim.prefix_cache.blocks import BlockCache, Ticket
from sim.prefix_cache.eviction import ORDERS
from sim.prices import EVICTIONS, CacheRules

Segment = tuple[str, int, int, str]
Name = tuple[Any, ...]


def test_every_order_of_the_rules_is_there() -> None:
    assert sorted(ORDERS) == sorted(EVICTIONS)
    assert CacheRules("blocks").evict == "lru"
    with pytest.raises(ValueError, match="evict must be one of lru, lfu, length-aware, not 'fifo'"):
        CacheRules("blocks", evict="fifo")


# A second implementation: one list of blocks, each with what it is known by and what it has seen.


@dataclass
class Block:
    name: Name
    depth: int
    count: int = 0
    last: int = 0
    holders: int = 0


VICTIM: dict[str, Callable[[Block], tuple[int, ...]]] = {
    "lru": lambda b: (b.last, -b.depth),
    "lfu": lambda b: (b.count, b.last, -b.depth),
    "length-aware": lambda b: (b.count, -b.depth, b.last),
}


class Running:
    def __init__(self, chain: list[Name], private: int) -> None:
        self.chain = chain
        self.private = private


class Pool:
    """A count is of the requests that ended while they held the block."""

    def __init__(self, rules: CacheRules) -> None:
        self.step, self.capacity = rules.step, rules.capacity or 10**9
        self.victim = VICTIM[rules.evict]
        self.blocks: list[Block] = []
        self.private = 0
        self.ended = 0

    def chain(self, request: list[Segment]) -> list[Name]:
        tokens = [(request[: i + 1], n) for i, s in enumerate(request) for n in range(s[2])]
        ends = range(self.step, len(tokens) + 1, self.step)
        return [(end, *map(tuple, tokens[end - 1][0])) for end in ends]

    def find(self, name: Name) -> Block | None:
        return next((block for block in self.blocks if block.name == name), None)

    def present(self, chain: list[Name]) -> int:
        count = 0
        while count < len(chain) and self.find(chain[count]):
            count += 1
        return count

    def lookup(self, request: list[Segment]) -> int:
        tokens = sum(segment[2] for segment in request)
        most = max(0, tokens - 1) // self.step
        return min(self.present(self.chain(request)), most) * self.step

    def hold(self, chain: list[Name]) -> None:
        for depth, name in enumerate(chain, 1):
            block = self.find(name)
            if block is None:
                block = Block(name, depth)
                self.blocks.append(block)
            block.holders += 1

    def begin(self, request: list[Segment]) -> tuple[Usage, Running]:
        read, chain = self.lookup(request), self.chain(request)
        present = self.present(chain)
        self.hold(chain[:present])
        private = 0
        for _ in chain[present:]:
            if len(self.blocks) + self.private == self.capacity:
                free = [block for block in self.blocks if not block.holders]
                if not free:
                    break
                self.blocks.remove(min(free, key=self.victim))
            self.private += 1
            private += 1
        tokens = sum(segment[2] for segment in request)
        return Usage(tokens, read, 0, tokens - read), Running(chain[: present + private], private)

    def computed(self, running: Running) -> None:
        shared = len(running.chain) - running.private
        self.private -= running.private
        running.private = 0
        for name in running.chain[:shared]:
            block = self.find(name)
            assert block is not None
            block.holders -= 1
        self.hold(running.chain)

    def finish(self, running: Running) -> None:
        if running.private:
            self.computed(running)
        self.ended += 1
        for name in running.chain:
            block = self.find(name)
            assert block is not None
            block.holders -= 1
            block.count += 1
            block.last = self.ended

    def check(self) -> None:
        """No block is there without the one before it, or is used more often or later than it."""
        for block in self.blocks:
            segments = [list(segment) for segment in block.name[1:]]
            end = block.name[0] - self.step
            if not end:
                continue
            before = next(n for n in self.chain([tuple(s) for s in segments]) if n[0] == end)
            found = self.find(before)
            assert found is not None
            assert found.count >= block.count
            assert found.last >= block.last


SEGMENTS = st.tuples(
    st.sampled_from("ab"), st.just(0), st.sampled_from([0, 1, 3, 8]), st.just("user")
)
REQUESTS = st.lists(SEGMENTS, max_size=6)
WHAT = ["begin", "begin", "call", "call", "call", "computed", "finish"]


@pytest.mark.parametrize("order", EVICTIONS)
@settings(max_examples=400, deadline=None)
@given(st.integers(1, 5), st.integers(1, 30), st.data())
def test_agrees_with_a_list_that_is_scanned(
    order: str, step: int, capacity: int, data: st.DataObject
) -> None:
    rules = CacheRules("blocks", step=step, capacity=capacity, evict=order)
    cache, pool = make_cache(rules), Pool(rules)
    assert isinstance(cache, BlockCache)
    sent: list[list[Segment]] = [[]]
    running: list[tuple[Ticket, Running]] = []
    computing: list[tuple[Ticket, Running]] = []
    made: list[Prompt] = []

    def prompt(request: list[Segment]) -> Prompt:
        made.append(cache.prompt())
        for segment in request:
            made[-1].append(*segment)
        return made[-1]

    for now in range(data.draw(st.integers(1, 40))):
        what = data.draw(st.sampled_from(WHAT))
        if what in ("begin", "call"):
            old = data.draw(st.sampled_from(sent))
            request = old[: data.draw(st.integers(0, len(old)))] + data.draw(REQUESTS)
            sent.append(request)
            usage, theirs = pool.begin(request)
            if what == "call":
                pool.finish(theirs)
                assert cache.call(prompt(request), float(now)) == usage
            else:
                mine = cache.begin(prompt(request), float(now))
                assert mine.usage == usage
                running.append((mine, theirs))
                computing.append((mine, theirs))
        elif what == "computed" and computing:
            pair = computing.pop(data.draw(st.integers(0, len(computing) - 1)))
            cache.computed(pair[0])
            pool.computed(pair[1])
        elif what == "finish" and running:
            pair = running.pop(data.draw(st.integers(0, len(running) - 1)))
            if pair in computing:
                computing.remove(pair)
            cache.finish(pair[0])
            pool.finish(pair[1])
        pool.check()
        for request in sent:
            assert cache.lookup(prompt(request), float(now)) == pool.lookup(request)
        assert cache._blocks == len(pool.blocks) + pool.private <= capacity
    for mine, theirs in running:
        cache.finish(mine)
        pool.finish(theirs)
    for request in sent:
        assert cache.lookup(prompt(request), 99.0) == pool.lookup(request)
    del running, computing
    # A request as large as the pool pushes all out, and with it every node that was kept.
    cache.call(prompt([("last", 0, step * capacity, "user")]), 99.0)
    for each in made:
        each.close()
    assert len(cache.tree) == 1


CALLS = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 6), st.integers(0, 5), st.integers(0, 9)),
    min_size=20,
    max_size=150,
)


@pytest.mark.parametrize("order", EVICTIONS)
@settings(max_examples=150, deadline=None)
@given(CALLS, st.integers(5, 60))
def test_agrees_over_many_calls(
    order: str, calls: list[tuple[int, int, int, int]], capacity: int
) -> None:
    # Few prefixes of unlike lengths and what follows them: counts rise, and branches come and go.
    rules = CacheRules("blocks", step=1, capacity=capacity, evict=order)
    cache, pool = make_cache(rules), Pool(rules)
    for now, (head, size, tail, length) in enumerate(calls):
        request = [(f"h{head}", 0, size, "user"), (f"t{tail}", 0, length, "user"), END]
        prompt = cache.prompt()
        for segment in request:
            prompt.append(*segment)
        usage, running = pool.begin(request)
        pool.finish(running)
        assert cache.call(prompt, float(now)) == usage


END: Segment = ("end", 0, 1, "user")


# Cases by hand. Blocks of 16 tokens.


def cache_of(order: str, capacity: int) -> BlockCache:
    cache = make_cache(CacheRules("blocks", step=16, capacity=capacity, evict=order))
    assert isinstance(cache, BlockCache)
    return cache


def prompt_of(cache: BlockCache, *segments: tuple[str, int]) -> Prompt:
    prompt = cache.prompt()
    for key, blocks in segments:
        prompt.append(key, 0, 16 * blocks, "user")
    return prompt


def call(cache: BlockCache, *segments: tuple[str, int]) -> None:
    cache.call(prompt_of(cache, *segments), 0.0)


def kept(cache: BlockCache, *segments: tuple[str, int]) -> int:
    """Return how many blocks are there of a chain."""
    prompt = prompt_of(cache, *segments)
    prompt.append("more", 0, 1, "user")
    return cache.lookup(prompt, 0.0) // 16


@pytest.mark.parametrize(("order", "a", "b"), [("lru", 1, 2), ("lfu", 2, 1)])
def test_lfu_frees_what_was_used_once(order: str, a: int, b: int) -> None:
    # Room for 4. a is used twice, then b once; c takes the tail of the older, or of the rarer.
    cache = cache_of(order, 4)
    for name in ("a", "a", "b"):
        call(cache, (name, 2))
    call(cache, ("c", 1))
    assert (kept(cache, ("a", 2)), kept(cache, ("b", 2)), kept(cache, ("c", 1))) == (a, b, 1)


@pytest.mark.parametrize("order", ["lfu", "length-aware"])
def test_a_count_is_forgotten_when_the_block_is_freed(order: str) -> None:
    # Room for 2. a is used twice, b three times. c puts a out, and a puts c out: a starts at 1,
    # and goes for d. Were its 2 remembered it would have 3 as b has, and b, the older, would go.
    cache = cache_of(order, 2)
    for name in ("a", "a", "b", "b", "b", "c", "a", "d"):
        call(cache, (name, 1))
    assert [kept(cache, (name, 1)) for name in "abcd"] == [0, 1, 0, 1]


@pytest.mark.parametrize("order", ["lfu", "length-aware"])
def test_uses_of_a_tail_that_is_freed_stay_with_what_is_before_it(order: str) -> None:
    # Room for 4: s of 2 blocks and a behind it, then s and b: s has 2 uses. c, d and e put out a,
    # b and c, each of one use. s keeps its 2.
    cache = cache_of(order, 4)
    call(cache, ("s", 2), ("a", 1))
    call(cache, ("s", 2), ("b", 1))
    for name in "cde":
        call(cache, (name, 1))
    assert kept(cache, ("s", 2)) == 2
    assert [kept(cache, (name, 1)) for name in "cde"] == [0, 1, 1]
    # Of 3 uses, two of f's blocks are ahead of s, of which now both go; d and e went before.
    for _ in range(3):
        call(cache, ("f", 3))
    assert (kept(cache, ("s", 2)), kept(cache, ("f", 3))) == (1, 3)
    call(cache, ("g", 1))
    assert (kept(cache, ("s", 2)), kept(cache, ("f", 3)), kept(cache, ("g", 1))) == (0, 3, 1)


@pytest.mark.parametrize(
    ("order", "x", "y"), [("lru", 0, 4), ("lfu", 0, 4), ("length-aware", 2, 2)]
)
def test_length_aware_frees_what_lies_later(order: str, x: int, y: int) -> None:
    # Room for 6: x of 2, then y of 4. z of 2 takes x, the older, or the last two of y.
    cache = cache_of(order, 6)
    call(cache, ("x", 2))
    call(cache, ("y", 4))
    call(cache, ("z", 2))
    assert (kept(cache, ("x", 2)), kept(cache, ("y", 4)), kept(cache, ("z", 2))) == (x, y, 2)


def test_length_aware_frees_what_lies_as_late_by_the_last_use() -> None:
    # x, y and z have 2 blocks each; two more take the second of x and of y, the older two.
    cache = cache_of("length-aware", 6)
    for name in "xyz":
        call(cache, (name, 2))
    call(cache, ("v", 1))
    call(cache, ("w", 1))
    assert [kept(cache, (name, 2)) for name in "xyz"] == [1, 1, 2]


def test_length_aware_looks_at_counts_first() -> None:
    # The 4 blocks of y were used twice, the first of x once.
    cache = cache_of("length-aware", 5)
    for name, blocks in (("y", 4), ("y", 4), ("x", 1), ("z", 1)):
        call(cache, (name, blocks))
    assert (kept(cache, ("y", 4)), kept(cache, ("x", 1)), kept(cache, ("z", 1))) == (4, 0, 1)


@pytest.mark.parametrize("order", ["lfu", "length-aware"])
def test_what_runs_is_not_freed_and_counts_when_it_ends(order: str) -> None:
    # Room for 3. a has 1 use and runs again; b was used twice. c may take b alone.
    cache = cache_of(order, 3)
    call(cache, ("a", 1))
    call(cache, ("b", 2))
    call(cache, ("b", 2))
    again = cache.begin(prompt_of(cache, ("a", 1)), 0.0)
    call(cache, ("c", 1))
    assert (kept(cache, ("a", 1)), kept(cache, ("b", 2)), kept(cache, ("c", 1))) == (1, 1, 1)
    # Now a has 2, as the rest of b has, and was used later; c, of 1, goes for d, then d for e.
    cache.finish(again)
    call(cache, ("d", 1))
    call(cache, ("e", 1))
    assert [kept(cache, (name, 1)) for name in "acde"] == [1, 0, 0, 1]
    assert kept(cache, ("b", 2)) == 1


def test_orders_say_nothing_where_all_fits() -> None:
    for order in EVICTIONS:
        cache = cache_of(order, 10)
        for name in "abcab":
            call(cache, (name, 3))
        assert [kept(cache, (name, 3)) for name in "abc"] == [3, 3, 3]


@pytest.mark.parametrize("order", EVICTIONS)
def test_a_segment_without_a_block_keeps_none_before_it(order: str) -> None:
    # Room for 2. Two requests run on from p and x, which has no tokens: d puts c out, and for e
    # there is no room. When d has gone for q, and both are through, p is free as anything is.
    cache = cache_of(order, 2)
    call(cache, ("p", 1), ("x", 0), ("c", 1))
    one = cache.begin(prompt_of(cache, ("p", 1), ("x", 0), ("d", 1)), 0.0)
    two = cache.begin(prompt_of(cache, ("p", 1), ("x", 0), ("e", 1)), 0.0)
    cache.finish(one)
    call(cache, ("q", 1))
    cache.finish(two)
    call(cache, ("z", 2))
    assert [kept(cache, (name, 2)) for name in "pqz"] == [0, 0, 2]
