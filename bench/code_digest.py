"""What code this is: a hash of every source file of evictbench, and one of them all.

Two processes whose digests are equal make the same rows of the same input, if the libraries that
count are the same too (`bench.manifest.LIBRARIES`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from hashlib import blake2b
from pathlib import Path
from types import MappingProxyType

__all__ = ["PACKAGES", "code_digest", "code_files", "differing"]

PACKAGES = ("bench", "policies", "scenarios", "sim")
"""The packages that make rows; `live` makes none."""

SUFFIXES = (".json", ".py", ".toml")
"""How the names of their sources end: code, and the data that comes with it."""

ROOT = Path(__file__).resolve().parent.parent


def code_files(root: Path = ROOT) -> Mapping[str, str]:
    """Return the hash of each source file below *root*, by its path there, sorted by path.

    Of this code, a process reads the files once: it runs what it has loaded, whatever is written
    over them later.
    """
    return _own() if root == ROOT else _read(root)


def code_digest(files: Mapping[str, str] | None = None) -> str:
    """Return one hash of *files*, as `code_files` gives them; without them, of this code's."""
    found = code_files() if files is None else files
    lines = (f"{path}\0{digest}\n" for path, digest in sorted(found.items()))
    return blake2b("".join(lines).encode(), digest_size=16).hexdigest()


def differing(one: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    """Return the paths that only one of the two has, or that differ in content, sorted."""
    return sorted(path for path in one.keys() | other.keys() if one.get(path) != other.get(path))


@cache
def _own() -> Mapping[str, str]:
    return MappingProxyType(_read(ROOT))


def _read(root: Path) -> dict[str, str]:
    files = (
        file
        for package in PACKAGES
        for file in (root / package).rglob("*")
        if file.suffix in SUFFIXES and not file.name.startswith(".") and file.is_file()
    )
    hashes = {
        file.relative_to(root).as_posix(): blake2b(file.read_bytes(), digest_size=16).hexdigest()
        for file in files
    }
    return dict(sorted(hashes.items()))
