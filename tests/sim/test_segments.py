"""Segments: what their text states, and what stands for them."""

from __future__ import annotations

from sim.segments import Fact, Kind, State, originals, stand_ins, successors
from tests.sim.build import segment

F = (Fact("a"), Fact("b", reducible=False))


def test_the_kinds_of_the_design() -> None:
    assert " ".join(Kind) == (
        "tools system task user assistant thinking tool_call tool_result file diff image "
        "summary note"
    )


def test_a_full_segment_states_its_facts_but_what_a_reduction_lost() -> None:
    full = segment("x", facts=F, lost=frozenset({"b"}))
    assert full.carries("a")
    assert not full.carries("b")
    assert not full.carries("c")
    assert not full.is_surrogate


def test_a_surrogate_states_what_it_kept_alone() -> None:
    stand_in = segment("s", sources=(segment("x", facts=F),), kept=frozenset({"b"}))
    assert stand_in.is_surrogate
    assert stand_in.carries("b")
    assert not stand_in.carries("a")


def test_invented_text_is_no_surrogate() -> None:
    invented = segment("i", sources=(segment("s"),), invented=True, kept=frozenset({"a"}))
    assert not invented.is_surrogate
    assert invented.carries("a")


def test_what_stands_for_a_segment_is_found_through_its_successors() -> None:
    """x → s1 (gone into s2, resident); fetched back, x → s3, rewritten with s1 into s2 as well."""
    x, s1, s2, s3 = (segment(name) for name in ("x", "s1", "s2", "s3"))
    x.surrogates += [s1, s3]
    s1.surrogates.append(s2)
    s3.surrogates.append(s2)
    s1.state = s3.state = State.REWRITTEN
    s2.state = State.RESIDENT
    assert list(successors(x)) == [s1, s2, s3]
    assert list(stand_ins(x)) == [s2]


def test_a_long_line_of_successors_is_followed() -> None:
    first = last = segment("x")
    for number in range(5_000):
        stand_in = segment(f"s{number}", state=State.REWRITTEN, sources=(last,))
        last.surrogates.append(stand_in)
        last = stand_in
    last.state = State.RESIDENT
    assert list(stand_ins(first)) == [last]
    assert originals([last]) == [first]


def test_originals_come_once_and_oldest_first() -> None:
    old, new = segment("old", seq=1), segment("new", seq=2)
    one = segment("s1", seq=3, sources=(new, old))
    two = segment("s2", seq=4, sources=(one, new))
    assert originals([two, new]) == [old, new]


def test_segments_are_told_apart_by_themselves() -> None:
    assert segment("x") != segment("x")
    assert len({segment("x"), segment("x")}) == 2
