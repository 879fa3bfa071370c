"""A recorded file: its encoding, its lines or its one JSON document, and a sample to know it by.

Records of a JSONL file end with a line feed and with nothing else: a carriage return, a vertical
tab or U+2028 inside a record is content.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from scenarios.transcripts.findings import Findings
from sim.errors import InputError

__all__ = ["Recording"]

_HEAD_BYTES = 1 << 16
_SAMPLE = 50
_SAMPLE_BYTES = 1 << 24


def _parse(text: str) -> Any:
    """Return the JSON value of *text*; raises ValueError if it is none, however deep."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _why(text: str) -> str:
    """Say why a line is no record."""
    start = len(text) - len(text.lstrip(" \t\r\n\ufeff"))
    try:
        _, end = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return "a line that is not valid JSON"
    rest = text[end:]
    follows = rest.lstrip().lstrip("\x00\x1e\ufeff")
    if follows[:1] in ("{", "["):
        between = rest[: len(rest) - len(follows)]
        names = " ".join(f"U+{ord(c):04X}" for c in between[:4]) or "nothing"
        return f"records separated by {names} rather than a line feed"
    return "a line with something behind its record"


class Recording:
    """One file of a recording, and the *later* files of its session if it is the first of them."""

    def __init__(self, path: Path, later: Sequence[Path] = ()) -> None:
        self.path = path
        self.later = tuple(later)

    @cached_property
    def encoding(self) -> str:
        """The file's encoding, by its byte order mark or its first bytes."""
        with self._open() as file:
            head = file.read(4)
        return json.detect_encoding(head)

    def _open(self) -> io.BufferedReader:
        try:
            return open(self.path, "rb")
        except OSError as error:
            raise InputError(f"cannot read it: {error.strerror or error}", file=self.path) from None

    def _texts(self) -> Iterator[str | None]:
        """Yield each line with its line feed; None for one that is not in the encoding."""
        with self._open() as file:
            if self.encoding.startswith("utf-8"):
                for number, raw in enumerate(file):
                    try:
                        yield raw.decode("utf-8-sig" if number == 0 else "utf-8")
                    except UnicodeDecodeError as error:
                        cut = not raw.endswith(b"\n") and error.end == len(raw)
                        yield raw.decode("utf-8", "replace") if cut else None
            else:
                yield from io.TextIOWrapper(
                    file, encoding=self.encoding, errors="replace", newline="\n"
                )

    def records(self, findings: Findings) -> Iterator[tuple[int, Any]]:
        """Yield the records of a JSONL file with their line numbers; what is none is named."""
        for number, text in enumerate(self._texts(), 1):
            if text is None:
                findings.breaks(f"a line that is not {self.encoding}", number)
                continue
            if not text.strip():
                continue
            try:
                record = _parse(text)
            except ValueError:
                cut = not text.endswith("\n") and _why(text).endswith("valid JSON")
                findings.breaks("a cut last line" if cut else _why(text), number)
                continue
            yield number, record

    def head(self) -> str:
        """Return the first 64 KiB as text; what is not in the encoding is replaced."""
        with self._open() as file:
            return file.read(_HEAD_BYTES).decode(self.encoding, "replace").lstrip("\ufeff")

    def holds(self, *texts: bytes) -> bool:
        """Whether a line of the file holds one of *texts*, which are ASCII."""
        if not self.encoding.startswith("utf-8"):
            return any(text.decode() in (line or "") for line in self._texts() for text in texts)
        with self._open() as file:
            return any(text in line for line in file for text in texts)

    def lines(self, findings: Findings) -> Iterator[tuple[int, str]]:
        """Yield the lines of a text file, without their ends, with their numbers."""
        for number, text in enumerate(self._texts(), 1):
            if text is None:
                findings.breaks(f"a line that is not {self.encoding}", number)
            else:
                yield number, text.rstrip("\r\n")

    def sample(self) -> list[Any]:
        """Return the first records of the file, read as JSONL; what is no record is passed over."""
        found: list[Any] = []
        seen = 0
        for text in self._texts():
            seen += len(text or "")
            if text and text.strip():
                try:
                    found.append(_parse(text))
                except ValueError:
                    found.extend(self._first(text))
            if len(found) >= _SAMPLE or seen > _SAMPLE_BYTES:
                break
        return found

    @staticmethod
    def _first(text: str) -> list[Any]:
        try:
            return [json.JSONDecoder().raw_decode(text.lstrip("\x1e \t\r\n"))[0]]
        except (ValueError, RecursionError):
            return []

    def documents(self) -> Iterator[Any]:
        """Yield the JSON document of each file of the session, in order."""
        for path in (self.path, *self.later):
            yield Recording(path).document()

    def document(self) -> Any:
        """Return the file as one JSON document; raises InputError if it is none."""
        with self._open() as file:
            raw = file.read()
        try:
            return _parse(raw.decode("utf-8-sig" if self.encoding == "utf-8" else self.encoding))
        except UnicodeDecodeError:
            raise InputError(f"it is not {self.encoding} text", file=self.path) from None
        except json.JSONDecodeError as error:
            raise InputError(
                f"it is not valid JSON ({error.msg}, column {error.colno})",
                file=self.path,
                line=error.lineno,
            ) from None
        except ValueError as error:
            raise InputError(f"it is not valid JSON ({error})", file=self.path) from None
