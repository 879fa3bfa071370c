"""Files that are written whole or not at all, and folders that can be written to."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from glob import escape
from io import BufferedRandom
from pathlib import Path
from typing import TextIO

from sim.errors import InputError

__all__ = [
    "is_file_or_new",
    "prepare",
    "remove_unfinished",
    "replaced",
    "write_bytes",
    "write_text",
]

_PREFIX = ".{}."
"""How the name of a file begins that is to take the place of another."""


def prepare(folder: Path) -> None:
    """Make *folder* and see that it can be written to, before hours are spent on what goes there.

    Raises InputError if it cannot.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(f"cannot write there: {error.strerror}", file=folder) from None


def write_text(path: Path, text: str, private: bool = False) -> None:
    """Write *text* to *path* as UTF-8; see :func:`write_bytes`."""
    write_bytes(path, text.encode(errors="backslashreplace"), private)


def write_bytes(path: Path, data: bytes, private: bool = False) -> None:
    """Write *data* to *path*: a file is replaced in one step, a reader sees the old or the new one.

    Where *path* is a link, what it leads to is replaced. What is no regular file, such as a device
    or a pipe, is written through and stays what it is; what is a stream of this process
    (``/dev/stdout``) gets it behind what was printed before. A *private* file can be read by its
    owner alone; another one that exists keeps its mode. Raises InputError if it cannot be written;
    a file is then as it was. A reader of standard output that has gone is a BrokenPipeError.
    """
    stream = None
    try:
        found = _stat(path)
        stream = None if found is None else _own_stream(found)
        if stream is not None:
            _write_behind(stream, data)
        elif found is not None and not stat.S_ISREG(found.st_mode):
            path.write_bytes(data)
        else:
            with _replacing(path, 0o600 if private else _mode(found)) as file:
                file.write(data)
    except OSError as error:
        if stream is not None and isinstance(error, BrokenPipeError):
            raise
        raise InputError(f"cannot write it: {error.strerror}", file=path) from None


@contextmanager
def replaced(path: Path) -> Iterator[BufferedRandom]:
    """Give a file to be written bit by bit, and read again, that takes the place of *path*.

    It does so at the end, in one step. Raises InputError if it cannot be written; what was there,
    if anything, is then as it was.
    """
    try:
        with _replacing(path, _mode(_stat(path))) as file:
            yield file
    except OSError as error:
        raise InputError(f"cannot write it: {error.strerror}", file=path) from None


def remove_unfinished(path: Path) -> None:
    """Remove what processes that were killed have left of writing *path*.

    No other process may be writing it. Raises InputError if it cannot be removed.
    """
    try:
        for each in path.parent.glob(f"{escape(_PREFIX.format(path.name))}*"):
            each.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"cannot remove it: {error.strerror}", file=each) from None


def is_file_or_new(path: Path) -> bool:
    """Return whether writing to *path* would make or replace a file."""
    try:
        found = _stat(path)
    except OSError:
        return True
    return found is None or (stat.S_ISREG(found.st_mode) and _own_stream(found) is None)


def _stat(path: Path) -> os.stat_result | None:
    """Return what *path* leads to, None if there is nothing yet."""
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _own_stream(found: os.stat_result) -> TextIO | None:
    """Return the stream of this process that goes to what was *found*, if one does."""
    for stream in (sys.__stdout__, sys.__stderr__):
        try:
            if stream is not None and os.path.samestat(os.fstat(stream.fileno()), found):
                return stream
        except (OSError, ValueError):
            continue
    return None


def _write_behind(stream: TextIO, data: bytes) -> None:
    """Write *data* to *stream* behind what was printed to it."""
    for each in (sys.stdout, sys.stderr, stream):
        if each is not None:
            each.flush()
    with os.fdopen(os.dup(stream.fileno()), "wb") as file:
        file.write(data)


@contextmanager
def _replacing(path: Path, mode: int) -> Iterator[BufferedRandom]:
    """Give a file that takes the place of *path* if all goes well, and else is removed."""
    goal = Path(os.path.realpath(path))
    descriptor, temporary = tempfile.mkstemp(dir=goal.parent, prefix=_PREFIX.format(goal.name))
    try:
        with os.fdopen(descriptor, "w+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, goal)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _mode(found: os.stat_result | None) -> int:
    """Return the mode of a file that takes the place of what was *found*."""
    return 0o666 & ~_umask() if found is None else stat.S_IMODE(found.st_mode)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
