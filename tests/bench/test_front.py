from __future__ import annotations

import io
import json
from typing import Any

import pytest
from rich.console import Console

from bench import api
from bench.cli import main
from bench.front import POOLED, fronts, pooled_fronts
from bench.output import print_tables
from bench.tables.front import front_tables
from tests.bench.rows import row

SESSION = "examples/demo-session.jsonl"


def runs(policy: str, points: list[tuple[Any, float, float]], **more: Any) -> list[dict[str, Any]]:
    return [
        row(policy, seed, confabulation_rate=rate, peak_tokens=peak, total_cost_usd=usd, **more)
        for seed, (rate, peak, usd) in enumerate(points)
    ]


def told(lines: list[dict[str, Any]]) -> dict[str, tuple[Any, Any]]:
    return {line["policy"]: (line["on_front"], line["share"]) for line in lines}


def test_a_policy_is_on_the_front_if_no_other_is_as_good_in_all_and_better_in_one() -> None:
    made = runs("honest", [(0.0, 9.0, 3.0)] * 4)
    made += runs("cheap", [(0.2, 9.0, 1.0)] * 4)
    made += runs("beaten", [(0.2, 9.0, 2.0)] * 4)
    found = fronts(made)
    assert told(found) == {"honest": (True, 1.0), "cheap": (True, 1.0), "beaten": (False, 0.0)}
    first = found[0]
    assert (first["confabulation_rate"], first["peak_tokens"], first["total_cost_usd"]) == (0, 9, 3)
    assert (first["n"], first["completed"], first["attempted"]) == (4, 4, 4)


def test_dying_early_is_no_way_onto_it() -> None:
    made = runs("quitter", [(0.0, 1.0, 1.0)] * 8, status="failed")
    made += runs("worker", [(0.0, 9.0, 9.0)] * 8)
    quitter, worker = fronts(made)
    assert told([quitter, worker]) == {"quitter": (None, None), "worker": (True, 1.0)}
    assert (quitter["n"], quitter["completed"], quitter["attempted"]) == (0, 0, 8)


def test_means_are_of_the_seeds_that_all_of_them_completed() -> None:
    """Seed 7 is dear, and the first failed there: without it both cost the same."""
    costs = [(0.0, 5.0, 1.0)] * 7 + [(0.0, 5.0, 100.0)]
    made = runs("failed-once", costs)
    made[7]["status"] = "failed"
    made += runs("whole", costs)
    found = fronts(made)
    assert told(found) == {"failed-once": (True, 1.0), "whole": (True, 1.0)}
    assert [(line["n"], line["total_cost_usd"]) for line in found] == [(7, 1.0), (7, 1.0)]


@pytest.mark.parametrize(
    ("metric", "why"),
    [("pins_lost", "lost pins in 1 of 8 runs"), ("policy_bugs", "had policy bugs in 1 of 8 runs")],
)
def test_losing_a_pin_or_a_bug_is_no_way_onto_it(metric: str, why: str) -> None:
    """The others are compared as if it were not there, its share of completed runs included."""
    made = runs("careless", [(0.0, 1.0, 1.0)] * 8)
    made[3][metric] = 1
    made += runs("fails-once", [(0.0, 5.0, 1.0)] * 8)
    made[8]["status"] = "failed"
    for pooled in (False, True):
        shown = [{**each, "scenario": str(each["seed"]), "seed": 0} for each in made]
        careless, other = pooled_fronts(shown) if pooled else fronts(made)
        assert (careless["on_front"], careless["why"]) == (None, why)
        assert (other["on_front"], other["n"], other["why"]) == (True, 7, None)


def test_what_is_never_asked_for_does_not_count() -> None:
    made = runs("a", [(None, 5.0, 1.0)] * 3) + runs("b", [(None, 6.0, 1.0)] * 3)
    found = fronts(made)
    assert told(found) == {"a": (True, 1.0), "b": (False, 0.0)}
    assert [line["confabulation_rate"] for line in found] == [None, None]


def test_one_run_has_a_front_and_no_share() -> None:
    made = runs("a", [(0.0, 5.0, 1.0)]) + runs("b", [(0.0, 6.0, 1.0)])
    made += [*runs("c", [(0.0, 1.0, 1.0)], status="failed"), row("d", status="not-applicable")]
    assert told(fronts(made)) == {"a": (True, None), "b": (False, None), "c": (None, None)}


def test_all_failed() -> None:
    made = runs("a", [(0.0, 5.0, 1.0)] * 2, status="failed")
    assert told(fronts(made)) == {"a": (None, None)}
    assert fronts([]) == []


