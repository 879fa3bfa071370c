"""Policies made of the project's parts against libCacheSim: the same misses on the same traces."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

import pytest

from policies.registry import make
from tests.support.accesses import Furthest, misses

peer = pytest.importorskip(
    "libcachesim",
    reason="libcachesim cannot be imported: see the dependency group peers",
    exc_type=ImportError,
)

RULES = {
    "LRU": lambda: make("naive-rehydrate"),
    "FIFO": lambda: make("sliding-window"),
    "Belady": Furthest,
}
"""Least salient first is least recently used first; first position first is first in, first out."""


def theirs(rule: str, trace: Sequence[int], room: int, folder: Path) -> int:
    """Return the misses of libCacheSim, which reads when an object comes next from its file."""
    path = folder / f"{rule}.oracleGeneral.bin"
    path.write_bytes(b"".join(_records(trace)))
    kind = peer.TraceType.ORACLE_GENERAL_TRACE
    reader = peer.TraceReader(str(path), kind, peer.ReaderInitParam())
    assert reader.get_num_of_req() == len(trace)
    ratio, _ = getattr(peer, rule)(cache_size=room, hashpower=12).process_trace(reader)
    count = ratio * len(trace)
    assert count == pytest.approx(round(count), abs=1e-3)
    return round(count)


def _records(trace: Sequence[int]) -> Iterator[bytes]:
    """Yield time, object, size and the number of the next access, -1 for none, of each access."""
    following: list[int] = []
    upcoming: dict[int, int] = {}
    for number in range(len(trace) - 1, -1, -1):
        following.append(upcoming.get(trace[number], -1))
        upcoming[trace[number]] = number
    for number, (thing, after) in enumerate(zip(trace, reversed(following), strict=True)):
        yield struct.pack("<IQIq", number, thing, 1, after)


# -- traces --------------------------------------------------------------------------------


def uniform(draw: random.Random, length: int, objects: int) -> list[int]:
    return [draw.randrange(objects) for _ in range(length)]


def skewed(draw: random.Random, length: int, objects: int) -> list[int]:
    weights = [1 / (n + 1) for n in range(objects)]
    return draw.choices(range(objects), weights, k=length)


def looping(draw: random.Random, length: int, objects: int) -> list[int]:
    return [n % objects if draw.random() < 0.9 else draw.randrange(objects) for n in range(length)]


def shifting(draw: random.Random, length: int, objects: int) -> list[int]:
    """A working set that moves on: what it leaves behind rarely comes again."""
    reach = max(1, objects // 4)
    starts = (n * objects // length for n in range(length))
    return [min(objects - 1, start + draw.randrange(reach)) for start in starts]


SHAPES = (uniform, skewed, looping, shifting)


def traces(seed: int) -> list[list[int]]:
    draw = random.Random(seed)
    return [shape(draw, draw.randint(1, 160), draw.randint(1, 24)) for shape in SHAPES]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("seed", range(10))
def test_both_miss_alike(rule: str, seed: int, tmp_path: Path) -> None:
    for trace in traces(seed):
        for room in (1, 2, 3, 5, 8, 13, 30):
            ours = misses(trace, room, RULES[rule]())
            assert ours == theirs(rule, trace, room, tmp_path), (room, trace)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("shape", SHAPES)
def test_both_miss_alike_on_long_traces(rule: str, shape, tmp_path: Path) -> None:
    trace = shape(random.Random(7), 3_000, 200)
    for room in (10, 60):
        assert misses(trace, room, RULES[rule]()) == theirs(rule, trace, room, tmp_path)


def test_the_traces_tell_the_rules_apart(tmp_path: Path) -> None:
    told = {
        rule: [theirs(rule, trace, 5, tmp_path) for trace in chain(*map(traces, range(5)))]
        for rule in RULES
    }
    for one, other in (("LRU", "FIFO"), ("Belady", "LRU"), ("Belady", "FIFO")):
        assert told[one] != told[other]
    assert all(best <= lru for best, lru in zip(told["Belady"], told["LRU"], strict=True))


@pytest.mark.parametrize(
    ("rule", "expected"),
    # Two places. LRU: 1 2 miss, 1 hit, 3 for 2, 1 hit, 2 for 3. FIFO: 3 for 1, 1 for 2, 2 for 3.
    # Belady: 3 comes in for 2, then 2 for 3, which never comes again.
    [("LRU", 4), ("FIFO", 5), ("Belady", 4)],
)
def test_a_trace_by_hand(rule: str, expected: int, tmp_path: Path) -> None:
    trace = [1, 2, 1, 3, 1, 2]
    assert misses(trace, 2, RULES[rule]()) == expected
    assert theirs(rule, trace, 2, tmp_path) == expected


def test_what_never_comes_again_takes_its_place_all_the_same(tmp_path: Path) -> None:
    # One place: 2 puts 1 out, though it never comes again; with bypass, 1 would be hit.
    assert misses([1, 2, 1], 1, Furthest()) == theirs("Belady", [1, 2, 1], 1, tmp_path) == 3
