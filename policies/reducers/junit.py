"""JUnit XML: its test cases, read as a stream, from whole documents and from broken ones.

A document is parsed from its root element on, so that no declaration of it is ever seen: no entity
is expanded and nothing is fetched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from xml.parsers import expat

__all__ = ["Case", "Document", "Problem", "documents"]

_START = re.compile(
    r"(?:^|\?>|-->|\]>)[ \t]*+(?P<tag><(?:testsuites?|testcase)(?=[\s>/]))", re.MULTILINE
)
_RESUME = re.compile(r"<(?:testsuites?|testcase)(?=[\s>/])")
_CLOSE = re.compile(r"</testsuites?\s*+>")
_NO_CHARACTER = re.compile("[\ufffe\uffff]")
_FIRST, _CHUNK = 1 << 12, 1 << 20
"""Characters that are parsed at a time, at first and later: most of what breaks does so early."""
_RESTARTS = 500
"""Breaks of one document after which its rest is left."""
_IN_VAIN = 2_000
"""Breaks, in all, of what turned out to be no document, after which no more are looked for."""
_REREAD = 4
"""How many times its length may be parsed of a document that is broken."""
_HEAD = 4_000
"""Characters before a root element within which its XML declaration stands."""
_TEXT = 200_000
"""Characters of one problem's text that are kept."""
_WRAPPER = b"<resumed>"
_STATES = ("skipped", "notrun", "disabled", "suppressed", "ignored")


@dataclass(slots=True)
class Problem:
    """A failure or an error of a test case: its attributes and its text."""

    kind: str
    message: str = ""
    type: str = ""
    text: str = ""


@dataclass(slots=True)
class Case:
    """A test case by its name and class, its problems, and whether it was skipped."""

    name: str
    classname: str = ""
    problems: list[Problem] = field(default_factory=list)
    skipped: bool = False


@dataclass(slots=True)
class Document:
    """The cases at offsets *start* to *stop* of a text, and the names of the suites they are in.

    *broken* are the offsets at which it is no well-formed XML, *cut* says that it has no end and
    *left* that it was not read to its end. *declared* are the figures of the outermost suites,
    *outside* is how many cases are in none of them.
    """

    start: int
    stop: int = 0
    cases: list[Case] = field(default_factory=list)
    suites: list[str] = field(default_factory=list)
    declared: list[Mapping[str, str]] = field(default_factory=list)
    broken: list[int] = field(default_factory=list)
    outside: int = 0
    cut: bool = False
    left: bool = False


class _EndError(Exception):
    """The root element is closed."""


