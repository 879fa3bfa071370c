"""A server that agents share: hand-worked timelines, and sequential calls as the oracle."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import replace
from typing import Any

import pytest
import simpy
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.prefix_cache import Prompt, Usage, make_cache
from sim.prices import CacheRules, Price
from sim.server import Client, Served, Server, queue_lengths
from tests.sim.build import SPEED

BLOCKS = CacheRules("blocks", step=16)
PRICE = Price("server", 0.0, 0.0, 0.0, 0.0, BLOCKS, SPEED, slots=1)
"""Prefill 1,000 tokens a second, 10,000 read, 0.5 s for each request, 50 a second written."""

Segments = Iterable[tuple[str, int]]


def prompt_of(server: Server, *segments: tuple[str, int]) -> Prompt:
    prompt = server.cache.prompt()
    for key, tokens in segments:
        prompt.append(key, 0, tokens, "user")
    return prompt


def server_of(rules: CacheRules = BLOCKS, slots: int | None = 1) -> Server:
    return Server(simpy.Environment(0.0), replace(PRICE, rules=rules, slots=slots))


def request(
    client: Client, *segments: tuple[str, int], at: float = 0.0, output: int = 10
) -> Generator[simpy.Event, Any, None]:
    """One request of an agent: waits until *at*, then is served."""
    env = client.env
    prompt = client.cache.prompt()
    for key, tokens in segments:
        prompt.append(key, 0, tokens, "user")
    yield env.timeout(at)
    yield from client.serve(lambda: client.call(prompt, env.now), output)


def serve(server: Server, *requests: Generator[simpy.Event, Any, None]) -> list[Served]:
    for each in requests:
        server.env.process(each)
    server.env.run()
    return server.served


def times(served: Served) -> tuple[float, ...]:
    return tuple(
        pytest.approx(t) for t in (served.arrived, served.started, served.computed, served.finished)
    )


# By hand. 160 tokens cold: 0.16 + 0.5 s. 32 of 128 cold: 0.032 + 0.0096 + 0.5 s. Decode 0.2 s.


def two(server: Server) -> list[Served]:
    return serve(
        server,
        request(server.client(0), ("shared", 96), ("a", 64)),
        request(server.client(1), ("shared", 96), ("b", 32)),
    )


def test_one_slot_and_a_shared_prefix() -> None:
    server = server_of()
    first, second = two(server)
    assert times(first) == (0.0, 0.0, 0.66, 0.86)
    assert times(second) == (0.0, 0.66, 0.66 + 0.5416, 0.66 + 0.5416 + 0.2)
    assert (first.agent, first.tokens, first.read) == (0, 160, 0)
    assert (second.agent, second.tokens, second.read) == (1, 128, 96)
    assert second.waited == pytest.approx(0.66)


def test_its_figures() -> None:
    server = server_of()
    two(server)
    assert server.figures() == pytest.approx(
        {
            "agents": 2,
            "requests": 2,
            "seconds": 1.4016,
            "slots": 1,
            "utilisation": (0.66 + 0.5416) / 1.4016,
            "mean_queue": 0.66 / 1.4016,
            "longest_queue": 1,
            "mean_wait": 0.33,
            "p50_wait": 0.0,
            "p95_wait": 0.66,
            "longest_wait": 0.66,
            "hit_rate": 96 / 288,
        }
    )
    assert queue_lengths(server.served) == [(0.0, 1), (pytest.approx(0.66), 0)]


def test_nobody_served() -> None:
    figures = server_of().figures()
    assert {name for name, value in figures.items() if value is None} == {
        "utilisation", "mean_queue", "mean_wait", "p50_wait", "p95_wait", "longest_wait",
        "hit_rate",
    }  # fmt: skip
    assert (figures["requests"], figures["longest_queue"]) == (0, 0)


@pytest.mark.parametrize("slots", [2, None])
def test_side_by_side_nobody_reads_what_is_being_computed(slots: int | None) -> None:
    server = server_of(slots=slots)
    second, first = two(server)
    assert times(first) == (0.0, 0.0, 0.66, 0.86)
    assert times(second) == (0.0, 0.0, 0.628, 0.828)
    assert (first.read, second.read) == (0, 0)
    assert server.figures()["mean_wait"] == 0.0


def test_what_a_provider_stores_can_be_read_from_the_start_on() -> None:
    server = server_of(CacheRules("auto", ttl=300.0), None)
    served = serve(
        server,
        request(server.client(0), ("shared", 1_000)),
        request(server.client(1), ("shared", 1_000), ("b", 24), at=0.1),
    )
    assert [(s.agent, s.read) for s in served] == [(1, 1_000), (0, 0)]


def test_a_slot_is_free_when_the_prefill_ends() -> None:
    """The first writes for 10 s; the second starts after its prefill of 0.6 s all the same."""
    server = server_of()
    served = serve(
        server,
        request(server.client(0), ("a", 100), output=500),
        request(server.client(1), ("b", 100)),
    )
    assert [s.agent for s in served] == [1, 0]
    assert times(served[0]) == (0.0, 0.6, 1.2, 1.4)
    assert times(served[1]) == (0.0, 0.0, 0.6, 10.6)


def test_first_come_first_served_and_of_one_time_in_the_order_sent() -> None:
    server = server_of()
    served = serve(
        server,
        request(server.client(0), ("a", 100)),
        request(server.client(1), ("b", 100), at=0.3),
        request(server.client(2), ("c", 100), at=0.2),
        request(server.client(3), ("d", 100), at=0.2),
        request(server.client(4), ("e", 100), at=0.2),
    )
    assert [s.agent for s in served] == [0, 2, 3, 4, 1]
    assert [s.started for s in served] == pytest.approx([0.0, 0.6, 1.2, 1.8, 2.4])
    lengths = [(0.2, 3), (0.3, 4), (0.6, 3), (1.2, 2), (1.8, 1), (2.4, 0)]
    assert [(pytest.approx(time), n) for time, n in queue_lengths(served)] == lengths


def test_a_request_holds_its_blocks_until_it_has_written() -> None:
    """Room for 8 blocks: the 6 of the one that writes stay, and another's 6 are kept but for 4."""
    server = server_of(replace(BLOCKS, capacity=8))
    writing = prompt_of(server, ("a", 96))
    other = prompt_of(server, ("b", 96))
    seen: list[tuple[int, int]] = []

    def look() -> Generator[simpy.Event, Any, None]:
        for at in (2.0, 12.0):
            yield server.env.timeout(at - server.env.now)
            cache, now = server.cache, server.env.now
            seen.append((cache.lookup(writing, now), cache.lookup(other, now)))
            cache.call(prompt_of(server, ("c", 128)), now)

    serve(
        server,
        request(server.client(0), ("a", 96), output=500),
        request(server.client(1), ("b", 96)),
        look(),
    )
    # 96 tokens are 6 blocks, of which 5 can be read again.
    assert seen == [(80, 32), (80, 0)]
    assert server.cache.lookup(writing, 99.0) == 0


