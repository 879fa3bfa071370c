from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from bench.api import Comparison
from bench.cli import main
from bench.results import save
from tests.bench.diff.made import facts
from tests.bench.rows import row, rows

COSTS = [10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0]

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs ``diff`` where the folders are: exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(["diff", *map(str, arguments)])
        streams = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, streams.out, streams.err

    return run


def keep(folder: Path, made: Iterable[Mapping[str, Any]], **scenario: Any) -> None:
    manifest = {"evictbench": "0.1.0", "git_commit": folder.name, "strict": False}
    told = {"scenarios": {"made-up": facts(**scenario)}}
    save(Comparison([dict(each) for each in made], None, {**manifest, **told}), folder)


@pytest.fixture
def folders(tmp_path: Path) -> None:
    """Folders a and b: p costs a tenth more and makes up one answer less, q is the same."""
    same = [row("q", seed) for seed in range(8)]
    a = [
        row("p", seed, total_cost_usd=cost, queries=10, confabulated=2, confabulation_rate=0.2)
        for seed, cost in enumerate(COSTS)
    ]
    b = [
        {**each, "total_cost_usd": 1.1 * each["total_cost_usd"], "confabulation_rate": 0.1}
        for each in a
    ]
    keep(tmp_path / "a", [*a, *same, row("z")])
    keep(tmp_path / "b", [*b, *same])


def test_what_is_worse_ends_with_1(run: Run, folders: None) -> None:
    code, out, err = run("a", "b")
    assert (code, err) == (1, "")
    lines = out.splitlines()
    assert lines[0].startswith(
        "1 regression: total_cost_usd of p on made-up, 10.0 % more; 1 figure"
    )
    assert "only in A: policy z, 1 run." in out
    assert "q " not in out
    assert "\x1b" not in out
    worse, better = out.index("\nworse\n"), out.index("\nbetter\n")
    assert worse < out.index("13.5") < better < out.index("20.0 %")


def test_the_other_way_round_it_is_better(run: Run, folders: None) -> None:
    code, out, _ = run("b", "a", "--metric", "total_cost_usd")
    assert code == 0
    assert out.startswith("No regression in 16 paired runs, 1 figure better.\n")
    assert "worse" not in out


def test_the_same_says_so(run: Run, folders: None) -> None:
    code, out, _ = run("a", "a", "--metric", "total_cost_usd")
    assert (code, out) == (0, "No regression: 17 paired runs, and no figure differs.\n\n")


def test_the_tolerance_is_a_percentage(run: Run, folders: None) -> None:
    assert run("a", "b", "--tolerance", "9.9")[0] == 1
    code, out, _ = run("a", "b", "--tolerance", "10.1")
    assert code == 0
    assert "1 figure differs by less than the tolerance." in out


def test_json_is_one_document(run: Run, folders: None) -> None:
    code, out, err = run("a", "b", "--format", "json", "--metric", "total_cost_usd")
    found = json.loads(out)
    assert (code, err) == (1, "")
    assert found["regression"] is True and found["verdict"].startswith("1 regression: ")
    assert [(line["policy"], line["metric"], line["verdict"]) for line in found["lines"]] == [
        ("p", "completed", "same"),
        ("p", "total_cost_usd", "worse"),
        ("q", "completed", "same"),
        ("q", "total_cost_usd", "same"),
    ]
    cost = found["lines"][1]
    assert (cost["a_mean"], cost["b_mean"], cost["n"]) == (13.5, 14.85, 8)
    assert found["only_a"] == [{"what": "policy", "name": "z", "runs": 1}]
    assert (found["a"]["git_commit"], found["b"]["git_commit"]) == ("a", "b")


def test_csv_is_the_lines_under_one_header(run: Run, folders: None) -> None:
    code, out, err = run("a", "b", "--format", "csv")
    lines = list(csv.DictReader(io.StringIO(out)))
    assert code == 1 and err.startswith("evictbench: 1 regression: ")
    assert len(lines) == 2 * (1 + 9)
    assert {line["verdict"] for line in lines} == {"same", "worse", "better", "none"}


def test_markdown_has_the_table(run: Run, folders: None) -> None:
    code, out, _ = run("a", "b", "--format", "md")
    assert code == 1
    assert "### 1 regression: total_cost_usd of p on made-up, 10.0 % more; 1 figure better." in out
    assert "| made-up | p | total_cost_usd | 13.5 | 14.8 | +1.35 [" in out


def test_a_run_that_fails_is_named_with_its_reason(run: Run, tmp_path: Path) -> None:
    a = rows("p", "stale", [0] * 8)
    b = [{**each, "status": "failed", "reason": "pins of 120 tokens"} for each in a[:2]] + a[2:]
    keep(tmp_path / "a", a)
    keep(tmp_path / "b", b)
    code, out, _ = run("a", "b", "--format", "md")
    assert code == 1
    assert "completed of p on made-up, 25.0 % less" in out
    assert "2 runs that completed in A and not in B, seeds 0, 1: pins of 120 tokens." in out


def test_few_pairs_are_said_to_be_too_few(run: Run, tmp_path: Path) -> None:
    keep(tmp_path / "a", rows("p", "stale", [0] * 5))
    keep(tmp_path / "b", rows("p", "stale", [9] * 5))
    code, out, _ = run("a", "b")
    assert code == 0
    assert out.startswith("No regression: 5 pairs can show none, however clear; it takes 6.\n")
    keep(tmp_path / "a", rows("p", "stale", [0]))
    keep(tmp_path / "b", rows("p", "stale", [9]))
    code, out, _ = run("a", "b")
    assert code == 0 and "changed, in a single run" in out
    said = "No regression: of a single run nothing is claimed, and 1 figure changed.\n"
    assert out.startswith(said)


def test_what_has_no_value_is_not_passed_over_in_silence(run: Run, folders: None) -> None:
    code, out, _ = run("a", "b", "--metric", "first_confabulation_turn")
    assert code == 0
    said = "Not compared, since no pair has both values: first_confabulation_turn."
    assert said in " ".join(out.split())


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("a",), "missing argument 'B'"),
        (("a", "none"), "none: there is no such folder"),
        (("a", "."), "no folder of results"),
        (("a", "b", "--metric", "peak_token"), "did you mean 'peak_tokens'?"),
        (("a", "b", "--metric", "turns"), "of turns, neither less nor more is better"),
        (("a", "b", "--tolerance", "nan"), "the tolerance must be a percentage of at least 0"),
        (("a", "b", "--tolerance", "-1"), "the tolerance must be a percentage of at least 0"),
        (("a", "other"), "the settings of made-up differ: budget 100 and 90"),
        (("a", "cut"), "runs.parquet: it is damaged"),
    ],
)
def test_bad_input_is_one_sentence(
    run: Run, folders: None, tmp_path: Path, arguments: tuple[str, ...], says: str
) -> None:
    keep(tmp_path / "other", [row("p")], settings={"budget": 90})
    keep(tmp_path / "cut", [row("p")])
    file = tmp_path / "cut" / "runs.parquet"
    file.write_bytes(file.read_bytes()[:500])
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert says in err and len(err.splitlines()) == 1
