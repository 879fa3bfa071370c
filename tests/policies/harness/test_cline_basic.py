import pytest

from sim.script import Query
from sim.segments import Fact
from tests.policies.harness.declared import breaks, figures
from tests.policies.harness.histories import note, say, step, system, task

NAME = "cline-basic"


@pytest.mark.parametrize(("last", "listed"), [(299, []), (300, [("note-2", 100)])])
def test_it_acts_from_the_trigger_on(play, last, listed):
    told = play(NAME, system(100), task(500), note(2, last), budget=1_000)
    assert told.rewritten() == listed


def test_everything_that_was_typed_stays(play):
    told = play(
        f"{NAME}:keep=0",
        *(system(100), task(200), note(1, 400, "old"), say(1, 60), note(1, 200, "newer")),
        budget=1_000,
    )
    assert told.rewritten() == [("old", "newer", 100)]
    assert told.window == ["system", "task", "s1", "say-1"]


@pytest.mark.parametrize(("keep", "gone"), [(200, ("old",)), (199, ("old", "newer"))])
def test_the_newest_tokens_stay(play, keep, gone):
    told = play(
        f"{NAME}:keep={keep}",
        *(system(100), task(100), note(1, 500, "old"), note(1, 100, "newer")),
        note(1, 100, "newest"),
        budget=1_000,
    )
    assert told.rewritten() == [(*gone, 100)]


@pytest.mark.parametrize(("newest", "gone"), [(130, ("old",)), (131, ("old", "newest"))])
def test_fewer_stay_where_more_than_the_target_would_be_left(play, newest, gone):
    # 0.7 x 0.9 x 1,000 less system and prompt leaves 130.
    told = play(
        NAME,
        *(system(300), task(200), note(1, 300, "old"), note(1, newest, "newest")),
        budget=1_000,
    )
    assert told.rewritten() == [(*gone, 100)]


def test_a_result_goes_with_its_call(play):
    told = play(
        f"{NAME}:keep=150",
        *(task(100), note(1, 600, "old"), *step(1, 100, 100)),
        budget=1_000,
    )
    assert told.rewritten() == [("old", "call-1", "result-1", 100)]


@pytest.mark.parametrize(("tokens", "listed"), [(100, []), (101, [("old", 100)])])
def test_a_list_is_not_put_where_it_is_no_shorter(play, tokens, listed):
    told = play(f"{NAME}:keep=0", task(800), note(1, tokens, "old"), budget=1_000)
    assert told.rewritten() == listed


def test_the_list_before_is_part_of_the_next(play):
    told = play(
        f"{NAME}:keep=0", task(100), note(1, 800, "a"), note(2, 700, "b"), turns=4, budget=1_000
    )
    # 200 at turn 1 and 900 at turn 2; with one list of 100, 200 again.
    assert told.rewritten() == [("a", 100), ("s1", "b", 100)]
    assert [told.sent(turn) for turn in (1, 2, 3, 4)] == [200] * 4


def test_no_model_is_asked_and_nothing_leads_back(play):
    told = play(
        f"{NAME}:keep=0",
        *(task(100), note(1, 800, "old", facts=(Fact("k", "v", "w"),))),
        Query(2, "q", "k", 1.0, ("old",)),
        turns=2,
        budget=1_000,
        surrogate__keep=1.0,
    )
    assert [(row["asked"], row["tagged"], row["kept"]) for row in told.rows("rewrite")] == [
        (False, False, ())
    ]
    assert told.rows("maintain") == []
    assert (told["fetches"], told["correct"]) == (0, 0)


def test_where_the_provider_refuses_it_acts_too(play):
    told = play(NAME, system(100), task(200), note(2, 900, "old"), budget=1_000, count__by="usage")
    assert [(*row["sources"], row["by"]) for row in told.rows("rewrite")] == [
        ("old", "on_overflow")
    ]
    assert told.truncated() == []


def test_it_knows_no_pins(play):
    told = play(f"{NAME}:keep=0", task(100), note(1, 800, "rule", pinned=True), budget=1_000)
    assert told.rewritten() == [("rule", 100)]
    assert breaks(NAME) == {"ignores_pins", "spends", "untagged"}


def test_its_figures_are_those_of_the_source():
    assert figures(NAME) == {
        **{"cap": "on", "trigger": "0.9", "target": "0.7", "keep": "20000"},
        "list": "100",
    }
