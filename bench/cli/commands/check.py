"""``evictbench check``: the worst-case growth of a loop, before anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bench.cli import options
from bench.cli.codes import UNMET
from sim.errors import InputError, unknown

if TYPE_CHECKING:
    from sim.script import Script

__all__ = ["command"]

_MOST_NAMED = 5
_LOOP = ("budget", "attempts", "fill", "material")


@click.command(short_help="Add up how large a loop's window can get.")
@click.argument("file", metavar="FILE")
@click.option(
    "--budget", type=options.Whole(1, 10**9), metavar="N", help="The window's limit in tokens."
)
@click.option(
    "--attempts",
    type=options.Whole(1, 1000),
    metavar="N",
    help="Attempts; without attempts, turns that bring something after the first.",
)
@click.option(
    "--fill",
    type=options.Whole(0, 10**9),
    metavar="N",
    help="Tokens in the window before the first attempt.",
)
@click.option(
    "--material",
    type=options.Whole(0, 10**9),
    metavar="N",
    help="Tokens that an attempt adds besides the results of its tools.",
)
@click.option(
    "--seed",
    type=options.Whole(min=0),
    metavar="N",
    help="The seed of a family. [default: 0]",
)
@click.option(
    "--tools",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A tools file whose budgets are laid over those of a scenario or a script.",
)
@options.format_of("table", "json", "csv", "md")
def command(
    file: str,
    budget: int | None,
    attempts: int | None,
    fill: int | None,
    material: int | None,
    seed: int | None,
    tools: Path | None,
    form: str,
) -> int:
    """Add up how large a loop's window can get, before anything runs.

    The first fill, and for each attempt the declared budget of every result and the rest of what
    it brings, against the window. FILE is a tools file (TOML with [tools.NAME] and [loop], or JSON
    as providers take it), a scenario file or the name of a scenario, or a script. The options take
    the place of what FILE says. A family, and most stories, declare budgets for some tools only:
    --tools declares the others.

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
      A family, with the budgets of your own tools:
        evictbench check coding-agent --tools examples/coding-tools.toml
    """
    from bench.ceiling import Ceiling, give_up
    from bench.tables import ceiling as shown

    given = {"budget": budget, "attempts": attempts, "fill": fill, "material": material}
    numbers = {name: value for name, value in given.items() if value is not None}
    script = _worst_case(file, numbers, seed, tools)
    found = Ceiling.of(script)
    if form == "csv":
        from bench.output import csv_text

        click.echo(csv_text(shown.rows(found), shown.COLUMNS), nl=False)
    elif form == "json":
        from bench.output import json_document

        click.echo(json_document(shown.document(file, found, give_up(script))), nl=False)
    else:
        from bench.cli.emit import print_as

        print_as(shown.ceiling_tables(file, found, give_up(script)), form)
    return UNMET if found.over else 0


def _worst_case(
    name: str, numbers: Mapping[str, int], seed: int | None, tools: Path | None
) -> Script:
    from scenarios.tools import is_tools_file

    file = options.file(name)
    if file.suffix in (".json", ".toml") and is_tools_file(file):
        _refuse_options(file, seed, tools)
        return _of_tools(file, numbers)
    if file.is_file() and file.suffix not in (".json", ".toml"):
        raise InputError("a file to check ends with .toml or .json", file=file)
    return _of_scenario(name, numbers, seed or 0, tools)


def _refuse_options(file: Path, seed: int | None, tools: Path | None) -> None:
    """Raise InputError for an option that says nothing about a tools file."""
    if seed is not None:
        raise InputError("a tools file has no seed: --seed is for a family", file=file)
    if tools is not None:
        raise InputError(
            "it is a tools file itself: --tools lays one over a scenario or a script", file=file
        )


def _of_tools(file: Path, numbers: Mapping[str, int]) -> Script:
    from bench.loading import read_tools
    from bench.worst_case import of_tools

    found = read_tools(file)
    loop = {**found.loop, **numbers}
    lacking = [number for number in _LOOP if number not in loop]
    if lacking:
        wanted = ", ".join(f"--{number} N" for number in lacking)
        raise InputError(
            f"the loop lacks {_listed(lacking)}: say so under [loop], or with {wanted}",
            file=file,
        )
    return of_tools(str(file), found.tools.values(), loop)


def _of_scenario(name: str, numbers: Mapping[str, int], seed: int, tools: Path | None) -> Script:
    from bench.loading import load
    from bench.worst_case import of_script, undeclared

    name = str(options.file(name)) if name.startswith("~") else name
    budget = {"budget": numbers["budget"]} if "budget" in numbers else {}
    script = load(name, budget).script(seed)
    if tools is not None:
        script = _declared(script, options.file(str(tools)))
    missing = undeclared(script)
    if missing:
        raise InputError(_undeclared(missing, tools is not None), file=name)
    changed = {key: numbers[key] for key in ("attempts", "fill", "material") if key in numbers}
    return of_script(script, **changed)


def _declared(script: Script, file: Path) -> Script:
    """Return *script* with the budgets of a tools file; what of it is not used is named.

    Raises InputError if that is all.
    """
    from bench.cli.emit import warn
    from bench.loading import read_tools
    from bench.worst_case import called, declare

    found = read_tools(file)
    known = called(script)
    others = [name for name in found.tools if name not in known]
    if len(others) == len(found.tools):
        raise InputError(
            f"none of its tools is called; {unknown('tool', others[0], known)}", file=file
        )
    if others:
        named = _listed(map(repr, others[:_MOST_NAMED]))
        more = f" and {len(others) - _MOST_NAMED} more" if len(others) > _MOST_NAMED else ""
        warn(f"{file}: {script.scenario} calls no {named}{more}")
    if found.loop:
        warn(f"{file}: [loop] is not used: {script.scenario} says itself what comes")
    return declare(script, found.tools)


def _undeclared(tools: list[str], laid: bool) -> str:
    where = "nor does the file of --tools" if laid else "--tools FILE lays budgets over it"
    if len(tools) == 1:
        return f"tool {tools[0]!r} declares no max_result_tokens; {where}"
    return f"tools {_listed(map(repr, tools))} declare no max_result_tokens; {where}"


def _listed(words: Iterable[str]) -> str:
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last
