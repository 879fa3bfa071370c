import pytest

from sim.script import Query, Wait
from sim.segments import Fact, Kind
from tests.policies.harness.declared import breaks, figures
from tests.policies.harness.histories import say, step, system, task, words

NAME = "openclaw"
SMALL = f"{NAME}:keep=1,long=400,end=80,note=5,least=0"
"""Results of more than 100 tokens are trimmed to 20 + 20 + 5."""


def rewritten(told):
    return [(row["turn"], *row["sources"], row["after"]) for row in told.rows("rewrite")]


def cold(turn, *more):
    """A pause before *turn*, and a word in it."""
    return [Wait(turn, 1_000.0), words(turn, 10), *more]


@pytest.mark.parametrize(("wait", "prunes"), [(279.0, False), (280.0, True)])
def test_trap_it_acts_only_where_the_cache_is_cold(play, wait, prunes):
    # The request of turn 2 goes out 20 seconds after that of turn 1, and the wait.
    told = play(SMALL, task(300), *step(1, 5, 200), Wait(2, wait), words(2, 10), budget=1_000)
    assert bool(told.rewritten()) is prunes


def test_trap_a_full_window_is_not_pruned_while_the_cache_is_warm(play):
    told = play(SMALL, task(50), *step(1, 5, 900), words(2, 10), words(3, 10), budget=1_000)
    assert told["rewrites"] == 0


@pytest.mark.parametrize(("rest", "trimmed"), [(84, False), (85, True)])
def test_trap_results_are_trimmed_from_three_tenths_of_the_window_on(play, rest, trimmed):
    # 5 + 200 + 10 and the rest are 299 or 300 of 1,000; tools and system prompt do not count.
    told = play(SMALL, system(500), task(rest), *step(1, 5, 200), *cold(2), budget=1_000)
    assert rewritten(told) == ([(2, "result-1", 45)] if trimmed else [])


def test_trap_fullness_is_of_characters_not_tokens(play):
    # 270 tokens of 1,000; but 200 of them have 6 characters each, so 1,480 of 4,000.
    session = [task(55), *step(1, 5, 200), *cold(2)]
    assert play(SMALL, *session, budget=1_000)["rewrites"] == 0
    told = play(SMALL, *session, budget=1_000, characters__tool_result=6.0)
    # 80 characters are 13 tokens.
    assert rewritten(told) == [(2, "result-1", 31)]
    # 400 tokens of 2 characters each: 1,080 of 4,000 though 470 of 1,000.
    session = [task(55), *step(1, 5, 400), *cold(2)]
    assert play(SMALL, *session, budget=1_000, characters__tool_result=2.0)["rewrites"] == 0


@pytest.mark.parametrize(("tokens", "trimmed"), [(1_000, False), (1_001, True)])
def test_a_result_is_long_above_4000_characters_and_keeps_1500_of_each_end(play, tokens, trimmed):
    spec = f"{NAME}:keep=1,least=0"
    told = play(spec, task(500), *step(1, 5, tokens), *cold(2), budget=4_000)
    assert rewritten(told) == ([(2, "result-1", 375 + 375 + 25)] if trimmed else [])


PLAIN = f"{NAME}:keep=1,long=9999,least=0,stub=10"


@pytest.mark.parametrize(("rest", "cleared"), [(179, []), (180, [(2, "result-1", 10)])])
def test_trap_results_are_cleared_from_one_half_on(play, rest, cleared):
    # 5 + 300 + 10 and the rest are 494 or 495 of 990.
    told = play(PLAIN, task(rest), *step(1, 5, 300), *cold(2), budget=990)
    assert rewritten(told) == cleared


@pytest.mark.parametrize(
    ("first", "second", "cleared"),
    [(300, 100, [(2, "result-a", 10)]), (100, 300, [(2, "result-a", 10), (2, "result-b", 10)])],
)
def test_clearing_begins_with_the_oldest_and_stops_below_one_half(play, first, second, cleared):
    # 600 of 1,000. Without 300 it is 310; without 100 it is 510, and the second goes as well.
    session = [task(180), *step(1, 5, first, "a"), *step(1, 5, second, "b")]
    assert rewritten(play(PLAIN, *session, *cold(2), budget=1_000)) == cleared


@pytest.mark.parametrize(("tokens", "cleared"), [(12_499, []), (12_500, ["result-1"])])
def test_trap_results_are_cleared_only_where_they_hold_50000_characters(play, tokens, cleared):
    spec = f"{NAME}:keep=1,long=99999"
    told = play(spec, task(500), *step(1, 5, tokens), *cold(2), budget=20_000)
    assert [source for _, source, _ in rewritten(told)] == cleared


def test_what_counts_for_clearing_is_what_trimming_left(play):
    # Trimmed, the result is 775, so 3,100 characters of 50,000, and 40,790 are more than one half.
    spec = f"{NAME}:keep=1"
    told = play(spec, task(40_000), *step(1, 5, 40_000), *cold(2), budget=81_000)
    assert rewritten(told) == [(2, "result-1", 775)]


