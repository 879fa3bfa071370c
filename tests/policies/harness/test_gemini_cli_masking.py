import pytest

from sim.script import Query
from sim.segments import Fact
from tests.policies.harness.declared import breaks, figures
from tests.policies.harness.histories import step, task, words

NAME = "gemini-cli-masking"
SMALL = f"{NAME}:protect=100,characters=40"
"""Of results of 60 tokens the newest stays; 40 characters are 10 tokens, and a preview has 28."""


def steps(last, size=60, first=1, **more):
    return [a for turn in range(first, last + 1) for a in step(turn, 5, size, **more)]


def masked(told):
    return [(row["turn"], *row["sources"]) for row in told.rows("rewrite")]


@pytest.mark.parametrize(("batch", "gone"), [(120, ["result-2", "result-1"]), (121, [])])
def test_it_acts_from_its_batch_on(play, batch, gone):
    # At turn 4 result 3 is protected, and result 2 with it makes 120, more than 100: it goes.
    told = play(f"{SMALL},batch={batch}", *steps(4), budget=10_000)
    assert told.rewritten() == [(name, 28) for name in gone]


@pytest.mark.parametrize(
    ("protect", "gone"),
    [(120, [(4, "result-1")]), (119, [(3, "result-1"), (4, "result-2")])],
)
def test_the_result_that_exceeds_the_newest_goes_too(play, protect, gone):
    told = play(f"{NAME}:protect={protect},characters=40,batch=1", *steps(4), budget=10_000)
    assert masked(told) == gone


def test_what_came_in_this_turn_neither_counts_nor_goes(play):
    # Of 60 each, 1 to 3 of turn 1 are looked at in turn 2: 2 and 1 are behind the newest.
    told = play(
        f"{SMALL},batch=100",
        *(a for n in "abc" for a in step(1, 5, 60, n)),
        *step(2, 5, 600, "d"),
        budget=10_000,
    )
    assert masked(told) == [(2, "result-b"), (2, "result-a")]


def test_one_batch_at_a_time_and_what_is_masked_counts_no_more(play):
    told = play(f"{SMALL},batch=120", *steps(8), budget=10_000)
    assert masked(told) == [
        *((4, "result-2"), (4, "result-1")),
        *((6, "result-4"), (6, "result-3")),
        *((8, "result-6"), (8, "result-5")),
    ]
    assert told["edit_turns"] == 3


def test_trap_at_least_30000_tokens_behind_the_newest_50000_and_the_latest_turn(play):
    # Of 10,000 each, the newest five of turns 1 to 8 are 50,000, and the other three go at turn 9.
    told = play(NAME, *steps(9, 10_000), turns=9, budget=1_000_000)
    assert masked(told) == [(9, "result-3"), (9, "result-2"), (9, "result-1")]
    told = play(NAME, *step(1, 5, 9_999), *steps(9, 10_000, first=2), turns=9, budget=1_000_000)
    assert masked(told) == []


def test_a_preview_is_250_characters_of_each_end_and_a_path(play):
    told = play(NAME, *steps(9, 10_000), turns=9, budget=1_000_000)
    # 250 characters are 62 tokens, the path 8.
    assert [after for *_, after in told.rewritten()] == [132] * 3


def test_a_preview_of_a_command_is_10_lines_of_each_end(play):
    told = play(NAME, *steps(9, 10_000, tool="run_shell_command"), turns=9, budget=1_000_000)
    # 10 lines of 40 characters are 100 tokens.
    assert [after for *_, after in told.rewritten()] == [208] * 3


@pytest.mark.parametrize(("size", "gone"), [(28, []), (29, ["result-2", "result-1"])])
def test_what_has_no_more_than_its_preview_stays_as_it_is(play, size, gone):
    told = play(f"{NAME}:protect=0,characters=40,batch={2 * size}", *steps(3, size), budget=10_000)
    assert [source for _, source in masked(told)] == gone


@pytest.mark.parametrize("tool", ["ask_user", "enter_plan_mode", "activate_skill"])
def test_some_tools_are_never_masked_and_do_not_count(play, tool):
    told = play(
        f"{NAME}:protect=0,characters=40,batch=60",
        *(*step(1, 5, 60, tool=tool), *step(2, 5, 59), *step(3, 5, 60)),
        budget=10_000,
    )
    assert masked(told) == []


def test_only_results_are_masked(play):
    told = play(f"{NAME}:protect=0,batch=1", task(900), words(1, 900), turns=3, budget=10_000)
    assert told.rewritten() == []


@pytest.mark.parametrize(("at", "fetches"), [(9, 0), (10, 1), (49, 1), (50, 0)])
def test_both_ends_stay_and_the_file_has_the_rest_without_a_copy_before(play, at, fetches):
    told = play(
        f"{NAME}:protect=0,characters=40,batch=60",
        *step(1, 5, 60, facts=(Fact("k", "v", "w", at=at),)),
        Query(3, "q", "k", 1.0, ("result-1",)),
        turns=3,
        budget=10_000,
        rehydrate__threshold=9.0,
    )
    assert masked(told) == [(2, "result-1")]
    assert (told["fetches"], told["correct"]) == (fetches, 1)


def test_it_knows_no_pins(play):
    told = play(
        f"{NAME}:protect=0,characters=40,batch=60",
        *step(1, 5, 60, pinned=True, taggable=False),
        turns=2,
        budget=10_000,
    )
    assert [row["tagged"] for row in told.rows("rewrite")] == [False]
    assert breaks(NAME) == {"ignores_pins", "spends", "untagged"}


def test_its_figures_are_those_of_the_source():
    assert figures(NAME) == {
        **{"cap": "on", "protect": "50000", "batch": "30000"},
        **{"characters": "250", "lines": "10", "exempt": "ask+plan+skill"},
    }
