"""The journal of a sweep: every task that is finished, on disk before the next is begun.

A line is a CRC-32 of the rest in eight hexadecimal digits, a space, and JSON. The first is the
header, which says what the sweep is; each other one holds the number of a task, its rows, what was
met and, where they are kept, their turns, which stay on disk until they are asked for. Lines are
only ever added, so that after a kill the file is whole but for its end, and what is there can be
told from what is torn by the sums alone.
"""

from __future__ import annotations

import json
import os
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from io import BufferedReader, FileIO
from pathlib import Path
from types import TracebackType
from typing import Any

from bench.results.names import JOURNAL
from bench.sweep.done import Done, Row
from sim.errors import InputError

__all__ = ["Journal"]

VERSION = 1

_START = b'{"evictbench_sweep":'
"""How the JSON of a header begins."""

_NONE = "it is not the journal of a sweep"


class Journal:
    """The open journal of the sweep in a folder; a context manager, which closes it.

    *header* is what the sweep was when it was begun, *finished* the rows of each task by number,
    *met* the hash of what its policies met.
    """

    def __init__(
        self,
        file: FileIO,
        header: dict[str, Any],
        finished: dict[int, list[Row]],
        met: dict[int, str | None],
        lines: dict[int, tuple[int, int]],
    ) -> None:
        self._file = file
        self._lines = lines
        """Where the line of each task begins, and its length in bytes."""
        self.header = header
        self.finished = finished
        self.met = met

    @classmethod
    def begin(cls, folder: Path, header: Mapping[str, Any]) -> Journal:
        """Return the journal of a new sweep in *folder*, with *header* on disk.

        Raises InputError where there is a journal already, and where it cannot be written.
        """
        file = _opened(folder / JOURNAL, new=True)
        try:
            _append(file, {"evictbench_sweep": VERSION, **header})
        except BaseException:
            file.close()
            raise
        return cls(file, dict(header), {}, {}, {})

    @classmethod
    def resume(
        cls, folder: Path, warn: Callable[[str], object] = lambda warning: None
    ) -> Journal | None:
        """Return the journal in *folder* as far as it is whole, None if there is none.

        A torn end is cut off; *warn* is told of damaged lines in between, whose tasks are then run
        again. Raises InputError for a file that is no journal, one of a later version or made of
        several, and for two different results of one task.
        """
        path = folder / JOURNAL
        if not path.exists():
            return None
        file = _opened(path, new=False)
        try:
            return cls._read(file, path, warn)
        except BaseException:
            file.close()
            raise

    @classmethod
    def _read(cls, file: FileIO, path: Path, warn: Callable[[str], object]) -> Journal | None:
        header: dict[str, Any] | None = None
        first = b""
        finished: dict[int, list[Row]] = {}
        met: dict[int, str | None] = {}
        lines: dict[int, tuple[int, int]] = {}
        torn: list[int] = []
        """Damaged lines behind the last whole one: the end of what a kill left."""
        position = whole = 0
        reader = BufferedReader(file)
        for number, line in enumerate(reader, 1):
            begins, position = position, position + len(line)
            first = first or line
            entry = _entry(line)
            if entry is None:
                torn.append(number)
                continue
            for each in torn:
                warn(f"{path}, line {each}: damaged; its runs are made again")
            torn.clear()
            whole = position
            if header is None:
                header = _header(entry, path, number)
                continue
            if "task" not in entry:
                raise InputError("another journal begins here", file=path, line=number)
            task, rows = entry["task"], entry["rows"]
            same = finished.setdefault(task, rows) == rows
            if met.setdefault(task, entry["met"]) != entry["met"] or not same:
                fault = f"task {task} has other results here than further up"
                raise InputError(fault, file=path, line=number)
            lines.setdefault(task, (begins, len(line)))
        if header is None and not (len(torn) < 2 and _is_begun(first)):
            raise InputError(_NONE, file=path, line=1)
        reader.detach()
        try:
            file.truncate(whole)
        except OSError as error:
            raise _unwritten(error, path) from None
        file.seek(0, os.SEEK_END)
        if header is None:  # killed before its header was whole: nothing was begun
            file.close()
            path.unlink()
            return None
        return cls(file, header, finished, met, lines)

    def keep(self, done: Done) -> None:
        """Put a task that is *done* on disk; raises InputError if that fails."""
        entry: dict[str, Any] = {"task": done.number, "rows": done.rows, "met": done.met}
        if done.turns:
            entry["turns"] = done.turns
        self._lines[done.number] = _append(self._file, entry)
        self.finished[done.number] = done.rows
        self.met[done.number] = done.met

    def turns(self, task: int) -> Sequence[str | None]:
        """Return the packed turns of each row of a *task* that is kept, from the disk.

        Raises InputError if the line was damaged since it was written or read.
        """
        begins, length = self._lines[task]
        with Path(self._file.name).open("rb") as reading:
            reading.seek(begins)
            entry = _entry(reading.read(length))
        if entry is None:
            raise InputError(f"what it holds of task {task} is damaged", file=self._file.name)
        turns: list[str | None] = entry["turns"]
        return turns

    def remove(self) -> None:
        """Take the journal away: what it held stands in the results."""
        os.unlink(self._file.name)

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, and let another sweep have it."""
        self._file.close()


def _opened(path: Path, new: bool) -> FileIO:
    """Return the file at *path*, locked: two sweeps never write to one journal."""
    try:
        file = path.open("x+b" if new else "r+b", buffering=0)
    except FileExistsError:
        raise InputError(
            "there is an unfinished sweep; --resume goes on with it, another --out leaves it",
            file=path.parent,
        ) from None
    except OSError as error:
        raise _unwritten(error, path) from None
    with suppress(ImportError):  # no such lock on Windows
        import fcntl

        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            there = path.stat()
        except OSError:
            there = None
        if there is None or not os.path.samestat(os.fstat(file.fileno()), there):
            file.close()
            raise InputError("another sweep is at work there", file=path.parent)
    return file


def _append(file: FileIO, entry: Mapping[str, Any]) -> tuple[int, int]:
    """Put a line for *entry* on disk, and return where it begins and its length in bytes.

    Raises InputError if that fails.
    """
    text = json.dumps(entry, separators=(",", ":")).encode()
    line = b"%08x %b\n" % (zlib.crc32(text), text)
    try:
        begins, left = file.tell(), memoryview(line)
        while left:  # a disk that is nearly full takes a part of it, and says so at the next
            left = left[file.write(left) :]
        os.fsync(file.fileno())
    except OSError as error:
        raise _unwritten(error, file.name) from None
    return begins, len(line)


def _unwritten(error: OSError, path: Path | str) -> InputError:
    return InputError(f"cannot write it: {error.strerror}", file=path)


def _entry(line: bytes) -> dict[str, Any] | None:
    """Return what *line* holds, None if it is damaged."""
    total, _, text = line.rstrip(b"\n").partition(b" ")
    if not line.endswith(b"\n") or total != b"%08x" % zlib.crc32(text):
        return None
    entry: dict[str, Any] = json.loads(text)
    return entry


def _is_begun(line: bytes) -> bool:
    """Whether *line* can be a header that was cut short, anywhere."""
    total, _, text = line.partition(b" ")
    begins = text[: len(_START)] == _START[: len(text)]
    return begins and not line.endswith(b"\n") and bool(re.fullmatch(b"[0-9a-f]{0,8}", total))


def _header(entry: dict[str, Any], path: Path, line: int) -> dict[str, Any]:
    if line != 1 or "evictbench_sweep" not in entry:
        raise InputError(_NONE, file=path, line=1)
    version = entry.pop("evictbench_sweep")
    if version != VERSION:
        raise InputError(
            f"it is of version {version}, this evictbench writes {VERSION}", file=path, line=1
        )
    return entry
