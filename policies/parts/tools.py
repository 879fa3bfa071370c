"""What a tool does, by its name: the field's own rules treat some tools in a way of their own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sim.segments import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sim.segments import Segment

__all__ = ["COMMANDS", "is_command", "named"]

COMMANDS = (
    *("bash", "shell", "terminal", "powershell", "command", "exec", "execute", "run"),
    *("build", "integration", "lint", "test", "tests", "typecheck"),
)
"""Words of which one stands in the name of a tool that runs a command."""

_BETWEEN = re.compile(r"(?<=[a-z])(?=[A-Z])|[^A-Za-z]+")


def named(segment: Segment, words: Iterable[str]) -> bool:
    """Whether one of *words* stands in the name of its tool: ``run_tests`` has ``tests`` in it.

    Large and small letters are alike.
    """
    if segment.tool is None:
        return False
    own = {word.lower() for word in _BETWEEN.split(segment.tool)}
    return any(word.lower() in own for word in words)


def is_command(segment: Segment) -> bool:
    """Whether a command brought it, and not a read or another tool: by :data:`COMMANDS`."""
    return segment.kind is Kind.TOOL_RESULT and named(segment, COMMANDS)
