from __future__ import annotations

import io
import json
from typing import Any

import pytest
from rich.console import Console

from bench import api
from bench.cli import main
from bench.goals import Goal, goal
from bench.output import print_tables
from bench.tables.winner import winner_tables
from bench.winner import winners
from sim.errors import InputError
from tests.bench.rows import row, rows

SMALL = ("doc-analysis", "-p", "tiered", "-p", "no-op", "--seeds", "2", "--set", "turns=12")


def asked(*require: str, minimise: str = "total_cost_usd") -> Goal:
    found = goal(require, minimise)
    assert found is not None
    return found


def runs(policy: str, costs: list[float], rate: float | None = 0.0, **more: Any) -> list[Any]:
    return [
        row(policy, seed, total_cost_usd=usd, confabulation_rate=rate, **more)
        for seed, usd in enumerate(costs)
    ]


def policy_lines(line: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["policy"]: each for each in line["policies"]}


def test_the_cheapest_of_those_that_never_make_anything_up() -> None:
    made = runs("cheap", [1.0] * 30, 0.1) + runs("honest", [2.0] * 30) + runs("dear", [5.0] * 30)
    (found,) = winners(made, asked("confabulation_rate=0"))
    assert (found["winner"], found["alike"], found["n"]) == ("honest", [], 30)
    cheap, honest, dear = policy_lines(found).values()
    assert (cheap["meets"], cheap["mean"]) == (False, None)
    assert cheap["why"] == ["confabulation_rate is not 0 in 30 of 30 runs"]
    assert (honest["meets"], honest["why"], honest["mean"], honest["diff_mean"]) == (True, [], 2, 0)
    assert (dear["meets"], dear["diff_mean"], dear["diff_ci_low"]) == (True, 3.0, 3.0)
    assert honest["limits"] == {"confabulation_rate": pytest.approx(0.0950, abs=5e-5)}
    assert cheap["limits"] == {}


def test_who_failed_a_run_meets_nothing_even_where_nothing_is_required() -> None:
    made = runs("quitter", [1.0] * 4)
    made[2]["status"] = "failed"
    made += runs("worker", [9.0] * 4) + [row("no", status="not-applicable", reason="so")] * 4
    (found,) = winners(made, asked())
    assert found["winner"] == "worker"
    lines = policy_lines(found)
    assert lines["quitter"]["why"] == ["failed 1 of 4 runs"]
    assert lines["no"]["why"] == ["not applicable: so"]


@pytest.mark.parametrize(
    ("metric", "why"),
    [("pins_lost", "lost pins in 1 of 4 runs"), ("policy_bugs", "had policy bugs in 1 of 4 runs")],
)
def test_who_is_none_to_choose_does_not_win_unless_a_requirement_is_of_that(
    metric: str, why: str
) -> None:
    made = runs("careless", [1.0] * 4) + runs("worker", [9.0] * 4)
    made[2][metric] = 1
    (found,) = winners(made, asked())
    assert (found["winner"], policy_lines(found)["careless"]["why"]) == ("worker", [why])
    (found,) = winners(made, asked(f"{metric}<=0.25"))
    assert (found["winner"], policy_lines(found)["careless"]["why"]) == ("careless", [])
    (found,) = winners(made, asked(f"{metric}<=0.2"))
    assert found["winner"] == "worker"


def test_equals_is_of_every_run_and_the_other_signs_are_of_the_mean() -> None:
    """The rates 0 and 0.2 in turns have the mean 0.1."""
    made = runs("a", [1.0] * 4)
    for each in made[::2]:
        each["confabulation_rate"] = 0.2
    whys = {
        text: policy_lines(winners(made, asked(text))[0])["a"]["why"]
        for text in (
            "confabulation_rate=0",
            "confabulation_rate=0.1",
            "confabulation_rate<=0.1",
            "confabulation_rate<=0.05",
            "confabulation_rate>=0.1",
            "confabulation_rate>=0.15",
        )
    }
    assert list(whys.values()) == [
        ["confabulation_rate is not 0 in 2 of 4 runs"],
        ["confabulation_rate is not 0.1 in 4 of 4 runs"],
        [],
        ["mean confabulation_rate is 0.1, over 0.05"],
        [],
        ["mean confabulation_rate is 0.1, under 0.15"],
    ]


def test_every_requirement_that_is_not_met_is_said() -> None:
    made = runs("a", [3.0] * 2, 0.5)
    (found,) = winners(made, asked("confabulation_rate=0", "total_cost_usd<=2", "violations=0"))
    assert found["winner"] is None
    assert len(policy_lines(found)["a"]["why"]) == 2


def test_a_metric_without_a_value_meets_nothing_and_wins_nothing() -> None:
    made = runs("a", [1.0] * 2, None)
    for question in (asked("confabulation_rate=0"), asked(minimise="confabulation_rate")):
        (found,) = winners(made, question)
        assert found["winner"] is None
        assert policy_lines(found)["a"]["why"] == ["no run has a value of confabulation_rate"]


