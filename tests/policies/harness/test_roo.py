import pytest

from sim.script import Arrival
from sim.segments import Kind
from tests.policies.harness.histories import note, system, task


@pytest.mark.parametrize(("last", "rewrites"), [(9_708, 0), (9_709, 1)])
def test_trap_it_acts_above_what_buffer_and_reserve_leave_not_at_it(play, last, rewrites):
    # 0.9 x 20,000 less 8,192 are 9,808.
    told = play("roo", system(50), task(50), note(2, last), budget=20_000)
    assert told["rewrites"] == rewrites


@pytest.mark.parametrize(("last", "rewrites"), [(399, 0), (400, 1)])
def test_trap_a_threshold_is_met_at_it(play, last, rewrites):
    told = play("roo:threshold=0.5,reserve=0", system(50), task(50), note(2, last), budget=1_000)
    assert told["rewrites"] == rewrites


def test_everything_becomes_a_summary_with_signatures(play):
    told = play(
        "roo:reserve=0",
        *(system(50), task(100)),
        Arrival(1, "file", Kind.FILE, 400, 1.0, path="a.py", copy=True),
        note(2, 400),
        budget=1_000,
    )
    # A twentieth of 900, and a tenth of what was read.
    assert told.rewritten() == [("task", "file", "note-2", 45 + 40)]
    assert told.window == ["system", "s1"]


@pytest.mark.parametrize(("characters", "folded"), [(4.0, 10), (8.0, 5)])
def test_trap_signatures_have_a_limit_of_characters_not_tokens(play, characters, folded):
    told = play(
        "roo:reserve=0,folded=40",
        Arrival(1, "file", Kind.FILE, 920, 1.0, path="a.py", copy=True),
        budget=1_000,
        **{f"characters__{kind}": characters for kind in Kind},
    )
    assert told.rewritten() == [("file", 46 + folded)]


def test_trap_without_a_summary_the_older_half_is_hidden_an_even_number(play):
    told = play(
        "roo:reserve=0",
        *(task(100), *(note(1, 160, n) for n in "abcde"), note(1, 20, "f"), note(1, 20, "g")),
        budget=1_000,
        summariser__fail=1.0,
    )
    # 3.5 of 7 are 3, and 2 is even.
    assert told.window == ["task", *"cdefg"]


def test_a_refused_request_loses_a_quarter_up_to_three_times(play):
    told = play(
        "roo:reserve=0",
        *(task(100), *(note(2, 100, f"n{n}") for n in range(12))),
        budget=1_000,
        count__by="usage",
    )
    # A quarter of 12 are 3, of which 2 go; of 10, again 2: 900 are left.
    assert [name for name, _ in told.evicted()] == ["n0", "n1", "n2", "n3"]
    assert told.truncated() == []
