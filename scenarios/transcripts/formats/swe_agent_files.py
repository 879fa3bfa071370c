"""What the windowed file commands of SWE-agent do, and to which file.

``open`` shows a window of a file; ``goto``, ``scroll_up``, ``scroll_down``, ``edit`` and ``insert``
go to the file that is open, which only the result names; ``create`` makes one and opens it.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

__all__ = ["arguments_with_path", "failed", "is_file_command"]

_COMMANDS = frozenset({"create", "edit", "goto", "insert", "open", "scroll_down", "scroll_up"})
_KEYS = ("path", "filename")
_HEADER = re.compile(r"^\[File: (.+?) \(\d+ lines total\)\]", re.MULTILINE)
_OPEN = re.compile(r"^\(Open file: (.+?)\)\s*$", re.MULTILINE)
_DIRECTORY = re.compile(r"^\(Current directory: (.+?)\)\s*$", re.MULTILINE)
_REFUSED = re.compile(r"\s*Your (?:proposed )?edit\b")
_NONE = "n/a"


def is_file_command(name: str) -> bool:
    """Whether *name* is a command that opens or edits a file."""
    return name in _COMMANDS


def failed(name: str, result: str) -> bool:
    """Whether a file command did nothing: it shows no file, or an edit that was refused."""
    if not is_file_command(name):
        return False
    return _HEADER.search(result) is None or _REFUSED.match(result) is not None


def arguments_with_path(name: str, arguments: Any, result: str, directory: str) -> Any:
    """Return the arguments of a file command that succeeded with its whole path among them."""
    if not is_file_command(name) or failed(name, result):
        return arguments
    path = _path(result, directory)
    if not isinstance(arguments, dict):
        return {"path": path, "arguments": arguments}
    key = next((key for key in _KEYS if isinstance(arguments.get(key), str)), "path")
    return {**arguments, key: path}


def _path(result: str, directory: str) -> str:
    """Return the file that a result shows: the open one if it says so, else by its header."""
    opened = _OPEN.findall(result)
    if opened and opened[-1] != _NONE:
        return str(opened[-1])
    inside = _DIRECTORY.findall(result)
    header = _HEADER.search(result)
    shown = header[1] if header is not None else ""
    return posixpath.join(inside[-1] if inside else directory, shown)
