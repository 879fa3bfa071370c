import pytest

from policies.registry import make
from sim.script import Arrival, Query, Structure, Write
from sim.segments import Kind


def result(turn, name, tokens, tool, **more):
    return Arrival(turn, name, Kind.TOOL_RESULT, tokens, 1.0, tool=tool, **more)


def file(turn, name, tokens, **more):
    return Arrival(turn, name, Kind.FILE, tokens, 1.0, path=f"{name}.py", copy=True, **more)


def word(turn, name, tokens, attempt, kind=Kind.ASSISTANT, **more):
    return Arrival(turn, name, kind, tokens, 1.0, attempt=attempt, **more)


def test_superseded_then_bulk_then_the_rest_last_position_first(play):
    told = play(
        "tiered",
        Arrival(1, "note", Kind.NOTE, 100, 1.0),
        result(1, "lint-1", 100, "lint"),
        file(1, "a", 100),
        result(1, "lint-2", 100, "lint"),
        file(1, "b", 100),
        Arrival(1, "note-2", Kind.NOTE, 100, 1.0),
        result(2, "lint-3", 500, "lint"),
        budget=610,
        turns=9,
    )
    assert told.rewritten(2) == [("lint-2", 12), ("lint-1", 12)]
    assert told.evicted(2) == [
        ("b", "bulk"),
        ("a", "bulk"),
        ("note-2", "other"),
        ("s1", "other"),
        ("s2", "other"),
    ]
    assert told.window == ["note", "lint-3"]
    assert told.truncated() == []


def test_it_stops_as_soon_as_it_fits(play):
    told = play(
        "tiered",
        result(1, "lint-1", 100, "lint"),
        result(1, "tests-1", 100, "tests"),
        file(1, "a", 100),
        result(2, "lint-2", 100, "lint"),
        result(2, "tests-2", 80, "tests"),
        budget=400,
        turns=9,
    )
    assert told.rewritten() == [("tests-1", 12)]
    assert told.evicted() == []


def test_words_and_diff_of_an_attempt_become_one_line(play):
    told = play(
        "tiered",
        word(1, "say", 60, 1),
        Arrival(1, "note", Kind.NOTE, 50, 1.0),
        word(1, "diff", 60, 1, Kind.DIFF),
        word(2, "say-2", 60, 2),
        budget=200,
        turns=9,
    )
    assert told.rewritten() == [("say", "diff", 12)]
    assert told.window == ["s1", "note", "say-2"]


def test_an_attempt_stands_at_its_front_most_member(play):
    told = play(
        "tiered",
        word(1, "say", 60, 1),
        result(1, "lint-1", 60, "lint"),
        word(1, "diff", 60, 1, Kind.DIFF),
        word(2, "say-2", 60, 2),
        result(2, "lint-2", 60, "lint"),
        budget=260,
        turns=9,
    )
    assert told.rewritten() == [("lint-1", 12)]


def test_no_line_where_it_would_not_be_shorter(play):
    told = play(
        "tiered",
        result(1, "lint-1", 12, "lint"),
        Arrival(1, "note", Kind.NOTE, 50, 1.0),
        result(2, "lint-2", 60, "lint"),
        budget=100,
        turns=9,
    )
    assert told.rewritten() == []
    assert told.evicted() == [("note", "other")]


def test_untaggable_superseded_material_is_evicted(play):
    told = play(
        "tiered",
        result(1, "lint-1", 60, "lint", taggable=False),
        word(1, "say", 60, 1),
        word(1, "diff", 60, 1, Kind.DIFF, taggable=False),
        word(2, "say-2", 60, 2),
        result(2, "lint-2", 60, "lint"),
        budget=180,
        turns=9,
    )
    assert told.evicted(2) == [("diff", "untaggable"), ("lint-1", "untaggable")]
    assert told.rewritten(2) == [("say", 12)]


