"""How bench loads what reducers work on: scenarios with real logs, and tools for a recording.

Scenarios do not know the reducers, which are policies' own; bench hands them over.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scenarios.scenario import Scenario
    from scenarios.tools import Tool, ToolsFile
    from scenarios.transcripts.declared import Declared, Reduction
    from sim.measured import Measured
    from sim.tokens import Tokenizer

__all__ = ["load", "load_tools", "read_tools"]


def load(name_or_path: str, settings: Mapping[str, object] | None = None) -> Scenario:
    """Return a scenario as ``scenarios.catalogue.load`` does, able to draw from real logs.

    Raises InputError with a sentence for everything that is wrong, tools among it that name a
    reducer there is none of.
    """
    from scenarios import catalogue

    scenario = catalogue.load(name_or_path, settings, _measure)
    _check_reducers(_file_of(name_or_path), scenario.tools.values())
    return scenario


def _file_of(name: str) -> Path | None:
    """Return the file that a scenario called *name* stands in, None for a family or a script."""
    from scenarios import complaints, stories

    story, *rest = name.split("/")
    if story in stories.NAMES:
        return stories.file(story)
    if story == complaints.FOLDER and rest:
        return complaints.file(rest[0])
    path, end, _ = name.rpartition(".toml")
    return Path(path + end) if end else None


def _check_reducers(file: Path | None, tools: Iterable[Tool]) -> None:
    """Raise InputError, with lines, for each tool whose reducer is none that is registered."""
    named = [tool for tool in tools if tool.reducer is not None]
    if file is None or not named:
        return
    from policies.reducers.registry import names
    from scenarios.tools import blame
    from sim.errors import unknown

    known = names()
    blame(
        file,
        [
            (f"tool {tool.name!r}: {unknown('reducer', str(tool.reducer), known)}", tool.reducer_at)
            for tool in named
            if tool.reducer not in known
        ],
    )


def _measure(raw: bytes, limit: int, tool: str | None, before: bytes | None) -> Measured:
    """Measure a real result; a function of this module, so that the reducers load at first use."""
    from policies.reducers.measuring import measure

    return measure(raw, limit, tool, before)


def read_tools(file: Path) -> ToolsFile:
    """Return what a tools file says, each tool with a budget.

    Raises InputError, with lines, for what is wrong with it: for unknown reducers, and for tools
    that declare no budget.
    """
    from scenarios.tools import blame, read_tools_file

    found = read_tools_file(file)
    _check_reducers(file, found.tools.values())
    missing = [tool for tool in found.tools.values() if tool.max_result_tokens is None]
    blame(file, [(f"tool {t.name!r} declares no max_result_tokens", t.at) for t in missing])
    return found


def load_tools(file: Path, tokenizer: str | None = None) -> Declared:
    """Return the tools that a tools file declares for a recording that *tokenizer* counts.

    Raises InputError as :func:`read_tools` does.
    """
    from scenarios.transcripts.declared import Declared

    return Declared(str(file), read_tools(file).tools, _Reductions(tokenizer))


class _Reductions:
    """Reduces recorded texts with the reducers of policies; can be pickled for a worker process."""

    def __init__(self, tokenizer: str | None) -> None:
        self._name = tokenizer

    @property
    def _tokenizer(self) -> Tokenizer:
        from sim.tokens import tokenizer as load_tokenizer

        return load_tokenizer(self._name)

    def reduce(self, text: str, limit: int, reducer: str | None) -> Reduction:
        from policies.reducers.reduction import Output, reduced
        from policies.reducers.room import Room
        from scenarios.transcripts.declared import Reduction

        found = reduced(Output(text, reducer), Room(limit, self._tokenizer))
        return Reduction(found.text, found.tokens_after)

    def difference(self, before: str, after: str, limit: int) -> int | None:
        from policies.reducers.difference import difference
        from policies.reducers.log import Log
        from policies.reducers.room import Room

        room = Room(limit, self._tokenizer)
        text = difference(Log.of(before), Log.of(after), room)
        return None if text is None else room.count(text)
