import pytest

from policies.registry import make
from sim.script import Arrival, Query, Structure
from sim.segments import Fact, Kind


def result(turn, name, tokens, tool=None, score=1.0, **more):
    return Arrival(turn, name, Kind.TOOL_RESULT, tokens, score, tool=tool, **more)


def file(turn, name, tokens, score=1.0, **more):
    return Arrival(turn, name, Kind.FILE, tokens, score, path=f"{name}.py", copy=True, **more)


def note(turn, name, tokens, score=1.0, **more):
    return Arrival(turn, name, Kind.NOTE, tokens, score, **more)


def test_it_reduces_before_it_tests(play):
    structure = Structure(entries=60, groups=10, entry_tokens=10, notice_tokens=20)
    told = play(
        "disciplined",
        note(1, "a", 300),
        result(2, "types", 1_000, "types", max_result_tokens=400, structure=structure),
        budget=500,
        turns=9,
    )
    (row,) = told.rows("admit", 2)
    assert (row["tokens"], row["how"], row["displaced"]) == (120, "reduced", ())


def test_an_arriving_result_supersedes_before_the_door(play):
    told = play(
        "disciplined",
        result(1, "lint-1", 200, "lint"),
        file(1, "a", 200),
        result(2, "lint-2", 200, "lint"),
        budget=500,
        turns=9,
    )
    (row,) = told.rows("rewrite")
    assert (row["sources"], row["after"], row["by"]) == (("lint-1",), 12, "door")
    assert told.rows("admit", 2)[0]["displaced"] == ()
    assert told.window == ["s1", "a", "lint-2"]


def test_no_lines_while_it_fits(play):
    told = play(
        "disciplined",
        result(1, "lint-1", 200, "lint"),
        result(2, "lint-2", 300, "lint"),
        budget=500,
        turns=9,
    )
    assert told.rewritten() == []


def test_no_lines_for_what_is_oversize(play):
    told = play(
        "disciplined",
        Arrival(1, "task", Kind.TASK, 100, 1.0, pinned=True),
        result(1, "lint-1", 200, "lint"),
        result(2, "lint-2", 401, "lint"),
        budget=500,
        turns=9,
    )
    assert told.rewritten() == []
    assert [row["reason"] for row in told.rows("refuse")] == ["oversize"]


def test_the_door_displaces_in_tier_order(play):
    told = play(
        "disciplined",
        note(1, "low", 100, 0.3),
        file(1, "a", 100, 0.5),
        file(1, "b", 100, 0.6),
        note(2, "new", 250, 0.9),
        budget=400,
        turns=9,
    )
    (row,) = told.rows("admit", 2)
    assert row["displaced"] == ("b", "a")
    assert row["floor"] == pytest.approx(0.5 * 0.85)


def test_rehydration_displaces_by_salience_not_by_tier(play):
    told = play(
        "disciplined",
        file(1, "high", 100, 0.9),
        note(1, "low", 100, 0.4),
        file(1, "table", 100, 0.3),
        Arrival(2, "say", Kind.USER, 100, 0.9),
        Query(3, "q", "x", 0.9, ("table",)),
        budget=350,
        turns=9,
    )
    assert told.evicted(2) == [("table", "bulk")]
    (row,) = told.rows("rehydrate")
    assert (row["how"], row["displaced"]) == ("swap", ("low",))


def test_its_own_pins_hold_from_admission_on(play):
    told = play(
        "disciplined",
        note(1, "pin", 450, 1.0, pinned=True),
        result(2, "lint", 100, "lint"),
        budget=500,
        turns=9,
    )
    assert [row["reason"] for row in told.rows("refuse")] == ["pinned"]
    told = play(
        "disciplined",
        result(1, "lint", 300, "lint", score=0.0),
        note(1, "a", 100, 0.0),
        note(2, "b", 150, 1.0),
        budget=500,
        turns=9,
    )
    assert told.rows("admit", 2)[0]["displaced"] == ("a",)


def test_relevance_pass_before_tiers(play):
    told = play(
        "disciplined",
        note(1, "faded", 150, 0.2),
        file(1, "a", 200),
        Arrival(2, "say", Kind.USER, 250, 1.0),
        budget=500,
        turns=9,
    )
    assert told.rewritten() == [("faded", 20)]
    assert told.evicted() == []


def test_over_budget_it_gives_up_by_tiers_not_by_salience(play):
    told = play(
        "disciplined",
        note(1, "low", 150, 0.3),
        file(1, "a", 200, 0.9),
        Arrival(2, "say", Kind.USER, 250, 1.0),
        budget=500,
        turns=9,
    )
    assert told.rewritten(2) == []
    assert told.evicted(2) == [("a", "bulk")]


def test_a_summary_is_no_full_segment(play):
    summary = Arrival(1, "summary", Kind.SUMMARY, 100, 0.1)
    assert play("disciplined", summary).rewritten() == []
    assert play("tag-or-drop", summary).rewritten() == [("summary", 20)]


def test_it_waits_as_tag_or_drop_does(play):
    told = play(
        "disciplined",
        note(1, "span", 100, 0.26),
        Arrival(2, "bare", Kind.FILE, 10, 1.0, path="b.py"),
        turns=3,
    )
    assert [row["turn"] for row in told.rows("rewrite")] == [3]


def test_a_line_is_exempt_from_waiting(play):
    told = play(
        "disciplined:door=off",
        result(1, "lint-1", 200, "lint"),
        result(2, "lint-2", 400, "lint"),
        budget=500,
        turns=9,
    )
    assert told.rewritten(2) == [("lint-1", 12)]


def test_the_covering_summary_stays_at_the_door(play):
    facts = (Fact("limits", "90", "60"),)
    told = play(
        "disciplined",
        note(1, "a", 200, 0.3),
        Arrival(1, "summary", Kind.SUMMARY, 200, 0.3, facts=facts),
        note(2, "new", 200, 0.9, facts=facts),
        budget=500,
        turns=9,
    )
    assert told.rows("admit", 2)[0]["displaced"] == ("a",)


@pytest.mark.parametrize(
    ("options", "declares", "hooks"),
    [
        ("", set(), {"on_arrival", "on_rehydrate", "on_write", "pins"}),
        (":door=off,arrival=off", set(), {"on_rehydrate", "on_write", "pins"}),
        (":gate=off", set(), {"on_arrival", "on_write", "pins"}),
        (":pins=off,staleness=off", set(), {"on_arrival", "on_rehydrate"}),
        (
            ":tag=off",
            {"untagged"},
            {"on_arrival", "on_rehydrate", "on_write", "pins", "on_restore"},
        ),
        (":relevance=off,tag=off", set(), {"on_arrival", "on_rehydrate", "on_write", "pins"}),
        (":defer=off", {"spends"}, {"on_arrival", "on_rehydrate", "on_write", "pins"}),
    ],
)
def test_options_decide_hooks_and_declarations(options, declares, hooks):
    policy = make("disciplined" + options)
    assert policy.declares == declares
    optional = {"on_arrival", "on_rehydrate", "on_write", "pins", "on_restore"}
    assert {hook for hook in optional if hasattr(policy, hook)} == hooks
