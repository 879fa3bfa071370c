from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from bench.api import Comparison
from bench.output import print_tables
from bench.tables.comparison import comparison_tables, shown_label
from bench.tables.parts import (
    Table,
    dollars,
    interval,
    number,
    percent,
    short_tokens,
    tokens,
)
from bench.tables.run import run_tables
from sim.metrics import METRICS
from sim.script import Script
from tests.bench.rows import row

LONG = "slack-swap-refuse"


@pytest.mark.parametrize(
    ("form", "value", "expected"),
    [
        (number, 11, "11"),
        (number, 0.44, "0.4"),
        (number, 12345.6, "12,346"),
        (tokens, 127370, "127,370"),
        (tokens, -1532.4, "−1,532"),
        (short_tokens, 8250, "8,250"),
        (short_tokens, 127370, "127.4k"),
        (short_tokens, 1_267_000, "1.27M"),
        (percent, 0.2134, "21.3"),
        (percent, 0.0, "0"),
        (percent, 1.0, "100"),
        (percent, -0.0001, "0.0"),
        (dollars, 0.0, "0"),
        (dollars, 0.42149, "0.421"),
        (dollars, 12.345, "12.3"),
        (dollars, 0.00051234, "0.000512"),
        (dollars, 1234.5, "1,234"),
        (dollars, -0.5, "−0.500"),
    ],
)
def test_numbers(form: Any, value: float, expected: str) -> None:
    assert form(value) == expected


def test_dollars_beside_a_larger_sum_have_no_more_decimals() -> None:
    assert dollars(0.00123, 2, beside=0.31) == "0.00"


def test_intervals() -> None:
    assert interval(percent, 0.5, 0.25, 0.75, True) == "50.0 [25.0, 75.0]"
    assert interval(percent, 0.5, 0.25, 0.75, False) == "50.0 [25.0,75.0]"
    assert interval(percent, 0.5, 0.5, 0.5, True) == "50.0"
    assert interval(percent, 0.5, None, None, True) == "50.0"
    assert interval(percent, None, None, None, True) == "–"


def test_a_policy_is_broken_before_its_options_where_there_is_no_room() -> None:
    assert shown_label(LONG, False) == LONG
    assert shown_label("tiered:arrival=off", False) == "tiered:\n arrival=off"
    long = "tag-or-drop:tag=off,rewrite.below=0.3"
    assert shown_label(long, False) == "tag-or-drop:\n tag=off,\n rewrite.below=0.3"
    assert shown_label(long, True) == long
    assert shown_label(long, False, 24) == "tag-or-drop:tag=off,\n rewrite.below=0.3"
    assert shown_label("src/some/folder/mine.py:Mine", False) == "src/some/folder/\n mine.py:Mine"


def comparison(rows: list[dict[str, Any]], **kinds: str) -> Comparison:
    settings = {"turns": 200, "budget": 128_000, "price": "claude-sonnet-5"}
    scenarios = {
        name: {
            "kind": kinds.get(name, "family"),
            "seeds": len({r["seed"] for r in rows if r["scenario"] == name}),
            "settings": settings,
            "tokens_from": "script",
        }
        for name in dict.fromkeys(r["scenario"] for r in rows)
    }
    manifest = {"scenarios": scenarios, "planned": len(rows), "finished": len(rows)}
    return Comparison(rows, None, manifest)


def family(seeds: int = 4) -> list[dict[str, Any]]:
    """naive-rewrite makes up one answer in ten and is cheap, no-op none; tiered equals no-op."""
    made = []
    for seed in range(seeds):
        common = {"queries": 10, "peak_tokens": 100_000 + seed, "scenario": "fam"}
        for policy, cost, rate in (
            ("naive-rewrite", 0.5, 0.1),
            (LONG, 1.0 + seed, 0.0),
            ("no-op", 1.0 + seed, 0.0),
        ):
            values = {"total_cost_usd": cost, "confabulation_rate": rate}
            made.append(row(policy, seed, **common, **values))
        reason = "the scenario does not offer ranks"
        made.append(row("naive-trim", seed, scenario="fam", status="not-applicable", reason=reason))
    return made