def test_a_file_of_this_turn_stays_while_another_bulk_file_is_left(play):
    stimuli = (file(1, "old", 100), file(2, "new", 100), file(2, "newer", 150))
    told = play("tiered", *stimuli, budget=260, turns=9)
    assert told.evicted() == [("old", "bulk")]
    told = play("tiered", *stimuli, budget=200, turns=9)
    assert told.evicted() == [("old", "bulk"), ("newer", "bulk")]
    told = play("tiered:spare=off", *stimuli, budget=260, turns=9)
    assert told.evicted() == [("newer", "bulk")]


def test_what_was_fetched_this_turn_is_of_this_turn(play):
    told = play(
        "tiered",
        file(1, "a", 100),
        file(1, "b", 100),
        file(1, "c", 100),
        Query(2, "q", "x", 0.9, ("c",)),
        budget=200,
        turns=9,
    )
    assert told.evicted(1) == [("c", "bulk")]
    assert told.evicted(2) == [("b", "bulk")]
    assert told.window == ["a", "c"]


@pytest.mark.parametrize(
    ("over", "gone"),
    [
        (40, ["fifty"]),
        (50, ["fifty"]),
        (51, ["eighty"]),
        (100, ["hundred"]),
        (101, ["hundred", "thirty"]),
    ],
)
def test_on_the_last_turn_the_smallest_that_suffices_else_the_largest(play, over, gone):
    stimuli = (
        file(1, "fifty", 50),
        file(1, "hundred", 100),
        file(1, "eighty", 80),
        file(1, "thirty", 30),
    )
    say = Arrival(2, "say", Kind.USER, 200, 1.0, pinned=True)
    told = play("tiered", *stimuli, say, budget=460 - over)
    assert [name for name, _ in told.evicted(2)] == gone
    told = play("tiered:endgame=off", *stimuli, say, budget=460 - over)
    assert told.evicted(2)[0][0] == "thirty"


def test_the_last_turn_keeps_the_order_of_the_tiers(play):
    told = play(
        "tiered",
        result(1, "small", 40, "a"),
        result(1, "large", 90, "b"),
        file(1, "file", 60),
        result(2, "a-2", 15, "a"),
        result(2, "b-2", 15, "b"),
        budget=190,
    )
    assert told.rewritten(2) == [("large", 12)]
    assert told.evicted(2) == []


def test_front_first_as_an_option(play):
    stimuli = (file(1, "a", 100), file(1, "b", 100), Arrival(2, "say", Kind.USER, 50, 1.0))
    told = play("tiered:order=first", *stimuli, budget=200, turns=9)
    assert told.evicted() == [("a", "bulk")]


def test_pins(play):
    stimuli = (
        Arrival(1, "tools", Kind.TOOLS, 10, 0.0),
        Arrival(1, "system", Kind.SYSTEM, 10, 0.0),
        Arrival(1, "task", Kind.TASK, 10, 0.0),
        Arrival(1, "rule", Kind.USER, 10, 0.0, standing=True),
        Arrival(1, "talk", Kind.USER, 10, 0.0),
        file(1, "named", 10),
        file(1, "written", 10),
        file(1, "bulk", 10),
        result(1, "lint", 10, "lint", names=("named.py",)),
        Arrival(1, "blob", Kind.TOOL_RESULT, 10, 0.0),
        Write(1, "written.py", attempt=1),
        Arrival(2, "say", Kind.USER, 100, 1.0, pinned=True),
    )
    told = play("tiered", *stimuli, budget=170, turns=9)
    assert told.evicted(2) == [("bulk", "bulk"), ("blob", "other"), ("talk", "other")]
    assert told.window[:-1] == ["tools", "system", "task", "rule", "named", "written", "lint"]


@pytest.mark.parametrize(
    ("option", "gone"),
    [
        ("pin.head", ["tools"]),
        ("pin.standing", ["rule"]),
        ("pin.named", ["named"]),
        ("pin.written", ["written"]),
        ("pin.results", ["lint"]),
    ],
)
def test_each_pin_rule_can_be_switched_off(play, option, gone):
    stimuli = (
        Arrival(1, "tools", Kind.TOOLS, 10, 0.0),
        Arrival(1, "rule", Kind.USER, 10, 0.0, standing=True),
        file(1, "named", 10),
        file(1, "written", 10),
        result(1, "lint", 10, "lint", names=("named.py",)),
        Write(1, "written.py", attempt=1),
        Arrival(2, "say", Kind.USER, 100, 1.0, pinned=True),
    )
    told = play(f"tiered:{option}=off", *stimuli, budget=145, turns=9)
    assert [name for name, _ in told.evicted(2)] == gone


