"""docs/exits.md against the command line: which command returns which code, and 1 for one thing."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from bench.cli import codes, main
from bench.cli.app import app
from sim.errors import EvictbenchError

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "exits.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| (\d+) \| [^|]+ \| ([^|]+) \|$", PAGE, re.M))


def commands(text: str) -> set[str]:
    return {name.split()[0] for name in re.findall(r"`([^`]+)`", text)}


def using(*patterns: str) -> set[str]:
    """Commands in whose module one of *patterns* is found."""
    found = set()
    for name in app.list_commands(None):  # type: ignore[arg-type]
        module = import_module(f"bench.cli.commands.{name.replace('-', '_')}")
        text = Path(str(module.__file__)).read_text(encoding="utf-8")
        if any(re.search(pattern, text) for pattern in patterns):
            found.add(name)
    return found


def test_every_code_is_on_the_page_and_each_is_another() -> None:
    values = [getattr(codes, name) for name in codes.__all__]
    assert len(set(values)) == len(values)
    assert {int(code) for code in ROWS} == {0, *values}


def test_one_and_three_are_of_the_commands_that_the_page_names() -> None:
    assert commands(ROWS[str(codes.UNMET)]) - {"--strict"} == using(r"\bUNMET\b")
    assert commands(ROWS[str(codes.STRICT)]) - {"--strict"} == using(
        r"\bSTRICT\b", r"return emit\("
    )


@pytest.mark.parametrize("name", ["check", "diff", "validate"])
@pytest.mark.parametrize("error", [EvictbenchError("a worker died"), RuntimeError("no way")])
def test_a_command_that_says_no_with_one_never_says_so_when_it_breaks(
    name: str, error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*words: Any, **options: Any) -> None:
        raise error

    command = app.get_command(None, name)  # type: ignore[arg-type]
    assert command is not None
    monkeypatch.setattr(command, "callback", broken)
    monkeypatch.setenv("EVICTBENCH_DEBUG", "1")
    words = {"check": ["FILE"], "diff": ["A", "B"], "validate": []}[name]
    with pytest.raises(SystemExit) as ended:
        main([name, *words])
    assert ended.value.code == codes.BROKEN
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith("evictbench: ") and str(error) in said
