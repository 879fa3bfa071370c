"""A recorded file: its encoding, its lines or its one JSON document, and a sample to know it by.

Records of a JSONL file end with a line feed and with nothing else: a carriage return, a vertical
tab or U+2028 inside a record is content.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
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


def _fault(text: str, error: json.JSONDecodeError) -> tuple[str, int | None]:
    """Say why a text is no JSON document, and on which of its lines."""
    if not text.strip():
        return ("there is nothing but white space in it" if text else "the file is empty"), None
    if not text[error.pos :].strip():
        return "it ends before its last value does", text.rstrip().count("\n") + 1
    return f"{error.msg}, column {error.colno}", error.lineno


class Recording:
    """One file of a recording, and the *later* files of its session if it is the first of them."""

    def __init__(self, path: Path, later: Sequence[Path] = ()) -> None:
        self.path = path
        self.later = tuple(later)
        self._alone: Any = None
        """The only record of the file, once :meth:`sample` has found it to be alone."""

    @cached_property
    def encoding(self) -> str:
        """The file's encoding, by its byte order mark or its first bytes."""
        with self._open() as file:
            head = file.read(4)
        return json.detect_encoding(head)

    @contextmanager
    def _open(self) -> Iterator[io.BufferedReader]:
        """Open the file; whatever the system does not do with it is an InputError."""
        try:
            with open(self.path, "rb") as file:
                yield file
        except OSError as error:
            raise InputError(f"cannot read it: {error.strerror or error}", file=self.path) from None

    def _located(self) -> Iterator[tuple[int, int, str | None]]:
        """Yield the number, the offset and the text of each line, with its line feed.

        The text is None where it is not in the encoding, the offset -1 where a line cannot be read
        by it.
        """
        with self._open() as file:
            if not self.encoding.startswith("utf-8"):
                texts = io.TextIOWrapper(
                    file, encoding=self.encoding, errors="replace", newline="\n"
                )
                for number, text in enumerate(texts, 1):
                    yield number, -1, text
                return
            offset = 0
            for number, raw in enumerate(file, 1):
                yield number, offset, self._text(raw, number == 1)
                offset += len(raw)

    @staticmethod
    def _text(raw: bytes, first: bool) -> str | None:
        """Return a line as text; of a last one that is cut inside a character, what is whole."""
        try:
            return raw.decode("utf-8-sig" if first else "utf-8")
        except UnicodeDecodeError as error:
            cut = not raw.endswith(b"\n") and error.end == len(raw)
            return raw.decode("utf-8", "replace") if cut else None

    def records(self, findings: Findings) -> Iterator[tuple[int, Any]]:
        """Yield the records of a JSONL file with their line numbers; what is none is named."""
        for number, _, record in self.located(findings):
            yield number, record

    def located(self, findings: Findings) -> Iterator[tuple[int, int, Any]]:
        """Yield the records of a JSONL file with their line numbers and offsets.

        What is no record is named. The offsets are for :meth:`again`.
        """
        for number, offset, text in self._located():
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
            yield number, offset, record

    def again(self, spots: Sequence[tuple[int, int]]) -> Iterator[tuple[int, Any]]:
        """Yield the records at *spots*, pairs of line number and offset, in their order."""
        if any(offset < 0 for _, offset in spots):
            wanted = {number for number, _ in spots}
            silent = Findings(self.path)
            found = {n: record for n, record in self.records(silent) if n in wanted}
            yield from ((number, found[number]) for number, _ in spots)
            return
        with self._open() as file:
            for number, offset in spots:
                file.seek(offset)
                yield number, _parse(self._text(file.readline(), number == 1) or "null")

    def head(self) -> str:
        """Return the first 64 KiB as text; what is not in the encoding is replaced."""
        with self._open() as file:
            return file.read(_HEAD_BYTES).decode(self.encoding, "replace").lstrip("\ufeff")

    def holds(self, *texts: bytes) -> bool:
        """Whether a line of the file holds one of *texts*, which are ASCII."""
        if not self.encoding.startswith("utf-8"):
            lines = (line or "" for _, _, line in self._located())
            return any(text.decode() in line for line in lines for text in texts)
        with self._open() as file:
            return any(text in line for line in file for text in texts)

    def lines(self, findings: Findings) -> Iterator[tuple[int, str]]:
        """Yield the lines of a text file, without their ends, with their numbers."""
        for number, _, text in self._located():
            if text is None:
                findings.breaks(f"a line that is not {self.encoding}", number)
            else:
                yield number, text.rstrip("\r\n")

    def sample(self) -> list[Any]:
        """Return the first records of the file, read as JSONL; what is no record is passed over."""
        found: list[Any] = []
        seen, other = 0, False
        for _, _, text in self._located():
            seen += len(text or "")
            if text and text.strip():
                try:
                    found.append(_parse(text))
                except ValueError:
                    other = True
                    found.extend(self._first(text))
            other = other or text is None
            if len(found) >= _SAMPLE or (seen > _SAMPLE_BYTES and (other or len(found) > 1)):
                break
        else:
            if len(found) == 1 and not other and self.encoding.startswith("utf-8"):
                self._alone = found[0]
        return found

    @staticmethod
    def _first(text: str) -> list[Any]:
        try:
            return [json.JSONDecoder().raw_decode(text.lstrip("\x1e \t\r\n"))[0]]
        except (ValueError, RecursionError):
            return []

    def _whole(self) -> str:
        """Return the text of the file; its bytes are not held meanwhile."""
        with self._open() as file:
            return file.read().decode("utf-8-sig" if self.encoding == "utf-8" else self.encoding)

    def documents(self) -> Iterator[Any]:
        """Yield the JSON document of each file of the session, in order."""
        for path in (self.path, *self.later):
            yield Recording(path).document()

    def document(self) -> Any:
        """Return the file as one JSON document; raises InputError if it is none."""
        if self._alone is not None:
            return self._alone
        text = ""
        try:
            text = self._whole()
            return _parse(text)
        except UnicodeDecodeError:
            raise InputError(f"it is not {self.encoding} text", file=self.path) from None
        except json.JSONDecodeError as error:
            what, line = _fault(text, error)
            raise InputError(f"it is not valid JSON ({what})", file=self.path, line=line) from None
        except ValueError as error:
            raise InputError(f"it is not valid JSON ({error})", file=self.path) from None
