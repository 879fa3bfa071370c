"""Stamps: files by path, each with a digest of what it holds, to be found again elsewhere."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path

from sim.errors import InputError

__all__ = ["Stamps", "differs", "stamp"]

Stamps = tuple[tuple[str, str], ...]
"""Paths of files and folders, as they were given, each with its digest."""

_BLOCK = 1 << 20


def stamp(paths: Iterable[str]) -> Stamps:
    """Return the stamp of each of *paths*: of a file its content, of a folder all files in it.

    Hidden files of a folder are left out. Raises InputError if something cannot be read.
    """
    return tuple((path, _digest(Path(path).expanduser())) for path in dict.fromkeys(paths))


def differs(stamps: Stamps) -> str | None:
    """Return what is the matter with the first of *stamps* that is not here as it was stamped.

    It is the end of a sentence, such as ``has no prices.toml``; None if all are here.
    """
    for path, digest in stamps:
        if not Path(path).expanduser().exists():
            return f"has no {path}"
        try:
            found = stamp([path])
        except InputError as error:
            return f"does not get at {path}: {error.message}"
        if found != ((path, digest),):
            return f"has another {path}"
    return None


def _digest(root: Path) -> str:
    if not root.is_dir():
        return _of_file(root)
    found = blake2b(digest_size=16)
    for file in sorted(root.rglob("*")):
        inside = file.relative_to(root)
        if file.is_file() and not any(part.startswith(".") for part in inside.parts):
            found.update(f"{inside.as_posix()}\0{_of_file(file)}\n".encode())
    return found.hexdigest()


def _of_file(file: Path) -> str:
    found = blake2b(digest_size=16)
    try:
        with open(file, "rb") as opened:
            while block := opened.read(_BLOCK):
                found.update(block)
    except OSError as error:
        raise InputError(f"cannot read it: {error.strerror}", file=file) from None
    return found.hexdigest()
