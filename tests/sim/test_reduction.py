"""Sizes at the door, and after a reduction by structure."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.reduction import least_tokens, raw_tokens, reduced_tokens
from sim.script import Arrival, Structure
from sim.segments import Kind
from tests.sim.build import come, segment


def result(tokens: int, limit: int | None, structure: Structure | None = None) -> Arrival:
    return come(1, "r", tokens, kind=Kind.TOOL_RESULT, max_result_tokens=limit, structure=structure)


def size(arrival: Arrival) -> int | None:
    """Return the size to which *arrival* is reduced at the door."""
    limit, least = arrival.max_result_tokens, least_tokens(arrival)
    at_door = segment("r", arrival.tokens, max_result_tokens=limit, least_tokens=least)
    return reduced_tokens(at_door, arrival.tokens)


@pytest.mark.parametrize(
    ("tokens", "limit", "structure", "reduced"),
    [
        (50, None, None, None),
        (50, 50, None, None),
        (51, 50, None, 50),
        # the type check of the stories: 118 first errors of 142 and a notice of 44
        (61_204, 24_000, Structure(431, 118, 142, 44), 118 * 142 + 44),
        (22_000, 24_000, Structure(431, 118, 142, 44), None),
        # 8,000 hold the notice and 56 first errors: 56 · 142 + 44 = 7,996
        (61_204, 8_000, Structure(431, 118, 142, 44), 7_996),
        # only the notice fits, or a part of it
        (500, 100, Structure(9, 3, 90, 20), 20),
        (500, 15, Structure(9, 3, 90, 20), 15),
        (500, 15, Structure(9, 3, 90, 0), 1),
    ],
)
def test_reduced_sizes(
    tokens: int, limit: int | None, structure: Structure | None, reduced: int | None
) -> None:
    assert size(result(tokens, limit, structure)) == reduced


_small = st.integers(1, 300)


@given(_small, _small, st.none() | st.builds(Structure, _small, _small, _small, st.integers(0, 99)))
def test_a_reduction_is_never_over_the_limit_nor_empty(
    tokens: int, limit: int, structure: Structure | None
) -> None:
    reduced = size(result(tokens, limit, structure))
    assert (reduced is None) == (tokens <= limit)
    assert reduced is None or 1 <= reduced <= limit


@pytest.mark.parametrize("tokens", [5, 60, 90_000])
def test_an_image_counts_the_same_whatever_its_encoding(tokens: int) -> None:
    image: Any = come(1, "i", tokens, kind=Kind.IMAGE, max_result_tokens=50)
    assert raw_tokens(image, 60) == 60
    assert size(image) is None
    assert raw_tokens(result(tokens, None), 60) == tokens


def test_a_measured_size_is_taken_before_a_structure() -> None:
    for measured, expected in ((70, 70), (400, 100)):
        arrival = come(1, "r", 500, max_result_tokens=100, reduced_tokens=measured)
        assert size(arrival) == expected
