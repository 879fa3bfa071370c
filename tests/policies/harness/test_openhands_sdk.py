import pytest

from policies.registry import options
from tests.policies.harness.histories import note, step, system, task


def notes(count):
    return [note(t, 100) for t in range(1, count + 1)]


@pytest.mark.parametrize(("events", "rewrites"), [(10, 0), (11, 1)])
def test_trap_it_acts_above_max_size_not_at_it(play, events, rewrites):
    told = play(
        "openhands-sdk:max_size=10", system(100), task(50), *notes(events - 2), budget=9_000
    )
    assert told["rewrites"] == rewrites
    if rewrites:
        # 5: the first 2, the summary and a tail of 2.
        assert told.window == ["system", "task", "s1", "note-8", "note-9"]


def test_trap_the_class_default_is_not_the_agents():
    default = {o.name: o.default for o in options("openhands-sdk")}
    assert (default["max_size"], default["keep_first"]) == ("240", "2")


def test_a_cut_between_call_and_result_moves_behind_it(play):
    told = play(
        "openhands-sdk:max_size=10",
        *(system(100), task(50)),
        *notes(6),
        *step(7, 10, 100),
        note(8, 100),
        budget=9_000,
    )
    assert told.window == ["system", "task", "s1", "note-8"]


def test_tokens_leave_half_of_the_limit(play):
    told = play("openhands-sdk:max_tokens=1000", system(100), task(50), *notes(9), budget=9_000)
    # 1,050 are over 1,000; beside 150 in front, 350 fit into 500.
    assert told.window == ["system", "task", "s1", "note-7", "note-8", "note-9"]


@pytest.mark.parametrize(("progress", "rewrites"), [("0.6", 1), ("0.7", 0)])
def test_less_progress_than_asked_for_is_none(play, progress, rewrites):
    told = play(
        f"openhands-sdk:max_size=10,progress={progress}",
        *(system(100), task(50)),
        *notes(9),
        budget=9_000,
    )
    assert told["rewrites"] == rewrites  # 7 of 11 events would go: 0.64


def test_a_refused_request_is_reset(play):
    told = play("openhands-sdk", system(100), task(50), note(2, 900), budget=1_000)
    # With 3 events none is between the first and the tail.
    assert told.rewritten() == [("task", "note-2", 47)]
    assert told.truncated() == []


def test_a_reset_shows_a_fifth_less_with_each_try(play):
    told = play(
        "openhands-sdk", system(100), task(50), note(2, 900), note(2, 400, "n"), budget=1_000
    )
    # 50 + 900 + 400 and 67 of output are too many for 1,000, 50 + 720 + 400 and 50 + 576 + 400 are,
    # too, then 50 + 460 + 400 = 910 fit with them.
    assert [row["why"] for row in told.rows("wasted")] == ["overflow"] * 3
    assert [row["input"] for row in told.rows("maintain")] == [910]
