"""Values in a text that are distinctive enough to tell that a later text speaks of the same thing.

A value is an identifier, path, number, hash or quoted string of at least six characters whose shape
no ordinary word has: a digit, an underscore, a capital inside, a dot or several slashes. A day or a
time of day is none, nor is a name out of a standard library, or a file that every project has. The
path of a file also stands for each of its ends, so that it is the same from wherever it is given,
and a dotted name for its parts; a line number behind a path is no part of it, nor is the line that
a list of matches shows behind that. Escapes are decoded first, so that a value in a JSON string
equals the value itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from scenarios.transcripts.commonplaces import FILES, LIBRARIES, RECEIVERS
from scenarios.transcripts.content import leaves

__all__ = ["LONGEST", "argument_values", "decoded", "values"]

SHORTEST, LONGEST = 6, 80
_LONGEST_TOKEN = 1000
"""What is longer is data, no name."""

_TOKEN = re.compile(r"\w+(?:[./:@\-]+\w+)*")
_JOINT = re.compile(r"[./:@\-]+")
_LINE_NUMBER = re.compile(r"(?::\d+)+$")
_LISTED = re.compile(r"\.[A-Za-z]\w*(?=([:\-]\d+)([:\-]|$))")
"""Where a file's name ends, before the number of a line and, in a list of matches, its text."""
_TIME = re.compile(r"\d{4}-\d\d?-\d\d?|\d\d?-\d\d?-\d{4}|\d\d?:\d\d(?::\d\d(?:\.\d+)?)?")
"""A day or a time of day: too many things share it."""
_SHAPE = re.compile(r"[0-9]|[^_]_+[^_]|[a-z][A-Z]|[A-Z]{2}[a-z]", re.DOTALL)
_QUOTED = re.compile(
    rf'"([^"\n]{{{SHORTEST},{LONGEST}}})"'
    rf"|(?<!\w)'([^'\n]{{{SHORTEST},{LONGEST}}})'(?!\w)"
    rf"|`([^`\n]{{{SHORTEST},{LONGEST}}})`"
)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([nrt\"'\\/`]))")
_BLANKS = {"n": "\n", "r": "\n", "t": "\t"}


def _decode(match: re.Match[str]) -> str:
    code, letter = match.groups()
    return chr(int(code, 16)) if code else _BLANKS.get(letter, letter)


def _shaped(text: str) -> bool:
    """Whether no ordinary word looks like *text*."""
    if _SHAPE.search(text) is not None:
        return True
    return not text.isascii() and any(c.isdigit() for c in text)


def _ends(path: str) -> Iterator[str]:
    """Yield what is left of *path* behind each of its slashes."""
    while "/" in path:
        path = path.partition("/")[2]
        yield path


@lru_cache(maxsize=1 << 16)
def _of_token(token: str) -> tuple[str, ...]:
    if (listed := _LISTED.search(token)) is not None:
        text = _of_token(token[listed.end(2) :])
        return tuple(dict.fromkeys((*_of_token(token[: listed.end()]), *text)))
    head, _, rest = token.partition(".")
    if rest and head in RECEIVERS:
        return _of_token(rest)
    if rest and head in LIBRARIES:
        return ()
    found = []
    parts = [token]
    if _JOINT.search(token):
        token = _LINE_NUMBER.sub("", token)
        if "." in token or token.count("/") > 1 or _shaped(token):
            found.append(token)
        if "." in token.rpartition("/")[2]:
            found.extend(_ends(token))
        number = token.replace(".", "").isdigit()
        parts = [] if number else _JOINT.split(token)
    found.extend(part for part in parts if len(part) >= SHORTEST and _shaped(part))
    return tuple(
        value
        for value in dict.fromkeys(found)
        if SHORTEST <= len(value) <= LONGEST
        and value not in FILES
        and not (value[0].isdigit() and _TIME.fullmatch(value))
    )


def decoded(text: str) -> str:
    """Return *text* with what stands for a character by an escape as that character."""
    return _ESCAPE.sub(_decode, text) if "\\" in text else text


def values(text: str) -> set[str]:
    """Return the distinctive values of *text*."""
    text = decoded(text)
    found: set[str] = set()
    for token in set(_TOKEN.findall(text)):
        if SHORTEST <= len(token) <= _LONGEST_TOKEN:
            found.update(_of_token(token))
    for quoted in _QUOTED.findall(text):
        phrase = "".join(quoted).strip()
        if len(phrase) >= SHORTEST and " " in phrase:
            found.add(phrase)
    return found


def argument_values(arguments: Any) -> set[str]:
    """Return the distinctive values of a tool call's decoded arguments; a short one is one too."""
    found: set[str] = set()
    for leaf in leaves(arguments):
        if isinstance(leaf, bool) or leaf is None:
            continue
        text = str(leaf)
        found |= values(text)
        phrase = text.strip()
        if " " in phrase and "\n" not in phrase and SHORTEST <= len(phrase) <= LONGEST:
            found.add(phrase)
    return found
