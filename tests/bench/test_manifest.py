from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from bench import manifest
from bench.output import json_document
from scenarios.catalogue import load


def test_versions_name_all_that_a_row_can_depend_on() -> None:
    found = manifest.versions()
    assert re.fullmatch(r"\d+\.\d+\.\d+.*", found["evictbench"])
    assert found["libraries"]["numpy"]
    json.loads(json_document({"manifest": found}))


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    done = subprocess.run(
        ["git", "-C", str(folder), *identity, *arguments],
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def test_the_commit_is_that_of_the_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manifest, "ROOT", tmp_path)
    assert manifest.git_commit() is None
    git(tmp_path, "init", "-q")
    assert manifest.git_commit() is None
    (tmp_path / "file").write_text("one")
    git(tmp_path, "add", "file")
    git(tmp_path, "commit", "-q", "-m", "one")
    commit = git(tmp_path, "rev-parse", "HEAD")
    assert manifest.git_commit() == commit
    (tmp_path / "file").write_text("two")
    assert manifest.git_commit() == f"{commit}+changes"


def test_a_folder_inside_another_checkout_has_no_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "init", "-q")
    inside = tmp_path / "site-packages"
    inside.mkdir()
    monkeypatch.setattr(manifest, "ROOT", inside)
    assert manifest.git_commit() is None


def test_a_scenario_is_described_with_its_price_row() -> None:
    found = manifest.describe_scenario(load("stale-file", {"price": "gpt-5.5"}), range(1))
    assert (found["kind"], found["seeds"]) == ("story", 1)
    assert found["settings"]["budget"] == 50_000
    assert found["price"]["input"] == 5.0
    assert found["price"]["rules"]["rule"] == "auto"
