"""How bench loads what reducers work on: scenarios with real logs, and tools for a recording.

Scenarios do not know the reducers, which are policies' own; bench hands them over.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scenarios.scenario import Scenario
    from scenarios.transcripts.declared import Declared, Reduction
    from sim.measured import Measured

__all__ = ["load", "load_tools"]

_HELD = 512
"""Reduced logs that are held for differences to them."""


def load(name_or_path: str, settings: Mapping[str, object] | None = None) -> Scenario:
    """Return a scenario as ``scenarios.catalogue.load`` does, able to draw from real logs.

    Raises InputError with a sentence for everything that is wrong.
    """
    from scenarios import catalogue

    return catalogue.load(name_or_path, settings, _measure)


def _measure(raw: bytes, limit: int, tool: str | None, before: bytes | None) -> Measured:
    """Measure a real result; a function of this module, so that the reducers load at first use.

    A workload asks for differences between all pairs of its logs: each log is reduced once.
    """
    from policies.reducers.measuring import measure

    found = measure(raw, limit, tool, None)
    if before is None:
        return found
    older, newer = (_reduced(each, limit, tool) for each in (before, raw))
    return replace(found, delta_tokens=_Reductions(None).difference(older, newer, limit))


@lru_cache(maxsize=_HELD)
def _reduced(raw: bytes, limit: int, tool: str | None) -> str:
    from policies.reducers.reduction import reduce

    return reduce(raw, limit, tool).text


def load_tools(file: Path, tokenizer: str | None = None) -> Declared:
    """Return the tools that a tools file declares for a recording that *tokenizer* counts.

    Raises one InputError, with lines, for everything that is wrong with it, unknown reducers
    among it.
    """
    from policies.reducers.registry import names
    from scenarios.tools import blame, read_tools_file
    from scenarios.transcripts.declared import Declared
    from sim.errors import unknown

    tools = read_tools_file(file).tools
    known = names()
    wrong = [
        (f"tool {name!r}: {unknown('reducer', tool.reducer, known)}", tool.reducer_at)
        for name, tool in tools.items()
        if tool.reducer is not None and tool.reducer not in known
    ]
    if wrong:
        blame(file, wrong)
    return Declared(str(file), tools, _Reductions(tokenizer))


class _Reductions:
    """Reduces recorded texts with the reducers of policies."""

    def __init__(self, tokenizer: str | None) -> None:
        from sim.tokens import tokenizer as load_tokenizer

        self._tokenizer = load_tokenizer(tokenizer)

    def reduce(self, text: str, limit: int, reducer: str | None) -> Reduction:
        from policies.reducers.reduction import Output, reduced
        from policies.reducers.room import Room
        from scenarios.transcripts.declared import Reduction

        found = reduced(Output(text, reducer), Room(limit, self._tokenizer))
        return Reduction(found.text, found.tokens_after)

    def difference(self, before: str, after: str, limit: int) -> int:
        from policies.reducers.difference import difference
        from policies.reducers.room import Room

        room = Room(limit, self._tokenizer)
        return room.count(difference(before, after, room).text)
