"""``evictbench break-even`` as it is typed."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from bench.cli.app import app
from bench.cli.commands.break_even import command
from sim.errors import EvictbenchError, InputError

SMALL = ("doc-analysis", "-p", "tiered", "--seeds", "2", "--jobs", "1", "--set", "turns=40")
FULL = (*SMALL, "--set", "budget=30000")


def typed(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


def test_its_name_and_its_help() -> None:
    assert command.name == "break-even"
    assert "Examples:" in typed("--help").output
    assert "\n  break-even" in CliRunner().invoke(app, ["--help"]).output
    asked = CliRunner().invoke(app, ["break-even", "--help"])
    assert asked.exit_code == 0 and "Examples:" in asked.output


def test_the_table_fits_eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    names = ("slack-swap-refuse", "naive-rehydrate", "tiered")
    found = typed(*FULL, *(part for name in names for part in ("-p", name)))
    assert found.exit_code == 0
    lines = found.output.splitlines()
    assert max(map(len, lines)) <= 80
    assert any(line.startswith("published") and "0.71 (0.48–1.12)" in line for line in lines)
    assert sum(line.startswith("slack-swap-refuse") for line in lines) == 2


def test_json_is_one_document_with_nothing_else() -> None:
    found = json.loads(typed(*FULL, "--format", "json").stdout)
    (row,) = found["summary"]
    assert (row["scenario"], row["policy"], row["runs"]) == ("doc-analysis", "tiered", 2)
    assert row["passes"] > 0 and len(row["pays_at"]) == 4
    assert found["published"]["pays_at"] == [0.86, 0.83, 0.7, 0.5]


def test_csv_and_markdown() -> None:
    table = list(csv.DictReader(io.StringIO(typed(*FULL, "--format", "csv").stdout)))
    assert [row["policy"] for row in table] == ["published", "tiered"]
    assert typed(*FULL, "--format", "md").stdout.startswith("### doc-analysis")


def test_every_pass_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "passes.jsonl"
    found = json.loads(typed(*FULL, "--passes", file, "--format", "json").stdout)
    lines: list[dict[str, Any]] = [json.loads(line) for line in file.read_text().splitlines()]
    (row,) = found["summary"]
    assert len(lines) == row["passes"]
    kept = [line for line in lines if line["removed"] > 0]
    at_nine = [line["removed"] * line["calls"] > 9 * line["behind"] for line in kept]
    assert row["pays_at"][0] == pytest.approx(sum(at_nine) / len(kept))


def test_a_price_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    book = tmp_path / "mine.toml"
    book.write_text(
        "[prices.mine]\nlike = 'gpt-5.5'\nwrite = 3.0\nread = 1.0\n"
        "source = 'mine'\ndate = '2026-01-01'\n"
    )
    words = ("three-tools", "-p", "tiered", "--price", "mine", "--format", "json")
    found = json.loads(typed(*words, "--prices", book).stdout)
    assert found["summary"][0]["ratio"] == 2.0
    assert isinstance(typed(*words).exception, InputError)
    monkeypatch.setenv("EVICTBENCH_PRICES", str(book))
    named = typed(*words)
    assert json.loads(named.stdout)["summary"][0]["ratio"] == 2.0
    assert "EVICTBENCH_PRICES" in named.stderr


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    found = typed(*FULL, "--passes", tmp_path / "none" / "passes.jsonl")
    assert isinstance(found.exception, InputError)
    assert "cannot write" in str(found.exception)


@pytest.mark.parametrize("arguments", [("--seeds", "0"), ("--format", "xml"), ("--set", "turns")])
def test_wrong_words_end_with_two(arguments: tuple[str, ...]) -> None:
    assert typed("doc-analysis", *arguments).exit_code == 2


def test_a_policy_that_is_not_applicable_is_said_to_be() -> None:
    words = (*FULL, "-p", "no-op", "--set", "history=append-only")
    output = " ".join(typed(*words).output.split())
    assert "own: at the price's own 11.5, with them." in output
    assert "not applicable: tiered; the policy edits the history" in output
    tiered, nothing = json.loads(typed(*words, "--format", "json").stdout)["summary"]
    assert tiered["runs"] == 0 and "may only be appended to" in tiered["reason"]
    assert nothing["runs"] == 2 and nothing["reason"] is None
    alone = " ".join(typed(*FULL, "--set", "history=append-only").output.split())
    assert "refetches left out. Published" in alone


def test_reads_that_are_free_have_no_ratio_of_their_own() -> None:
    output = " ".join(typed(*FULL, "--price", "vllm").output.split())
    assert "own: at the price's own, which has none since reads are free." in output


def test_two_prices_are_refused() -> None:
    found = typed(*FULL, "--price", "gpt-5.5", "--price", "gpt-4.1")
    assert found.exit_code == 2 and "it takes one name here" in found.output


def test_who_does_the_work_changes_nothing() -> None:
    alone = typed(*FULL, "--format", "csv")
    shared = typed(*FULL, "--format", "csv", "--jobs", "2", "--executor", "processes")
    assert shared.exit_code == 0
    assert shared.stdout == alone.stdout


@pytest.mark.parametrize(
    ("executor", "says"),
    [("dsk", "dask"), ("dask://127.0.0.1:1", "--jobs is for this machine")],
)
def test_an_executor_that_cannot_be_used(executor: str, says: str) -> None:
    found = typed(*FULL, "--executor", executor)
    assert found.exit_code == 2 and says in found.stderr


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (KeyboardInterrupt(), "interrupted"),
        (EvictbenchError("a worker process died"), "a worker process died"),
    ],
)
def test_what_was_finished_is_kept(
    error: BaseException, says: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from bench import break_even

    file = tmp_path / "passes.jsonl"
    words = (*FULL, "--format", "json")
    alone = json.loads(typed(*words).stdout)["summary"]
    played = break_even._play

    def until_the_third(unit: Any) -> Any:
        if unit.seed == 2:
            raise error
        return played(unit)

    monkeypatch.setattr(break_even, "_play", until_the_third)
    found = typed(*words, "--seeds", "3", "--passes", file)
    assert found.exit_code == 0  # what it returns is made the exit code by the app
    document = json.loads(found.stdout)
    assert document["summary"] == alone
    assert (document["manifest"]["finished"], document["manifest"]["planned"]) == (2, 3)
    assert len(file.read_text().splitlines()) == alone[0]["passes"]
    assert f"{says}; 2 of 3 runs were finished and are shown" in found.stderr
