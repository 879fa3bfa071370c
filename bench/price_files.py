"""A price book on disk: its tables, the lines they stand on, and all that is wrong with it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from bench.price_fields import BadField
from sim.errors import InputError, nearest, unknown

__all__ = ["BookFile"]

KINDS = ("prices", "sources", "speeds")
"""The tables of a book; each holds tables of its own, its rows."""

Row = tuple[str, str]
"""A row by its kind and name."""


class BookFile:
    """The tables of one TOML file, and a list of its faults that is raised as one InputError.

    *rows* are the raw values, by kind and name; *misspelt* are the fields that its unknown ones are
    nearest to. Raises InputError if the file cannot be read or is no TOML.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self.faults: list[tuple[int | None, str]] = []
        self.misspelt: dict[Row, set[str | None]] = {}
        text, tables = _read(file)
        self._places = _places(text)
        self.rows: Mapping[str, dict[str, dict[str, Any]]] = {
            kind: self._rows(tables, kind) for kind in KINDS
        }
        for name in tables:
            if name not in KINDS:
                self.fault(None, BadField(unknown("table", name, KINDS), name))

    def fault(self, row: Row | None, error: BadField) -> None:
        """Note what is wrong with *row*, None for the file as a whole."""
        where = f"{row[0]} {row[1]!r}: " if row else ""
        self.faults.append((self._line_of(row, error.field), f"{where}{error}"))

    def known(self, row: Row, valid: Iterable[str]) -> None:
        """Note every field of *row* that is none of the *valid* ones."""
        names = sorted(valid)
        for field in self.rows[row[0]][row[1]]:
            if field not in names:
                self.fault(row, BadField(unknown("field", field, names), field))
                self.misspelt.setdefault(row, set()).add(nearest(field, names))

    def raise_faults(self) -> None:
        """Raise InputError if anything is wrong, with a sentence and a line for each fault."""
        if not self.faults:
            return
        faults = sorted(self.faults, key=lambda fault: (fault[0] or 0, fault[1]))
        if len(faults) == 1:
            raise InputError(faults[0][1], file=self.file, line=faults[0][0])
        places = (f"{self.file}:{line}" if line else f"{self.file}" for line, _ in faults)
        sentences = (sentence for _, sentence in faults)
        raise InputError("\n".join(f"{p}: {s}" for p, s in zip(places, sentences, strict=True)))

    def _line_of(self, row: Row | None, field: str | None) -> int | None:
        """Return the line of a field of a row, of the row, or of a table, whichever is found."""
        table, name = _bare(".".join(row or ())), _bare(field or "")
        if row is not None:
            return self._places.get((table, name)) or self._places.get((table, ""))
        return self._places.get(("", name)) or self._places.get((name, ""))

    def _rows(self, tables: Mapping[str, Any], kind: str) -> dict[str, dict[str, Any]]:
        rows = tables.get(kind, {})
        if isinstance(rows, dict) and all(isinstance(row, dict) for row in rows.values()):
            for name in rows:
                if not (name.strip() and name.isprintable()):
                    message = f"a name in {kind!r} must be a line of printable text, not {name!r}"
                    self.fault(None, BadField(message, kind))
            return rows
        self.fault(None, BadField(f"{kind!r} must hold tables, [{kind}.NAME]", kind))
        return {}


def _read(file: Path) -> tuple[str, dict[str, Any]]:
    try:
        text = file.read_text(encoding="utf-8-sig")
        return text, tomllib.loads(text)
    except OSError as error:
        raise InputError(f"cannot read it: {error.strerror}", file=file) from None
    except UnicodeDecodeError:
        raise InputError("cannot read it: not UTF-8 text", file=file) from None
    except RecursionError:
        raise InputError("not valid TOML: nested too deep", file=file) from None
    except ValueError as error:
        line = re.search(r" \(at line (\d+), column \d+\)", str(error))
        message = str(error) if line is None else str(error).replace(line[0], "")
        number = None if line is None else int(line[1])
        raise InputError(f"not valid TOML: {message}", file=file, line=number) from None


def _places(text: str) -> dict[tuple[str, str], int]:
    """Return the line of each table's header, under an empty field, and of each of its fields.

    Fields of no table stand under the empty name. Names are bare of quotation marks and spaces.
    """
    found: dict[tuple[str, str], int] = {}
    table = ""
    for number, line in enumerate(text.splitlines(), 1):
        words = _bare(line)
        if words.startswith("["):
            table = words.partition("]")[0].lstrip("[")
            found.setdefault((table, ""), number)
            found.setdefault((table.partition(".")[0], ""), number)
        else:
            found.setdefault((table, words.partition("=")[0]), number)
    return found


def _bare(text: str) -> str:
    return "".join(c for c in text if c not in "\"' \t")
