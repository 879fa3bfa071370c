import pytest

from tests.policies.harness.histories import note, step, system, task


@pytest.mark.parametrize(("last", "rewrites"), [(190, 0), (191, 1)])
def test_trap_results_go_above_half_of_the_budget_not_at_it_oldest_first(play, last, rewrites):
    told = play(
        "agent-framework",
        task(100),
        *step(1, 10, 90),
        *step(2, 10, 90),
        note(3, 10),
        note(3, last, "n"),
        budget=1_000,
    )
    assert told["rewrites"] == rewrites
    if rewrites:
        assert told.rewritten() == [("result-1", 12)]


def test_a_stub_keeps_no_fact_and_stands_beside_its_call(play):
    told = play("agent-framework", *step(1, 10, 600), budget=1_000, surrogate__keep=1.0)
    (row,) = told.rows("rewrite")
    assert (row["kept"], row["asked"], row["tagged"]) == ((), False, True)
    assert told.window == ["call-1", "s1"]


@pytest.mark.parametrize(("last", "gone"), [(500, []), (501, ["task"])])
def test_trap_above_four_fifths_not_at_them_the_oldest_goes_the_task_first(play, last, gone):
    told = play("agent-framework", system(100), task(200), note(2, last), budget=1_000)
    assert [name for name, _ in told.evicted()] == gone


def test_nobody_is_asked(play):
    told = play("agent-framework", task(100), *step(1, 10, 800), note(2, 500), budget=1_000)
    assert told.rows("maintain") == []