def cells(table: Table) -> list[tuple[str, ...]]:
    return [line.cells for line in table.rows]


def test_a_family_has_a_table_of_means_and_one_of_differences() -> None:
    means, differences, notes = comparison_tables(comparison(family()), wide=True)
    assert means.title == "fam: 4 seeds, 200 turns, budget 128,000 tokens, claude-sonnet-5"
    found = cells(means)
    assert [c[:3] for c in found] == [
        ("★", LONG, "0 (≤ 52.7)"),
        ("★", "no-op", "0 (≤ 52.7)"),
        ("3", "naive-rewrite", "10.0"),
    ]
    assert [line.marked for line in means.rows] == [True, True, False]
    assert found[2][4:6] == ("100,002", "0.500")
    assert found[2][8] == "4/4"
    assert differences.title == "fam: difference to no-op, paired by seed"
    assert [c[0] for c in cells(differences)] == [LONG, "naive-rewrite"]
    assert cells(differences)[0][1:] == ("0", "0", "0")
    assert cells(differences)[1][1] == "10.0"
    assert any("not applicable: naive-trim to fam" in note for note in notes.notes)
    assert "tokens: as each scenario declares them" in notes.notes


def test_a_difference_is_marked_where_it_is_significant_among_all_of_its_metric() -> None:
    """Of six seeds all to one side p is 2/64, and of two tests the second has p = 1: q is 1/16. On
    eight seeds p is 2/256 and q 1/64."""
    for seeds, mark in ((6, ""), (8, "*")):
        _, differences, _ = comparison_tables(comparison(family(seeds)), wide=True)
        assert cells(differences)[1][1] == f"10.0{mark}"
        assert cells(differences)[0][1:] == ("0", "0", "0")


def test_who_cannot_be_told_from_the_lowest_is_said() -> None:
    """naive-rewrite is the cheapest by far, alone; all peaks are alike."""
    means, _, notes = comparison_tables(comparison(family()), wide=True)
    assert means.notes == (
        f"Not to be told from the lowest peak, that of naive-rewrite: {LONG}, no-op.",
    )
    assert any(note.startswith("Not to be told:") for note in notes.notes)


def test_nothing_is_said_of_the_lowest_where_it_is_alone() -> None:
    made = [
        row(p, s, scenario="fam", peak_tokens=n) for p, n in (("a", 1), ("b", 2)) for s in (0, 1)
    ]
    for each in made:
        each["total_cost_usd"] = each["peak_tokens"]
    means, *_, notes = comparison_tables(comparison(made), wide=True)
    assert means.notes == ()
    assert not any(note.startswith("Not to be told") for note in notes.notes)


def test_the_pairs_stand_there_where_some_are_missing() -> None:
    made = family()
    for r in made:
        if r["policy"] == "naive-rewrite" and r["seed"] == 3:
            r.update(status="failed", reason="attempts exhausted")
    means, differences, notes = comparison_tables(comparison(made), wide=True)
    assert {c[1]: c[8] for c in cells(means)}["naive-rewrite"] == "3/4"
    assert {c[0]: c[-1] for c in cells(differences)} == {LONG: "4", "naive-rewrite": "3"}
    assert "failed: fam, attempts exhausted: naive-rewrite ×1" in notes.notes


def test_reasons_that_differ_in_figures_alone_are_one() -> None:
    made = family()
    for r in made:
        if r["policy"] == "naive-rewrite" and r["seed"] < 3:
            r.update(status="failed", reason=f"the pinned segments need {r['seed']} tokens (a)")
    notes = comparison_tables(comparison(made), wide=True)[-1].notes
    assert [note for note in notes if note.startswith("failed: ")] == [
        "failed: fam, the pinned segments need 0 tokens (a), and 2 more of the kind: "
        "naive-rewrite ×3"
    ]


@pytest.mark.parametrize(("seeds", "said"), [(2, True), (5, True), (6, False)])
def test_few_seeds_are_said_to_be_few(seeds: int, said: bool) -> None:
    made = [row(p, seed, scenario="fam") for p in "ab" for seed in range(seeds)]
    notes = comparison_tables(comparison(made), wide=True)[-1].notes
    assert any(note.startswith("Fewer than 6 seeds show no difference") for note in notes) is said


