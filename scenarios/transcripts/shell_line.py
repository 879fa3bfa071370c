"""The part of a shell's grammar in which it is certain what is run, on what, and in which order.

A line is pipelines that ``&&`` joins; a pipeline is simple commands with redirections; a word is
literal, or one that the shell expands. A here-document may stand at the end. Whatever else decides
what is run (``;``, ``||``, ``&``, substitutions, compound commands, comments, quoting that is not
understood) makes a line none of these. Source: POSIX.1-2017, Shell Command Language, 2.2 to 2.9.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field

__all__ = ["HOLE", "Line", "Simple", "parsed"]

HOLE = "\0"
"""Stands in a word for what the shell puts there; no word of a command can hold it."""

_PLAIN = r"\$(?:\w+|\{\w+\}|[@*#?$!-])"
"""A parameter; a form with an operator may hold words of its own."""
_TOKEN = re.compile(
    r"[ \t]+|\\\n"
    r"|(?P<op>&&|\|\||\||;|\n|&(?!>))"
    r"|(?P<here><<-?)"
    r"|(?P<redirect>(?:\d+|&)?(?:>>|>\||>&|>|<))"
    rf"|(?P<word>(?:'[^']*'|\"(?:[^\"\\$`]|{_PLAIN}|\\.)*\"|\\[^\n]|{_PLAIN}"
    r"|[^\s'\"\\;&|<>()`$#]|(?<=[^\s;&|<>()])#)+)",
    re.DOTALL,
)
_LITERAL = re.compile(r"(?:'[^']*'|\"[^\"\\$`!]*\"|[\w./:@%+,=-]|(?<=\w)[#~^])+")
_QUOTED = re.compile(rf'"([^"\\$`!](?:[^"\\$`!]|{_PLAIN}|\\.)*)"', re.DOTALL)
_UNKNOWN = re.compile(rf"{_PLAIN}|\\.", re.DOTALL)
_SEVERAL = re.compile(r"\$\{?[@*]")
_HERE = re.compile(r"<<-?[ \t]*(?:'(\w+)'|\"(\w+)\"|(\w+))")
_EXPANDS = re.compile(r"[$`\\]")
_COMPOUND = frozenset(
    {
        *("!", "[[", "{", "}", "case", "do", "done", "elif", "else", "esac", "fi", "for"),
        *("function", "if", "in", "select", "then", "time", "until", "while", "coproc"),
    }
)
"""Words at which no simple command begins."""


@dataclass(slots=True)
class Simple:
    """A simple command: its words, and where its output goes.

    A word that the shell expands to any number of words is None; one that it expands to a single
    word has :data:`HOLE` for what is not known of it.
    """

    words: list[str | None] = field(default_factory=list)
    outputs: list[tuple[str, str | None]] = field(default_factory=list)
    """Each redirection's operator, and its target."""

    @property
    def name(self) -> str | None:
        """The program, None if it cannot be told."""
        return self.words[0] if self.words else None


@dataclass(frozen=True, slots=True)
class Line:
    """The *pipelines* of a command line, and the *content* of the here-document at its end.

    The content is None where there is none, or where the shell expands it.
    """

    pipelines: list[list[Simple]]
    content: str | None = None


def parsed(line: str) -> Line | None:
    """Return the parts of *line*, None if it is not of the grammar above."""
    content = None
    if (here := _HERE.search(line)) is not None:
        first, newline, rest = line.partition("\n")
        name = next(filter(None, here.groups()))
        lines = rest.split("\n")
        if not newline or here.end() > len(first) or lines[-1] != name or name in lines[:-1]:
            return None
        body = "".join(f"{each}\n" for each in lines[:-1])
        expands = here[3] and _EXPANDS.search(body)
        content = None if expands or here[0].startswith("<<-") else body
        line = f"{first[: here.start()]} {first[here.end() :]}"
    pipelines = _pipelines(line)
    return None if pipelines is None else Line(pipelines, content)


def _pipelines(line: str) -> list[list[Simple]] | None:
    pipelines, at, redirect = [[Simple()]], 0, ""
    while at < len(line):
        token = _TOKEN.match(line, at)
        if token is None or token["here"]:
            return None
        at = token.end()
        simple = pipelines[-1][-1]
        if word := token["word"]:
            if redirect:
                simple.outputs.append((redirect, _unquoted(word)))
                redirect = ""
            elif not simple.words and word in _COMPOUND:
                return None
            else:
                simple.words.append(_unquoted(word))
        elif redirect and (token["op"] or token["redirect"]):
            return None
        elif token["redirect"]:
            redirect = token["redirect"]
        elif token["op"] == "&&":
            pipelines.append([Simple()])
        elif token["op"] == "|":
            pipelines[-1].append(Simple())
        elif token["op"]:
            return None
    whole = not redirect and all(each.words for pipeline in pipelines for each in pipeline)
    return pipelines if whole else None


def _unquoted(word: str) -> str | None:
    """Return the text of a word as the shell gives it to a program, None if it may be several."""
    if _LITERAL.fullmatch(word) is not None:
        return "".join(shlex.split(word))
    quoted = _QUOTED.fullmatch(word)
    if quoted is None or _SEVERAL.search(word) is not None:
        return None
    return _UNKNOWN.sub(HOLE, quoted[1])
