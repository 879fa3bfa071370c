"""Judged pairs as a table without their text, and the share of them that is right."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.mining.arguments import KINDS
from bench.mining.pairs import Pair
from sim.errors import InputError, unknown

__all__ = ["LABELS", "Judged", "Precision", "precision", "read_table", "table"]

RIGHT, WRONG = "right", "wrong"
LABELS = (RIGHT, WRONG)
_COLUMNS = ("file", "mention", "source", "kind", "hash", "label")


@dataclass(frozen=True, slots=True, order=True)
class Judged:
    """A pair without its value: its file, the places of mention and source, and its label."""

    file: str
    mention: int
    source: int
    kind: str
    hash: str
    label: str

    @classmethod
    def of(cls, pair: Pair, label: str = "") -> Judged:
        """Return *pair* with a *label*, an empty one while it is not judged."""
        return cls(pair.file, pair.mention, pair.source, pair.kind, pair.hash, label)


@dataclass(frozen=True, slots=True)
class Precision:
    """Of *pairs* of a kind, *right* are right; *low* to *high* is the share's 95 % interval."""

    kind: str
    right: int
    pairs: int
    low: float
    high: float


def table(rows: Iterable[Judged]) -> str:
    """Return *rows* as tab-separated text with a head, in their order."""
    lines = ["\t".join(_COLUMNS)]
    lines += ["\t".join(str(getattr(row, name)) for name in _COLUMNS) for row in rows]
    return "\n".join(lines) + "\n"


def read_table(path: Path) -> list[Judged]:
    """Return the judged pairs in the file at *path*; raises InputError if it is no such table."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read it: {error}", file=path) from None
    if not lines or tuple(lines[0].split("\t")) != _COLUMNS:
        raise InputError(f"its head is not {' '.join(_COLUMNS)}", file=path, line=1)
    return [_row(line, path, number) for number, line in enumerate(lines[1:], 2)]


def _row(line: str, path: Path, number: int) -> Judged:
    fields = line.split("\t")
    if len(fields) != len(_COLUMNS):
        what = f"{len(fields)} fields, not {len(_COLUMNS)}"
        raise InputError(what, file=path, line=number)
    file, mention, source, kind, digest, label = fields
    if not (mention.isdecimal() and source.isdecimal()):
        raise InputError("a place is a whole number", file=path, line=number)
    if kind not in KINDS:
        raise InputError(unknown("kind of argument", kind, KINDS), file=path, line=number)
    if label not in LABELS:
        raise InputError(unknown("label", label, LABELS), file=path, line=number)
    return Judged(file, int(mention), int(source), kind, digest, label)


def precision(rows: Sequence[Judged]) -> list[Precision]:
    """Return the share that is right by kind of argument, in the order of KINDS, then of all.

    The intervals are those of Clopper and Pearson (Biometrika 26, 1934), exact for a simple sample.
    A kind without a pair has no line. Raises ValueError if there is no pair at all.
    """
    if not rows:
        raise ValueError("no pair is judged")
    groups = [(kind, [row for row in rows if row.kind == kind]) for kind in KINDS]
    return [_share(kind, mine) for kind, mine in [*groups, ("all", list(rows))] if mine]


def _share(kind: str, rows: Sequence[Judged]) -> Precision:
    from scipy.stats import binomtest

    right = sum(row.label == RIGHT for row in rows)
    interval = binomtest(right, len(rows)).proportion_ci(0.95, method="exact")
    return Precision(kind, right, len(rows), float(interval.low), float(interval.high))
