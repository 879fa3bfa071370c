from policies.registry import make
from sim.script import Arrival, Query
from sim.segments import Kind


def test_least_salient_first_pins_included_ties_older_first(play):
    told = play(
        "naive-rehydrate",
        Arrival(1, "high", Kind.NOTE, 100, 0.9),
        Arrival(1, "pin", Kind.USER, 100, 0.2, pinned=True),
        Arrival(1, "tie", Kind.NOTE, 100, 0.2),
        Arrival(1, "tie-2", Kind.NOTE, 100, 0.2),
        Arrival(2, "say", Kind.USER, 150, 0.5),
        budget=400,
    )
    assert told.evicted(2) == [("pin", "displaced"), ("tie", "displaced")]
    assert told.breaches() == ["pin removed"]


def test_it_grants_and_the_pass_displaces(play):
    told = play(
        "naive-rehydrate",
        Arrival(1, "table", Kind.FILE, 100, 0.3, path="t.md", copy=True),
        Arrival(1, "low", Kind.USER, 100, 0.4, pinned=True),
        Arrival(2, "say", Kind.USER, 150, 0.9),
        Query(3, "q", "x", 0.9, ("table",)),
        budget=300,
    )
    assert told.evicted(2) == [("table", "displaced")]
    assert told.evicted(3) == [("low", "displaced")]
    assert told["fetches"] == 1
    assert told.rows("rehydrate")[0]["how"] == "granted"
    assert told["rehydrated_slack"] == told["rehydrated_swap"] == 0


def test_a_call_counts_as_its_result_does(play):
    told = play(
        "naive-rehydrate",
        Arrival(1, "call", Kind.TOOL_CALL, 10, 0.1, pair="p"),
        Arrival(1, "result", Kind.TOOL_RESULT, 90, 0.8, pair="p", time=1.0),
        Arrival(1, "note", Kind.NOTE, 100, 0.3),
        Arrival(2, "say", Kind.USER, 100, 0.9),
        budget=200,
    )
    assert told.evicted(2) == [("note", "displaced")]


def test_declarations():
    assert make("naive-rehydrate").declares == {"ignores_pins"}
    assert not hasattr(make("naive-rehydrate"), "on_rehydrate")
    assert make("naive-rehydrate:pins=on").declares == frozenset()


def test_a_call_alone_counts_for_itself(play):
    told = play(
        "naive-rehydrate",
        Arrival(1, "call", Kind.TOOL_CALL, 100, 0.1, pair="p"),
        Arrival(1, "note", Kind.NOTE, 100, 0.3),
        Arrival(2, "say", Kind.USER, 100, 0.9),
        budget=200,
    )
    assert told.evicted(2) == [("call", "displaced")]
