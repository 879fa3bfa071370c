"""Orders against plain lists that are sorted anew each time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sim.orders import Order, SalienceOrder
from sim.salience import Decay
from sim.segments import Segment
from tests.sim.build import segment


class Shelf:
    """Segments by salience twice: in the order under test, and in a list."""

    def __init__(self, rate: float) -> None:
        self.decay, self.turn = Decay(rate), 1
        self.order = SalienceOrder(self.decay, lambda: self.turn, lambda s: not s.held)
        self.resident: list[Segment] = []

    def put(self, name: str, seq: int, score: float, turn: int, **fields: Any) -> Segment:
        it = segment(name, seq=seq, score=score, scored_at=turn, **fields)
        self.resident.append(it)
        self.order.update(it, True)
        return it

    def naive(self) -> list[Segment]:
        """Sort by the product as it is now, ties older first."""
        return sorted(
            (s for s in self.resident if not s.held),
            key=lambda s: (s.score * self.decay.power(self.turn - s.scored_at), s.seq),
        )

    def check(self) -> None:
        expected = self.naive()
        assert list(self.order) == expected
        assert list(reversed(self.order)) == expected[::-1]
        assert self.order.first() is (expected[0] if expected else None)
        assert self.order.last() is (expected[-1] if expected else None)
        assert len(self.order) == len(expected)
        assert all((s in self.order) == (s in expected) for s in self.resident)


_RATES = (1.0, 0.85, 0.5, 0.999_999_999_9, 0.1)
_POWERS = tuple(0.85**n for n in range(6))
_score = st.one_of(
    st.sampled_from([1.0, 0.9, 0.5, 0.25, 0.0, 1e-12, *_POWERS]), st.floats(1e-9, 1.0)
)
_step = st.one_of(
    st.tuples(st.just("put"), _score),
    st.tuples(st.just("score"), st.integers(0, 30), _score),
    st.tuples(st.just("leave"), st.integers(0, 30)),
    st.tuples(st.just("hold"), st.integers(0, 30)),
    st.tuples(st.just("turn"), st.integers(1, 20)),
)


@given(st.sampled_from(_RATES), st.lists(_step, max_size=40))
@settings(max_examples=300, deadline=None)
@example(0.85, [("put", 1.0), ("turn", 1), ("put", 0.85), ("turn", 2), ("put", 0.85**3)])
def test_salience_order_is_the_order_of_the_products(rate: float, steps: list[Any]) -> None:
    shelf = Shelf(rate)
    for number, (what, *values) in enumerate(steps):
        if what == "put":
            shelf.put(f"n{number}", number, values[0], shelf.turn)
        elif what == "turn":
            shelf.turn += values[0]
        elif shelf.resident:
            it = shelf.resident[values[0] % len(shelf.resident)]
            if what == "score":
                it.score, it.scored_at = values[1], shelf.turn
            elif what == "hold":
                it.held = not it.held
            else:
                shelf.resident.remove(it)
            shelf.order.update(it, what != "leave")
        shelf.check()


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 3)), min_size=2, max_size=30))
@settings(max_examples=200, deadline=None)
def test_what_is_the_same_but_for_the_last_digit(scored: list[tuple[int, int]]) -> None:
    """Scores that are powers of the decay, a few units in the last place apart."""
    shelf = Shelf(0.85)
    shelf.turn = 30
    for number, (turn, units) in enumerate(scored):
        score = 0.85 ** (20 - turn)
        for _ in range(units):
            score *= 1.0 + 2.0**-52
        shelf.put(f"n{number}", number, score, 21 - turn)
    shelf.check()


@pytest.mark.parametrize("power", range(9))
@pytest.mark.parametrize("units", range(4))
def test_one_key_but_two_products(power: int, units: int) -> None:
    """A score and, a turn later, the score it has decayed to, up to the last digits."""
    shelf = Shelf(0.85)
    shelf.put("second", 2, 0.85 ** (power + 1) * (1 + units * 2.0**-52), 3)
    shelf.put("first", 1, 0.85**power, 2)
    for shelf.turn in (3, 9, 40):
        shelf.check()


def test_a_score_of_nothing_comes_first_older_first() -> None:
    shelf = Shelf(0.85)
    late = shelf.put("late", 1, 0.0, 1)
    shelf.put("small", 3, 1e-300, 1)
    made = shelf.put("made", 2, 0.0, 9)
    assert list(shelf.order)[:2] == [late, made]
    shelf.turn = 20_000
    assert [s.id for s in shelf.order] == ["late", "made", "small"]


def test_underflown_products_stay_in_the_order_of_their_keys() -> None:
    shelf = Shelf(0.5)
    for name, seq, score, turn in (
        ("d", 0, 1.0, 40), ("a", 1, 0.25, 1), ("c", 2, 0.5, 3), ("b", 3, 1.0, 1), ("b2", 4, 0.5, 2),
    ):  # fmt: skip
        shelf.put(name, seq, score, turn)
    shelf.turn = 5_000
    assert shelf.decay.power(4_900) == 0.0
    assert [s.id for s in shelf.order] == ["a", "b", "b2", "c", "d"]


class _Watched(Decay):
    """A decay that counts how often it is asked for a product."""

    asked = 0

    def at(self, segment: Segment, turn: int) -> float:
        self.asked += 1
        return super().at(segment, turn)


@pytest.mark.parametrize("rate", [1.0, 0.85])
def test_the_lowest_of_many_equals_is_found_without_a_look_at_them_all(rate: float) -> None:
    shelf = Shelf(rate)
    shelf.decay = watched = _Watched(rate)
    shelf.order = SalienceOrder(watched, lambda: shelf.turn, lambda s: True)
    for number in range(500):
        shelf.put(f"n{number}", number, 0.5, 1 if rate < 1.0 else number)
    assert shelf.order.first() is shelf.resident[0]
    assert shelf.order.last() is shelf.resident[-1]
    assert watched.asked == 0


def _acting(order: Order, backward: bool, take: Any) -> Iterator[str]:
    for it in reversed(order) if backward else order:
        take(it)
        yield it.id


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("scores", [[0.5] * 6, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]])
def test_a_walk_meets_everyone_though_they_leave_as_it_goes(
    scores: list[float], backward: bool
) -> None:
    shelf = Shelf(0.85)
    for number, score in enumerate(scores):
        shelf.put(f"n{number}", number, score, 1)
    names = [s.id for s in shelf.naive()]
    walked = list(_acting(shelf.order, backward, lambda s: shelf.order.update(s, False)))
    assert walked == (names[::-1] if backward else names)
    assert len(shelf.order) == 0


def test_a_walk_leaves_out_who_left_with_another() -> None:
    shelf = Shelf(0.85)
    scored = [(0.85, 2), (0.85, 2), (1.0, 1), (1.0, 1)]  # one crowd, which the product settles
    put = [shelf.put(f"n{n}", n, score, turn) for n, (score, turn) in enumerate(scored)]
    mates = {put[0]: put[1], put[1]: put[0], put[2]: put[3], put[3]: put[2]}

    def take(it: Segment) -> None:
        for each in (it, mates[it]):
            shelf.order.update(each, False)

    assert len(list(_acting(shelf.order, False, take))) == 2


def test_a_walk_meets_who_comes_behind_it() -> None:
    order = Order(lambda s: s.tokens, lambda s: True)
    first, last = segment("a", 1, seq=1), segment("c", 3, seq=2)
    for it in (first, last):
        order.update(it, True)
    walk = iter(order)
    assert next(walk) is first
    order.update(segment("b", 2, seq=3), True)
    order.update(segment("z", 0, seq=4), True)
    assert [s.id for s in walk] == ["b", "c"]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 5), st.booleans()), max_size=40))
def test_an_order_by_any_key_is_a_sorted_list(steps: list[tuple[int, int, bool]]) -> None:
    order = Order(lambda s: -(s.rank or 0), lambda s: s.tokens > 0)
    known = [segment(f"n{n}", 1, seq=n, rank=0) for n in range(10)]
    resident: list[Segment] = []
    for number, rank, stays in steps:
        it = known[number]
        it.rank, it.tokens = rank, rank % 3
        if it in resident:
            resident.remove(it)
        if stays:
            resident.append(it)
        order.update(it, stays)
        expected = sorted((s for s in resident if s.tokens), key=lambda s: (-(s.rank or 0), s.seq))
        assert list(order) == expected
        assert list(reversed(order)) == expected[::-1]
        assert (order.first(), order.last()) == (
            (expected[0], expected[-1]) if expected else (None, None)
        )
        assert [s in order for s in known] == [s in expected for s in known]
