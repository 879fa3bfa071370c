import pytest

from policies.registry import make
from sim.script import Arrival, Operator, Query
from sim.segments import Fact, Kind


def note(turn, name, tokens, score, **more):
    return Arrival(turn, name, Kind.NOTE, tokens, score, **more)


def head(system=100, task=50):
    return (
        Arrival(1, "system", Kind.SYSTEM, system, 1.0, pinned=True),
        Arrival(1, "task", Kind.TASK, task, 1.0, pinned=True),
    )


def refusal(told):
    (row,) = told.rows("refuse")
    return row["reason"], row["displaced"]


def test_exactly_full_is_slack(play):
    told = play(
        "slack-swap-refuse", *head(), note(1, "a", 300, 0.9), note(2, "b", 50, 0.0), budget=500
    )
    assert told.window[-1] == "b"
    assert told.rows("admit", 2)[0]["displaced"] == ()


def test_one_more_displaces(play):
    told = play(
        "slack-swap-refuse", *head(), note(1, "a", 300, 0.5), note(2, "b", 51, 0.6), budget=500
    )
    (row,) = told.rows("admit", 2)
    assert row["displaced"] == ("a",)
    assert row["score"] == 0.6
    assert row["floor"] == pytest.approx(0.425)
    assert told.evicted() == [("a", "swap")]


def test_the_margin_must_be_exceeded(play):
    def ends(score):
        return play(
            "slack-swap-refuse:margin=0.25",
            *head(),
            note(1, "a", 300, 0.25),
            note(1, "b", 100, score),
            budget=500,
        )

    assert refusal(ends(0.5)) == ("margin", ("a",))
    assert ends(0.500001).rows("admit")[-1]["displaced"] == ("a",)


def test_fewest_of_the_lowest_ties_older_first(play):
    told = play(
        "slack-swap-refuse",
        *head(),
        note(1, "tie", 100, 0.3),
        note(1, "tie-2", 100, 0.3),
        note(1, "high", 100, 0.8),
        note(2, "new", 120, 0.9),
        budget=500,
    )
    assert told.rows("admit", 2)[0]["displaced"] == ("tie",)
    assert told.window == ["system", "task", "tie-2", "high", "new"]


def test_the_run_is_of_the_lowest_not_of_the_fittest(play):
    told = play(
        "slack-swap-refuse",
        *head(),
        note(1, "small", 10, 0.3),
        note(1, "large", 290, 0.31),
        note(2, "new", 100, 0.9),
        budget=500,
    )
    assert told.rows("admit", 2)[0]["displaced"] == ("small", "large")


@pytest.mark.parametrize(
    ("comparison", "floor", "enters"),
    [("min", 0.2, True), ("max", 0.4, True), ("sum", 0.6, False)],
)
def test_what_is_compared(play, comparison, floor, enters):
    told = play(
        f"slack-swap-refuse:comparison={comparison}",
        *head(),
        note(1, "a", 100, 0.2),
        note(1, "b", 100, 0.4),
        note(1, "c", 150, 0.9),
        note(1, "new", 200, 0.7),
        budget=500,
    )
    row = told.rows("admit" if enters else "refuse")[-1]
    assert row["displaced"] == ("a", "b")
    assert row["floor"] == pytest.approx(floor)
    assert row["segment"] == "new"


def test_oversize_is_tested_first(play):
    def ends(tokens):
        stimuli = (*head(), note(1, "a", 300, 0.1), note(2, "new", tokens, 1.0))
        return play("slack-swap-refuse", *stimuli, budget=500)

    assert refusal(ends(351)) == ("oversize", ())
    assert ends(350).window == ["system", "task", "new"]
    assert refusal(play("slack-swap-refuse", *head(), note(1, "new", 351, 1.0), budget=500)) == (
        "oversize",
        (),
    )


def test_pinned_when_all_unpinned_free_too_little(play):
    told = play(
        "slack-swap-refuse",
        *head(),
        note(1, "pin", 200, 0.0, pinned=True),
        note(1, "a", 100, 0.1),
        note(2, "new", 151, 1.0),
        budget=500,
    )
    assert refusal(told) == ("pinned", ("a",))
    assert told.rows("refuse")[0]["floor"] is None


def test_messages_and_pinned_segments_pass_untested(play):
    for stimulus in (
        Arrival(2, "new", Kind.USER, 300, 0.0),
        Arrival(2, "new", Kind.TOOL_RESULT, 300, 0.0, pinned=True),
    ):
        told = play("slack-swap-refuse", *head(), note(1, "a", 300, 0.9), stimulus, budget=500)
        assert told.rows("refuse") == []
        expected = "new" if stimulus.kind is Kind.USER else "a"
        assert told.evicted(2) == [(expected, "pass")]


