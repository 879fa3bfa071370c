"""What docs/advice.md shows: its commands and its kinds."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from bench.advice import KINDS
from bench.cli import main

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "advice.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^\$ evictbench (.+)$", PAGE, re.M)


def test_the_page_shows_commands() -> None:
    assert len(COMMANDS) == 3


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_works(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    arguments = shlex.split(command)
    if arguments[0] == "compare":
        arguments += ["--seeds", "2", "--jobs", "1", "--set", "turns=20"]
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 0


def test_every_kind_is_explained() -> None:
    assert tuple(re.findall(r"^\| `(\w+)` \|", PAGE, re.M)) == KINDS