def test_beside_the_queue_a_call_takes_no_slot_and_ends_at_once() -> None:
    server = server_of(replace(BLOCKS, capacity=2))
    client = server.client(0)
    one, other = prompt_of(server, ("a", 32)), prompt_of(server, ("b", 32))
    assert client.call(one, 0.0) == Usage(32, 0, 0, 32)
    assert client.call(other, 0.0) == Usage(32, 0, 0, 32)
    assert server.cache.lookup(one, 0.0) == 0
    assert server.served == []


def test_what_fails_gives_its_slot_and_its_blocks_back() -> None:
    server = server_of(replace(BLOCKS, capacity=4))
    broken = server.client(0)
    errors: list[str] = []

    def breaks(after: Callable[[], Any]) -> Generator[simpy.Event, Any, None]:
        def send() -> Usage:
            after()
            raise RuntimeError("no")

        try:
            yield from broken.serve(send, 10)
        except RuntimeError as error:
            errors.append(str(error))

    lost = prompt_of(server, ("a", 64))
    served = serve(
        server,
        breaks(lambda: broken.call(lost, 0.0)),
        request(server.client(1), ("b", 65), at=1.0),
    )
    assert (errors, [s.agent for s in served]) == (["no"], [1])
    assert server.cache.lookup(prompt_of(server, ("b", 65)), 9.0) == 64


def test_an_agent_has_one_request_under_way() -> None:
    server = server_of()
    client = server.client(7)
    server.env.process(request(client, ("a", 100)))
    server.env.process(request(client, ("a", 100), at=0.1))
    with pytest.raises(ValueError, match="agent 7 has a request under way"):
        server.env.run()
    other = server.client(8)
    prompt = prompt_of(server, ("a", 10))

    def twice() -> Usage:
        other.call(prompt, server.env.now)
        return other.call(prompt, server.env.now)

    server = server_of()
    other, prompt = server.client(8), prompt_of(server, ("a", 10))
    server.env.process(other.serve(twice, 1))
    with pytest.raises(ValueError, match="agent 8 sends two requests as one"):
        server.env.run()


REQUESTS = st.lists(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from([1, 7, 16, 40])), min_size=1, max_size=4
    ),
    min_size=1,
    max_size=8,
)


@settings(max_examples=150, deadline=None)
@given(REQUESTS, st.integers(1, 12), st.sampled_from([None, 1, 3]))
def test_one_after_the_other_they_are_sequential_calls(
    requests: list[list[tuple[str, int]]], capacity: int, slots: int | None
) -> None:
    rules = replace(BLOCKS, capacity=capacity)
    server, cache = server_of(rules, slots), make_cache(rules)
    expected = []
    for number, segments in enumerate(requests):
        prompt = cache.prompt()
        for key, tokens in segments:
            prompt.append(key, 0, tokens, "user")
        expected.append(cache.call(prompt, float(number)).read)
        server.env.process(request(server.client(number), *segments, at=10.0 * number))
    server.env.run()
    assert [s.read for s in server.served] == expected
    assert all(s.waited == 0 for s in server.served)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from([0.0, 0.2, 0.7, 3.0]), REQUESTS), max_size=6),
    st.integers(1, 12),
    st.integers(1, 3),
)
def test_slots_are_never_exceeded_and_nobody_waits_for_a_free_one(
    agents: list[tuple[float, list[list[tuple[str, int]]]]], capacity: int, slots: int
) -> None:
    def once() -> list[Served]:
        server = server_of(replace(BLOCKS, capacity=capacity), slots)

        def live(
            client: Client, at: float, requests: list[list[tuple[str, int]]]
        ) -> Generator[simpy.Event, Any, None]:
            yield server.env.timeout(at)
            for segments in requests:
                yield from request(client, *segments)

        for number, (at, requests) in enumerate(agents):
            server.env.process(live(server.client(number), at, requests))
        server.env.run()
        return server.served

    served = once()
    for one in served:
        assert one.arrived <= one.started < one.computed <= one.finished
        # At the start of each prefill, those under way; while it waited, all slots were held.
        assert sum(s.started <= one.started < s.computed for s in served) <= slots
        if one.waited > 0:
            assert any(s.computed == one.started for s in served)
    assert once() == served
