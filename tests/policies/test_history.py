import pytest

from policies.parts.history import before_messages, before_pairs, behind_pairs, messages, newest
from sim.segments import Kind
from tests.policies.playing import seg, view_of


@pytest.fixture
def talk():
    """Words of the user, then of the model with two calls, and the results of both."""
    said = [
        seg("ask", 0, kind=Kind.USER),
        seg("words", 1, kind=Kind.ASSISTANT),
        seg("call-a", 2, kind=Kind.TOOL_CALL, pair="a"),
        seg("call-b", 3, kind=Kind.TOOL_CALL, pair="b"),
        seg("result-a", 4, kind=Kind.TOOL_RESULT, pair="a"),
        seg("result-b", 5, kind=Kind.TOOL_RESULT, pair="b"),
        seg("note", 6),
    ]
    view, _ = view_of(*said)
    return view, said


def test_what_the_model_said_in_one_turn_is_one_message(talk):
    _, said = talk
    assert [len(message) for message in messages(said)] == [1, 3, 1, 1, 1]


@pytest.mark.parametrize(
    ("cut", "before", "whole", "behind"),
    [
        (0, 0, 0, 0),
        (1, 1, 1, 1),
        (2, 2, 1, 2),
        (3, 2, 1, 6),
        (4, 2, 1, 6),
        (5, 2, 1, 6),
        (6, 6, 6, 6),
    ],
)
def test_a_cut_moves_to_where_it_parts_nothing(talk, cut, before, whole, behind):
    view, said = talk
    assert before_pairs(view, said, cut) == before
    assert before_messages(view, said, cut) == whole
    assert behind_pairs(view, said, cut) == behind


@pytest.mark.parametrize(("room", "first"), [(0, 3), (9, 3), (10, 2), (29, 2), (30, 1), (99, 0)])
def test_the_newest_that_fit(room, first):
    assert newest([30, 20, 10], room) == first
