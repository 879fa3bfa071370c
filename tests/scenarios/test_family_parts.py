"""The parts that the families share: draws by row, sizes, and the book of what has been seen."""

from __future__ import annotations

import math
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios import catalogue
from scenarios.families.builder import Builder, kept_share
from scenarios.families.draws import Rows
from scenarios.families.past import Item, Past
from scenarios.families.sizes import Lognormal, count, geometric, pareto_lag, spread
from sim.script import Structure

STEPS = [(n + 0.5) / 2000 for n in range(2000)]


@given(st.lists(st.integers(1, 500), min_size=1, max_size=20), st.integers(0, 9))
def test_a_row_is_the_same_in_whatever_order_rows_are_asked_for(
    numbers: list[int], seed: int
) -> None:
    rows = Rows(seed, "any", "stream", 3)
    for number in numbers:
        assert list(rows[number]) == list(Rows(seed, "any", "stream", 3)[number])


def test_rows_differ_by_seed_scenario_stream_and_number() -> None:
    drawn = [
        tuple(Rows(seed, scenario, stream, 2)[number])
        for seed in (0, 1)
        for scenario in ("a", "b")
        for stream in ("x", "y")
        for number in (1, 2, 64, 65, 129)
    ]
    assert len(set(drawn)) == len(drawn)
    assert all(0.0 <= value < 1.0 for row in drawn for value in row)


def test_a_lognormal_has_its_median_and_p90_and_stops_at_its_cap() -> None:
    sizes = Lognormal.of({"x.median": 640, "x.p90": 4169, "x.cap": 22143}, "x")
    assert sizes.tokens(0.5) == 640
    assert sizes.tokens(0.9) == 4169
    assert sizes.tokens(1 - 2**-53) == 22143
    assert sizes.tokens(0.0) == 1
    # 640 e^(2.3263 · 1.4623): the cap takes a little more than the last hundredth
    assert sizes.at(0.99) == pytest.approx(
        640 * math.exp(2.326348 * math.log(4169 / 640) / 1.281552)
    )


def test_a_lognormal_without_spread_is_its_median() -> None:
    for p90 in (10, 3):
        sizes = Lognormal.of({"x.median": 10, "x.p90": p90, "x.cap": 50}, "x")
        assert {sizes.tokens(draw) for draw in STEPS} == {10}
    assert Lognormal.of({"x.median": 10, "x.p90": 20, "x.cap": 4}, "x").tokens(0.5) == 4
    assert Lognormal.of({"x.median": 2.5, "x.p90": 28, "x.cap": 99}, "x").seconds(0.5) == 2.5


@pytest.mark.parametrize("rate", [0.0, 0.3, 1.0, 2.7, 4.0])
def test_a_count_has_its_rate_for_mean(rate: float) -> None:
    counts = [count(rate, draw) for draw in STEPS]
    assert mean(counts) == pytest.approx(rate, abs=1e-3)
    assert set(counts) <= {math.floor(rate), math.floor(rate) + 1}


@pytest.mark.parametrize("expected", [1.0, 1.37, 8.0, 15.0])
def test_a_geometric_count_starts_at_one(expected: float) -> None:
    counts = [geometric(expected, draw) for draw in STEPS]
    assert min(counts) == 1
    assert mean(counts) == pytest.approx(expected, rel=0.02)
    if expected > 1:
        assert counts.count(1) / 2000 == pytest.approx(1 / expected, abs=1e-3)
    assert geometric(expected, 1 - 2**-53) < 1000


@given(st.integers(1, 50), st.floats(0.05, 5), st.integers(2, 60))
def test_the_tail_of_a_lag_is_a_power(minimum: int, alpha: float, times: int) -> None:
    lags = [pareto_lag(minimum, alpha, draw) for draw in STEPS]
    assert min(lags) >= minimum
    beyond = sum(lag >= minimum * times for lag in lags) / 2000
    assert beyond == pytest.approx(times**-alpha, abs=2e-3)


def test_a_lag_without_end_is_still_a_number() -> None:
    assert pareto_lag(1, 0.01, 1 - 2**-53) > 10**12


