import pytest

from tests.policies.harness.histories import note, say, step, system, words


def talk(count, tokens, turn=1):
    """*count* messages of the user and the model in turn, the model's odd."""
    return [(words if at % 2 else say)(turn, tokens, f"m{at}") for at in range(count)]


@pytest.mark.parametrize(("last", "turns"), [(90, []), (91, [1])])
def test_trap_it_acts_after_a_step_above_the_trigger_not_at_it(play, last, turns):
    told = play("letta", system(10), *talk(8, 100), words(1, last, "last"), turns=2, budget=1_000)
    assert [row["turn"] for row in told.rows("rewrite")] == turns


def test_trap_the_first_try_is_forty_percent(play):
    told = play("letta", system(50), *talk(9, 95), turns=2, budget=1_000)
    # 10 messages with the system prompt: the step is added before the first try, and 40 % are 4,
    # of which message 4, m3, is the model's and stays. 50 + 6 x 95 = 620 are below 700.
    assert told.rewritten() == [("m0", "m1", "m2", 14)]


def test_it_goes_on_in_tenths_until_below_seventy_percent_of_the_window(play):
    told = play("letta", system(350), *talk(9, 65), turns=2, budget=1_000)
    # At 40 %: 350 + 6 x 65 = 740. At 50 %, up to message 5: the model's newest is 4 again. At 60 %,
    # up to message 6: from m5 on, 350 + 4 x 65 = 610.
    assert told.rewritten() == [("m0", "m1", "m2", "m3", "m4", 16)]


def test_with_no_word_of_the_model_all_is_summarised(play):
    told = play("letta", system(50), *(note(1, 300, n) for n in "abc"), turns=2, budget=1_000)
    assert told.rewritten() == [("a", "b", "c", 45)]


def test_a_refused_request_is_compacted_up_to_three_times(play):
    told = play("letta", system(50), *talk(9, 120), budget=1_000)
    assert [row["by"] for row in told.rows("rewrite")] == ["on_overflow"]
    assert told.truncated() == []
    told = play("letta", system(900), *talk(9, 120), budget=1_000, compaction__share=0.5)
    assert len(told.rows("rewrite", 1)) == 3


@pytest.mark.parametrize(("characters", "left"), [(4.0, 10), (8.0, 5)])
def test_trap_the_summary_is_clipped_at_characters_not_tokens(play, characters, left):
    told = play(
        "letta:clip=40,share=0.5",
        *(system(50), *talk(9, 95)),
        turns=2,
        budget=1_000,
        characters__summary=characters,
    )
    assert [after for *_, after in told.rewritten()] == [left]


def test_where_the_summariser_overflows_results_are_shown_less_of(play):
    told = play(
        "letta:results=400",
        *(system(10), words(1, 50, "w"), *step(1, 10, 970)),
        budget=1_000,
    )
    # 1,030 and 51 of output do not fit into 1,000; 50 + 10 + 100 do.
    assert [row["why"] for row in told.rows("wasted")] == ["overflow"]
    assert [row["input"] for row in told.rows("maintain")] == [160]
