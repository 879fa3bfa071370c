"""Comparisons at several prices, run for real: rows, summary, manifest, tables, command line."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from bench.advice import advise
from bench.api import Comparison, compare, replay
from bench.cli import main
from bench.output import print_tables
from bench.prices import load_book
from bench.selection import select_prices
from bench.tables.advice import advice_table, stories_advice
from bench.tables.comparison import comparison_tables
from bench.tables.parts import Table
from sim.errors import InputError
from tests.bench.rows import row

DEMO = Path(__file__).parents[2] / "examples" / "demo-session.jsonl"
SCENARIOS = ["doc-analysis", "rate-limit-table"]
POLICIES = ["naive-trim", "naive-rewrite", "tiered"]
SETTINGS = {"budget": 30_000}
PRICES = ["claude-sonnet-5", "gpt-4.1", "uncached"]


def run(prices: list[str] | str, jobs: int = 1, **more: Any) -> Comparison:
    return compare(SCENARIOS, POLICIES, seeds=3, settings=SETTINGS, price=prices, jobs=jobs, **more)


@pytest.fixture(scope="module")
def three() -> Comparison:
    return run(PRICES)


def in_book_order(names: list[str]) -> list[str]:
    return [name for name in load_book() if name in names]


def test_every_policy_runs_at_each_price(three: Comparison) -> None:
    prices = in_book_order(PRICES)
    cells = [(r["scenario"], r["price"], r["policy"], r["seed"]) for r in three.rows]
    assert [cell for cell in cells if cell[0] == "doc-analysis"] == [
        ("doc-analysis", price, policy, seed)
        for price in prices
        for policy in three.manifest["policies"]
        for seed in range(3)
    ]
    assert three.manifest["planned"] == three.manifest["finished"] == 3 * 3 * (3 + 1)
    assert three.manifest["prices"] == prices
    facts = three.manifest["scenarios"]["doc-analysis"]
    assert [row["name"] for row in facts["prices"]] == prices
    assert {line["price"] for line in three.lines} == set(prices)


@pytest.mark.parametrize("price", PRICES)
def test_each_price_is_as_if_it_were_alone(three: Comparison, price: str) -> None:
    alone = run(price)
    assert alone.rows == [row for row in three.rows if row["price"] == price]
    mine = [line for line in three.lines if line["price"] == price]
    of_more_tests = {"q_value": None}
    assert [s | of_more_tests for s in alone.lines] == [s | of_more_tests for s in mine]
    assert alone.manifest["prices"] == [price]


def test_the_same_for_any_jobs_and_any_order(three: Comparison) -> None:
    other = run([*reversed(PRICES), PRICES[0]], jobs=2)
    assert other.rows == three.rows
    assert other.lines == three.lines
    assert other.advice == three.advice
    assert other.manifest["prices"] == three.manifest["prices"]


def test_what_is_not_applicable_is_so_at_every_price(three: Comparison) -> None:
    away = [row for row in three.rows if row["status"] == "not-applicable"]
    assert {(row["policy"], row["price"]) for row in away} == {("naive-trim", p) for p in PRICES}
    assert all("naive-trim" not in item["policies"] for item in three.advice)


def test_differences_in_the_advice_are_those_of_the_rows(three: Comparison) -> None:
    flips = [item for item in three.advice if item["kind"] in ("flip", "order", "fade")]
    assert flips
    for item in flips:
        first, second = item["policies"]
        for gap in item["figures"]["differences"]:
            costs = {
                (row["policy"], row["seed"]): row["total_cost_usd"]
                for row in three.rows
                if (row["scenario"], row["price"]) == (item["scenario"], gap["price"])
                and row["status"] == "completed"
            }
            apart = [costs[first, s] - costs[second, s] for s in range(3) if (first, s) in costs]
            assert gap["n"] == len(apart)
            assert gap["mean"] == pytest.approx(sum(apart) / len(apart))
            if gap["parts"] is not None:
                assert sum(gap["parts"].values()) == pytest.approx(gap["mean"])


@pytest.mark.parametrize("prices", [PRICES, in_book_order(list(load_book()))[:9]])
def test_tables_fit_eighty_columns(prices: list[str]) -> None:
    found = run(prices)
    stream = io.StringIO()
    print_tables(comparison_tables(found, False), Console(file=stream, width=80))
    lines = stream.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    shown = stream.getvalue()
    assert "…" not in shown
    assert f"{len(prices)} prices" in shown
    assert "• " in shown and "★" in shown


def test_one_price_keeps_its_table_and_has_no_sentences() -> None:
    stream = io.StringIO()
    print_tables(comparison_tables(run("gpt-4.1"), False), Console(file=stream, width=80))
    assert "•" not in stream.getvalue()
    assert "Ship" not in stream.getvalue()


def test_recordings_are_replayed_at_each_price() -> None:
    found = replay([DEMO], ["tiered", "no-op"], price=["uncached", "gpt-4.1"])
    prices = in_book_order(["gpt-4.1", "uncached"])
    assert [(row["price"], row["policy"]) for row in found.rows] == [
        (price, policy) for price in prices for policy in ("tiered", "no-op")
    ]
    assert all(item["kind"] in ("ship", "cheapest", "order") for item in found.advice)


def test_prices_are_selected_once_each_in_the_order_of_the_book() -> None:
    assert select_prices(None, {}) == ()
    assert select_prices("vllm", {}) == ("vllm",)
    assert select_prices(["vllm", "vllm"], {}) == ("vllm",)
    assert list(select_prices(list(reversed(PRICES)), {})) == in_book_order(PRICES)
    assert select_prices(["vllm"], {"price": "vllm"}) == ("vllm",)
    with pytest.raises(InputError, match="two prices"):
        select_prices(["vllm", "uncached"], {"price": "vllm"})


def made(story: str, policy: str, costs: tuple[float, float]) -> list[dict[str, Any]]:
    return [
        row(policy, scenario=story, price=price, total_cost_usd=cost)
        for price, cost in zip("xy", costs, strict=True)
    ]


def test_stories_are_spelt_out_where_a_first_policy_changes_places() -> None:
    rows = [
        *made("front", "a", (1.0, 3.0)),
        *made("front", "b", (2.0, 2.0)),
        *made("behind", "a", (1.0, 1.0)),
        *made("behind", "b", (2.0, 5.0)),
        *made("behind", "c", (3.0, 4.0)),
        *made("calm", "a", (1.0, 1.0)),
        *made("calm", "b", (2.0, 2.0)),
    ]
    advice: dict[str, list[dict[str, Any]]] = {}
    for item in advise(rows):
        advice.setdefault(item["scenario"], []).append(item)
    first, others = stories_advice(advice)
    assert first.title == "front: the order of costs depends on the price"
    assert first.notes[-1] == (
        "• a is cheaper than b at x by $1.00, dearer at y by $1.00 (one run each)."
    )
    assert others.notes == (
        "Behind the first, policies change places in behind: --format json has them.",
    )


def test_sentences_that_are_left_out_are_counted() -> None:
    rows = [
        row(policy, seed, price=price, total_cost_usd=cost + seed)
        for policy, costs in zip("abcde", [(1, 9), (2, 7), (4, 6), (7, 5), (11, 4)], strict=True)
        for price, cost in zip("xy", costs, strict=True)
        for seed in range(3)
    ]
    (table,) = advice_table("title", rows, advise(rows), False, str)
    assert len([note for note in table.notes if "is cheaper than" in note]) == 3
    assert table.notes[-1] == "• 7 more pairs change places: --format json has them."
    assert [line.cells[0] for line in table.rows] == list("abcde")
    assert table.rows[0].cells[-2:] == ("★1 2.00", "5 10.0")
    assert table.rows[4].cells[-2:] == ("5 12.0", "★1 5.00")


def cells_of(tables: Sequence[Table]) -> dict[tuple[int, str], tuple[str, ...]]:
    return {
        (number, line.cells[0]): line.cells[1:]
        for number, table in enumerate(tables)
        for line in table.rows
    }


def test_a_rate_that_was_always_zero_has_its_exact_limit() -> None:
    """1 − 0.05^(1/3) = 63.2 %; a single run, and a policy that is asked nothing, have none."""
    rates = {"none": (0.0,) * 3, "some": (0.0, 0.0, 0.3), "unasked": (None,) * 3}
    rows = [
        row(policy, seed, price=price, confabulation_rate=rate)
        for policy, each in rates.items()
        for price in "xy"
        for seed, rate in enumerate(each)
    ]
    found = cells_of(advice_table("title", rows, advise(rows), False, str))
    assert {policy: cells[0] for (_, policy), cells in found.items()} == {
        "none": "0 (≤ 63.2)",
        "some": "10.0",
        "unasked": "–",
    }
    once = [each for each in rows if each["seed"] == 0]
    found = cells_of(advice_table("title", once, advise(once), False, str))
    assert found[0, "none"][0] == "0"


def test_what_stands_beside_the_costs_is_that_of_the_tables_first_price() -> None:
    rows = [
        row("p", seed, price=price, violations=at)
        for at, price in enumerate("uvwxyz")
        for seed in range(2)
    ]
    tables = advice_table("title", rows, advise(rows), False, str)
    assert [table.title for table in tables] == ["title", ""]
    found = cells_of(tables)
    assert (found[0, "p"][1], found[1, "p"][1]) == ("0", "3")
    says = "Answers and completed runs are those at u and x, the first price of each table;"
    assert tables[-1].notes[0].startswith(says)


Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def evictbench(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(list(arguments))
        out, err = capsys.readouterr()
        code = ended.value.code
        assert isinstance(code, int)
        return code, out, err

    return call


STORY = ("compare", "rate-limit-table", "-p", "tiered", "-p", "naive-rewrite", "--jobs", "1")
TWO = ("--price", "uncached", "--price", "claude-sonnet-5")


def test_the_json_document_has_the_advice(evictbench: Run) -> None:
    code, out, _ = evictbench(*STORY, *TWO, "--format", "json")
    document = json.loads(out)
    assert code == 0
    assert list(document) == ["rows", "summary", "leaders", "advice", "manifest"]
    assert document["advice"][0]["kind"] == "ship"
    assert {row["price"] for row in document["rows"]} == {"uncached", "claude-sonnet-5"}


def test_csv_rows_name_their_price(evictbench: Run) -> None:
    code, out, _ = evictbench(*STORY, *TWO, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert code == 0
    assert [row["price"] for row in rows] == ["claude-sonnet-5"] * 2 + ["uncached"] * 2


def test_prices_of_a_book_of_ones_own(evictbench: Run, tmp_path: Path) -> None:
    book = tmp_path / "mine.toml"
    book.write_text(
        '[prices.mine]\nlike = "gpt-4.1"\nread = 1.9\nsource = "a contract"\ndate = "2026-01-01"\n'
    )
    code, out, _ = evictbench(
        *STORY, "--prices", str(book), "--price", "mine", "--price", "gpt-4.1", "--format", "json"
    )
    assert code == 0
    assert {row["price"] for row in json.loads(out)["rows"]} == {"mine", "gpt-4.1"}


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--price", "gpt-4.1", "--price", "uncachd"), "did you mean 'uncached'?"),
        (("--price", "claude-sonet-5", "--price", "uncached"), "did you mean 'claude-sonnet-5'?"),
        ((*TWO, "--set", "price=uncached"), "two prices were given"),
    ],
)
@pytest.mark.parametrize("form", ["table", "json"])
def test_wrong_prices(evictbench: Run, more: tuple[str, ...], says: str, form: str) -> None:
    code, out, err = evictbench(*STORY, *more, "--format", form)
    assert (code, out) == (2, "")
    assert says in err
    assert len(err.splitlines()) == 1
