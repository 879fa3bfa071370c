"""Every command and the policy that the README shows."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bench.cli import main

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
NAMES = "ablate|complaints|compare|sweep|diff|run|replay|list|check|reduce|explain|new|redact"
COMMANDS = sorted(
    set(re.findall(r"^\$ evictbench (.+)$", README, re.M))
    | set(re.findall(rf"`evictbench ((?:{NAMES})[^`]*)`", README))
)
POLICY = re.search(r"```python\n(.*?)```", README, re.S)


@pytest.fixture(autouse=True)
def _in_a_folder_with_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert POLICY is not None
    (tmp_path / "my_policy.py").write_text(POLICY.group(1), encoding="utf-8")
    demo = (ROOT / "examples" / "demo-session.jsonl").read_bytes()
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / "demo-session.jsonl").write_bytes(demo)
    (tmp_path / "my-session.jsonl").write_bytes(demo)
    loop = (ROOT / "examples" / "loop.toml").read_bytes()
    (tmp_path / "examples" / "loop.toml").write_bytes(loop)
    (tmp_path / "my-check.log").write_text("a.py:1: error: no  [x]\n", encoding="utf-8")
    for name in ("before", "after"):
        shutil.copytree(ROOT / "results" / "reference", tmp_path / "results" / name)
    monkeypatch.chdir(tmp_path)


def test_the_readme_shows_commands() -> None:
    assert len(COMMANDS) >= 10


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_works(command: str) -> None:
    arguments = shlex.split(command)
    if arguments[0] in ("ablate", "compare", "sweep"):
        arguments += ["--seeds", "2", "--jobs", "1"]
        if not any(argument.startswith("turns=") for argument in arguments):
            arguments += ["--set", "turns=60"]
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 0


def test_the_first_two_commands_are_make_demo_and_make_test() -> None:
    assert re.findall(r"^    (\S.*)$", README, re.M)[:2] == ["make demo", "make test"]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(r"^demo:", makefile, re.M)
    assert re.search(r"^test:", makefile, re.M)
    assert "make test" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_the_log_of_the_example_is_made_as_the_readme_says() -> None:
    command = re.search(r"`\.venv/bin/python (examples/\S+\.py)`", README)
    assert command is not None
    done = subprocess.run(
        [sys.executable, ROOT / command[1]],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert (
        done.stdout.splitlines()[-1] == "Found 431 errors in 118 files (checked 2847 source files)"
    )


def test_the_policy_keeps_to_the_rules() -> None:
    from policies.check import check
    from policies.registry import make

    assert check(lambda: make("my_policy.py:Mine")) == []