def test_stories_stand_together_by_outcome_without_intervals() -> None:
    made = [
        row(p, scenario=s, queries=1, **{"correct": int(p != "b"), "confabulated": int(p == "b")})
        for s in ("one", "two")
        for p in ("a", "b", "c")
    ]
    stories, _ = comparison_tables(comparison(made, one="story", two="story"), wide=True)
    assert cells(stories) == [
        ("one", "completed, 1 correct", "a, c"),
        ("", "completed, 1 confabulated", "b"),
        ("two", "completed, 1 correct", "a, c"),
        ("", "completed, 1 confabulated", "b"),
    ]


def test_one_story_has_a_line_a_policy() -> None:
    made = [
        row(
            "a", scenario="one", queries=2, correct=1, confabulated=1, peak_tokens=10, policy_bugs=3
        ),
        row("b", scenario="one", status="failed", reason="pins"),
    ]
    table, notes = comparison_tables(comparison(made, one="story"), wide=True)
    assert cells(table)[0] == ("a", "1", "1/2", "0", "10", "0", "0", "–", "completed", "3")
    assert cells(table)[1][8] == "failed"
    assert "failed: one, pins: b" in notes.notes


def test_an_interrupted_comparison_says_how_much_there_is() -> None:
    made = comparison(family())
    made.manifest["planned"] = 99
    assert "16 of 99 runs were finished." in comparison_tables(made, wide=True)[-1].notes


def test_the_tables_keep_to_eighty_columns() -> None:
    made = family(30) + [row(p, scenario=s) for s in ("one", "two") for p in ("a", LONG)]
    stream = io.StringIO()
    tables = comparison_tables(comparison(made, one="story", two="story"), wide=False)
    print_tables(tables, Console(file=stream, width=80, highlight=False))
    lines = stream.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    first = next(i for i, line in enumerate(lines) if line.startswith("★"))
    assert all(lines[first + n][:1] in "★3" for n in range(3)), "one line a policy"


EVENTS = [
    {"type": "answer", "turn": 4, "query": "q1", "key": "k", "outcome": "correct", "cause": "full"},
    {
        "type": "answer",
        "turn": 9,
        "query": "q2",
        "key": "timeout",
        "outcome": "confabulated",
        "cause": "untagged",
    },
    {"type": "act", "turn": 9, "act": "a1", "missing": ()},
    {"type": "act", "turn": 10, "act": "a2", "missing": ("task",)},
    {
        "type": "bug",
        "turn": 11,
        "rule": "unexplained truncation",
        "segment": "s4",
        "tokens": 5000,
        "says": "cut after admit s9",
    },
]


def test_a_run_shows_every_metric_and_the_cause_of_what_went_wrong() -> None:
    script = Script("made-up", 3, {"budget": 1000, "price": "p"}, (), tokens_from="bytes/4")
    metrics = row("a", total_cost_usd=0.42149, cache_hit_rate=0.5)
    tables = {table.title: table for table in run_tables(script, "a", metrics, EVENTS)}
    assert "tokens: bytes/4" in tables["made-up under a, seed 3"].notes
    shown = {c[0]: c[1] for t in tables.values() for c in cells(t) if len(c) == 4}
    assert set(shown) == {metric.name for metric in METRICS}
    assert shown["total_cost_usd"] == "0.421"
    assert shown["cache_hit_rate"] == "0.500"
    assert shown["first_confabulation_turn"] == "–"
    wrong = tables["answers that were not correct: 1"]
    assert cells(wrong) == [("9", "q2", "timeout", "confabulated", "untagged")]
    assert cells(tables["violations: 1"]) == [("10", "a2", "task")]
    assert cells(tables["policy bugs: 1"]) == [
        ("11", "unexplained truncation", "s4", "5,000", "cut after admit s9")
    ]


def test_many_bugs_are_counted() -> None:
    script = Script("made-up", 0, {"budget": 1000, "price": "p"}, ())
    tables = run_tables(script, "a", row("a"), EVENTS[-1:] * 25)
    assert tables[-1].title == "policy bugs: 25"
    assert len(tables[-1].rows) == 20
    assert "… and 5 more" in tables[-1].notes[0]
