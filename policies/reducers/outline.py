"""An outline of a JSON value: its shape, the first elements of long arrays, strings cut short."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

__all__ = ["Limits", "Number", "Object", "Outline", "Value", "outline", "parse", "walk"]

DEEPEST = 40
"""Levels below which no value is shown."""
_WIDTH = 100
"""Characters of a container that still stands on one line."""


class Number(str):
    """A number, or NaN and the like, as it is written."""

    __slots__ = ()


class Object(list[tuple[str, Any]]):
    """The keys and values of an object in order, those that repeat too."""


Value: TypeAlias = Any
"""An Object, a list, a string, a Number, True, False or None."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of a value is shown.

    *items* elements of an array (of the array *main*, *most*), *characters* of a string, *depth*
    levels; of an object twice the items and four keys more. *size* is how long the text may get.
    """

    items: int
    characters: int
    depth: int = DEEPEST
    size: int = 1 << 60
    main: int = 0
    most: int = 0


@dataclass(slots=True)
class Outline:
    """The text of a value, and by noun how much of it is not shown."""

    text: str = ""
    dropped: dict[str, int] = field(default_factory=dict)


class _FullError(Exception):
    """The text is longer than it may be."""


_DECODER = json.JSONDecoder(
    object_pairs_hook=Object, parse_int=Number, parse_float=Number, parse_constant=Number
)


def parse(text: str, at: int) -> tuple[Value, int]:
    """Return the value that begins at *at* and where it ends.

    Raises ValueError if none does, RecursionError if it is nested too deep.
    """
    value, stop = _DECODER.raw_decode(text, at)
    return value, stop


def walk(value: Value) -> Iterator[tuple[str, Value]]:
    """Yield every key of every object inside *value* with its value, in no order."""
    stack: list[Value] = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, Object):
            yield from item
            stack += [inner for _, inner in item if isinstance(inner, list)]
        else:
            stack += [inner for inner in item if isinstance(inner, list)]


def outline(value: Value, limits: Limits) -> Outline | None:
    """Return *value* as JSON within *limits*, what is missing counted in it; None if too long."""
    writer = _Writer(limits)
    try:
        writer.result.text = writer.text(value, 0)
    except _FullError:
        return None
    return writer.result


class _Writer:
    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.result = Outline()
        self._size = 0

    def text(self, value: Value, depth: int) -> str:
        """Return *value*; the lines of a container that has several are indented by *depth*."""
        if isinstance(value, Object):
            return self._container("{}", self._pairs(value, depth), depth, len(value), "key")
        if isinstance(value, list):
            return self._container("[]", self._elements(value, depth), depth, len(value), "item")
        if isinstance(value, Number):
            return self._grown(str(value))
        if isinstance(value, str):
            return self._grown(self._string(value))
        return self._grown("null" if value is None else str(value).lower())

    def _grown(self, text: str) -> str:
        self._size += len(text) + 2
        if self._size > self.limits.size:
            raise _FullError
        return text

    def _drop(self, noun: str, count: int) -> None:
        self.result.dropped[noun] = self.result.dropped.get(noun, 0) + count

    def _string(self, value: str) -> str:
        most = self.limits.characters
        if len(value) > most + 24:
            gone = len(value) - most
            self._drop("characters", gone)
            value = f"{value[:most]}[… {gone:,} characters]"
        return json.dumps(value, ensure_ascii=False)

    def _container(self, ends: str, parts: Iterator[str], depth: int, count: int, noun: str) -> str:
        if count and depth >= self.limits.depth:
            self._drop("values", count)
            nouns = noun if count == 1 else f"{noun}s"
            return self._grown(f'"{ends[0]}… {count:,} {nouns}{ends[1]}"')
        inside = list(parts)
        if not inside:
            return self._grown(ends)
        width = sum(len(part) + 2 for part in inside)
        if width <= _WIDTH and not any("\n" in part for part in inside):
            return f"{ends[0]}{', '.join(inside)}{ends[1]}"
        pad = " " * (depth + 1)
        self._size += len(inside) * (depth + 1)
        body = f",\n{pad}".join(inside)
        return f"{ends[0]}\n{pad}{body}\n{' ' * depth}{ends[1]}"

    def _pairs(self, value: Object, depth: int) -> Iterator[str]:
        most = 2 * self.limits.items + 4
        for key, inner in value[:most]:
            name = json.dumps(key, ensure_ascii=False)
            yield f"{self._grown(name)}: {self.text(inner, depth + 1)}"
        if len(value) > most:
            self._drop("keys", len(value) - most)
            yield self._grown(f'"…": "{len(value) - most:,} more keys"')

    def _elements(self, value: Sequence[Value], depth: int) -> Iterator[str]:
        most = self.limits.most if id(value) == self.limits.main else self.limits.items
        for inner in value[:most]:
            yield self.text(inner, depth + 1)
        if len(value) > most:
            self._drop("items", len(value) - most)
            yield self._grown(f'"… {len(value) - most:,} more items"')