def test_sessions_are_pooled_as_seeds_are() -> None:
    """a is cheaper in one session of two: of the four draws of two it leads in one and shares in
    two, as does b, so that each is on the front in three quarters but for chance."""
    made = []
    for scenario, price, a, b in (("one", "x", 1.0, 2.0), ("two", "y", 2.0, 1.0)):
        made += runs("a", [(0.0, 5.0, a)], scenario=scenario, price=price)
        made += runs("b", [(0.0, 5.0, b)], scenario=scenario, price=price)
    found = pooled_fronts(made)
    assert {(line["scenario"], line["price"], line["n"]) for line in found} == {(POOLED, "own", 2)}
    assert all(line["on_front"] for line in found)
    assert [line["share"] for line in found] == pytest.approx([0.75, 0.75], abs=0.04)


def test_the_tables_name_who_is_never_on_it_and_who_is_left_out() -> None:
    made = runs("best", [(0.0, 5.0, 1.0)] * 8) + runs("beaten", [(0.0, 6.0, 1.0)] * 8)
    made += runs("quitter", [(0.0, 1.0, 1.0)] * 8, status="failed")
    made += runs("best", [(0.0, 5.0, 1.0)], scenario="story")
    seeded, once, notes = front_tables(fronts(made), wide=True)
    assert seeded.title == "made-up: Pareto front"
    assert [line.cells for line in seeded.rows] == [("best", "yes", "100", "0", "5", "1.00")]
    assert seeded.notes == (
        "Means of the 8 runs that all of these completed.",
        "Never on it: beaten.",
        "Left out: quitter: completed 0 of 8 runs.",
    )
    assert [line.cells for line in once.rows] == [("story", "best")]
    assert notes.notes[0].startswith("The Pareto front:")
    assert front_tables([], wide=True) == []


def test_a_single_table_of_one_run_names_who_is_left_out() -> None:
    made = [*runs("a", [(0.0, 5.0, 1.0)]), *runs("b", [(0.0, 1.0, 1.0)], status="failed")]
    made += runs("c", [(0.0, 1.0, 1.0)], pins_lost=3)
    once, _ = front_tables(fronts(made), wide=True)
    assert [line.cells for line in once.rows] == [("made-up", "a")]
    assert once.notes == ("Left out: b: failed.", "Left out: c: lost pins.")


def test_the_tables_keep_to_eighty_columns() -> None:
    points = [(0.123, 123_456.0, 12.34)] * 8
    made = runs("slack-swap-refuse:tag=off,rewrite.below=0.3", points)
    stream = io.StringIO()
    print_tables(front_tables(fronts(made), wide=False), Console(file=stream, width=80))
    assert max(map(len, stream.getvalue().splitlines())) <= 80


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit) as left:
        main([*words, "--jobs", "1"])
    assert left.value.code == 0
    return capsys.readouterr().out


def test_the_commands_take_the_flag(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["compare", "doc-analysis", "-p", "tiered", "-p", "no-op", "--seeds", "2"]
    words += ["--set", "turns=12", "--pareto"]
    assert "doc-analysis: Pareto front" in printed(capsys, *words)
    document = json.loads(printed(capsys, *words, "--format", "json"))
    assert [line["policy"] for line in document["front"]] == ["tiered", "no-op"]
    assert "on the Pareto front" in printed(capsys, "replay", SESSION, "-p", "no-op", "--pareto")


def test_one_rule_for_a_comparison_and_a_replay() -> None:
    """sliding-window removes the oldest, which is what is pinned; no-op leaves that to be cut."""
    wanted = ["sliding-window", "tiered", "no-op"]
    small: dict[str, Any] = {"settings": {"budget": 30_000}, "pareto": True}
    replayed = api.replay([SESSION], wanted, budget=30_000, pareto=True)
    compared = api.compare(["doc-analysis"], wanted, seeds=2, **small)
    for found in (replayed, compared):
        lines = {line["policy"]: line for line in found.front}
        assert lines["tiered"]["on_front"] is True
        assert lines["sliding-window"]["why"].startswith("lost pins")
        assert lines["no-op"]["on_front"] is None
        on_it = {name for name, line in lines.items() if line["on_front"] is not None}
        lost = {row["policy"] for row in found.rows if row["pins_lost"] or row["policy_bugs"]}
        assert on_it == set(wanted) - lost


def test_the_front_is_there_where_it_was_asked_for() -> None:
    plain = api.replay([SESSION], ["no-op"])
    assert plain.front == [] and "front" not in plain.document()
    assert [line["policy"] for line in api.replay([SESSION], ["no-op"], pareto=True).front] == [
        "no-op"
    ]
