"""What well-known tools do with files, shells among them.

The tables hold the names that agent harnesses give their tools, compared without case and
separators. A tool that is in none of them touches no file; what a shell's command does is told by
its line (:mod:`scenarios.transcripts.shell`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scenarios.transcripts.patches import patch_of, patched
from scenarios.transcripts.shell import moved, shelled
from scenarios.transcripts.shell_tools import SHELLS, folder, located, said_failure

__all__ = ["Touch", "touch"]


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_READS = _names("""
    fsread getfilecontents goto notebookread open openfile read readfile scrolldown scrollup view
    viewfile viewimage
""")
_EDITS = _names("""
    applydiff edit editexistingfile editfile fsedit insert insertcontent multiedit notebookedit
    replace replaceinfile searchreplace strreplace updatefile
""")
_WHOLES = _names("create createfile createnewfile fswrite write writefile writetofile")
_EDITORS = _names("fileeditor strreplacebasededittool strreplaceeditor texteditor")
_EDITOR_READS = _names("view")
_EDITOR_EDITS = _names("str_replace insert undo_edit")
_EDITOR_WHOLES = _names("create")
_PATH_KEYS = (
    "file_path",
    "path",
    "notebook_path",
    "filename",
    "file",
    "target_file",
    "absolute_path",
    "filepath",
)
_CONTENT_KEYS = ("content", "file_text", "contents", "text")

_PATCH = "apply_patch"
_FAILED = re.compile(
    r"\s*(?:<tool_use_error>|error\b[: ]|invalid `|the user doesn't want to |"
    r"apply_patch \w+ failed)",
    re.IGNORECASE,
)
_LISTING = re.compile(r"\s*Here's the files and directories")


def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "").rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class Touch:
    """What a tool call does with the file at *path*: reads it, or writes it.

    *content* is the whole new text where the call gives it. *also* are the other files that a patch
    of several, or a command, writes. *aside*: the call did something else besides, and what came
    back is not the result of the write.
    """

    path: str
    reads: bool
    content: str | None = None
    also: tuple[str, ...] = ()
    aside: bool = False


def _text(arguments: Mapping[str, Any], keys: tuple[str, ...]) -> str | None:
    return next((v for k in keys if isinstance(v := arguments.get(k), str)), None)


def touch(
    name: str, arguments: Any, result: str, failed: bool, cwd: str | None = None
) -> Touch | None:
    """Return what a call did with a file, or None if nothing or if it failed.

    A relative path is taken from *cwd*, the folder that the tool was called in, where the record
    says it. Many recordings mark no failure: a result that begins as an error message does is one,
    and the listing of a directory is no read of a file.
    """
    if failed:
        return None
    plain = _plain(name)
    if (patch := patch_of(plain, arguments)) is not None:
        if _FAILED.match(result) or said_failure(result, (_PATCH,), 1):
            return None
        shell = plain in SHELLS
        return _patch(
            patch, moved(plain, arguments, cwd, _PATCH) if shell else folder(arguments, cwd)
        )
    if (done := shelled(plain, arguments, result, cwd)) is not None:
        first, *also = done.paths
        return Touch(first, done.reads, done.content, tuple(also), done.aside)
    if not isinstance(arguments, dict):
        return None
    if plain in _EDITORS:
        command = _text(arguments, ("command",))
        reads, whole = command in _EDITOR_READS, command in _EDITOR_WHOLES
        known = reads or whole or command in _EDITOR_EDITS
    else:
        reads, whole = plain in _READS, plain in _WHOLES
        known = reads or whole or plain in _EDITS
    path = _text(arguments, _PATH_KEYS) if known else None
    if not path or not path.strip():
        return None
    if _FAILED.match(result) or (reads and _LISTING.match(result)):
        return None
    content = _text(arguments, _CONTENT_KEYS) if whole else None
    return Touch(located(path, cwd), reads, content)


def _patch(patch: str, cwd: str | None) -> Touch | None:
    """Return what a patch does: it writes each of its files."""
    (*files,) = patched(patch).items()
    if not files:
        return None
    (path, content), *rest = ((located(path, cwd), content) for path, content in files)
    return Touch(path, False, content, tuple(path for path, _ in rest))
