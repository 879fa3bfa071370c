"""Where each key of a TOML or JSON text stands: path → line, for error messages.

A path is a tuple of keys and list indices, as one walks the parsed document. Both scanners take
texts that have been parsed without an error; they are run only when there is a fault to place.
"""

from __future__ import annotations

import json
import re
import tomllib
from bisect import bisect_right
from typing import NamedTuple

__all__ = ["JsonLines", "Path", "json_lines", "line_of", "toml_lines"]

Path = tuple[str | int, ...]

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_STRING = re.compile(
    r'"""(?:[^"\\]|\\[\s\S]|"{1,2}(?!"))*"{3,5}'
    r"|'''(?:[^']|'{1,2}(?!'))*'{3,5}"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'"
)
_BARE_KEY = re.compile(r"[^\s.=\]]+")
_BARE_VALUE = re.compile(r"[^,\]}#\n]+")
_JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')


def line_of(lines: dict[Path, int], path: Path) -> int | None:
    """Return the line of *path*, or of the nearest thing around it whose line is known."""
    for end in range(len(path), 0, -1):
        if path[:end] in lines:
            return lines[path[:end]]
    return None


class _Lines:
    """Offset → line number, from 1."""

    def __init__(self, text: str) -> None:
        self._ends = [match.start() for match in re.finditer("\n", text)]

    def at(self, offset: int) -> int:
        return bisect_right(self._ends, offset - 1) + 1


def toml_lines(text: str) -> dict[Path, int]:
    """Return the line of every key, table and array item of a valid TOML text.

    Covers arrays of tables, dotted and quoted keys, inline tables, arrays and strings of several
    lines.
    """
    scanner = _TomlScanner(text)
    scanner.document()
    return scanner.found


class _TomlScanner:
    def __init__(self, text: str) -> None:
        self.found: dict[Path, int] = {}
        self._text = text
        self._lines = _Lines(text)
        self._offset = 0
        self._counts: dict[Path, int] = {}

    def document(self) -> None:
        table: Path = ()
        self._skip_blank()
        while self._offset < len(self._text):
            line = self._line()
            if self._take("[["):
                table = self._array_item(self._keys(), line)
                self._offset += 2
            elif self._take("["):
                table = self._resolved(self._keys(), line)
                self._offset += 1
            else:
                self._pair(table)
            self._skip_blank()

    def _array_item(self, keys: list[str], line: int) -> Path:
        path = (*self._resolved(keys[:-1], line), keys[-1])
        self._counts[path] = self._counts.get(path, 0) + 1
        item = (*path, self._counts[path] - 1)
        self.found.setdefault(path, line)
        self.found[item] = line
        return item

    def _resolved(self, keys: list[str], line: int) -> Path:
        """Return the path of a header's keys: in an array of tables, its last item."""
        path: Path = ()
        for key in keys:
            path = (*path, key)
            self.found.setdefault(path, line)
            if path in self._counts:
                path = (*path, self._counts[path] - 1)
        return path

    def _pair(self, table: Path) -> None:
        line = self._line()
        path = table
        for key in self._keys():
            path = (*path, key)
            self.found.setdefault(path, line)
        self._offset += 1  # the equals sign
        self._skip_blank()
        self._value(path)

    def _keys(self) -> list[str]:
        keys = []
        while True:
            self._skip_blank()
            if match := _STRING.match(self._text, self._offset):
                keys.append(tomllib.loads(f"key = {match.group()}")["key"])
            else:
                match = _BARE_KEY.match(self._text, self._offset)
                assert match is not None
                keys.append(match.group())
            self._offset = match.end()
            self._skip_blank()
            if not self._take("."):
                return keys

    def _value(self, path: Path) -> None:
        if match := _STRING.match(self._text, self._offset):
            self._offset = match.end()
        elif self._take("["):
            self._items(path)
        elif self._take("{"):
            while not self._closed("}"):
                self._pair(path)
        else:
            match = _BARE_VALUE.match(self._text, self._offset)
            assert match is not None
            self._offset = match.end()

    def _items(self, path: Path) -> None:
        index = 0
        while not self._closed("]"):
            self.found[(*path, index)] = self._line()
            self._value((*path, index))
            index += 1

    def _closed(self, bracket: str) -> bool:
        """Skip what separates two items; return whether *bracket* came, and skip that too."""
        self._skip_blank()
        if self._take(","):
            self._skip_blank()
        return self._take(bracket)

    def _take(self, mark: str) -> bool:
        if self._text.startswith(mark, self._offset):
            self._offset += len(mark)
            return True
        return False

    def _skip_blank(self) -> None:
        match = _BLANK.match(self._text, self._offset)
        assert match is not None
        self._offset = match.end()

    def _line(self) -> int:
        return self._lines.at(self._offset)


class JsonLines(NamedTuple):
    """The line of every key and item of a JSON text, and of every key given a second time."""

    found: dict[Path, int]
    repeated: list[tuple[Path, int]]


def json_lines(text: str) -> JsonLines:
    """Return where the keys and items of a valid JSON text stand."""
    found: dict[Path, int] = {}
    repeated: list[tuple[Path, int]] = []
    lines = _Lines(text)
    stack: list[tuple[Path, bool]] = []
    path: Path = ()
    wants_key = False
    for match in _JSON_TOKEN.finditer(text):
        token = match.group()
        if not wants_key and token not in "}],:":
            found.setdefault(path, lines.at(match.start()))
        if token in "{[":
            stack.append((path, token == "{"))
            wants_key = token == "{"
            if token == "[":
                path = (*path, 0)
        elif token in "}]":
            path, _ = stack.pop()
            wants_key = False
        elif token == ",":
            outer, is_object = stack[-1]
            wants_key = is_object
            if not is_object:
                path = (*outer, int(path[-1]) + 1)
        elif token != ":" and wants_key:
            wants_key = False
            path = (*stack[-1][0], json.loads(token))
            if path in found:
                repeated.append((path, lines.at(match.start())))
            found.setdefault(path, lines.at(match.start()))
    return JsonLines(found, repeated)
