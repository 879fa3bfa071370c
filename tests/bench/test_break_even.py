"""Break-even over workloads: by hand for made-up runs, and against a slow count for real ones."""

from __future__ import annotations

import statistics
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.break_even import (
    PUBLISHED,
    QUARTILES,
    RATIOS,
    Played,
    collect,
    pass_rows,
    played,
    quartiles,
    summarise,
    workload,
)
from bench.cells import run_one
from bench.gates.break_even_shares import GATE
from bench.gates.break_even_shares import RATIOS as JUDGED
from bench.tables.break_even import COLUMNS, break_even_tables, document, rows
from sim.actions import Breakpoints, Evict, Rewrite
from sim.break_even import Pass, passes
from sim.errors import InputError
from sim.segments import Kind
from tests.sim.build import MARKED, acting, come, play, script


def a_pass(removed: int, behind: int, calls: int, **more: Any) -> Pass:
    """Return a pass in a warm cache, of which nothing came back and which did not pay back."""
    made = Pass(1, removed, behind, behind, 1_000, 0, calls, 2.5, 0, 0, 0.0, 0.0, 0.0, False)
    return made._replace(**more)


def a_run(*found: tuple[Pass, bool], **more: Any) -> Played:
    run = Played("made-up", "mine", 0, "completed", 10, 1_000, found, 11.5)
    return run._replace(**more)


# -- by hand -----------------------------------------------------------------------------------


def test_the_summary_by_hand() -> None:
    """S/b 0.5, 2 and 4 at L 10, 20 and 30, and one pass that left the window larger.

    L > R·S/b: 10 > 4.5, 20 > 18, 30 < 36 at R 9; 10 > 5.75 alone at 11.5; none at 24 and 49.
    """
    first = a_run(
        (a_pass(100, 50, 10, paid_back=True), True),
        (a_pass(100, 200, 20, live=0, refetched=30), False),
        requests=40,
    )
    second = a_run(
        (a_pass(100, 400, 30, broken=1_150, truncated=5), True),
        (a_pass(-5, 900, 5), False),
        seed=1,
        status="failed",
        requests=50,
    )
    (row,) = summarise([first, second])
    assert (row["runs"], row["completed"], row["passes"], row["apart"]) == (2, 1, 4, 1)
    assert row["removed"] == [100, 100, 100]
    assert row["behind_by_removed"] == [1.25, 2, 3]
    assert row["calls"] == [15, 20, 25]
    assert row["pays_at"] == pytest.approx([2 / 3, 1 / 3, 0, 0])
    assert (row["ratio"], row["paid_back"]) == (11.5, pytest.approx(1 / 3))
    assert (row["forced"], row["cold"], row["truncated"]) == pytest.approx((2 / 3, 1 / 3, 1 / 3))
    assert row["lost_in_front"] == pytest.approx(750 / 1_400)
    assert row["refetched"] == pytest.approx(30 / 2_000)
    assert row["requests"] == 45


def test_where_nothing_happened_nothing_is_claimed() -> None:
    (row,) = summarise([a_run(left=0)])
    assert (row["runs"], row["passes"]) == (1, 0)
    for name in (*QUARTILES, "pays_at", "paid_back", "forced", "cold", "refetched"):
        assert row[name] is None


def test_where_reads_are_free_none_pays_at_the_own_price() -> None:
    (row,) = summarise([a_run((a_pass(100, 50, 10, paid_back=None), False), ratio=None)])
    assert (row["ratio"], row["paid_back"]) == (None, None)
    assert row["pays_at"][0] == 1.0


def test_what_is_not_applicable_is_in_nothing() -> None:
    (row,) = summarise([a_run(status="not-applicable", ratio=None, requests=0, left=0)])
    assert (row["runs"], row["requests"], row["ratio"]) == (0, None, None)


@given(st.lists(st.integers(-50, 50), min_size=2))
def test_quartiles_are_those_of_the_library(values: list[int]) -> None:
    expected = statistics.quantiles(values, n=4, method="inclusive")
    assert quartiles(values) == pytest.approx(expected)


def test_quartiles_of_few() -> None:
    assert quartiles([]) is None
    assert quartiles([3]) == [3, 3, 3]


def test_the_published_row_is_that_of_the_gate() -> None:
    assert RATIOS == JUDGED
    assert [100 * share for share in PUBLISHED["pays_at"]] == list(GATE.published.values())
    assert PUBLISHED["source"] == GATE.source


# -- from records ------------------------------------------------------------------------------


def test_forced_is_what_would_not_have_fitted() -> None:
    """Budget 1,000. Turn 2: 1,100 less 200 is forced. Turn 3: 910 less 110 is not.

    Turn 4: 800 + 200 = 1,000 is exactly full, and 50 of it become 20: not forced.
    """
    it = script(
        come(1, "sys", 100, kind=Kind.SYSTEM),
        come(1, "a", 200),
        come(1, "b", 110),
        come(2, "c", 690),
        come(3, "d", 10),
        come(4, "e", 200),
        turns=5,
        settings={"budget": 1_000},
    )
    done = {
        2: [Evict("a", "x")],
        3: [Evict("b", "x")],
        4: [Rewrite(("e",), 170, True, "x")],
    }
    found = play(it, acting(done, declares=["spends"]), MARKED)
    run = played(found.metrics, found.records, ("s", "p", 3))
    assert [(each.removed, forced) for each, forced in run.passes] == [
        (200, True),
        (110, False),
        (30, False),
    ]
    assert run.left == 200 + 110 + 200
    assert run.ratio == pytest.approx(11.5)
    assert [row["forced"] for row in pass_rows([run])] == [True, False, False]
    assert {row["seed"] for row in pass_rows([run])} == {3}


