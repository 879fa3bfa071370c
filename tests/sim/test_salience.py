"""Salience s(t) = r·d^(t−τ), with powers as repeated products."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.salience import Decay
from tests.sim.build import segment


def test_powers_are_repeated_products() -> None:
    decay, product = Decay(0.85), 1.0
    for turns in range(500):
        assert decay.power(turns) == product
        product *= 0.85


@pytest.mark.parametrize(
    ("score", "turn", "at_12", "at_19"),
    [
        (1.0, 1, 0.167, 0.0536),  # system and task of the rate-limit story
        (0.5, 3, 0.116, 0.0371),  # the user's constraint
        (0.6, 4, 0.163, 0.0524),  # the summary
        (0.91, 12, 0.91, 0.2917),  # the dump
        (0.3, 5, 0.0962, 0.0308),  # the note of its variant
    ],
)
def test_the_figures_of_the_stories(score: float, turn: int, at_12: float, at_19: float) -> None:
    it, decay = segment("x", score=score, scored_at=turn), Decay(0.85)
    assert decay.at(it, turn) == score
    assert decay.at(it, 12) == pytest.approx(at_12, rel=5e-3)
    assert decay.at(it, 19) == pytest.approx(at_19, rel=5e-3)


def test_nine_turns_take_a_span_below_a_quarter() -> None:
    decay = Decay(0.85)
    assert decay.at(segment("x", scored_at=2), 10) > 0.25
    assert decay.at(segment("x", scored_at=2), 11) == pytest.approx(0.232, abs=5e-4)


def test_without_decay_salience_stays() -> None:
    decay = Decay(1.0)
    assert decay.at(segment("x", score=0.3), 10_000) == 0.3
    low, high = segment("x", score=0.3, scored_at=900), segment("y", score=0.4, scored_at=1)
    assert decay.key(low) < decay.key(high)


def test_a_score_of_nothing_is_below_everything() -> None:
    decay = Decay(0.5)
    nothing, least = segment("x", score=0.0, scored_at=99), segment("y", score=5e-324)
    assert decay.key(nothing) == -math.inf < decay.key(least)
    assert decay.at(nothing, 100) == 0.0


_score = st.floats(1e-6, 1.0)


@given(
    st.sampled_from([0.3, 0.85, 0.99]),
    *(st.tuples(_score, st.integers(1, 40)) for _ in range(2)),
    st.integers(40, 80),
)
def test_the_key_keeps_the_order_of_the_products_from_turn_to_turn(
    rate: float, one: tuple[float, int], two: tuple[float, int], turn: int
) -> None:
    decay = Decay(rate)
    a, b = (segment("x", score=r, scored_at=t) for r, t in (one, two))
    if decay.key(a) < decay.key(b) - 1e-9:
        assert decay.at(a, turn) < decay.at(b, turn)


def test_close_keys_are_settled_by_the_product_then_by_age() -> None:
    decay = Decay(0.85)
    young, old = segment("young", seq=2, score=0.85, scored_at=2), segment("old", seq=1)
    assert decay.at(young, 5) == decay.at(old, 5)
    assert decay.settle([young, old], 5) == [old, young]
    above = segment("above", seq=0, score=math.nextafter(1.0, 2.0))
    assert decay.settle([above, young, old], 5) == [old, young, above]


def test_where_products_underflow_the_key_decides() -> None:
    decay = Decay(0.5)
    low = segment("low", seq=1, score=1.0 - 2e-10)
    high = segment("high", seq=0, score=1.0)
    assert decay.at(low, 2_000) == decay.at(high, 2_000) == 0.0
    assert decay.settle([high, low], 2_000) == [low, high]
