"""Tools that run shell commands: the line they were given, where, and whether it succeeded.

Their names, arguments and the words around a command's output are those of the agent harnesses
whose recordings are read.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Collection, Mapping
from typing import Any

__all__ = [
    "AFRESH",
    "SHELLS",
    "command_of",
    "ended_in",
    "folder",
    "is_elsewhere",
    "located",
    "printed",
    "said_failure",
    "said_success",
]

AFRESH = frozenset(
    {"exec", "execcommand", "localshell", "runshellcommand", "shell", "shellcommand"}
)
"""Tools that start a shell for every command: what an earlier one did to its folder is gone."""
SHELLS = AFRESH | {
    "bash",
    "cmdrun",
    "executebash",
    "executecommand",
    "run",
    "runcommand",
    "runinterminal",
    "runterminalcmd",
    "terminal",
}
"""Tools that run a shell command, by their names without case and separators."""
_PROGRAMS = frozenset({"cat", "cp", "git", "head", "mv", "nl", "rm", "sed", "tail", "tee"})
"""Programs that are a tool's name themselves where the whole line is called as one."""
_COMMANDS = ("command", "cmd")
_FOLDERS = ("workdir", "cwd", "working_directory", "directory")
_LATER = ("run_in_background", "is_background", "background", "is_input")
"""Arguments by which a command goes on behind its result, or is the input of another."""

_HEAD = re.compile(
    r"(?:Chunk ID: \S+\n)?(?:Exit code: 0\n)?Wall time: [\d.]+ seconds\n"
    r"(?:Process exited with code 0\n)?(?:(?:Original token count|Total output lines): \d+\n)*"
    r"Output:\n(?:Total output lines: \d+\n\n?)?"
)
_CODE = re.compile(
    r"\[(?:The command completed|Command finished) with exit code (-?\d+)|"
    r"^(?:Exit code:?|Exit Code:|Process exited with code|Command exited with code) (-?\d+)|"
    r"\. Exit code: (-?\d+)\n",
    re.MULTILINE,
)
_ENDED_WELL = re.compile(
    r"\A(?:Chunk ID: \S+\n)?(?:Wall time: [\d.]+ seconds\n)?"
    r"(?:Exit code: 0\n|Process exited with code 0\n|[^\n]*\. Exit code: 0\n)|"
    r"\[(?:The command completed|Command finished) with exit code 0\.?\]"
    r"(?:\s*\[(?:Current working directory|Python interpreter|Command finished)[^\]\n]*\])*\s*\Z"
)
"""Where a tool itself, before or behind what the command printed, says that it succeeded."""
_UNDONE = re.compile(
    r"process running with session ID|^command is still running|^command timed out|"
    r"aborted by user|rejected by user|denied this operation|the user doesn't want to |"
    r"\[Request interrupted by user|^Command was cancelled|has no new output after",
    re.MULTILINE | re.IGNORECASE,
)
"""What a tool says of a command that goes on, or that was not let run."""
_COMPLAINT = (
    r"(?:\S*/)?(?:ba|da|fi|k|z)?sh(?:\.exe)?:|\(eval\):|<tool_use_error>|(?:error|fatal)\b ?[: ]|"
    r".{0,200}(?:command not found|No such file or directory|Permission denied|"
    r"is not recognized as|cannot find the (?:file|path))"
)
_ELSEWHERE = re.compile(r"[~\\]|[A-Za-z]:")
_WIDEST = 300
"""Characters of a line in which a complaint begins."""
_ENDED_IN = re.compile(
    r"\[Current working directory: (/[^\]\n]*)\]|\(Current directory: (/[^)\n]*)\)"
)
"""Where a shell that stays open says that it is, after the command."""


def command_of(plain: str, arguments: Any) -> str | None:
    """Return the command line that the tool *plain* was given, None if it is no shell's.

    A list is what is executed: a shell with the line behind ``-c``, or a program with its words.
    A command that goes on behind its result, or is typed into another program, is none.
    """
    if plain in _PROGRAMS:
        return f"{plain} {arguments}" if isinstance(arguments, str) else None
    if plain not in SHELLS:
        return None
    given = arguments
    if isinstance(arguments, Mapping):
        if any(arguments.get(key) in (True, "true") for key in _LATER):
            return None
        given = next((arguments[key] for key in _COMMANDS if key in arguments), None)
    if isinstance(given, str):
        return given
    if not isinstance(given, list) or not all(isinstance(word, str) for word in given):
        return None
    shell = posixpath.basename(given[0]) if given else ""
    if shell in ("bash", "sh", "zsh") and len(given) == 3 and given[1] in ("-c", "-lc"):
        return str(given[2])
    return shlex.join(given) if given and not shell.endswith("sh") else None


def folder(arguments: Any, cwd: str | None) -> str | None:
    """Return the folder in which a tool call works: an argument's, seen from *cwd*."""
    if isinstance(arguments, Mapping):
        given = next((v for k in _FOLDERS if isinstance(v := arguments.get(k), str) and v), None)
        if given is not None:
            return located(given, cwd)
    return cwd


def located(path: str, cwd: str | None) -> str:
    """Return *path* without detours, seen from *cwd* if that is known and the path is relative.

    A folder of Windows, or one below somebody's home, is joined to nothing.
    """
    path = path.strip()
    if cwd is not None and not is_elsewhere(path) and not is_elsewhere(cwd):
        path = posixpath.join(cwd, path)
    return posixpath.normpath(path)


def is_elsewhere(path: str) -> bool:
    """Whether a path begins at a drive, a share or a home, and so can be joined to nothing."""
    return _ELSEWHERE.match(path) is not None


def printed(text: str) -> str:
    """Return what a command printed: *text* without what its tool says of the run in front."""
    head = _HEAD.match(text)
    return text if head is None else text[head.end() :]


def ended_in(text: str) -> str | None:
    """Return the folder in which a shell that stays open says that it ended."""
    told = _ENDED_IN.findall(text)
    return "".join(told[-1]) if told else None


def said_success(text: str) -> bool:
    """Whether the tool itself says that the whole command succeeded."""
    return _ENDED_WELL.search(text) is not None


def said_failure(text: str, programs: Collection[str], lines: int | None = None) -> bool:
    """Whether the result of a command says that it failed, goes on, or was not run.

    That is an exit code, or a complaint of a shell or of one of the *programs* at the head of one
    of its first *lines*, by default of any.
    """
    codes = [code for match in _CODE.finditer(text) for code in match.groups() if code]
    if any(code != "0" for code in (codes[:1] + codes[-1:])) or _UNDONE.search(text):
        return True
    names = "|".join(map(re.escape, sorted(programs)))
    own = rf"|(?:\S*/)?(?:{names}) ?:" if names else ""
    complaint = re.compile(rf"\s*(?:{_COMPLAINT}{own})", re.IGNORECASE)
    shown = printed(text).strip().split("\n", -1 if lines is None else lines)[:lines]
    return any(complaint.match(line[:_WIDEST]) for line in shown)
