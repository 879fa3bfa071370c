from policies.registry import make
from sim.script import Arrival, Query
from sim.segments import Kind


def test_the_front_goes_first_the_task_included(play):
    told = play(
        "sliding-window",
        Arrival(1, "system", Kind.SYSTEM, 50, 1.0, pinned=True),
        Arrival(1, "task", Kind.TASK, 50, 1.0, pinned=True),
        Arrival(1, "note", Kind.NOTE, 100, 0.0),
        Arrival(2, "say", Kind.USER, 120, 1.0),
        budget=260,
    )
    assert told.evicted(2) == [("system", "oldest"), ("task", "oldest")][:2]
    assert told.breaches() == ["pin removed", "pin removed"]


def test_position_decides_not_age(play):
    told = play(
        "sliding-window",
        Arrival(1, "old", Kind.FILE, 100, 1.0, path="old.py", copy=True),
        Arrival(1, "next", Kind.NOTE, 100, 1.0),
        Arrival(2, "say", Kind.USER, 50, 1.0),
        Query(3, "q", "x", 0.9, ("old",)),
        Arrival(4, "more", Kind.USER, 40, 1.0),
        budget=200,
    )
    assert told.evicted(2) == [("old", "oldest")]
    assert told.evicted(3) == [("next", "oldest")]
    assert told.evicted(4) == []
    assert told.window == ["say", "old", "more"]


def test_a_call_takes_its_result_along(play):
    told = play(
        "sliding-window",
        Arrival(1, "call", Kind.TOOL_CALL, 10, 1.0, pair="p"),
        Arrival(1, "say", Kind.USER, 100, 1.0),
        Arrival(1, "result", Kind.TOOL_RESULT, 100, 1.0, pair="p", time=1.0),
        Arrival(2, "more", Kind.USER, 60, 1.0),
        budget=230,
    )
    assert [name for name, _ in told.evicted(2)] == ["call", "result"]
    assert told.window == ["say", "more"]


def test_pins_can_be_respected(play):
    told = play(
        "sliding-window:pins=on",
        Arrival(1, "task", Kind.TASK, 50, 1.0, pinned=True),
        Arrival(1, "note", Kind.NOTE, 100, 0.0),
        Arrival(2, "say", Kind.USER, 120, 1.0),
        budget=200,
    )
    assert told.evicted() == [("note", "oldest")]
    assert make("sliding-window:pins=on").declares == frozenset()
    assert make("sliding-window").declares == {"ignores_pins"}