def test_what_stands_in_front_of_the_first_message_of_the_user_stays(play):
    told = play(
        SMALL,
        *(*step(1, 5, 300, "early"), say(2, 50), *step(2, 5, 300, "late"), *cold(3)),
        budget=1_000,
    )
    assert rewritten(told) == [(3, "result-late", 45)]


def test_the_results_of_the_newest_turns_of_the_assistant_stay(play):
    told = play(
        f"{NAME}:long=400,end=80,note=5",
        *(task(50), *step(1, 5, 200), *step(2, 5, 200), *step(3, 5, 200), *cold(4)),
        budget=1_000,
    )
    assert rewritten(told) == [(4, "result-1", 45)]


def test_with_fewer_turns_than_that_nothing_goes(play):
    told = play(f"{NAME}:long=400,end=80", task(50), *step(1, 5, 800), *cold(2), budget=1_000)
    assert rewritten(told) == []


def test_the_next_request_shows_everything_again(play):
    told = play(
        SMALL, task(300), *step(1, 5, 200), *cold(2), words(3, 10), words(4, 10), budget=1_000
    )
    assert rewritten(told) == [(2, "result-1", 45)]
    assert [(row["turn"], row["segment"]) for row in told.rows("reveal")] == [(3, "result-1")]
    assert [told.sent(turn) for turn in (2, 3, 4)] == [360, 525, 535]
    assert told.window[:3] == ["task", "call-1", "result-1"]


def test_after_another_pause_it_prunes_again_from_the_whole(play):
    told = play(SMALL, task(300), *step(1, 5, 200), *cold(2), *cold(3), budget=1_000)
    assert rewritten(told) == [(2, "result-1", 45), (3, "result-1", 45)]


def test_what_was_read_anew_is_not_shown_twice(play):
    told = play(
        SMALL,
        *(task(300), *step(1, 5, 200, facts=(Fact("k", "v", "w", at=100),), copy=True), *cold(2)),
        *(Query(2, "q", "k", 1.0, ("result-1",)), words(3, 10), words(4, 10)),
        budget=1_000,
    )
    # It is fetched in turn 2, so that its text stands at the end, and the trimmed one in its place.
    assert [row["segment"] for row in told.rows("fetch")] == ["result-1"]
    assert told.rows("reveal") == []
    assert told.window == ["task", "call-1", "s1", "words-2", "result-1", "words-3", "words-4"]


@pytest.mark.parametrize(("tokens", "cleared"), [(10, []), (11, [(2, "result-1", 10)])])
def test_a_text_is_not_put_where_it_is_no_shorter(play, tokens, cleared):
    told = play(PLAIN, task(500), *step(1, 5, tokens), *cold(2), budget=1_000)
    assert rewritten(told) == cleared


def picture(name):
    return step(1, 5, 90, name, kind=Kind.IMAGE)


IMAGES = [task(100), *(a for n in "abcd" for a in picture(n)), *cold(2)]
"""Four images of 8,000 characters each, and 130 tokens."""


def test_of_images_the_newest_three_stay_and_older_ones_are_cleared(play):
    # 32,520 of 33,200 characters; a trimmed image there is not. Without a it is 24,560.
    told = play(f"{NAME}:keep=1,long=0,end=0,least=8000", *IMAGES, budget=8_300)
    assert rewritten(told) == [(2, "result-a", 10)]
    told = play(f"{NAME}:keep=1,least=8001", *IMAGES, budget=8_300)
    assert rewritten(told) == []
    told = play(f"{NAME}:keep=1,least=0,images=4", *IMAGES, budget=8_300)
    assert rewritten(told) == []


@pytest.mark.parametrize(("budget", "cleared"), [(16_260, ["result-a"]), (16_261, [])])
def test_an_image_counts_as_8000_characters(play, budget, cleared):
    # 32,520 are half of 4 x 16,260.
    told = play(f"{NAME}:keep=1,least=0", *IMAGES, budget=budget)
    assert [source for _, source, _ in rewritten(told)] == cleared


@pytest.mark.parametrize(("at", "outcome"), [(19, "correct"), (20, "abstained"), (180, "correct")])
def test_both_ends_of_a_trimmed_result_stay_and_the_log_gives_nothing_back(play, at, outcome):
    told = play(
        SMALL,
        *(task(300), *step(1, 5, 200, facts=(Fact("k", "v", "w", at=at),)), *cold(2)),
        Query(2, "q", "k", 1.0, ("result-1",)),
        budget=1_000,
    )
    assert [row["outcome"] for row in told.rows("answer")] == [outcome]


def test_it_knows_no_pins(play):
    told = play(
        SMALL, task(300), *step(1, 5, 200, pinned=True, taggable=False), *cold(2), budget=1_000
    )
    assert [row["tagged"] for row in told.rows("rewrite")] == [False]
    assert breaks(NAME) == {"ignores_pins", "spends", "untagged"}


def test_its_figures_are_those_of_the_source():
    assert figures(NAME) == {
        **{"ttl": "300", "soft": "0.3", "hard": "0.5", "keep": "3", "images": "3"},
        **{"long": "4000", "end": "1500", "least": "50000", "note": "25", "stub": "10"},
    }
