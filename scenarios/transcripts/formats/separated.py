"""JSON records that are spread over lines for people to read, each under a line that numbers it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from scenarios.transcripts.recording import Recording

__all__ = ["Separated", "is_separated"]

_SEPARATOR = re.compile(r"===== record \d+ =====\s*")
_FIRST = re.compile(r"^===== record \d+ =====\s*\{", re.MULTILINE)


def is_separated(head: str) -> bool:
    """Whether a file that begins with *head* holds such records."""
    return _FIRST.search(head) is not None


class Separated(Recording):
    """A file of such records: the place of one is the line on which it begins."""

    def _located(self) -> Iterator[tuple[int, int, str | None]]:
        held: list[str] = []
        begun, spoilt, after = 0, False, False
        for number, _, text in super()._located():
            if text is not None and _SEPARATOR.fullmatch(text):
                if begun:
                    yield begun, -1, None if spoilt else "".join(held)
                held, begun, spoilt, after = [], 0, False, True
            elif after:
                begun = begun or (number if text is None or text.strip() else 0)
                spoilt = spoilt or text is None
                held.append(text or "")
        if begun:
            yield begun, -1, None if spoilt else "".join(held)
