import pytest

from sim.script import Query, Wait
from sim.segments import Fact, Kind
from tests.policies.harness.declared import breaks, figures
from tests.policies.harness.histories import say, step, task, words

NAME = "claude-code-microcompact"


def steps(last, size=100, first=1, **more):
    return [a for turn in range(first, last + 1) for a in step(turn, 5, size, **more)]


def cleared(told):
    return [(row["turn"], *row["sources"], row["after"]) for row in told.rows("rewrite")]


@pytest.mark.parametrize(("wait", "gone"), [(3_579.0, []), (3_580.0, [1, 2])])
def test_trap_it_clears_after_a_pause_of_an_hour_all_but_the_newest_five(play, wait, gone):
    # The request of turn 8 goes out 20 seconds after that of turn 7, and the wait.
    told = play(NAME, *steps(7), Wait(8, wait), say(8, 10), budget=10_000)
    assert cleared(told) == [(8, f"result-{n}", 8) for n in gone]


def test_trap_however_full_the_window_is_it_waits_for_the_pause(play):
    told = play(f"{NAME}:keep=0", task(100), *steps(8), turns=20, budget=940)
    assert told["rewrites"] == 0


def test_the_first_request_comes_after_no_pause(play):
    told = play(f"{NAME}:keep=0", *steps(1), Wait(1, 9_000.0), budget=10_000)
    assert told["rewrites"] == 0


def test_what_it_cleared_stays_cleared_and_the_next_pause_takes_the_next(play):
    told = play(
        f"{NAME}:keep=2",
        *(*steps(3), Wait(4, 4_000.0), words(4, 10), *steps(7, first=5)),
        *(Wait(9, 4_000.0), words(9, 10)),
        turns=10,
        budget=10_000,
    )
    # 2 and 3 were the newest before; of 5 to 7 it is 6 and 7.
    assert cleared(told) == [(4, "result-1", 8), *((9, f"result-{n}", 8) for n in (2, 3, 5))]
    assert told.rows("reveal") == []


def test_files_are_results_and_words_are_none(play):
    told = play(
        f"{NAME}:keep=0",
        *(task(100), say(1, 100), words(1, 100)),
        *step(1, 100, 100, kind=Kind.FILE, path="a.py"),
        *(Wait(2, 4_000.0), words(2, 10)),
        budget=10_000,
    )
    assert cleared(told) == [(2, "result-1", 8)]


@pytest.mark.parametrize(("tokens", "gone"), [(8, []), (9, [(2, "result-1", 8)])])
def test_a_text_is_not_put_where_it_is_no_shorter(play, tokens, gone):
    told = play(f"{NAME}:keep=0", *steps(1, tokens), Wait(2, 4_000.0), words(2, 1), budget=10_000)
    assert cleared(told) == gone


@pytest.mark.parametrize(("copy", "outcome"), [(True, "correct"), (False, "abstained")])
def test_what_went_has_to_be_read_again(play, copy, outcome):
    told = play(
        f"{NAME}:keep=0",
        *(*steps(1, facts=(Fact("k", "v", "w"),), copy=copy), Wait(2, 4_000.0)),
        Query(2, "q", "k", 1.0, ("result-1",)),
        turns=2,
        budget=10_000,
    )
    assert [row["outcome"] for row in told.rows("answer")] == [outcome]
    assert told["fetches"] == copy


def test_it_knows_no_pins(play):
    told = play(
        f"{NAME}:keep=0",
        *(*steps(1, pinned=True, taggable=False), Wait(2, 4_000.0), words(2, 10)),
        budget=10_000,
    )
    assert [row["tagged"] for row in told.rows("rewrite")] == [False]
    assert breaks(NAME) == {"ignores_pins", "spends", "untagged"}


def test_its_figures_are_those_that_were_reported():
    assert figures(NAME) == {"cap": "on", "idle": "3600", "keep": "5", "stub": "8"}
