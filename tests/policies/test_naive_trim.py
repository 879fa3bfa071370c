from policies.registry import make
from sim.script import Arrival
from sim.segments import Kind


def file(turn, name, tokens, rank, **more):
    return Arrival(turn, name, Kind.FILE, tokens, 1.0, path=f"{name}.py", rank=rank, **more)


def test_worst_rank_first_and_no_more_than_it_takes(play):
    told = play(
        "naive-trim",
        file(1, "best", 100, 1),
        file(1, "worst", 100, 9),
        file(1, "middle", 100, 5),
        Arrival(2, "say", Kind.USER, 350, 0.1),
        budget=500,
    )
    assert told.evicted(2) == [("worst", "rank"), ("middle", "rank")]
    assert told.window == ["best", "say"]


def test_equal_ranks_go_oldest_first(play):
    told = play(
        "naive-trim",
        file(1, "older", 100, 3),
        file(1, "newer", 100, 3),
        Arrival(2, "say", Kind.USER, 50, 1.0),
        budget=200,
    )
    assert told.evicted() == [("older", "rank")]


def test_it_knows_nothing_but_ranked_unpinned_files(play):
    told = play(
        "naive-trim",
        file(1, "pinned", 100, 9, pinned=True),
        Arrival(1, "unranked", Kind.FILE, 100, 0.0, path="u.py"),
        Arrival(1, "dump", Kind.TOOL_RESULT, 100, 0.0, rank=8),
        file(2, "ranked", 100, 1),
        Arrival(2, "say", Kind.USER, 250, 1.0),
        budget=400,
        strict=False,
    )
    assert told.evicted() == [("ranked", "rank")]
    assert told.truncated() == ["pinned", "unranked"]
    assert told["policy_bugs"] == 2


def test_it_needs_ranks():
    assert make("naive-trim").needs == {"edits", "ranks"}
    assert make("naive-trim").declares == frozenset()


def test_trim_off_leaves_all_to_the_backstop(play):
    told = play(
        "naive-trim:trim=off",
        file(1, "a", 100, 2),
        Arrival(2, "say", Kind.USER, 50, 1.0),
        budget=120,
        strict=False,
    )
    assert told.evicted() == []
    assert told.truncated() == ["a"]
