from __future__ import annotations

import csv
import io
import json
import math
import os
import subprocess
import sys
from enum import StrEnum
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from bench.output import (
    csv_text,
    json_document,
    json_lines,
    json_pieces,
    markdown,
    plain,
    print_tables,
)
from bench.tables.parts import Column, Line, Table

ROOT = Path(__file__).parents[2]


class Word(StrEnum):
    ONE = "one"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1 / 3, 0.333333333),
        (2 / 3, 0.666666667),
        (123456789.123, 123456789.0),
        (1e-12 / 3, 3.33333333e-13),
        ((str(plain(-0.0)),), ["0.0"]),
        (7, 7),
        (True, True),
        (None, None),
        (math.nan, None),
        (math.inf, None),
        (Word.ONE, "one"),
        ((1, (2.5,)), [1, [2.5]]),
        (frozenset({"b", "a"}), ["a", "b"]),
        ({"k": {1: 0.1 + 0.2}}, {"k": {"1": 0.3}}),
        (np.float64(1 / 3), 0.333333333),
        (np.int64(3), 3),
    ],
)
def test_plain(value: object, expected: object) -> None:
    found = plain(value)
    assert found == expected
    assert type(found) is type(expected)


def test_a_document_is_one_json_object_with_an_item_a_line() -> None:
    rows = [{"a": 1 / 3, "b": None}, {"a": 2, "b": "x\u2028y"}]
    text = json_document({"rows": rows, "summary": [], "manifest": {"n": 1}})
    assert json.loads(text) == {
        "rows": [{"a": 0.333333333, "b": None}, {"a": 2, "b": "x\u2028y"}],
        "summary": [],
        "manifest": {"n": 1},
    }
    assert text.splitlines()[2] == '{"a": 0.333333333, "b": null},'
    assert text.isascii()


def test_an_exact_document_keeps_every_digit() -> None:
    value = 0.1 + 0.2
    assert json.loads(json_document({"x": [value], "y": {"z": value}}, exact=True)) == {
        "x": [value],
        "y": {"z": value},
    }


def test_json_lines() -> None:
    assert list(json_lines([{"a": 1}, [2.0]])) == ['{"a": 1}', "[2.0]"]


def test_csv_has_one_header_and_leaves_nulls_empty() -> None:
    rows = [
        {"name": 'a "b", c', "rate": 1 / 3, "n": 3, "none": None},
        {"name": "line\nfeed", "rate": 2.0, "n": 4, "none": ["x", "y"]},
    ]
    text = csv_text(rows, ["name", "n", "rate", "none"])
    assert text.splitlines()[0] == "name,n,rate,none"
    assert list(csv.reader(io.StringIO(text)))[1:] == [
        ['a "b", c', "3", "0.333333333", ""],
        ["line\nfeed", "4", "2", "x y"],
    ]


TABLE = Table(
    "a title",
    (Column("two\nlines"), Column("n", right=True)),
    (Line(("a|b", "1")), Line(("[red]c[/red]", "22"), marked=True)),
    ("a note",),
)


def test_markdown() -> None:
    assert markdown([TABLE]).splitlines() == [
        "### a title",
        "",
        "| two lines | n |",
        "| --- | ---: |",
        "| a\\|b | 1 |",
        "| **[red]c[/red]** | **22** |",
        "",
        "a note",
    ]


def printed(table: Table, width: int = 80, **options: object) -> str:
    stream = io.StringIO()
    print_tables([table], Console(file=stream, width=width, highlight=False, **options))  # type: ignore[arg-type]
    return stream.getvalue()


def test_a_printed_table_shows_brackets_as_they_are_and_no_colours_in_a_pipe() -> None:
    text = printed(TABLE)
    assert "[red]c[/red]" in text
    assert "\x1b" not in text


def test_a_terminal_gets_colours() -> None:
    assert "\x1b[1;32m" in printed(TABLE, force_terminal=True, color_system="standard")


def test_a_table_keeps_within_its_width_and_loses_nothing() -> None:
    long = Table("", (Column("name"), Column("text")), (Line(("n" * 30, "words " * 30)),))
    lines = printed(long, 40).splitlines()
    assert max(map(len, lines)) <= 40
    assert sum(line.count("words") for line in lines) == 30
    assert sum(line.count("n") for line in lines[2:]) == 30


def test_control_characters_do_not_reach_the_terminal() -> None:
    nasty = Table("\x1b[2J", (Column("x"),), (Line(("\x1b]0;title\x07",)),), ("\x9b1m",))
    for text in (printed(nasty), markdown([nasty])):
        assert not set(text) & {"\x1b", "\x07", "\x9b"}


@pytest.mark.parametrize("words", [("prices",), ("prices", "--format", "csv"), ("metrics",)])
def test_nobody_who_reads_on_is_no_failure(words: tuple[str, ...]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "bench", "list", *words]
    try:
        found = subprocess.run(command, cwd=ROOT, stdout=writer, stderr=subprocess.PIPE, text=True)
    finally:
        os.close(writer)
    assert (found.returncode, found.stderr) == (0, "")


def test_a_document_comes_in_pieces_and_is_one():
    parts = {"a": [{"x": 1}, {"x": 0.1 + 0.2}], "b": iter([1, 2]), "c": {"y": None}, "d": []}
    pieces = list(json_pieces(parts))
    text = "".join(pieces)
    assert len(pieces) > len(parts)
    assert json.loads(text) == {"a": [{"x": 1}, {"x": 0.3}], "b": [1, 2], "c": {"y": None}, "d": []}
    assert '"a": [\n{"x": 1},\n{"x": 0.3}\n],\n"b": [\n1,\n2\n],\n"c"' in text
    assert text.endswith('"d": []\n}\n')
    assert "".join(json_pieces({"a": iter([])})) == '{\n"a": []\n}\n'