def test_a_newer_diagnostic_unpins_what_the_older_named(play):
    told = play(
        "tiered",
        file(1, "a", 100),
        file(1, "b", 100),
        result(1, "lint-1", 20, "lint", names=("a.py", "b.py")),
        result(2, "lint-2", 20, "lint", names=("b.py",)),
        budget=220,
        turns=9,
    )
    assert told.rewritten() == [("lint-1", 12)]
    assert told.evicted() == [("a", "bulk")]


def test_only_the_last_of_all_results(play):
    stimuli = (
        result(1, "types", 100, "types"),
        result(1, "tests", 100, "tests", time=1.0),
        Arrival(2, "say", Kind.USER, 50, 1.0, pinned=True),
    )
    told = play("tiered:pins=last", *stimuli, budget=200, turns=9)
    assert told.rewritten() == [("types", 12)]
    told = play("tiered:pins=off", *stimuli, budget=200, turns=9)
    assert told.evicted() == [("tests", "other")]


def test_oversized_results_are_reduced_at_arrival(play):
    structure = Structure(entries=60, groups=10, entry_tokens=14, notice_tokens=20)
    big = result(1, "types", 1_000, "types", max_result_tokens=400, structure=structure)
    told = play("tiered", big)
    (row,) = told.rows("admit")
    assert (row["tokens"], row["how"], row["never"]) == (160, "reduced", 840)
    (row,) = play("tiered:arrival=page", big).rows("admit")
    assert (row["tokens"], row["how"], row["never"]) == (400, "page", 600)
    (row,) = play("tiered:arrival=off", big).rows("admit")
    assert (row["tokens"], row["how"], row["never"]) == (1_000, "whole", 0)


def test_at_the_limit_nothing_is_reduced(play):
    told = play("tiered", result(1, "types", 400, "types", max_result_tokens=400))
    assert told.rows("admit")[0]["how"] == "whole"


def test_stale_copies_are_refreshed_in_place_always(play):
    stimuli = (
        file(1, "a", 100),
        Arrival(1, "note", Kind.NOTE, 50, 1.0),
        Arrival(2, "again", Kind.TOOL_RESULT, 100, 1.0, path="a.py", copy=True),
        Write(3, "a.py", tokens=130),
    )
    told = play("tiered", *stimuli)
    assert [(r["segment"], r["before"], r["after"]) for r in told.rows("refresh")] == [
        ("a", 100, 130),
        ("again", 100, 130),
    ]
    assert told.window == ["a", "note", "again"]
    assert play("tiered:staleness=off", *stimuli).rows("refresh") == []


def test_lines_and_bulk_as_options(play):
    stimuli = (
        result(1, "lint-1", 100, "lint"),
        file(1, "a", 100),
        Arrival(1, "note", Kind.NOTE, 100, 1.0),
        result(2, "lint-2", 50, "lint"),
    )
    told = play("tiered:lines=off", *stimuli, budget=300, turns=9)
    assert (told.rewritten(), told.evicted()) == ([], [("a", "bulk")])
    told = play("tiered:lines=off,bulk=off", *stimuli, budget=300, turns=9)
    assert told.evicted() == [("note", "other")]


def test_it_never_trims_a_pin(play):
    told = play(
        "tiered",
        Arrival(1, "task", Kind.TASK, 100, 1.0),
        result(1, "lint", 300, "lint"),
        result(2, "tests", 201, "tests"),
        budget=600,
        turns=9,
    )
    assert told["status"] == "failed"
    assert "601" in told["reason"]


def test_declarations():
    assert make("tiered").declares == frozenset()
    assert not hasattr(make("tiered"), "on_rehydrate")
