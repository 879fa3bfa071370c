import pytest

from policies.registry import make, options
from sim.errors import InputError
from sim.segments import Kind
from tests.policies.harness.histories import note, step, system, task


def notes(count):
    return [note(t, 100) for t in range(1, count + 1)]


@pytest.mark.parametrize(("events", "turns"), [(8, []), (9, [8])])
def test_trap_it_acts_above_max_size_not_at_it(play, events, turns):
    told = play(
        "openhands-llm-summarizing:max_size=8", system(100), *notes(events - 1), budget=9_000
    )
    assert [row["turn"] for row in told.rows("rewrite")] == turns


def test_first_summary_and_tail_are_half(play):
    told = play("openhands-llm-summarizing:max_size=8", system(100), *notes(8), budget=9_000)
    # 4 / 2: the first, the summary and a tail of 2.
    assert told.window == ["system", "s1", "note-7", "note-8"]
    assert told.rewritten() == [(*(f"note-{n}" for n in range(1, 7)), 30)]


def test_the_summary_before_is_fed_in(play):
    told = play("openhands-llm-summarizing:max_size=8", system(100), *notes(13), budget=9_000)
    first, second = told.rewritten()
    assert (first[0], second[0]) == ("note-1", "s1")
    assert told.window == ["system", "s2", "note-12", "note-13"]


@pytest.mark.parametrize(("characters", "shown"), [(4.0, 10), (8.0, 5)])
def test_trap_each_event_is_shown_to_a_limit_of_characters_not_tokens(play, characters, shown):
    told = play(
        "openhands-llm-summarizing:max_size=8,event=40",
        *(system(100), *notes(8)),
        budget=9_000,
        **{f"characters__{kind}": characters for kind in Kind},
    )
    assert [row["input"] for row in told.rows("maintain")] == [6 * shown]


def test_no_call_loses_its_result(play):
    told = play(
        "openhands-llm-summarizing:max_size=8",
        system(100),
        *notes(5),
        *step(6, 10, 100),
        note(7, 100),
        budget=9_000,
    )
    assert told.window == ["system", "s1", "call-6", "result-6", "note-7"]


def test_trap_the_default_keeps_one_event_and_the_interface_sets_four(play):
    default = {o.name: o.default for o in options("openhands-llm-summarizing")}
    assert (default["max_size"], default["keep_first"]) == ("100", "1")
    many = [note(1, 5, f"n{n}") for n in range(119)]
    told = play(
        "openhands-llm-summarizing:max_size=120,keep_first=4", system(9), task(9), *many, budget=900
    )
    # 121 events: 4, the summary and 60 - 4 - 1 = 55.
    assert told.window == ["system", "task", "n0", "n1", "s1", *(f"n{n}" for n in range(64, 119))]


def test_a_tail_must_be_left():
    with pytest.raises(InputError, match="keep_first 3 leaves no tail of the 4 events"):
        make("openhands-llm-summarizing:max_size=8,keep_first=3")
