"""A fitted setting: a key, its value, and what it was fitted to."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Part", "Setting", "figure"]


@dataclass(frozen=True, slots=True)
class Setting:
    """A key of a family and the value that was found for it."""

    key: str
    value: int | float | str


@dataclass(frozen=True, slots=True)
class Part:
    """Settings that were fitted together, under the sentences that say to what."""

    why: str
    settings: tuple[Setting, ...]


def figure(value: float) -> str:
    """Return *value* for a reader: grouped, with three significant digits below 100."""
    if value == int(value) or abs(value) >= 100:
        return f"{round(value):,}"
    return f"{value:.3g}"
