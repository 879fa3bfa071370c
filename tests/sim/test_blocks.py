"""The rule `blocks` with requests that take time, against a pool of single blocks, and by hand."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.prefix_cache import Prompt, Usage, make_cache
from sim.prefix_cache.blocks import BlockCache, Ticket
from sim.prices import CacheRules

Segment = tuple[str, int, int, str]
Block = tuple[Any, ...]


def cache_of(capacity: int | None = None, step: int = 16) -> BlockCache:
    cache = make_cache(CacheRules("blocks", step=step, capacity=capacity))
    assert isinstance(cache, BlockCache)
    return cache


def prompt_of(cache: BlockCache, *segments: tuple[str, int]) -> Prompt:
    prompt = cache.prompt()
    for key, tokens in segments:
        prompt.append(key, 0, tokens, "user")
    return prompt


# A second implementation: every block is known by all its tokens, and stands in one list if free.


class NaiveTicket:
    def __init__(self, chain: list[Block], private: int) -> None:
        self.chain = chain
        self.private = private


class NaivePool:
    def __init__(self, rules: CacheRules) -> None:
        self.step = rules.step
        self.capacity = rules.capacity or 10**9
        self.free: list[Block] = []
        self.held: dict[Block, int] = {}
        self.private = 0

    def chain(self, request: list[Segment]) -> list[Block]:
        tokens = [(request[: i + 1], n) for i, s in enumerate(request) for n in range(s[2])]
        ends = range(self.step, len(tokens) + 1, self.step)
        return [(end, *map(tuple, tokens[end - 1][0])) for end in ends]

    def present(self, chain: list[Block]) -> int:
        count = 0
        while count < len(chain) and (chain[count] in self.held or chain[count] in self.free):
            count += 1
        return count

    def lookup(self, request: list[Segment]) -> int:
        tokens = sum(segment[2] for segment in request)
        most = max(0, tokens - 1) // self.step
        return min(self.present(self.chain(request)), most) * self.step

    def hold(self, block: Block) -> None:
        if block in self.free:
            self.free.remove(block)
        self.held[block] = self.held.get(block, 0) + 1

    def begin(self, request: list[Segment]) -> tuple[Usage, NaiveTicket]:
        read, chain = self.lookup(request), self.chain(request)
        present = self.present(chain)
        for block in chain[:present]:
            self.hold(block)
        private = 0
        while present + private < len(chain):
            if len(self.free) + len(self.held) + self.private == self.capacity:
                if not self.free:
                    break
                self.free.pop(0)
            self.private += 1
            private += 1
        tokens = sum(segment[2] for segment in request)
        usage = Usage(tokens, read, 0, tokens - read)
        return usage, NaiveTicket(chain[: present + private], private)

    def computed(self, ticket: NaiveTicket) -> None:
        first = len(ticket.chain) - ticket.private
        for block in ticket.chain[first:]:
            self.private -= 1
            self.hold(block)
        ticket.private = 0

    def finish(self, ticket: NaiveTicket) -> None:
        self.computed(ticket)
        for block in reversed(ticket.chain):
            self.held[block] -= 1
            if not self.held[block]:
                del self.held[block]
                self.free.append(block)


SEGMENTS = st.tuples(
    st.sampled_from("ab"), st.just(0), st.sampled_from([0, 1, 3, 8]), st.just("user")
)
RULES = st.builds(
    CacheRules, st.just("blocks"), step=st.integers(1, 5), capacity=st.integers(1, 30)
)
REQUESTS = st.lists(SEGMENTS, max_size=6)


@settings(max_examples=500, deadline=None)
@given(RULES, st.data())
def test_agrees_with_a_pool_of_single_blocks(rules: CacheRules, data: st.DataObject) -> None:
    cache, naive = make_cache(rules), NaivePool(rules)
    assert isinstance(cache, BlockCache)
    sent: list[list[Segment]] = [[]]
    running: list[tuple[Ticket, NaiveTicket]] = []
    computing: list[tuple[Ticket, NaiveTicket]] = []

    made: list[Prompt] = []

    def prompt(request: list[Segment]) -> Prompt:
        made.append(cache.prompt())
        for segment in request:
            made[-1].append(*segment)
        return made[-1]

    for now in range(data.draw(st.integers(1, 30))):
        what = data.draw(st.sampled_from(["begin", "begin", "call", "computed", "finish"]))
        if what in ("begin", "call"):
            old = data.draw(st.sampled_from(sent))
            request = old[: data.draw(st.integers(0, len(old)))] + data.draw(REQUESTS)
            sent.append(request)
            usage, theirs = naive.begin(request)
            if what == "call":
                naive.finish(theirs)
                assert cache.call(prompt(request), float(now)) == usage
            else:
                mine = cache.begin(prompt(request), float(now))
                assert mine.usage == usage
                running.append((mine, theirs))
                computing.append((mine, theirs))
        elif what == "computed" and computing:
            pair = computing.pop(data.draw(st.integers(0, len(computing) - 1)))
            cache.computed(pair[0])
            naive.computed(pair[1])
        elif what == "finish" and running:
            pair = running.pop(data.draw(st.integers(0, len(running) - 1)))
            if pair in computing:
                computing.remove(pair)
            cache.finish(pair[0])
            naive.finish(pair[1])
        for request in sent:
            assert cache.lookup(prompt(request), float(now)) == naive.lookup(request)
        room = len(naive.free) + len(naive.held) + naive.private
        assert cache._blocks == room <= naive.capacity
    for mine, theirs in running:
        cache.finish(mine)
        naive.finish(theirs)
    for request in sent:
        assert cache.lookup(prompt(request), 99.0) == naive.lookup(request)
    del running, computing
    # A request as large as the pool pushes all out, and with it every node that was kept.
    cache.call(prompt([("last", 0, rules.step * (rules.capacity or 0), "user")]), 99.0)
    for each in made:
        each.close()
    assert len(cache.tree) == 1


@settings(max_examples=200, deadline=None)
@given(RULES, REQUESTS)
def test_a_request_sent_again_reads_what_is_kept(rules: CacheRules, request: list[Segment]) -> None:
    cache = make_cache(rules)
    prompt = cache.prompt()
    for segment in request:
        prompt.append(*segment)
    expected = cache.kept(prompt)
    cache.call(prompt, 0.0)
    assert cache.lookup(prompt, 0.0) == expected


# Cases by hand. Blocks of 16 tokens.


def test_blocks_can_be_read_only_once_they_are_computed() -> None:
    cache = cache_of()
    one = cache.begin(prompt_of(cache, ("s", 40)), 0.0)
    two = prompt_of(cache, ("s", 40))
    assert cache.lookup(two, 0.0) == 0
    cache.computed(one)
    assert cache.lookup(two, 0.0) == 32
    cache.finish(one)
    assert cache.lookup(two, 0.0) == 32


def test_a_running_request_keeps_its_blocks() -> None:
    # Room for 4 blocks: 3 run, so that of 3 others only 1 is kept, and nothing else is evicted.
    cache = cache_of(4)
    running = prompt_of(cache, ("a", 48))
    ticket = cache.begin(running, 0.0)
    other = prompt_of(cache, ("b", 48))
    assert cache.call(other, 1.0) == Usage(48, 0, 0, 48)
    assert cache.lookup(other, 1.0) == 16
    cache.computed(ticket)
    assert cache.lookup(running, 1.0) == 32
    # Once it has ended, the block of the other is the first to go, then its own tail.
    cache.finish(ticket)
    cache.call(prompt_of(cache, ("c", 32)), 2.0)
    assert cache.lookup(other, 2.0) == 0
    # 48 tokens are 3 blocks, of which 2 are left; both can be read.
    assert cache.lookup(running, 2.0) == 32
    cache.call(prompt_of(cache, ("d", 16)), 3.0)
    assert cache.lookup(running, 3.0) == 16


def test_two_running_requests_share_blocks() -> None:
    # Room for 4: both hold the 2 blocks of the prefix, and each 1 of its own.
    cache = cache_of(4)
    cache.call(prompt_of(cache, ("s", 32)), 0.0)
    one = cache.begin(prompt_of(cache, ("s", 32), ("a", 17)), 1.0)
    two = cache.begin(prompt_of(cache, ("s", 32), ("b", 17)), 1.0)
    assert (one.usage.read, two.usage.read) == (32, 32)
    cache.finish(one)
    # The second still holds the prefix, so a request of 2 blocks gets the one that the first left.
    large = prompt_of(cache, ("c", 33))
    cache.call(large, 2.0)
    assert cache.lookup(large, 2.0) == 16
    assert cache.lookup(prompt_of(cache, ("s", 32), ("x", 1)), 2.0) == 32
    cache.finish(two)
    assert cache.lookup(prompt_of(cache, ("s", 32), ("b", 17)), 2.0) == 48


def test_what_two_requests_compute_at_once_is_one_block_afterwards() -> None:
    # Room for 5: the same 2 blocks twice leave 1, then 3, for the third.
    cache = cache_of(5)
    first, second = prompt_of(cache, ("s", 33)), prompt_of(cache, ("s", 33))
    one, two = cache.begin(first, 0.0), cache.begin(second, 0.0)
    assert (one.usage.read, two.usage.read) == (0, 0)
    crowded = prompt_of(cache, ("c", 49))
    cache.call(crowded, 0.0)
    assert cache.lookup(crowded, 0.0) == 16
    cache.computed(one)
    cache.computed(two)
    cache.call(crowded, 1.0)
    assert cache.lookup(crowded, 1.0) == 48
    cache.finish(one)
    assert cache.lookup(first, 1.0) == 32


def test_what_finds_no_room_is_computed_without_being_kept() -> None:
    cache = cache_of(2)
    one = cache.begin(prompt_of(cache, ("a", 32)), 0.0)
    lost = prompt_of(cache, ("b", 64))
    two = cache.begin(lost, 0.0)
    assert two.usage == Usage(64, 0, 0, 64)
    cache.computed(two)
    cache.finish(two)
    cache.finish(one)
    assert cache.lookup(lost, 0.0) == 0
    assert cache.lookup(prompt_of(cache, ("a", 32), ("x", 1)), 0.0) == 32


def test_the_last_to_finish_is_the_last_to_go() -> None:
    cache = cache_of(4)
    early, late = prompt_of(cache, ("a", 32)), prompt_of(cache, ("b", 32))
    one, two = cache.begin(early, 0.0), cache.begin(late, 1.0)
    cache.finish(two)
    cache.finish(one)
    cache.call(prompt_of(cache, ("c", 32)), 2.0)
    assert cache.lookup(prompt_of(cache, ("a", 32), ("x", 1)), 2.0) == 32
    assert cache.lookup(prompt_of(cache, ("b", 32), ("x", 1)), 2.0) == 0


def test_a_prompt_may_change_while_its_request_runs() -> None:
    cache = cache_of()
    prompt = prompt_of(cache, ("a", 20), ("b", 20))
    ticket = cache.begin(prompt, 0.0)
    prompt.truncate(0)
    cache.computed(ticket)
    cache.finish(ticket)
    assert cache.lookup(prompt_of(cache, ("a", 20), ("b", 20)), 0.0) == 32


def test_what_is_kept_by_hand() -> None:
    for tokens, kept in ((0, 0), (16, 0), (17, 16), (48, 32), (49, 48), (200, 64)):
        cache = cache_of(4)
        assert cache.kept(prompt_of(cache, ("a", tokens))) == kept
    with pytest.raises(ValueError, match="another cache"):
        cache.kept(prompt_of(cache_of(), ("a", 1)))


def test_what_cannot_be() -> None:
    cache, other = cache_of(), cache_of()
    prompt = prompt_of(cache, ("a", 32))
    with pytest.raises(ValueError, match="longer life"):
        cache.begin(prompt, 0.0, None, 1)
    with pytest.raises(ValueError, match="another cache"):
        other.begin(prompt, 0.0)
    ticket = cache.begin(prompt, 5.0)
    with pytest.raises(ValueError, match="cannot follow"):
        cache.begin(prompt, 4.0)
    with pytest.raises(ValueError, match="another cache"):
        other.finish(ticket)
    cache.computed(ticket)
    with pytest.raises(ValueError, match="can be read already"):
        cache.computed(ticket)
    cache.finish(ticket)
    for late in (cache.computed, cache.finish):
        with pytest.raises(ValueError, match="is finished"):
            late(ticket)
