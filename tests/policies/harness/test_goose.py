import pytest

from tests.policies.harness.histories import note, say, step, system, task


@pytest.mark.parametrize(("last", "rewrites"), [(700, 0), (701, 1)])
def test_trap_it_acts_above_four_fifths_of_the_window_not_at_them(play, last, rewrites):
    told = play("goose", system(50), task(50), note(2, last), budget=1_000)
    assert told["rewrites"] == rewrites


def test_only_the_newest_message_of_the_user_stays(play):
    told = play(
        "goose",
        *(system(100), task(300), say(1, 50, "b"), note(1, 300, "c"), say(1, 60, "d")),
        note(1, 100, "e"),
        budget=1_000,
    )
    assert told.rewritten() == [("task", "b", "c", "e", 37)]
    assert told.window == ["system", "s1", "d"]


def test_results_are_left_out_from_the_middle(play):
    told = play(
        "goose",
        task(10),
        *(arrival for n in range(10) for arrival in step(1, 1, 160, name=f"{n}")),
        budget=1_000,
    )
    # 1,610 and 80 of output: a tenth and a fifth of the results leave too much, a half does not.
    # The 5 in the middle are 4, 5, 3, 6 and 2.
    left_out = [name for name, _ in told.evicted() if name.startswith("result")]
    assert left_out == [f"result-{n}" for n in (4, 5, 3, 6, 2)]
    assert told.window == ["task", "s1"]


def test_pairs_stay_as_they_are_by_default(play):
    steps = [arrival for t in range(1, 13) for arrival in step(t, 10, 20)]
    assert play("goose", *steps, budget=1_000)["rewrites"] == 0
    told = play("goose:pairs=on", *steps, budget=1_000)
    # More than 10 of them; W / 10,000 is less.
    assert [(row["turn"], row["sources"]) for row in told.rows("rewrite")] == [
        (11, ("call-1", "result-1")),
        (12, ("call-2", "result-2")),
    ]


def test_a_refused_request_is_compacted(play):
    told = play("goose", task(100), note(2, 950), budget=1_000, count__by="usage")
    assert [row["by"] for row in told.rows("rewrite")] == ["on_overflow"]
