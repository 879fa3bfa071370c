"""Texts that leave evictbench: JSON, CSV, Markdown and tables for a terminal.

Nothing is computed here. Numbers in JSON and CSV have 9 significant digits, whatever made them.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import isfinite
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from bench.tables.parts import Table

__all__ = [
    "csv_text",
    "escaped",
    "json_document",
    "json_lines",
    "json_pieces",
    "markdown",
    "on_one_line",
    "plain",
    "print_tables",
]

_PLAIN = frozenset({bool, int, str})
"""Types whose values are JSON's own; looked up, as nearly every value of a table is of one."""


def plain(value: Any) -> Any:
    """Return *value* as JSON can hold it: floats of 9 significant digits, no NaN, no sets."""
    if value is None or type(value) in _PLAIN:
        return value
    if isinstance(value, float):
        return _rounded(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return _rounded(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(plain(item) for item in value)
    if isinstance(value, (list, tuple, range)):
        return [plain(item) for item in value]
    return str(value)


def _rounded(value: Any) -> float | None:
    return float(f"{value:.9g}") + 0.0 if isfinite(value) else None


def json_document(parts: Mapping[str, Any], exact: bool = False) -> str:
    """Return one JSON object: what :func:`json_pieces` yields."""
    return "".join(json_pieces(parts, exact))


def json_pieces(parts: Mapping[str, Any], exact: bool = False) -> Iterator[str]:
    """Yield one JSON object, with each item of a list or iterator in *parts* on a line of its own.

    *exact* keeps every digit of a float, for what is read back; *parts* must then be JSON's own
    types. It comes in pieces, as a document of many sessions is larger than all that it is made of.
    """
    same: Callable[[Any], Any] = (lambda value: value) if exact else plain
    before = "{\n"
    for name, part in parts.items():
        yield f"{before}{json.dumps(name)}: "
        if isinstance(part, list | Iterator):
            yield from _items(map(same, part))
        else:
            yield json.dumps(same(part), indent=2)
        before = ",\n"
    yield "\n}\n" if parts else "{\n\n}\n"


def _items(items: Iterable[Any]) -> Iterator[str]:
    """Yield a list with each of *items* on a line of its own."""
    before = "[\n"
    for item in items:
        yield f"{before}{json.dumps(item)}"
        before = ",\n"
    yield "[]" if before == "[\n" else "\n]"


def json_lines(items: Iterable[Any]) -> Iterable[str]:
    """Yield each of *items* as JSON on one line, without the line feed."""
    return (json.dumps(plain(item)) for item in items)


def csv_text(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> str:
    """Return *rows* as CSV under one header; None is left empty, lists are words.

    CSV has no way to write what controls a terminal: it stands there :func:`escaped`.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow(_field(plain(row.get(column))) for column in columns)
    return text.getvalue()


def escaped(text: str) -> str:
    """Return *text* with what would control a terminal as Python escapes it, line feeds apart."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text)


def on_one_line(text: str) -> str:
    """Return *text* :func:`escaped` with its line feeds, so that it cannot make up a line."""
    return escaped(text).replace("\n", "\\n")


def _field(value: Any) -> Any:
    if isinstance(value, float):
        return f"{value:.9g}"
    if isinstance(value, list):
        value = " ".join(map(str, value))
    return escaped(value) if isinstance(value, str) else value


def markdown(tables: Iterable[Table]) -> str:
    """Return *tables* one below the other, in Markdown."""
    return "\n".join("\n".join(_markdown_lines(table)) + "\n" for table in tables)


def print_tables(tables: Iterable[Table], console: Console) -> None:
    """Print *tables* for a person, as wide as *console* is."""
    from rich.text import Text

    for table in tables:
        if table.title:
            console.print(Text(_printable(table.title), style="bold"))
        if table.rows:
            console.print(_rich_table(table))
        for note in table.notes:
            console.print(Text(_printable(note), style="dim"))
        console.print()


def _rich_table(table: Table) -> Any:
    import rich.box
    import rich.table
    from rich.text import Text

    shown = rich.table.Table(
        box=rich.box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 0), header_style=""
    )
    for column in table.columns:
        shown.add_column(
            Text(column.header, style="dim"),
            justify="right" if column.right else "left",
            no_wrap=column.right or column.name,
            overflow="fold",
            vertical="top",
        )
    for row in table.rows:
        style = "bold green" if row.marked else ""
        shown.add_row(*(Text(_printable(cell), style=style) for cell in row.cells))
    return shown


def _markdown_lines(table: Table) -> Iterable[str]:
    if table.title:
        yield f"### {_cell(table.title)}"
        yield ""
    if table.rows:
        yield _line(column.header for column in table.columns)
        yield _line("---:" if column.right else "---" for column in table.columns)
        for row in table.rows:
            yield _line(f"**{cell}**" if row.marked and cell else cell for cell in row.cells)
    for note in table.notes:
        yield ""
        yield _cell(note)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(_cell(cell) for cell in cells)} |"


def _cell(text: str) -> str:
    return _printable(" ".join(text.replace("|", "\\|").split()))


def _printable(text: str) -> str:
    """Return *text* without the control characters that a recording may bring to a terminal."""
    return "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text)
