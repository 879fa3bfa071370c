"""Digests of the code: a hash for each source file of the packages, to tell two versions apart."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

__all__ = ["source_digests"]

_ROOT = Path(__file__).resolve().parent.parent
_PACKAGES = ("sim", "policies", "scenarios", "bench")
_ENDS = (".py", ".toml", ".json")


@cache
def source_digests() -> dict[str, str]:
    """Return a hash of every source file by its path, code and data, in a fixed order."""
    files = sorted(
        path
        for package in _PACKAGES
        for path in (_ROOT / package).rglob("*")
        if path.suffix in _ENDS and path.is_file()
    )
    return {
        path.relative_to(_ROOT).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        for path in files
    }
