import pytest

from sim.script import Query, Write
from sim.segments import Fact, Kind
from tests.policies.harness.declared import breaks, figures
from tests.policies.harness.histories import step, task

NAME = "swe-agent-closed-window"


def view(turn, path="a.py", tokens=100, name=None, **more):
    return step(turn, 5, tokens, name, kind=Kind.FILE, path=path, **more)


def test_a_first_view_stays_and_the_second_closes_it(play):
    told = play(NAME, task(50), *view(1), *view(2), turns=4, budget=10_000)
    assert [(row["turn"], row["sources"]) for row in told.rows("rewrite")] == [(2, ("result-1",))]
    assert told.window == ["task", "call-1", "s1", "call-2", "result-2"]


def test_each_file_has_a_newest_view(play):
    told = play(NAME, *view(1), *view(2, "b.py"), *view(3), *view(4, "c.py"), budget=10_000)
    assert told.rewritten() == [("result-1", 10)]


def test_a_result_that_shows_no_file_stays(play):
    told = play(NAME, *step(1, 5, 100), *step(2, 5, 100), budget=10_000)
    assert told.rewritten() == []


def test_a_view_of_a_changed_file_stays_until_it_is_seen_again(play):
    told = play(NAME, *view(1), Write(2, "a.py"), turns=3, budget=10_000)
    assert told.rewritten() == []


def test_of_views_of_one_turn_the_last_stays(play):
    told = play(
        NAME, *view(1, name="x"), *view(1, name="y"), *view(1, name="z"), turns=2, budget=10_000
    )
    assert told.rewritten() == [("result-x", 10), ("result-y", 10)]


def test_it_does_not_wait_so_each_view_breaks_the_prefix_again(play):
    told = play(NAME, *(a for turn in range(1, 6) for a in view(turn)), budget=10_000)
    assert told["edit_turns"] == 4


@pytest.mark.parametrize(("tokens", "closed"), [(10, []), (11, [("result-1", 10)])])
def test_a_note_is_not_put_where_it_is_no_shorter(play, tokens, closed):
    assert play(NAME, *view(1, tokens=tokens), *view(2), budget=10_000).rewritten() == closed


def test_a_file_can_be_opened_again_and_that_is_its_newest_view(play):
    told = play(
        NAME,
        *view(1, facts=(Fact("k", "v", "w"),), copy=True),
        *view(2),
        Query(3, "q", "k", 1.0, ("result-1",)),
        turns=4,
        budget=10_000,
    )
    assert told["fetches"] == told["correct"] == 1
    assert [(row["turn"], *row["sources"]) for row in told.rows("rewrite")] == [
        (2, "result-1"),
        (3, "result-2"),
    ]


def test_it_knows_no_pins(play):
    told = play(NAME, *view(1, pinned=True, taggable=False), *view(2), budget=10_000)
    assert [(row["sources"], row["tagged"]) for row in told.rows("rewrite")] == [
        (("result-1",), False)
    ]
    assert breaks(NAME) == {"ignores_pins", "spends", "untagged"}


def test_its_figures():
    assert figures(NAME) == {"cap": "on", "stub": "10"}
