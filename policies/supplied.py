"""Sources that come with the work: files of policies that need not lie where they are run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType

__all__ = ["source_of", "supplied"]

_NOTHING: Mapping[str, bytes] = MappingProxyType({})
_sources: ContextVar[Mapping[str, bytes]] = ContextVar("sources", default=_NOTHING)


@contextmanager
def supplied(sources: Mapping[str, bytes]) -> Iterator[None]:
    """Let *sources*, by path as a user wrote it, stand for the files of these paths until the end.

    It holds for what this thread does meanwhile, and for no other.
    """
    token = _sources.set(sources)
    try:
        yield
    finally:
        _sources.reset(token)


def source_of(path: str) -> bytes | None:
    """Return what was supplied for *path*, None if nothing was."""
    return _sources.get().get(path)
