"""The worked examples run, and leave the pictures that the documentation shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

EXAMPLES = {
    "compare_policies": ("pareto", "cause", "distance"),
    "look_into_a_run": tuple(
        f"{chart}-{policy}"
        for policy in ("naive-rewrite", "tiered")
        for chart in ("occupancy", "cache", "salience")
    ),
    "map_two_settings": ("map", "sensitivity"),
    "replay_a_session": ("session-compaction", "session-disciplined", "session-cause"),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_runs(name: str, tmp_path: Path) -> None:
    more = ["3"] if name == "map_two_settings" else []
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / f"{name}.py"), str(tmp_path), *more],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    pictures = {file.stem: file for file in tmp_path.iterdir()}
    assert pictures.keys() == set(EXAMPLES[name])
    assert all(file.stat().st_size > 10_000 for file in pictures.values())


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_short_and_its_pictures_are_in_the_documentation(name: str) -> None:
    text = (ROOT / "examples" / f"{name}.py").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 60
    page = (ROOT / "docs" / "charts.md").read_text(encoding="utf-8")
    assert f"examples/{name}.py" in page
    for picture in EXAMPLES[name]:
        assert f"pictures/{picture}.png" in page
        assert (ROOT / "docs" / "pictures" / f"{picture}.png").is_file()


def test_every_picture_is_shown() -> None:
    page = (ROOT / "docs" / "charts.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"\(pictures/([\w-]+\.png)\)", page))
    assert shown == {file.name for file in (ROOT / "docs" / "pictures").iterdir()}
