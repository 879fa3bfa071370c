"""Patches in the envelope of ``apply_patch``: which files they touch, and what they make of them.

A patch comes as the argument of a tool or a program of that name, or as a here-document of a shell
command that calls it. One patch may touch several files. Source: the grammar that the tool is
published with.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from scenarios.transcripts.shell_tools import SHELLS

__all__ = ["patch_of", "patched"]

_TOOL = "applypatch"
_TEXTS = ("input", "patch", "patchText")
_COMMANDS = ("command", "cmd")
_BEGIN = "*** Begin Patch"
_HERE = re.compile(r"(?:^|[\s;&|])apply_?patch\b[^\n]*<<")
_HEADER = re.compile(r"\*\*\* (Add File|Delete File|Update File|Move to): (.+)")


def patch_of(plain: str, arguments: Any) -> str | None:
    """Return the patch that a call applies, None if it applies none.

    *plain* is the tool's name without case and separators.
    """
    if plain == _TOOL and isinstance(arguments, str):
        return arguments if _BEGIN in arguments else None
    if not isinstance(arguments, Mapping):
        return None
    if plain == _TOOL:
        keys: tuple[str, ...] = (*_TEXTS, *_COMMANDS)
    elif plain in SHELLS:
        keys = _COMMANDS
    else:
        return None
    for key in keys:
        words = _strings(arguments.get(key))
        called = plain == _TOOL or words[:1] == ["apply_patch"]
        for text in words:
            if _BEGIN in text and (called or _HERE.search(text.partition(_BEGIN)[0])):
                return text
    return None


def _strings(value: Any) -> list[str]:
    """Return a command's words, or the one text it is."""
    return [v for v in (value if isinstance(value, list) else [value]) if isinstance(v, str)]


def patched(patch: str) -> dict[str, str | None]:
    """Return the files that *patch* touches, in order; the text of those it makes anew."""
    files: dict[str, str | None] = {}
    for kind, path, body in _sections(patch.partition(_BEGIN)[2]):
        added = [line[1:] + "\n" for line in body if line.startswith("+")]
        files[path] = "".join(added) if kind == "Add File" else None
    return files


def _sections(text: str) -> Iterator[tuple[str, str, list[str]]]:
    """Yield the kind, the path and the lines of each part of a patch."""
    found: tuple[str, str, list[str]] | None = None
    for line in text.split("\n"):
        header = _HEADER.match(line.rstrip())
        if header is not None and header[2].strip():
            if found is not None:
                yield found
            found = header[1], header[2].strip(), []
        elif found is not None:
            found[2].append(line)
    if found is not None:
        yield found
