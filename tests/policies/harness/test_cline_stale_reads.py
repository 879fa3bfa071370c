import pytest

from sim.script import Query, Write
from sim.segments import Fact, Kind
from tests.policies.harness.declared import breaks, figures
from tests.policies.harness.histories import step

NAME = "cline-stale-reads"


def read(turn, path="a.py", tokens=100, name=None, **more):
    return step(turn, 5, tokens, name, kind=Kind.FILE, path=path, **more)


def cleared(told):
    return [(row["turn"], *row["sources"]) for row in told.rows("rewrite")]


@pytest.mark.parametrize(
    ("first", "gone"), [(383, []), (384, [(2, f"result-{n:02}") for n in range(9)])]
)
def test_trap_it_waits_for_65536_characters(play, first, gone):
    # 8 reads of 2,000 tokens and one of 384 are 16,384, by 4 characters each 65,536.
    sizes = (*[2_000] * 8, first)
    old = [a for n, size in enumerate(sizes) for a in read(1, f"{n}", size, f"{n:02}")]
    new = [a for n in range(9) for a in read(2, f"{n}", 10, f"{n:02}-again")]
    told = play(NAME, *old, *new, turns=3, budget=100_000)
    assert cleared(told) == gone


@pytest.mark.parametrize(("characters", "gone"), [(4.0, []), (5.0, [(2, "result-1")])])
def test_trap_its_batch_is_of_characters_not_tokens(play, characters, gone):
    told = play(f"{NAME}:batch=500", *read(1), *read(2), budget=10_000, characters__file=characters)
    assert cleared(told) == gone


def test_all_that_is_outdated_goes_together_and_then_it_waits_again(play):
    # 400 characters each: two at turn 3, two more at turn 5.
    told = play(f"{NAME}:batch=800", *(a for t in range(1, 7) for a in read(t)), budget=10_000)
    assert cleared(told) == [(3, "result-1"), (3, "result-2"), (5, "result-3"), (5, "result-4")]
    assert told["edit_turns"] == 2


def test_the_newest_read_of_each_file_stays(play):
    told = play(
        f"{NAME}:batch=1", *read(1), *read(2, "b.py"), *read(3), *step(4, 5, 100), budget=10_000
    )
    assert cleared(told) == [(3, "result-1")]


def test_a_write_alone_outdates_nothing(play):
    told = play(f"{NAME}:batch=1", *read(1), Write(2, "a.py"), turns=3, budget=10_000)
    assert cleared(told) == []


@pytest.mark.parametrize(("tokens", "after"), [(10, []), (11, [("result-1", 10)])])
def test_a_note_is_not_put_where_it_is_no_shorter(play, tokens, after):
    told = play(f"{NAME}:batch=0", *read(1, tokens=tokens), *read(2), budget=10_000)
    assert told.rewritten() == after


def test_the_newest_copy_still_answers_and_nothing_is_fetched(play):
    facts = (Fact("k", "v", "w"),)
    told = play(
        f"{NAME}:batch=1",
        *(*read(1, facts=facts, copy=True), *read(2, facts=facts, copy=True)),
        Query(3, "q", "k", 1.0, ("result-2",)),
        turns=3,
        budget=10_000,
    )
    assert cleared(told) == [(2, "result-1")]
    assert (told["correct"], told["fetches"]) == (1, 0)


def test_it_knows_no_pins(play):
    told = play(f"{NAME}:batch=1", *read(1, pinned=True, taggable=False), *read(2), budget=10_000)
    assert [row["tagged"] for row in told.rows("rewrite")] == [False]
    assert breaks(NAME) == {"ignores_pins", "spends", "untagged"}


def test_its_figures_are_those_of_the_source():
    assert figures(NAME) == {"cap": "on", "batch": "65536", "stub": "10"}
