import pytest

from tests.policies.harness.histories import note, say, step, system, task


@pytest.mark.parametrize(("last", "rewrites"), [(299, 0), (300, 1)])
def test_trap_it_acts_at_the_trigger(play, last, rewrites):
    told = play("cline", system(100), task(500), note(2, last), budget=1_000)
    assert told["rewrites"] == rewrites


def test_the_newest_tokens_and_the_latest_prompt_stay(play):
    told = play(
        "cline:keep=150",
        *(system(100), task(300), say(1, 60), note(1, 300, "old")),
        *(note(1, 100, "newer"), note(1, 50, "newest")),
        budget=1_000,
    )
    assert told.rewritten() == [("task", "old", 30)]
    assert told.window == ["system", "s1", "say-1", "newer", "newest"]


def test_fewer_stay_where_more_than_the_target_would_be_left(play):
    told = play(
        "cline",
        *(system(300), say(1, 200), note(1, 200, "old"), note(1, 130, "newer")),
        note(1, 120, "newest"),
        budget=1_000,
    )
    # 0.7 x 0.9 x 1,000 less system and prompt leaves 130: the newest alone fits.
    assert told.rewritten() == [("old", "newer", 16)]


def test_trap_results_are_shown_to_a_limit_of_characters_not_tokens(play):
    told = play(
        "cline:keep=0",
        *(system(100), say(1, 50), *step(1, 10, 800)),
        budget=1_000,
        characters__tool_result=8.0,
    )
    # 2,000 characters at 8 a token are 250 tokens, on top of the call.
    assert [row["input"] for row in told.rows("maintain")] == [260]


def test_without_a_summary_prompts_stay_and_a_list_stands_for_the_rest(play):
    told = play(
        "cline:keep=0",
        *(system(100), task(200), note(1, 400, "old"), say(1, 60), note(1, 200, "newer")),
        budget=1_000,
        summariser__fail=1.0,
        surrogate__keep=1.0,
    )
    assert told.rewritten() == [("old", "newer", 100)]
    assert [row["asked"] for row in told.rows("rewrite")] == [False]
    assert told.window == ["system", "task", "s1", "say-1"]


def test_a_refused_request_gets_the_list_at_once(play):
    told = play(
        "cline", system(100), task(200), note(2, 900, "old"), budget=1_000, count__by="usage"
    )
    assert [(row["by"], row["asked"]) for row in told.rows("rewrite")] == [("on_overflow", False)]
    assert told.truncated() == []
