"""Real logs of a folder in the place of synthetic results: which there are, and which is drawn."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from stat import S_ISREG
from typing import Any

from sim.errors import InputError
from sim.measured import Measure, Measured
from sim.streams import uniform

__all__ = ["KEY", "KINDS", "LARGEST", "LIMITS", "LogFile", "ToolLogs", "of_settings"]

KEY = "tool_logs"
"""The setting that names the folder."""

LARGEST = 4_000_000
"""Bytes of the largest file that is taken; about a million tokens."""

KINDS: Mapping[str, tuple[str, ...]] = {
    "typecheck": ("typecheck", "build"),
    "lint": ("lint",),
    "tests": ("tests",),
    "bash": ("build", "trace", "diff", "listing", "data", "log"),
    "grep": ("search",),
}
"""Tool → sorts of log (``sim.measured.Measured.kind``) that its results are drawn from."""

LIMITS: Mapping[str, str] = {
    "typecheck": "check.limit",
    "lint": "check.limit",
    "tests": "check.limit",
    "bash": "bash.limit",
    "grep": "grep.limit",
}
"""Tool → the setting that holds its limit."""

_MOST_NAMED = 5

_OTHER = "log"
"""The sort that a log of an unknown sort counts as."""


@dataclass(frozen=True, slots=True)
class LogFile:
    """One log: its path within the folder, and a digest of its bytes."""

    path: str
    digest: str


@dataclass(frozen=True, slots=True)
class ToolLogs:
    """The logs of a *folder* by tool, in the order of their paths, and what measures them.

    It holds no text, so that it can be sent to a worker process, which reads what it draws.
    *tokenizer* counted; *notes* say what a user should know about the folder.
    """

    folder: str
    files: Mapping[str, tuple[LogFile, ...]]
    measure: Measure
    tokenizer: str
    notes: tuple[str, ...] = ()

    @classmethod
    def read(cls, folder: str, measure: Measure, limit: int) -> ToolLogs:
        """Return what *folder* holds, every log sorted by its content.

        Folders in it are searched, too; hidden files and folders, and empty files, are left out.
        *limit* is that of the checks. Raises InputError where nothing can be read.
        """
        root = Path(folder).expanduser()
        by_kind: dict[str, list[LogFile]] = {}
        large: list[str] = []
        gone: list[str] = []
        tokenizer = ""
        for path in sorted(_paths(root)):
            size = _size(root, path)
            if size is None:
                gone.append(path)
            elif size > LARGEST:
                large.append(path)
            elif size:
                log = LogFile(path, _digest(_bytes(root, path)))
                measured = _measured(measure, str(root), log, limit)
                by_kind.setdefault(_sort(measured.kind), []).append(log)
                tokenizer = measured.tokenizer
        if not by_kind:
            why = "".join(f"; left out: {sentence}" for sentence in _left_out(large, gone))
            raise InputError(f"{KEY}: there is no log in the folder {folder!r}{why}")
        files = {
            tool: tuple(sorted((log for kind in kinds for log in by_kind.get(kind, ())), key=_path))
            for tool, kinds in KINDS.items()
        }
        return cls(str(root), files, measure, tokenizer, tuple(_notes(folder, files, large, gone)))

    def draw(self, seed: int, tool: str, id: str) -> LogFile | None:
        """Return the log that result *id* of *tool* is, each as likely; None if there is none."""
        logs = self.files.get(tool, ())
        return logs[int(uniform(seed, KEY, tool, id) * len(logs))] if logs else None

    def measured(self, log: LogFile, limit: int) -> Measured:
        """Return what *log* is, reduced to *limit* tokens."""
        return _measured(self.measure, self.folder, log, limit)

    def delta(self, log: LogFile, limit: int, before: LogFile) -> int | None:
        """Return the size of the difference of *log* to the result *before*, both reduced."""
        return _delta(self.measure, self.folder, log, limit, before)


def of_settings(settings: Mapping[str, Any], measure: Measure | None) -> ToolLogs | None:
    """Return the logs of the folder that *settings* name, None if they name none.

    Raises InputError for a folder that cannot be used, and where there is no *measure*.
    """
    folder = settings.get(KEY)
    if folder is None:
        return None
    if measure is None:
        raise InputError(
            f"{KEY} needs a measure of real results, which this scenario was loaded without; "
            "bench.loading.load gives it one"
        )
    return ToolLogs.read(folder, measure, settings[LIMITS["typecheck"]])


def _paths(root: Path) -> Iterator[str]:
    """Yield the path within *root* of every file that is not hidden, in no order."""
    if not root.exists():
        raise InputError(f"{KEY}: there is no folder {str(root)!r}")
    if not root.is_dir():
        raise InputError(f"{KEY}: {str(root)!r} is no folder")

    def fail(error: OSError) -> None:
        raise InputError(f"{KEY}: cannot read {error.filename!r}: {error.strerror}")

    for at, folders, names in os.walk(root, onerror=fail):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            if not name.startswith("."):
                yield Path(at, name).relative_to(root).as_posix()


def _size(root: Path, path: str) -> int | None:
    """Return the bytes of a file, 0 for what is no regular file, None for a link to nothing."""
    try:
        status = (root / path).stat()
    except OSError as error:
        if (root / path).is_symlink():
            return None
        raise InputError(f"{KEY}: cannot read {str(root / path)!r}: {error.strerror}") from None
    return status.st_size if S_ISREG(status.st_mode) else 0


def _bytes(root: Path, path: str) -> bytes:
    try:
        return (root / path).read_bytes()
    except OSError as error:
        raise InputError(f"{KEY}: cannot read {str(root / path)!r}: {error.strerror}") from None


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def _path(log: LogFile) -> str:
    return log.path


def _sort(kind: str) -> str:
    known = {kind for kinds in KINDS.values() for kind in kinds}
    return kind if kind in known else _OTHER


@lru_cache(maxsize=256)
def _content(folder: str, log: LogFile) -> bytes:
    """Return the bytes of *log*; raises InputError if they are not those that were sorted."""
    content = _bytes(Path(folder), log.path)
    if _digest(content) != log.digest:
        raise InputError(f"{KEY}: {str(Path(folder, log.path))!r} was changed during the run")
    return content


@lru_cache(maxsize=4096)
def _measured(measure: Measure, folder: str, log: LogFile, limit: int) -> Measured:
    return measure(_content(folder, log), limit, None, None)


@lru_cache(maxsize=1 << 16)
def _delta(measure: Measure, folder: str, log: LogFile, limit: int, before: LogFile) -> int | None:
    return measure(_content(folder, log), limit, None, _content(folder, before)).delta_tokens


def _notes(
    folder: str,
    files: Mapping[str, tuple[LogFile, ...]],
    large: Sequence[str],
    gone: Sequence[str],
) -> Iterator[str]:
    lacking = [tool for tool, logs in files.items() if not logs]
    if lacking:
        yield f"{folder} holds no log for {_listed(lacking)}: what they return stays synthetic"
    for sentence in _left_out(large, gone):
        yield f"{folder}: left out: {sentence}"


def _left_out(large: Sequence[str], gone: Sequence[str]) -> Iterator[str]:
    """Yield what is left out of a folder, by the reason."""
    if large:
        yield f"{_named(large)}, over {LARGEST:,} bytes"
    if gone:
        yield f"{_named(gone)}, a link that leads nowhere"


def _named(paths: Sequence[str]) -> str:
    """Return some of *paths* by name, the others as a number."""
    more = len(paths) - _MOST_NAMED
    return _listed([*paths[:_MOST_NAMED], *([f"{more} more"] if more > 0 else [])])


def _listed(words: Iterable[str]) -> str:
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last
