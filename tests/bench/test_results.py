from __future__ import annotations

import csv
import json
import os
from pathlib import Path

import pytest

from bench.api import Comparison
from bench.results import prepare, save, write_text
from bench.summary import COLUMNS
from sim.errors import InputError
from sim.metrics import NAMES
from tests.bench.rows import rows

root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere"
)


def comparison() -> Comparison:
    made = rows("a", "stale", [1, 2]) + rows("b", "total_cost_usd", [1 / 3, 2.0])
    return Comparison(made, None, {"seeds": 2})


def test_a_folder_holds_rows_summary_manifest_and_all_of_them(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "results"
    save(comparison(), folder)
    names = {"rows.csv", "summary.csv", "manifest.json", "result.json"}
    assert {path.name for path in folder.iterdir()} == names
    whole = json.loads((folder / "result.json").read_text())
    assert set(whole) == {"rows", "summary", "advice", "manifest"}
    assert json.loads((folder / "manifest.json").read_text()) == whole["manifest"] == {"seeds": 2}
    with (folder / "rows.csv").open(newline="") as file:
        lines = list(csv.reader(file))
    assert lines[0] == ["scenario", "policy", "seed", "price", *NAMES, "status", "reason"]
    assert len(lines) == 1 + 4 == 1 + len(whole["rows"])
    with (folder / "summary.csv").open(newline="") as file:
        assert next(csv.reader(file)) == list(COLUMNS)


def test_saving_again_replaces(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("old")
    save(comparison(), tmp_path)
    assert (tmp_path / "rows.csv").read_text().startswith("scenario,")


def test_what_cannot_be_written_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file.txt"
    path.write_text("old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match=r"file\.txt: cannot write it: No space left on device"):
        write_text(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_is_a_file_is_bad_input(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("")
    with pytest.raises(InputError, match="cannot write there"):
        prepare(path)
    with pytest.raises(InputError, match="cannot write it"):
        write_text(tmp_path / "missing" / "file.txt", "x")


@root
def test_a_folder_that_is_read_only_is_bad_input(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match="cannot write there"):
        prepare(tmp_path)
