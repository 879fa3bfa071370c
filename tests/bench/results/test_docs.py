"""What docs/results.md shows: its commands, its code and its tables of columns."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from bench.cli import main
from bench.diff import DEFAULT
from bench.replays import what_if
from bench.results.columns import ENDS, KEYS
from bench.summary import SAYS
from bench.turns import OWN

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")


def table(heading: str) -> dict[str, str]:
    """The first table under *heading*, without rows that stand for many columns."""
    section = PAGE.split(f"### {heading}\n")[1].split("\n#")[0]
    return dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", section, re.M))


def told(about: Mapping[str, tuple[str, str, str | None]]) -> dict[str, str]:
    return {name: says for name, (_, says, _) in about.items()}


def test_every_column_is_explained_as_it_is_declared() -> None:
    assert table("Columns of runs") == {**KEYS, **ENDS}
    assert table("Columns of turns") == told(OWN)
    assert table("Columns of the summary") == told(SAYS)
    assert table("Columns of what-if") == told(what_if.SAYS)


def test_the_metrics_that_diff_compares_are_named() -> None:
    sentence = re.search(r"Without `--metric`, nine metrics are compared: (.*?)\.", PAGE, re.S)
    assert sentence is not None
    assert re.findall(r"`(\w+)`", sentence[1]) == list(DEFAULT)
    assert len(DEFAULT) == 9


def test_the_commands_and_the_code_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    shutil.copytree(ROOT / "results" / "reference", tmp_path / "results" / "after")
    commands = re.findall(r"^    evictbench (.+)$", PAGE, re.M)
    assert len(commands) == 4
    for command in commands:
        arguments = shlex.split(command)
        if arguments[0] == "compare":
            arguments += ["--seeds", "6", "--set", "turns=40", "--jobs", "1"]
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 0
    capsys.readouterr()
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    exec(code, {})
    assert "tag-or-drop" in capsys.readouterr().out


def test_the_job_stands_on_commands_that_exist() -> None:
    (job,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.S)
    compared = re.search(r"evictbench (compare .*)", job)
    assert compared is not None
    assert "--out results/after" in compared[1]
    assert "evictbench diff results/accepted results/after" in job
