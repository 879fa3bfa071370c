"""Reads that bring what an earlier read had brought: in the model's words, fetches."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from scenarios.transcripts.session import Draft

__all__ = ["Read", "Reads"]

_CUT = re.compile(r"\n\.\.\. \(truncated\)\s*\Z")
"""How a text ends that the record holds in part: it may be the same, or not."""


@dataclass(frozen=True, slots=True)
class Read:
    """A read that entered: its segment, and the number of its text."""

    draft: Draft
    text: int


class Reads:
    """The reads of a session by path and text, until the path is written."""

    def __init__(self) -> None:
        self._reads: dict[str, dict[bytes, Read]] = {}

    def again(self, path: str, text: str) -> Read | None:
        """Return the read of *path* that brought this very *text*, None if there is none.

        A text that the record has cut off is never known to be the same.
        """
        if _CUT.search(text):
            return None
        return self._reads.get(path, {}).get(_digest(text))

    def entered(self, path: str, text: str, read: Read) -> None:
        """Take in a read."""
        self._reads.setdefault(path, {})[_digest(text)] = read

    def written(self, path: str) -> None:
        """Forget the reads of a *path* that is written: they brought an older version."""
        self._reads.pop(path, None)


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
