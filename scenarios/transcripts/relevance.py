"""A user's own relevance scores: which segment, path or tool matters how much, and when.

A JSON file is an object ``{TARGET: SCORE}`` or ``{TARGET: {TURN: SCORE}}``; a CSV file has the
header ``target,score`` or ``target,score,turn``. A target is the id of a segment, the path of a
file or the name of a tool. A score is the salience a segment gets on arrival, and what a later
mention of it re-scores it to; given for a turn, it holds for what happens in that turn.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from scenarios.transcripts.findings import shown
from scenarios.transcripts.session import Draft
from sim.errors import InputError, nearest

__all__ = ["Relevance", "read_relevance"]


class Relevance:
    """Scores by target and turn; the more exact target wins: id, then path, then tool."""

    def __init__(self, scores: dict[tuple[str, int | None], float] | None = None) -> None:
        self._scores = scores or {}

    def score(self, draft: Draft, turn: int) -> float | None:
        """Return the score of *draft* in *turn*, None if the file gives none."""
        if not self._scores:
            return None
        for target in _targets(draft):
            for when in (turn, None):
                if (target, when) in self._scores:
                    return self._scores[target, when]
        return None

    def unused(self, drafts: Iterable[Draft]) -> list[str]:
        """Return a sentence for each target that names nothing in the session."""
        if not self._scores:
            return []
        known = {target for draft in drafts for target in _targets(draft)}
        out = []
        for target in dict.fromkeys(target for target, _ in self._scores):
            if target not in known:
                close = nearest(target, known)
                hint = f"; did you mean {shown(close)}?" if close else ""
                out.append(f"relevance is given for {shown(target)}, which does not occur{hint}")
        return out


def _targets(draft: Draft) -> list[str]:
    return [t for t in (draft.id, draft.path, draft.tool) if t is not None]


def read_relevance(path: Path | str) -> Relevance:
    """Read a relevance file; raises InputError where it is none."""
    try:
        text = Path(path).read_text("utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot read it: {error.strerror or error}", file=path) from None
    except UnicodeDecodeError:
        raise InputError("it is not utf-8 text", file=path) from None
    rows = _json_rows(text, path) if text.lstrip()[:1] in ("{", "[") else _csv_rows(text, path)
    scores: dict[tuple[str, int | None], float] = {}
    for line, target, score, turn in rows:
        scores[target, _turn(turn, path, line)] = _score(score, path, line)
    return Relevance(scores)


_Row = tuple[int | None, str, Any, Any]


def _json_rows(text: str, path: Path | str) -> list[_Row]:
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(
            f"it is not valid JSON ({error.msg})", file=path, line=error.lineno
        ) from None
    except (ValueError, RecursionError):
        raise InputError("it is not valid JSON", file=path) from None
    if not isinstance(data, dict):
        raise InputError("a relevance file is an object of target and score", file=path)
    rows: list[_Row] = []
    for target, given in data.items():
        by_turn = given if isinstance(given, dict) else {None: given}
        rows.extend((None, target, score, turn) for turn, score in by_turn.items())
    return rows


def _csv_rows(text: str, path: Path | str) -> list[_Row]:
    reader = csv.DictReader(io.StringIO(text, newline=""), restkey="more")
    if not {"target", "score"} <= set(reader.fieldnames or ()):
        raise InputError(
            "its header is not 'target,score' or 'target,score,turn'", file=path, line=1
        )
    try:
        rows = [(reader.line_num, row) for row in reader]
    except csv.Error as error:
        raise InputError(
            f"it is not valid CSV ({error})", file=path, line=reader.line_num
        ) from None
    return [
        (line, row["target"] or "", row["score"], row.get("turn") or None) for line, row in rows
    ]


def _score(value: Any, path: Path | str, line: int | None) -> float:
    try:
        score = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        score = math.nan
    if not 0.0 <= score <= 1.0:
        raise InputError(f"a score lies between 0 and 1, not {shown(value)}", file=path, line=line)
    return score


def _turn(value: Any, path: Path | str, line: int | None) -> int | None:
    if value is None:
        return None
    if not (isinstance(value, str) and value.strip().isascii() and value.strip().isdigit()):
        raise InputError(f"a turn is a whole number, not {shown(value)}", file=path, line=line)
    return int(value)