def test_a_place_between_two_bounds() -> None:
    assert spread(0.4, 1.0, 0.0) == 0.4
    assert spread(0.4, 1.0, 0.5) == 0.7
    assert spread(1.0, 0.4, 0.25) == 0.85


def test_a_reduction_keeps_a_share_of_the_facts() -> None:
    # 168 files find room in 24,000 beside the notice: all of 118, half of 336
    assert kept_share(24_000, Structure(431, 118, 142, 44)) == 1.0
    assert kept_share(24_000, Structure(1227, 336, 142, 44)) == 0.5
    assert kept_share(30, Structure(1, 1, 100, 44)) == 0.0


def item(number: int, topic: int) -> Item:
    return Item(f"i{number}", f"s{number}", (f"s{number}:f1",), topic)


BOOKS = st.lists(st.lists(st.integers(0, 2), max_size=4), min_size=1, max_size=12)


@given(BOOKS, st.integers(-3, 12), st.floats(0, 0.999), st.integers(0, 5))
def test_the_book_against_a_plain_one(
    topics: list[list[int]], turn: int, draw: float, most: int
) -> None:
    past = Past()
    plain: list[tuple[int, Item]] = []
    for number, turn_topics in enumerate(topics, 1):
        for topic in turn_topics:
            plain.append((number, item(len(plain), topic)))
            past.add(plain[-1][1])
        if number < len(topics):
            past.close()
    last = len(topics)
    fresh = [i for t, i in plain if t == last] or [i for t, i in plain if t == last - 1]
    assert past.recent(draw) in (fresh or [None])

    turn = min(turn, last)
    index = past.at(turn, draw)
    before = [i for t, i in plain if t <= turn] if turn >= 1 else []
    of_turn = [i for t, i in plain if t == turn]
    if index is None:
        assert not before
        return
    assert past.items[index] in (of_turn or before[-1:])
    mates = past.mates(index, most)
    near = neighbours([i for _, i in plain], index)
    assert mates == near[:most]


def neighbours(items: list[Item], index: int) -> list[Item]:
    """Return the run of one topic around *index*, nearest first, the later of two equally near."""
    start = end = index
    while start > 0 and items[start - 1].topic == items[index].topic:
        start -= 1
    while end + 1 < len(items) and items[end + 1].topic == items[index].topic:
        end += 1
    others = [i for i in range(start, end + 1) if i != index]
    return [items[i] for i in sorted(others, key=lambda i: (abs(i - index), -i))]


def test_the_newest_item_of_a_subject_counts() -> None:
    past = Past()
    first = Item("t1.read1", "a.py", ("a.py:f1",), 1)
    second = Item("t9.read1", "a.py", ("a.py:f1",), 1)
    past.add(first)
    past.close()
    past.add(second)
    assert past.latest(first) is second
    assert past.recent(0.0) is second
    assert past.at(1, 0.9) == 0


def test_what_stands_between_head_and_tail_is_lost() -> None:
    """A result of 1,000 over a limit of 400: the first 200 tokens and the last 200 stay."""
    settings = {**catalogue.load("coding-agent").settings, "facts.count": 400}
    builder = Builder("coding-agent", settings, 0)
    assert builder.stated("r", 400, 400) == builder.facts("r")
    facts = builder.stated("r", 1_000, 400)
    assert [f.key for f in facts] == [f.key for f in builder.facts("r")]
    places = [f.at for f in facts if f.at is not None]
    assert len(places) == 400
    assert min(places) >= 0
    assert max(places) < 1_000
    for fact in facts:
        assert fact.at is not None
        assert fact.reducible == (fact.at < 200 or fact.at >= 800)
    assert sum(f.reducible for f in facts) / 400 == pytest.approx(0.4, abs=0.08)


def test_by_structure_the_groups_that_find_no_room_are_lost() -> None:
    settings = {**catalogue.load("coding-agent").settings, "facts.count": 400}
    half = Structure(1227, 336, 142, 44)
    facts = Builder("coding-agent", settings, 0).stated("r", 174_240, 24_000, half)
    assert sum(f.reducible for f in facts) / 400 == pytest.approx(0.5, abs=0.08)
