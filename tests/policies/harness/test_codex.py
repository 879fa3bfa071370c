import pytest

from sim.segments import Fact
from tests.policies.harness.histories import note, say, step, system, task, words


@pytest.mark.parametrize(("last", "rewrites"), [(799, 0), (800, 1)])
def test_trap_it_acts_at_nine_tenths_of_the_window(play, last, rewrites):
    told = play("codex", system(50), task(50), note(2, last), budget=1_000)
    assert told["rewrites"] == rewrites


def test_only_what_the_user_typed_stays_and_the_summary_is_last(play):
    told = play(
        "codex",
        *(system(100), task(200), words(1, 100), *step(1, 10, 390)),
        *(say(2, 50), words(2, 50)),
        budget=1_000,
    )
    assert told.rewritten() == [("words-1", "call-1", "result-1", "words-2", 27)]
    assert told.window == ["system", "task", "say-2", "s1"]


def test_messages_of_the_user_stay_newest_first_to_a_limit(play):
    told = play(
        "codex:keep=150",
        *(task(100), say(1, 300, "old"), note(1, 350), say(1, 50, "newer"), say(1, 100, "newest")),
        budget=1_000,
    )
    assert told.window == ["s1", "newer", "newest"]
    assert told.rewritten() == [("task", "old", "note-1", 37)]


def test_the_summary_before_is_no_message_of_the_user(play):
    told = play("codex", task(100), note(1, 800, "a"), note(2, 800, "b"), budget=1_000)
    assert told.rewritten() == [("a", 40), ("s1", "b", 42)]


def test_it_asks_at_the_end_of_the_request(play):
    told = play("codex", task(100), note(2, 800), budget=1_000)
    assert [(row["input"], row["read"]) for row in told.rows("maintain")] == [(900, 100)]


def test_where_the_summariser_overflows_the_oldest_is_left_out(play):
    old, new = Fact("old", "v", "w"), Fact("new", "v", "w")
    told = play(
        "codex",
        *(task(100), note(1, 600, "a", facts=(old,)), note(1, 395, "b", facts=(new,))),
        budget=1_000,
        surrogate__keep=1.0,
    )
    # Beside 49 of output, 995 do not fit into 1,000.
    assert [row["kept"] for row in told.rows("rewrite")] == [("new",)]