def test_who_cannot_be_told_from_the_winner() -> None:
    """b is dearer than a by 9 or cheaper by 7 in turns."""
    made = runs("b", [19.0, 3.0] * 10) + runs("a", [10.0] * 20) + runs("c", [13.0] * 20)
    (found,) = winners(made, asked())
    assert (found["winner"], found["alike"]) == ("a", ["b"])


def test_the_most_can_be_asked_for() -> None:
    made = runs("a", [1.0] * 3) + runs("b", [2.0] * 3)
    most = goal(maximise="total_cost_usd")
    assert most is not None
    (found,) = winners(made, most)
    assert (found["winner"], found["goal"]) == ("b", "most total_cost_usd")
    assert policy_lines(found)["a"]["diff_mean"] == -1.0


def test_means_are_of_the_seeds_on_which_all_have_a_value() -> None:
    """Where b was asked nothing, a's rate was high; on the other seed it is the lower one."""
    made = runs("a", [1.0, 1.0, 1.0], 0.1) + runs("b", [1.0, 1.0, 1.0], 0.2)
    made[0]["confabulation_rate"], made[3]["confabulation_rate"] = 0.9, None
    (found,) = winners(made, asked(minimise="confabulation_rate"))
    assert (found["winner"], found["n"]) == ("a", 2)


def test_a_single_run_has_a_winner_and_equals_without_an_interval() -> None:
    made = runs("a", [2.0]) + runs("b", [1.0]) + runs("c", [1.0])
    (found,) = winners(made, asked("confabulation_rate=0"))
    assert (found["winner"], found["alike"], found["n"]) == ("b", ["c"], 1)
    a, b, _ = policy_lines(found).values()
    assert (a["mean"], a["ci_low"], b["limits"]) == (2.0, None, {})


def test_each_scenario_and_price_has_its_winner() -> None:
    made = []
    for scenario, price, cost in (("s", "x", 1.0), ("s", "y", 3.0), ("t", "x", 3.0)):
        made += runs("a", [cost] * 3, scenario=scenario, price=price)
        made += runs("b", [2.0] * 3, scenario=scenario, price=price)
    assert [line["winner"] for line in winners(made, asked())] == ["a", "b", "b"]
    assert winners([], asked()) == []


def test_the_table_says_who_wins_and_why_others_do_not() -> None:
    question = asked("confabulation_rate=0")
    made = runs("cheap", [1.0] * 30, 0.1) + runs("dear", [5.0] * 30) + runs("honest", [2.0] * 30)
    table, note = winner_tables(winners(made, question), question, wide=True)
    assert table.title == "made-up: least total_cost_usd where confabulation_rate=0"
    assert [line.cells for line in table.rows] == [
        ("★", "honest", "2.00", ""),
        ("", "dear", "5.00", "3.00"),
    ]
    assert table.notes == (
        "honest wins, one of 2, each of which meets every requirement.",
        "confabulation_rate was 0 in every run of honest; its mean may still be up to 9.5 % "
        "(exact one-sided 95 % limit).",
        "Out: cheap: confabulation_rate is not 0 in 30 of 30 runs.",
    )
    assert note.notes


def test_the_table_says_that_none_wins() -> None:
    question = asked("confabulation_rate=0")
    table, _ = winner_tables(winners(runs("a", [1.0] * 3, 0.1), question), question, wide=False)
    assert table.rows == ()
    assert table.notes[0] == "None wins: every policy is out."


def test_the_table_says_so_where_those_left_share_no_seed() -> None:
    question = asked(minimise="first_confabulation_turn")
    made = rows("a", "first_confabulation_turn", [3, None])
    made += rows("b", "first_confabulation_turn", [None, 3])
    (line,) = winners(made, question)
    assert (line["winner"], line["n"]) == (None, 0)
    table, _ = winner_tables([line], question, wide=False)
    assert table.notes[0] == (
        "None wins: of those left, no seed has a value of first_confabulation_turn for each."
    )


def test_the_table_keeps_to_eighty_columns() -> None:
    made = runs("slack-swap-refuse:tag=off,rewrite.below=0.3", [12.34, 15.6] * 4)
    made += runs("tag-or-drop:tag=off,rewrite.below=0.3", [123.4, 156.0] * 4)
    stream = io.StringIO()
    tables = winner_tables(winners(made, asked()), asked(), wide=False)
    print_tables(tables, Console(file=stream, width=80))
    assert max(map(len, stream.getvalue().splitlines())) <= 80


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit) as left:
        main([*words, "--jobs", "1"])
    assert left.value.code == 0
    return capsys.readouterr().out


def test_the_command_names_the_winner(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("compare", *SMALL, "--require", "policy_bugs>=0", "--minimise", "total_cost_usd")
    assert "doc-analysis: least total_cost_usd where policy_bugs>=0" in printed(capsys, *words)
    document = json.loads(printed(capsys, *words, "--format", "json"))
    (found,) = document["winners"]
    assert found["winner"] in ("tiered", "no-op")
    assert "winners" not in json.loads(printed(capsys, "compare", *SMALL, "--format", "json"))


def test_what_cannot_be_asked_is_said_before_anything_runs() -> None:
    ran: list[int] = []
    with pytest.raises(InputError, match="unknown metric"):
        api.compare(["stale-file"], minimise="cost", report=lambda done, planned: ran.append(done))
    assert ran == []
