"""A file a user gave: its text, what it parses to, and everything that is wrong with it."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path as FilePath
from typing import Any

from scenarios.lines import Path, json_lines, line_of, toml_lines
from sim.errors import InputError

__all__ = ["Faults", "read_json", "read_text", "read_toml"]

_TOML_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


class Faults:
    """What is wrong with one file, gathered so that all of it is reported at once.

    *file* stands in front of each sentence; *locate* finds the line of each key and is called
    only if there is something to report.
    """

    def __init__(self, file: object, locate: Callable[[], dict[Path, int]]) -> None:
        self._file = file
        self._locate = locate
        self._found: dict[tuple[Path | None, str], None] = {}

    def add(self, message: str, path: Path | None = None) -> None:
        """Note that *message* is wrong with what stands at *path* (None: with no one place)."""
        self._found[path, message] = None

    def __bool__(self) -> bool:
        return bool(self._found)

    def raise_all(self) -> None:
        """Raise one InputError with a sentence for each fault, in the order of their lines."""
        if not self._found:
            return
        lines = self._locate()
        placed = [
            InputError(
                message, file=self._file, line=None if path is None else line_of(lines, path)
            )
            for path, message in self._found
        ]
        placed.sort(key=lambda fault: fault.line or 0)
        if len(placed) == 1:
            raise placed[0]
        raise InputError("\n".join(map(str, placed)))


def read_text(file: FilePath) -> str:
    """Return the text of a UTF-8 file, without a byte order mark.

    Raises InputError if it cannot be read or is not UTF-8.
    """
    try:
        raw = file.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot read it: {reason}", file=file) from None
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError("not UTF-8 text", file=file, line=line) from None


def read_toml(file: FilePath) -> tuple[dict[str, Any], Faults]:
    """Return what a TOML file holds, and an empty collection for its faults.

    Raises InputError, with the line, if it is no TOML.
    """
    text = read_text(file)
    try:
        return tomllib.loads(text), Faults(file, lambda: toml_lines(text))
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        place = _TOML_PLACE.search(message)
        line = text.count("\n") + 1 if place else None
        if place is not None:
            message = message[: place.start()]
            line = int(place[1]) if place[1] else line
        raise _broken("TOML", message, file, line) from None
    except RecursionError:
        raise _broken("TOML", "nested too deeply", file, None) from None
    except ValueError as error:  # a number of too many digits
        raise _broken("TOML", str(error).split(";")[0], file, None) from None


def read_json(file: FilePath) -> tuple[Any, Faults]:
    """Return what a JSON file holds, and a collection for its faults.

    A key given twice is already in it. Raises InputError, with the line, if it is no JSON.
    """
    text = read_text(file)
    repeated = False

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal repeated
        table = dict(pairs)
        repeated = repeated or len(table) < len(pairs)
        return table

    try:
        data = json.loads(text, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        raise _broken("JSON", error.msg, file, error.lineno) from None
    except RecursionError:
        raise _broken("JSON", "nested too deeply", file, None) from None
    except ValueError as error:  # a number of too many digits
        raise _broken("JSON", str(error).split(";")[0], file, None) from None
    faults = Faults(file, lambda: json_lines(text).found)
    if repeated:
        for path, line in json_lines(text).repeated:
            faults.add(f"key {path[-1]!r} is given a second time in line {line}", path)
    return data, faults


def _broken(language: str, message: str, file: FilePath, line: int | None) -> InputError:
    message = message[:1].lower() + message[1:]
    return InputError(f"not valid {language}: {message}", file=file, line=line)
