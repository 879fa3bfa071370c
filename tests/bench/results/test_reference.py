"""The result that is kept in version control is what its command gives today."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from bench.cli import main
from bench.diff import diff
from bench.results import Results, load

ROOT = Path(__file__).resolve().parents[3]
REFERENCE = ROOT / "results" / "reference"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Results:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    command = re.search(r"^reference:.*\n\t\$\(BIN\)/evictbench (.*)$", makefile, re.M)
    assert command is not None
    folder = tmp_path_factory.mktemp("made")
    arguments = shlex.split(command[1].replace("results/reference", str(folder)))
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 0
    return load(folder)


def close(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """*rows* for a comparison that the last digits of a float do not matter in."""
    return [
        {k: pytest.approx(v, rel=1e-7) if isinstance(v, float) else v for k, v in row.items()}
        for row in rows
    ]


def test_runs_and_summary_are_the_same(made: Results) -> None:
    kept = load(REFERENCE)
    assert made.rows == close(kept.rows)
    assert made.table("summary") == close(kept.table("summary"))
    assert made.key == kept.key


def test_schema_and_scenarios_are_the_same(made: Results) -> None:
    kept = load(REFERENCE)
    name = "schema.json"
    assert (made.folder / name).read_text("utf-8") == (REFERENCE / name).read_text("utf-8")
    assert made.manifest["scenarios"] == kept.manifest["scenarios"]
    assert made.manifest.keys() == kept.manifest.keys()
    if made.manifest["libraries"] == kept.manifest["libraries"]:
        assert made.manifest["files"] == kept.manifest["files"]


def test_it_does_not_differ(made: Results) -> None:
    found = diff(load(REFERENCE), made)
    assert {line["verdict"] for line in found.lines} == {"same"}
    assert found.pairs == 36 and not found.only_a and not found.only_b


def test_it_is_small_and_names_no_place_of_a_machine() -> None:
    files = list(REFERENCE.iterdir())
    assert sum(file.stat().st_size for file in files) < 150_000
    assert not re.search(r"/(tmp|home|root|Users)/", (REFERENCE / "manifest.json").read_text())
