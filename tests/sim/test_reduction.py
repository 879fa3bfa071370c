"""Sizes at the door, and after a reduction by structure."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.reduction import FORMS, HEADS, least_tokens, lost, raw_tokens, reduced_tokens, text_place
from sim.script import Arrival, Structure
from sim.segments import Fact, Kind
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


@pytest.mark.parametrize(
    ("form", "kept"),
    [
        # 50 of the front, 50 of the end
        ("head-tail", {0, 19, 20, 49, 950, 999}),
        # 20 of the front, 80 of the end
        ("head-tail-20", {0, 19, 920, 949, 950, 999}),
        ("head", {0, 19, 20, 49, 50, 99}),
        ("tail", {900, 919, 920, 949, 950, 999}),
    ],
)
def test_an_end_keeps_what_stands_there(form: str, kept: set[int]) -> None:
    """100 of 1,000 tokens come in; a fact at each of these places."""
    places = (0, 19, 20, 49, 50, 99, 100, 500, 899, 900, 919, 920, 949, 950, 999)
    facts = tuple(Fact(str(at), at=at) for at in places)
    it = segment("r", 100, raw_tokens=1_000, facts=facts, form=form)
    assert {str(at) for at in places} - lost(it, form, 100) == {str(at) for at in kept}


def test_ends_are_forms() -> None:
    assert set(HEADS) < set(FORMS)


@given(
    st.sampled_from([*HEADS, "page", "reduced", "whole"]),
    st.integers(1, 500),
    st.integers(1, 500),
    st.lists(st.integers(0, 500), max_size=9, unique=True).map(sorted),
)
def test_facts_keep_their_order_in_what_is_left(
    form: str, tokens: int, raw: int, at: list[int]
) -> None:
    """What is stated stands in the text, no later fact in front of an earlier one."""
    tokens = raw if form == "whole" else min(tokens, raw)
    facts = tuple(Fact(str(place), at=place) for place in at)
    it = segment("r", tokens, raw_tokens=raw, facts=facts, form=form)
    gone = lost(it, form, tokens)
    places = [text_place(it, fact) for fact in facts if fact.key not in gone]
    assert places == sorted(places)
    assert all(0 <= place < tokens for place in places)
