"""``evictbench check``: the worst-case growth of a loop, before anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bench.cli import options
from sim.errors import InputError, unknown

if TYPE_CHECKING:
    from scenarios.tools import Tool
    from sim.script import Script

__all__ = ["command"]

TOO_LARGE = 1
"""The exit code of a loop that does not fit."""

_LOOP = ("budget", "attempts", "fill", "material")


@click.command()
@click.argument("file", metavar="FILE")
@click.option(
    "--budget", type=click.IntRange(1, 10**9), metavar="N", help="The window's limit in tokens."
)
@click.option(
    "--attempts",
    type=click.IntRange(1, 1000),
    metavar="N",
    help="Attempts; without attempts, turns that bring something after the first.",
)
@click.option(
    "--fill",
    type=click.IntRange(0, 10**9),
    metavar="N",
    help="Tokens in the window before the first attempt.",
)
@click.option(
    "--material",
    type=click.IntRange(0, 10**9),
    metavar="N",
    help="Tokens that an attempt adds besides the results of its tools.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="The seed of a family. [default: 0]",
)
@options.format_of("table", "json", "csv", "md")
def command(
    file: str,
    budget: int | None,
    attempts: int | None,
    fill: int | None,
    material: int | None,
    seed: int,
    form: str,
) -> int:
    """Add up how large a loop's window can get, before anything runs.

    The first fill, and for each attempt the declared budget of every result and the rest of what
    it brings, against the window. FILE is a tools file (TOML with [tools.NAME] and [loop], or JSON
    as providers take it), a scenario file or the name of a scenario, or a script. The options take
    the place of what FILE says.

    Exits with 0 if the worst case fits, 1 if it does not, 2 if the input is wrong: a tool that
    declares no max_result_tokens is named.

    \b
    Examples:
      Does four times a type check of 24,000 tokens fit?
        evictbench check examples/loop.toml
      The tools that your harness sends, with the numbers of its loop:
        evictbench check examples/tools.json --budget 200000 --attempts 4 --fill 70000 \\
            --material 8500
      What would a fifth attempt do?
        evictbench check examples/loop.toml --attempts 5
    """
    from bench.ceiling import Ceiling, give_up
    from bench.tables import ceiling as tables

    given = {"budget": budget, "attempts": attempts, "fill": fill, "material": material}
    numbers = {name: value for name, value in given.items() if value is not None}
    script = _worst_case(file, numbers, seed)
    found = Ceiling.of(script)
    if form == "csv":
        from bench.output import csv_text

        click.echo(csv_text(tables.rows(found), tables.COLUMNS), nl=False)
    elif form == "json":
        from bench.output import json_document

        click.echo(json_document(tables.document(file, found, give_up(script))), nl=False)
    else:
        from bench.cli.emit import print_as

        print_as(tables.ceiling_tables(file, found, give_up(script)), form)
    return TOO_LARGE if found.over else 0


def _worst_case(name: str, numbers: Mapping[str, int], seed: int) -> Script:
    from scenarios.tools import is_tools_file

    file = options.file(name)
    if file.suffix in (".json", ".toml") and is_tools_file(file):
        return _of_tools(file, numbers)
    if file.is_file() and file.suffix not in (".json", ".toml"):
        raise InputError("a file to check ends with .toml or .json", file=file)
    return _of_scenario(name, numbers, seed)


def _of_tools(file: Path, numbers: Mapping[str, int]) -> Script:
    from bench.worst_case import of_tools
    from scenarios.tools import blame, read_tools_file

    found = read_tools_file(file)
    _check_reducers(file, found.tools.values())
    missing = [tool for tool in found.tools.values() if tool.max_result_tokens is None]
    blame(file, [(f"tool {t.name!r} declares no max_result_tokens", t.at) for t in missing])
    loop = {**found.loop, **numbers}
    lacking = [number for number in _LOOP if number not in loop]
    if lacking:
        wanted = ", ".join(f"--{number} N" for number in lacking)
        raise InputError(
            f"the loop lacks {_listed(lacking)}: say so under [loop], or with {wanted}",
            file=file,
        )
    return of_tools(str(file), found.tools.values(), loop)


def _of_scenario(name: str, numbers: Mapping[str, int], seed: int) -> Script:
    from bench.loading import load
    from bench.worst_case import of_script, undeclared

    name = str(options.file(name)) if name.startswith("~") else name
    budget = {"budget": numbers["budget"]} if "budget" in numbers else {}
    scenario = load(name, budget)
    _check_reducers(_file_of(name), scenario.tools.values())
    script = scenario.script(seed)
    missing = undeclared(script)
    if missing:
        raise InputError(_undeclared(missing), file=name)
    changed = {key: numbers[key] for key in ("attempts", "fill", "material") if key in numbers}
    return of_script(script, **changed)


def _undeclared(tools: list[str]) -> str:
    if len(tools) == 1:
        return f"tool {tools[0]!r} declares no max_result_tokens"
    return f"tools {_listed(map(repr, tools))} declare no max_result_tokens"


def _listed(words: Iterable[str]) -> str:
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last


def _file_of(name: str) -> Path | None:
    """Return the file that a scenario called *name* stands in, None for a family or a script."""
    from scenarios import stories

    story = name.split("/")[0]
    if story in stories.NAMES:
        return stories.file(story)
    path, end, _ = name.rpartition(".toml")
    return Path(path + end) if end else None


def _check_reducers(file: Path | None, tools: Iterable[Tool]) -> None:
    """Raise InputError, with lines, for each tool whose reducer is none that is registered."""
    named = [tool for tool in tools if tool.reducer is not None]
    if file is None or not named:
        return
    from policies.reducers.registry import names
    from scenarios.tools import blame

    known = names()
    blame(
        file,
        [
            (f"tool {tool.name!r}: {unknown('reducer', str(tool.reducer), known)}", tool.reducer_at)
            for tool in named
            if tool.reducer not in known
        ],
    )
