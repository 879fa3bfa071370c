import pytest

from sim.script import Query
from sim.segments import Fact
from tests.policies.harness.declared import breaks, figures
from tests.policies.harness.histories import note, say, step, system, task, words

NAME = "roo-truncation"
SMALL = f"{NAME}:reserve=0"
"""At 1,000 tokens it acts above 900."""


def notes(count, tokens):
    return [note(1, tokens, f"n{at}") for at in range(count)]


def gone(told):
    return [name for name, _ in told.evicted()]


@pytest.mark.parametrize(("last", "hidden"), [(3_208, []), (3_209, ["n0", "n1"])])
def test_trap_it_acts_above_what_buffer_and_reserve_leave_not_at_it(play, last, hidden):
    # 0.9 x 20,000 less 8,192 are 9,808.
    session = [system(50), task(50), *notes(5, 1_300), note(2, last)]
    assert gone(play(NAME, *session, budget=20_000)) == hidden


def test_the_share_is_of_the_window_with_what_is_left_for_the_answer(play):
    session = [task(50), *notes(4, 225)]
    assert gone(play(SMALL, *session, budget=1_000)) == ["n0", "n1"]
    # 0.9 x 1,100 are 990.
    assert gone(play(SMALL, *session, budget=1_000, output__reserve=100)) == []


@pytest.mark.parametrize(
    ("count", "hidden"), [(3, 0), (4, 2), (5, 2), (6, 2), (7, 2), (8, 4), (11, 4), (12, 6)]
)
def test_trap_half_of_the_messages_behind_the_first_is_an_even_number(play, count, hidden):
    session = [task(50), *notes(count - 1, 50), note(1, 901 - 50 * count, "last")]
    assert gone(play(SMALL, *session, budget=1_000)) == [f"n{n}" for n in range(hidden)]


def test_the_first_message_and_the_system_prompt_stay_and_nothing_takes_the_place(play):
    told = play(SMALL, system(100), say(1, 100, "first"), *notes(4, 190), turns=3, budget=1_000)
    assert told.window == ["system", "first", "n2", "n3"]
    assert told["rewrites"] == 0


def test_what_the_model_said_in_one_turn_is_one_message(play):
    told = play(
        SMALL,
        *(task(100), words(1, 100), *step(1, 50, 300), words(2, 100), say(2, 251)),
        budget=1_000,
    )
    # Words and call, result, words, say: the first two of four.
    assert gone(told) == ["words-1", "call-1", "result-1"]


def test_a_call_takes_its_result_along(play):
    told = play(
        SMALL,
        *(task(100), note(1, 100, "n"), *step(1, 50, 300), say(2, 100), say(3, 251)),
        budget=1_000,
    )
    # Of n, call, result and two of the user half are 2.5.
    assert gone(told) == ["n", "call-1", "result-1"]


def test_it_hides_again_only_above_it_again(play):
    told = play(SMALL, task(1), *notes(8, 100), note(2, 100), note(3, 400), turns=4, budget=1_000)
    # 901 at turn 2 less 400 are 501; at turn 3 it is 901 again, with six messages.
    assert [(row["turn"], row["segment"]) for row in told.rows("evict")] == [
        *((2, f"n{n}") for n in (0, 1, 2, 3)),
        *((3, f"n{n}") for n in (4, 5)),
    ]


def test_where_the_provider_refuses_a_quarter_goes_up_to_three_times(play):
    session = [task(100), *(note(2, 100, f"n{n}") for n in range(16))]
    told = play(SMALL, *session, budget=1_000, count__by="usage", strict=False)
    # A quarter of 16 are 4, of 12 are 3 and so 2, of 10 are 2: 900 are left.
    assert gone(told) == [f"n{n}" for n in range(8)]
    told = play(SMALL, *session, budget=850, count__by="usage", strict=False)
    assert gone(told) == [f"n{n}" for n in range(8)]
    assert told.truncated() != []


def test_it_hides_no_more_once_the_request_fits(play):
    session = [task(100), *(note(2, 100, f"n{n}") for n in range(12))]
    # A quarter of 12 are 3, so 2 go, and 1,100 are left.
    told = play(SMALL, *session, budget=1_100, count__by="usage")
    assert gone(told) == ["n0", "n1"]


def test_what_is_hidden_is_gone_for_the_model(play):
    told = play(
        SMALL,
        *(task(1), note(1, 300, "old", facts=(Fact("k", "v", "w"),)), *notes(3, 200)),
        Query(2, "q", "k", 1.0, ("old",)),
        turns=2,
        budget=1_000,
    )
    assert gone(told) == ["old", "n0"]
    assert told["fetches"] == 0
    assert [row["outcome"] for row in told.rows("answer")] == ["abstained"]


def test_it_knows_no_pins(play):
    session = [task(1), note(1, 300, "rule", pinned=True), *notes(3, 200)]
    told = play(SMALL, *session, budget=1_000)
    assert gone(told) == ["rule", "n0"]
    assert breaks(NAME) == {"ignores_pins"}


def test_its_figures_are_those_of_the_source():
    assert figures(NAME) == {
        **{"cap": "on", "buffer": "0.1", "reserve": "8192", "hidden": "0.5"},
        **{"overflow": "0.75", "tries": "3"},
    }
