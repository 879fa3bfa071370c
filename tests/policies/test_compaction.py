import pytest

from policies.registry import make
from sim.script import Arrival, Query
from sim.segments import Fact, Kind


def test_everything_unpinned_becomes_one_summary(play):
    told = play(
        "compaction",
        Arrival(1, "task", Kind.TASK, 50, 1.0, pinned=True),
        Arrival(1, "call", Kind.TOOL_CALL, 10, 1.0, pair="p"),
        Arrival(1, "result", Kind.TOOL_RESULT, 200, 1.0, pair="p", time=1.0, taggable=False),
        Arrival(1, "note", Kind.NOTE, 180, 1.0, time=2.0),
        Arrival(2, "say", Kind.USER, 69, 1.0),
        budget=500,
    )
    (row,) = told.rows("rewrite")
    assert row["sources"] == ("call", "result", "note", "say")
    assert (row["before"], row["after"], row["tagged"]) == (459, 22, True)
    assert told.window == ["task", "s1"]
    assert told["policy_bugs"] == told["breaches"] == 0


def test_exactly_full_is_not_over(play):
    told = play("compaction", Arrival(1, "note", Kind.NOTE, 500, 1.0), budget=500)
    assert told["rewrites"] == 0


@pytest.mark.parametrize(("at", "turn"), [("0.5", 3), ("0.4", 2), ("1.0", None)])
def test_the_share_of_the_budget_decides_when(play, at, turn):
    told = play(
        f"compaction:at={at}",
        *(Arrival(t, f"n{t}", Kind.NOTE, 101, 1.0) for t in (1, 2, 3)),
        budget=500,
    )
    assert [row["turn"] for row in told.rows("rewrite")] == ([] if turn is None else [turn])


def test_nothing_unpinned_or_nothing_to_gain(play):
    told = play(
        "compaction:at=0.5",
        Arrival(1, "task", Kind.TASK, 300, 1.0, pinned=True),
        Arrival(2, "tiny", Kind.NOTE, 1, 1.0),
        budget=500,
    )
    assert told["rewrites"] == 0


def test_the_summary_is_summarised_with_the_rest(play):
    told = play(
        "compaction:share=0.1",
        Arrival(1, "note", Kind.NOTE, 400, 1.0, facts=(Fact("k", "v", "w"),)),
        Arrival(2, "say", Kind.USER, 200, 1.0),
        Arrival(3, "more", Kind.USER, 500, 1.0),
        Query(4, "q", "k", 0.9, ("note",)),
        budget=500,
        surrogate__keep=1.0,
    )
    assert told.rewritten() == [("note", "say", 60), ("s1", "more", 56)]
    assert [row["outcome"] for row in told.rows("answer")] == ["correct"]


def test_it_declares_that_it_spends(play):
    told = play(
        "compaction",
        Arrival(1, "note", Kind.NOTE, 300, 1.0),
        Arrival(2, "read", Kind.FILE, 300, 1.0, path="a.py"),
        budget=500,
    )
    assert told.breaches() == ["compress-then-spend"]
    assert make("compaction").declares == {"spends"}


def test_over_with_the_summary_it_summarises_again(play):
    told = play(
        "compaction:share=0.5",
        Arrival(1, "task", Kind.TASK, 400, 1.0, pinned=True),
        Arrival(2, "note", Kind.NOTE, 300, 1.0),
        budget=500,
    )
    assert [after for *_, after in told.rewritten()] == [150, 75]
    assert told.truncated() == []
