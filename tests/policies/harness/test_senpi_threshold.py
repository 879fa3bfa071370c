"""senpi-threshold, by hand: what is hidden, at which usage, and when it is shown again."""

import pytest

from sim.script import Arrival
from sim.segments import Kind


def step(turn, tokens):
    """A call of 10 tokens and its result."""
    about = {"pair": f"p{turn}", "tool": "read"}
    return [
        Arrival(turn, f"c{turn}", Kind.TOOL_CALL, 10, 0.5, **about),
        Arrival(turn, f"r{turn}", Kind.TOOL_RESULT, tokens, 0.5, **about),
    ]


def say(turn, tokens):
    return Arrival(turn, f"say{turn}", Kind.ASSISTANT, tokens, 0.5)


SMALL = "senpi-threshold:keep=1,stub=5"
FULL = [*step(1, 100), *step(2, 810)]
"""930 tokens; r1 can be hidden for 5."""


def sent(told, turns):
    return [told.sent(turn) for turn in turns]


@pytest.mark.parametrize(("tokens", "hides"), [(19, False), (20, True), (21, True)])
def test_trap_it_hides_at_the_threshold(play, tokens, hides):
    """930 and the message are 949, 950 or 951 of 1,000; the threshold is 950."""
    told = play(SMALL, *FULL, say(3, tokens), budget=1_000)
    assert told.rewritten() == ([("r1", 5)] if hides else [])
    assert told.sent(3) == 930 + tokens - (95 if hides else 0)


def test_one_threshold_toggles(play):
    """950, hidden 855; 856, shown 951; 952, hidden 857; 858, shown 953."""
    more = [say(turn, 1) for turn in range(4, 7)]
    told = play(SMALL, *FULL, say(3, 20), *more, budget=1_000)
    assert sent(told, range(3, 7)) == [855, 951, 857, 953]
    assert told["edit_turns"] == 4
    assert [(row["turn"], row["segment"]) for row in told.rows("reveal")] == [(4, "r1"), (6, "r1")]
    assert told.window == ["c1", "r1", "c2", "r2", "say3", "say4", "say5", "say6"]


def test_a_second_threshold_ends_the_toggling(play):
    """855 and what follows stays above 850."""
    more = [say(turn, 1) for turn in range(4, 7)]
    told = play(f"{SMALL},stop=0.85", *FULL, say(3, 20), *more, budget=1_000)
    assert sent(told, range(3, 7)) == [855, 856, 857, 858]
    assert told["edit_turns"] == 1


@pytest.mark.parametrize(("stop", "shown"), [(0.856, False), (0.857, True)])
def test_below_the_second_threshold_it_shows_again(play, stop, shown):
    """Turn 4 is found at 856: that is not below 856."""
    told = play(f"{SMALL},stop={stop}", *FULL, say(3, 20), say(4, 1), budget=1_000)
    assert told.sent(4) == (951 if shown else 856)


def test_the_share_is_of_the_window_with_its_reserve(play):
    """W is 1,100, so 950 are no 0.95 of it."""
    told = play(SMALL, *FULL, say(3, 20), budget=1_000, output__reserve=100)
    assert told["edit_turns"] == 0


def test_the_newest_results_stay(play):
    told = play("senpi-threshold:keep=2,stub=5", *step(1, 50), *FULL[2:], *step(3, 90), budget=980)
    assert told.rewritten() == [("r1", 5)]


def test_a_stub_states_nothing_and_leads_to_what_it_hides(play):
    told = play(SMALL, *FULL, say(3, 20), budget=1_000, surrogate__keep=1.0)
    (row,) = told.rows("rewrite")
    assert (row["tagged"], row["asked"]) == (True, False)


def test_a_refused_request_is_hidden_in(play):
    """By the last usage turn 3 has 940; the provider refuses 1,020, and all but r3 is hidden."""
    told = play(SMALL, *FULL, *step(3, 80), budget=1_000, count__by="usage")
    assert told.rewritten(3) == [("r1", 5), ("r2", 5)]
    assert told.sent(3) == 1_020 - 95 - 805