def test_r_is_that_of_the_life_that_was_paid_for() -> None:
    """Read 0.2, written for the longer life 4: R = 19."""
    it = script(come(1, "sys", 100, kind=Kind.SYSTEM), come(1, "a", 200), turns=3)
    price = replace(MARKED, long_write=4.0, rules=replace(MARKED.rules, long_ttl=3_600.0))
    done = {1: [Breakpoints((), 1)], 2: [Evict("a", "x")]}
    found = play(it, acting(done), price)
    assert played(found.metrics, found.records, ("s", "p", 0)).ratio == pytest.approx(19.0)


def small(**more: Any) -> Any:
    wanted = {"seeds": 3, "settings": {"turns": 40, "budget": 30_000}, **more}
    return workload(["doc-analysis"], ["tiered", "no-op", "naive-trim"], **wanted)


def test_every_run_in_its_order_and_none_twice() -> None:
    work = small()
    runs = collect(work)
    cells = [(run.policy, run.seed) for run in runs]
    assert cells == [(p, s) for p in ("naive-trim", "tiered", "no-op") for s in range(3)]
    assert [run.status == "not-applicable" for run in runs] == [True] * 3 + [False] * 6
    script_ = work.scenarios[0].script(1)
    metrics, records = run_one(script_, "tiered")
    assert runs[4].passes and [each for each, _ in runs[4].passes] == passes(records)
    assert len(runs[4].passes) == metrics["passes"]
    row = summarise(runs)[1]
    assert row["passes"] == sum(len(run.passes) for run in runs[3:6])


def test_the_result_is_the_same_for_any_number_of_workers() -> None:
    assert collect(small(seeds=2), jobs=2) == collect(small(seeds=2))


def test_it_is_told_how_far_it_is() -> None:
    told: list[tuple[int, int]] = []
    collect(small(seeds=2), report=lambda done, planned: told.append((done, planned)))
    assert told == [(0, 6), (3, 6), (6, 6)]


def test_a_story_is_run_once() -> None:
    assert len(collect(workload(["stale-file"], ["tiered"], seeds=5))) == 1


@pytest.mark.parametrize(
    ("scenarios", "more", "says"),
    [
        (["doc-anlysis"], {}, "doc-analysis"),
        (["doc-analysis"], {"price": "claude-sonet-5"}, "claude-sonnet-5"),
        (["doc-analysis"], {"settings": {"budgt": "1"}}, "budget"),
    ],
)
def test_wrong_input_is_named(scenarios: list[str], more: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        collect(workload(scenarios, ["tiered"], seeds=1, **more))


# -- tables ------------------------------------------------------------------------------------


def test_the_tables_stand_beside_what_is_published() -> None:
    found = summarise(
        [
            a_run((a_pass(8_317, 169_306, 18, paid_back=True), True), requests=54),
            a_run(policy="still"),
        ]
    )
    came, were = break_even_tables(found)
    published, mine, still = (line.cells for line in came.rows)
    assert published == (
        "published",
        "4,517",
        "0.71 (0.48–1.12)",
        "36 (15–77)",
        *("86", "83", "70", "50"),
        "–",
    )
    assert mine == (
        "mine",
        "1",
        "20.4 (20.4–20.4)",
        "18 (18–18)",
        *("0", "0", "0", "0"),
        "100",
    )
    assert still == ("still", "–", "–", "–", *("–",) * 5)
    assert were.rows[0].cells == (
        "mine",
        "8.3k (8.3k–8.3k)",
        "169k (169k–169k)",
        *("100", "0", "0", "0"),
        "54",
    )
    assert "R" in came.notes[0] and "11.5" in came.notes[0]
    assert any("S/b is more than twice" in note for note in were.notes)
    assert any("L is shorter" in note and "54 calls" in note for note in were.notes)


def test_nothing_is_explained_where_nothing_differs() -> None:
    found = summarise([a_run((a_pass(100, 50, 90), False))])
    _, were = break_even_tables(found)
    assert len(were.notes) == 1


def test_csv_has_one_value_a_column() -> None:
    found = summarise([a_run((a_pass(100, 50, 10), True))])
    published, mine = rows(found)
    assert set(published) == set(mine) == set(COLUMNS)
    assert (published["behind_by_removed_q2"], published["pays_at_49"]) == (0.71, 0.5)
    assert (mine["behind_by_removed_q2"], mine["calls_q3"], mine["pays_at_9"]) == (0.5, 10, 1.0)
    assert not any(isinstance(value, (list, tuple)) for value in mine.values())


def test_the_document_has_what_made_it() -> None:
    work = small(price="gpt-5.5")
    made = document([], work.manifest())
    assert list(made) == ["summary", "published", "manifest"]
    assert made["manifest"]["scenarios"]["doc-analysis"]["settings"]["price"] == "gpt-5.5"