def test_the_covering_summary_stays(play):
    facts = (Fact("limits", "90", "60"),)
    told = play(
        "slack-swap-refuse",
        *head(),
        Arrival(1, "summary", Kind.SUMMARY, 100, 0.1, facts=facts),
        Arrival(1, "other", Kind.SUMMARY, 100, 0.2, facts=(Fact("else"),)),
        note(1, "a", 150, 0.3),
        note(2, "new", 100, 0.9, facts=facts),
        budget=500,
    )
    assert told.rows("admit", 2)[0]["displaced"] == ("other",)


def test_its_own_call_is_not_displaced_for_a_result(play):
    told = play(
        "slack-swap-refuse",
        *head(),
        note(1, "a", 100, 0.5),
        Arrival(1, "call", Kind.TOOL_CALL, 20, 0.1, pair="p"),
        Arrival(1, "other-call", Kind.TOOL_CALL, 20, 0.1, pair="o"),
        Arrival(1, "result", Kind.TOOL_RESULT, 250, 0.9, pair="p", time=1.0),
        Arrival(1, "other", Kind.TOOL_RESULT, 30, 0.9, pair="o", time=2.0),
        budget=500,
    )
    assert told.rows("admit")[-2]["displaced"] == ("a",)
    assert told.window[-3:] == ["other-call", "result", "other"]


def test_the_gate(play):
    stimuli = (
        *head(),
        Arrival(1, "table", Kind.FILE, 100, 0.3, path="t.md", copy=True),
        note(1, "low", 100, 0.5),
        note(1, "high", 150, 0.9),
        Arrival(2, "say", Kind.USER, 100, 0.9),
    )
    told = play("slack-swap-refuse", *stimuli, Query(3, "q", "x", 0.7, ("table",)), budget=500)
    assert told.evicted(2) == [("table", "pass")]
    (row,) = told.rows("rehydrate")
    assert (row["how"], row["by"]) == ("swap", "threshold")
    assert row["displaced"] == ("low",)
    assert row["floor"] == pytest.approx(0.5 * 0.85**2)
    told = play(
        "slack-swap-refuse:margin=0.4", *stimuli, Query(3, "q", "x", 0.7, ("table",)), budget=500
    )
    (row,) = told.rows("rehydrate")
    assert (row["how"], row["reason"], row["displaced"]) == ("blocked", "margin", ("low",))
    assert told["rehydrated_refused"] == 1


def test_an_explicit_request_bypasses_the_gate(play):
    told = play(
        "slack-swap-refuse",
        *head(),
        note(1, "a", 300, 0.9),
        note(2, "new", 200, 0.1, copy=True),
        Operator(3, "ask", "new"),
        budget=500,
    )
    assert refusal(told)[0] == "margin"
    assert told.rows("rehydrate") == []
    assert [row["how"] for row in told.rows("operator")] == ["admitted"]


def test_the_trigger_is_a_share_of_the_budget(play):
    stimuli = (*head(), note(1, "a", 300, 0.9), note(1, "b", 1, 0.0))
    assert refusal(play("slack-swap-refuse:trigger=0.9", *stimuli, budget=500)) == (
        "margin",
        ("a",),
    )
    assert play("slack-swap-refuse", *stimuli, budget=500).rows("refuse") == []


def test_mass(play):
    stimuli = (
        Arrival(1, "system", Kind.SYSTEM, 100, 0.5, pinned=True),
        note(1, "low", 10, 0.25),
        note(1, "mid", 10, 0.5),
        note(1, "new", 10, 1.0),
    )

    def displaced(trigger):
        spec = f"slack-swap-refuse:occupancy=mass,trigger={trigger}"
        row = play(spec, *stimuli, budget=1000).rows("admit")[-1]
        assert row["segment"] == "new"
        return row["displaced"]

    assert displaced(2.25) == ()
    assert displaced(2.0) == ("low",)
    assert displaced(1.75) == ("low", "mid")
    assert displaced(1.5) == ("low", "mid")
    told = play("slack-swap-refuse:occupancy=mass,trigger=1.4", *stimuli, budget=1000)
    last = told.rows("refuse")[-1]
    assert (last["segment"], last["reason"], last["displaced"]) == ("new", "pinned", ("low", "mid"))


def test_under_mass_tokens_must_fit_too(play):
    told = play(
        "slack-swap-refuse:occupancy=mass,trigger=100",
        *head(),
        note(1, "a", 300, 0.5),
        note(1, "b", 51, 0.9),
        budget=500,
    )
    assert told.rows("admit")[-1]["displaced"] == ("a",)


def test_rules_off(play):
    stimuli = (*head(), note(1, "a", 300, 0.5), note(2, "b", 100, 0.9), note(3, "c", 10, 0.0))
    told = play("slack-swap-refuse:swap=off", *stimuli, budget=500)
    assert [row["segment"] for row in told.rows("refuse")] == ["b"]
    told = play("slack-swap-refuse:door=off", *stimuli, budget=500)
    assert told.rows("refuse") == []
    assert told.evicted(2) == [("a", "pass")]
    assert not hasattr(make("slack-swap-refuse:gate=off"), "on_rehydrate")
    told = play("slack-swap-refuse:pass=off,door=off", *stimuli, budget=500, strict=False)
    assert told["policy_bugs"] > 0
