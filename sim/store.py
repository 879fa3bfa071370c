"""The world outside the window: versions of files, and copies that can be fetched again."""

from __future__ import annotations

from dataclasses import dataclass

from sim.reduction import reduced_tokens
from sim.segments import Fact, Segment

__all__ = ["Store"]


@dataclass(slots=True)
class _File:
    version: int = 0
    tokens: int | None = None
    facts: tuple[Fact, ...] | None = None


class Store:
    """Authoritative copies: one per path, and one per segment that has a copy but no path.

    *tokens* of a file is None until a write says its size; then copies keep the size they had.
    """

    __slots__ = ("_files", "_sizes")

    def __init__(self) -> None:
        self._files: dict[str, _File] = {}
        self._sizes: dict[str, int] = {}

    def version(self, path: str) -> int:
        """Return the newest version of *path*, from 0."""
        file = self._files.get(path)
        return 0 if file is None else file.version

    def write(self, path: str, tokens: int | None, facts: tuple[Fact, ...] | None) -> int:
        """Make a new version of *path* and return its number."""
        file = self._files.setdefault(path, _File())
        file.version += 1
        if tokens is not None:
            file.tokens = tokens
        if facts is not None:
            file.facts = facts
        return file.version

    def change(self, segment: Segment, tokens: int) -> None:
        """Make a new version of a segment's source, of *tokens*."""
        if segment.path is None:
            self._sizes[segment.id] = tokens
        else:
            self.write(segment.path, tokens, None)

    def current(self, segment: Segment) -> bool:
        """Whether *segment* holds the newest version of its path."""
        return segment.path is None or segment.version == self.version(segment.path)

    def current_as_of(self, segment: Segment, version: int | None) -> bool:
        """Whether *version* of a segment's path, as a surrogate was made from it, is the newest."""
        return segment.path is None or version == self.version(segment.path)

    def fetched_tokens(self, segment: Segment) -> int:
        """Return the size of the copy that a fetch of *segment* would bring."""
        file = None if segment.path is None else self._files.get(segment.path)
        if file is not None and file.version != segment.version and file.tokens is not None:
            return file.tokens
        return self._sizes.get(segment.id, segment.tokens)

    def least_tokens(self, segment: Segment) -> int:
        """Return the smallest size at which *segment* can be there, full and current.

        That of its source by now, reduced to its tool's limit: the same whatever a policy did.
        """
        tokens = self._sizes.get(segment.id, segment.source_tokens)
        file = None if segment.path is None else self._files.get(segment.path)
        if file is not None and file.version != segment.source_version and file.tokens is not None:
            tokens = file.tokens
        reduced = reduced_tokens(segment, tokens)
        return tokens if reduced is None else reduced

    def fetched_facts(self, segment: Segment) -> tuple[Fact, ...]:
        """Return the facts of the copy that a fetch of *segment* would bring."""
        file = None if segment.path is None else self._files.get(segment.path)
        if file is not None and file.version != segment.version and file.facts is not None:
            return file.facts
        return segment.facts
