import pytest

from sim.segments import Kind
from tests.policies.harness.declared import breaks, figures
from tests.policies.harness.histories import note, say, step, system, task, words

NAME = "cline-classic"


def read(turn, tokens, path="a.py", name=None):
    return step(turn, 5, tokens, name, kind=Kind.FILE, path=path)


def talk(count, tokens, first=0):
    """*count* messages, of the user and of the model in turn."""
    return [(words if at % 2 else say)(1, tokens, f"m{at}") for at in range(first, first + count)]


def gone(told):
    return [name for name, _ in told.evicted()]


@pytest.mark.parametrize(
    ("window", "limit"),
    [
        (64_000, 37_000),
        (128_000, 98_000),
        (200_000, 160_000),
        (100_000, 80_000),  # 0.8 W, more than 60,000
        (300_000, 260_000),  # W less 40,000, more than 240,000
    ],
)
def test_trap_each_window_has_its_limit_and_it_is_met_at_it(play, window, limit):
    # Behind m0 and m1 stand m2 to m5 and the note: half of 5 messages, an even number, are 2.
    told = play(NAME, *talk(6, 10), note(2, limit - 61), budget=window)
    assert gone(told) == []
    told = play(NAME, *talk(6, 10), note(2, limit - 60), budget=window)
    assert gone(told) == ["m2", "m3"]


def test_the_window_is_the_budget_with_what_is_left_for_the_answer(play):
    session = [*talk(6, 10), note(2, 36_940)]
    assert gone(play(NAME, *session, budget=56_000, output__reserve=8_000)) == ["m2", "m3"]
    # Of 56,000 it is 44,800.
    assert gone(play(NAME, *session, budget=56_000)) == []


@pytest.mark.parametrize(("count", "dropped"), [(5, 2), (8, 4), (9, 4), (11, 4), (12, 6)])
def test_half_of_the_messages_behind_the_first_two_go_and_an_even_number(play, count, dropped):
    # 920 of 1,000. The note is one message with a word of the user in front of it, else its own:
    # there are 5, 9, 9, 11 and 13.
    rest = [*talk(count, 60, first=2), note(2, 900 - 60 * count)]
    told = play(NAME, *talk(2, 10), *rest, budget=1_000)
    assert gone(told) == [f"m{n}" for n in range(2, 2 + dropped)]


def test_it_drops_again_only_at_the_limit_again(play):
    told = play(
        NAME,
        *(*talk(10, 80), note(2, 1), note(3, 318), note(4, 1)),
        budget=1_000,
    )
    # 800 at turn 1: 4 of 8 go, and 480 are left. 481, 799, 800: of the 4 words and the notes 2 go.
    assert [(row["turn"], row["segment"]) for row in told.rows("evict")] == [
        *((1, f"m{n}") for n in (2, 3, 4, 5)),
        *((4, f"m{n}") for n in (6, 7)),
    ]


def test_tools_and_system_prompt_and_the_first_exchange_stay(play):
    told = play(
        NAME,
        *(system(100), task(100), words(1, 50, "first"), *step(1, 50, 100)),
        *(say(2, 100), words(2, 100), say(3, 100), words(3, 100), say(4, 100)),
        budget=1_000,
    )
    # The result and say-2 are one message, words-2, say-3, words-3 and say-4 the other four: two
    # go. The call leaves with its result.
    assert told.window == ["system", "task", "first", "say-3", "words-3", "say-4"]


@pytest.mark.parametrize(("budget", "dropped"), [(1_000, 6), (1_250, 4)])
def test_trap_three_quarters_go_where_half_of_the_tokens_are_over_the_limit(play, budget, dropped):
    # Taken for 2,000. The limits are 800 and 1,000, and 1,000 are not over the second.
    told = play(
        NAME,
        *talk(10, 100),
        budget=budget,
        count__by="estimate",
        estimate__user=2.0,
        estimate__assistant=2.0,
    )
    assert gone(told) == [f"m{n}" for n in range(2, 2 + dropped)]


def test_where_the_provider_refuses_a_quarter_stays(play):
    # By the last usage turn 2 has 700. Behind the first two stand 8 messages and the note, of which
    # three quarters are 6.75.
    told = play(NAME, *talk(10, 70), note(2, 400), budget=1_000, count__by="usage")
    assert gone(told) == [f"m{n}" for n in range(2, 8)]
    assert told.truncated() == []


def test_reads_that_were_read_again_go_first_and_may_be_enough(play):
    told = play(NAME, task(100), *read(1, 300), *read(2, 390), turns=4, budget=1_000)
    # 800 with the calls; 275 of them saved are 34 %.
    assert [(row["turn"], *row["sources"], row["after"]) for row in told.rows("rewrite")] == [
        (2, "result-1", 25)
    ]
    assert gone(told) == []


def twice(play, first, second, **more):
    """800 tokens: a file is read twice, and 25 tokens are put in the place of the first read."""
    said = [words(1, 10), say(2, 10), words(2, 10), say(3, 10), words(3, 10)]
    session = [task(740 - first - second), *read(1, first), *said, *read(4, second, name="2")]
    told = play(NAME, *session, budget=1_000, **more)
    assert told.rewritten() == [("result-1", 25)]
    return gone(told)


HALF = ["call-1", "s1", "say-2", "words-2"]
"""Of 5 messages behind the first two the first 2, and the call of the result in them."""


@pytest.mark.parametrize(("first", "dropped"), [(264, HALF), (265, [])])
def test_reads_are_enough_from_three_tenths_on(play, first, dropped):
    # 239 or 240 of 800.
    assert sorted(twice(play, first, 440)) == dropped


def test_trap_the_thirty_percent_are_of_characters_not_of_tokens(play):
    # 265 tokens of 800 are 33 %. Where words have 90 characters, 1,060 of 7,500 are 14 %.
    assert twice(play, 290, 440) == []
    assert sorted(twice(play, 290, 440, characters__user=90.0, characters__assistant=90.0)) == HALF
    # 175 of 800 are 22 %. Where files have 16 characters, 2,800 of 8,000 are 35 %.
    assert sorted(twice(play, 200, 200)) == HALF
    assert twice(play, 200, 200, characters__file=16.0) == []


def test_its_rule_for_reads_can_be_switched_off(play):
    told = play(f"{NAME}:reads=off", task(100), *read(1, 300), *read(2, 390), budget=1_000)
    assert told["rewrites"] == 0


def test_it_knows_no_pins():
    assert breaks(NAME) == {"ignores_pins", "spends", "untagged"}


def test_its_figures_are_those_of_the_source():
    assert figures(NAME) == {"cap": "on", "reads": "on", "saved": "0.3", "stub": "25"}