class _Reader:
    """The handlers of a parser, that fill a document."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.depth = 0
        self.suites: list[str] = []
        self.counted = 0
        self.case: Case | None = None
        self.problem: Problem | None = None
        self.parts: list[str] = []
        self.size = 0

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        """Take the start of an element."""
        self.depth += 1
        name = name.rpartition(":")[2]
        if name in ("testsuite", "testsuites"):
            if not self.counted and "tests" in attributes:
                self.counted = self.depth
                self.document.declared.append(attributes)
            if name == "testsuite":
                self.suites.append(attributes.get("name", ""))
                self.document.suites.append(self.suites[-1])
        elif name == "testcase":
            self.case = _case(attributes)
            self.document.cases.append(self.case)
            self.document.outside += not self.counted
        elif self.case is not None and self.problem is None:
            if name in ("failure", "error"):
                message, kind = attributes.get("message", ""), attributes.get("type", "")
                self.problem = Problem(name, message, kind)
                self.case.problems.append(self.problem)
                self.parts, self.size = [], 0
            elif name in ("skipped", "skip", "disabled"):
                self.case.skipped = True

    def data(self, text: str) -> None:
        """Take characters: those of a problem are kept."""
        if self.problem is not None and self.size < _TEXT:
            self.parts.append(text)
            self.size += len(text)

    def end(self, name: str) -> None:
        """Take the end of an element; raises _EndError at the end of the root."""
        name = name.rpartition(":")[2]
        if name in ("failure", "error"):
            self.finish()
        elif name == "testcase":
            self.case = None
        elif name == "testsuite" and self.suites:
            self.suites.pop()
        if self.depth == self.counted:
            self.counted = 0
        self.depth -= 1
        if self.depth == 0:
            raise _EndError

    def finish(self) -> None:
        """Give the problem that is open its text."""
        if self.problem is not None:
            self.problem.text = "".join(self.parts)
            self.problem = None

    def resume(self) -> None:
        """Forget what was open where the document broke."""
        self.finish()
        self.depth, self.counted, self.case, self.suites = 0, self.counted and 1, None, []


def _case(attributes: Mapping[str, str]) -> Case:
    state = attributes.get("status", "") or attributes.get("result", "")
    return Case(
        attributes.get("name", ""),
        attributes.get("classname", "") or attributes.get("class", ""),
        skipped=state.lower() in _STATES,
    )


def documents(text: str) -> Iterator[Document]:
    """Yield the documents in *text* that hold a test case or say how many there are."""
    text = _NO_CHARACTER.sub("\ufffd", text)
    at = in_vain = 0
    while in_vain < _IN_VAIN and (match := _START.search(text, at)):
        start = match.start("tag")
        document = _read(text, start)
        at = max(document.stop, match.end())
        if document.cases or (document.declared and not document.broken):
            document.start = _declaration(text, start)
            yield document
        else:
            in_vain += 1 + len(document.broken)


def _declaration(text: str, start: int) -> int:
    """Return where the XML declaration stands that belongs to the root element at *start*."""
    at = text.rfind("<?xml", max(0, start - _HEAD), start)
    if at >= 0 and text[at:start].rstrip()[-1:] == ">" and "</" not in text[at:start]:
        return at
    return start


def _read(text: str, start: int) -> Document:
    """Return the document whose root, or first test case, stands at *start*."""
    document = Document(start)
    reader = _Reader(document)
    at, wrapped = start, text.startswith("<testcase", start)
    most = _REREAD * (len(text) - start)
    for _ in range(_RESTARTS):
        state, stop, fed = _parse(reader, text, at, wrapped)
        most -= fed
        document.stop = stop
        if state == "end":
            return document
        if state == "cut":
            document.cut = True
            break
        closing = _CLOSE.match(text, text.rfind("<", at, stop + 1)) if wrapped else None
        if closing is None:
            document.broken.append(stop)
        else:
            document.stop = stop = closing.end()
        following = _RESUME.search(text, max(stop, at + 1))
        if following is None or _apart(text, stop, following.start(), closing is not None):
            break
        if most <= 0:
            document.left = True
            break
        reader.resume()
        at, wrapped = following.start(), True
    else:
        document.left = True
    reader.finish()
    return document


def _apart(text: str, stop: int, following: int, closed: bool) -> bool:
    """Whether what begins at *following* is a document of its own."""
    between = text[stop:following]
    if closed:
        return bool(_CLOSE.sub("", between).strip())
    return "<?xml" in between


def _parse(reader: _Reader, text: str, start: int, wrapped: bool) -> tuple[str, int, int]:
    """Parse from *start*; return how it ended, at which offset, and how much was parsed.

    It ended at the ``end`` of the root, ``broke`` where it is not well-formed, or was ``cut``.
    """
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    parser.StartElementHandler = reader.begin
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.data
    at, size = start, _FIRST
    try:
        if wrapped:
            parser.Parse(_WRAPPER)
        while at < len(text):
            parser.Parse(text[at : at + size].encode("utf-8", "replace"))
            at += size
            size = min(4 * size, _CHUNK)
        parser.Parse(b"", True)
    except _EndError:
        stop = _offset(text, start, parser.CurrentLineNumber, parser.CurrentColumnNumber, wrapped)
        # Some parsers stand before the tag that ends the root, some behind it.
        if text[stop - 1] != ">":
            stop = text.find(">", stop) + 1 or len(text)
        return "end", stop, at - start
    except expat.ExpatError as error:
        stop = _offset(text, start, error.lineno, error.offset, wrapped)
        state = "cut" if stop >= len(text.rstrip()) else "broke"
        return state, stop, at - start
    return "cut", len(text), at - start


def _offset(text: str, start: int, line: int, column: int, wrapped: bool) -> int:
    """Return the offset in *text* of a place the parser names, parsing having begun at *start*."""
    at = start
    for _ in range(line - 1):
        at = text.find("\n", at) + 1
        if at == 0:
            return len(text)
    if wrapped and line == 1:
        column -= len(_WRAPPER)
    return min(len(text), at + max(0, column))
