"""By what kind of argument a model call mentions a value.

The tables hold names of arguments as agent harnesses use them, compared without case and
separators. A patch counts as code wherever it stands.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scenarios.transcripts.events import Message, ToolCall
from scenarios.transcripts.session import clean
from scenarios.transcripts.values import argument_values

__all__ = ["CODE", "COMMAND", "KINDS", "OTHER", "PATH", "PATTERN", "PROSE", "kind_of"]

PATH, COMMAND, PATTERN = "path", "command", "pattern"
CODE, PROSE, OTHER = "code", "prose", "other"
KINDS = (PATH, COMMAND, PATTERN, CODE, PROSE, OTHER)
"""Kinds of arguments, in the order in which tables show them."""

_NAMES = {
    PATH: """
        absolutepath cwd dir directory file filename filepath notebookpath path paths relativepath
        relativeworkspacepath targetdirectory targetfile workdir
    """,
    COMMAND: "args argv cmd command commandline commands script",
    PATTERN: """
        filepattern glob globpattern include includepattern pattern query regex search searchterm
        symbol
    """,
    CODE: """
        code codeedit content contents diff edits filetext input insertline newcode newsource newstr
        newstring newtext oldcode oldstr oldstring oldtext patch text
    """,
}
_KIND = {name: kind for kind, names in _NAMES.items() for name in names.split()}
_PATCHES = ("*** Begin Patch", "@@ -", "<<<<<<< SEARCH")


def kind_of(mention: Message | ToolCall, value: str) -> str:
    """Return the kind of argument of *mention* that holds *value*, as it was mined.

    That is the first of its arguments with it. A text of the assistant is prose; what stands in an
    argument of no known name, or in arguments that are no object, is ``other``.
    """
    if isinstance(mention, Message):
        return PROSE
    for name, leaf in _named("", mention.arguments):
        if value in map(clean, argument_values(leaf)):
            if isinstance(leaf, str) and any(mark in leaf for mark in _PATCHES):
                return CODE
            return _KIND.get(name.lower().replace("_", "").replace("-", ""), OTHER)
    return OTHER


def _named(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield each leaf of decoded arguments with the nearest name above it that says its kind."""
    todo = [(name, value)]
    while todo:
        name, value = todo.pop()
        if isinstance(value, dict):
            todo.extend((str(key), item) for key, item in reversed(value.items()))
        elif isinstance(value, list):
            todo.extend((name, item) for item in reversed(value))
        else:
            yield name, value
