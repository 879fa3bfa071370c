"""The tables of a reduction: how large the text is, what it keeps, and what it leaves out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from bench.tables.parts import Column, Line, Table, percent, tokens
from policies.reducers.findings import singular

if TYPE_CHECKING:
    from bench.reducing import Reducing

__all__ = ["reducing_tables"]

_ESTIMATE = "bytes/4"


def reducing_tables(name: str, found: Reducing) -> list[Table]:
    """Return the measure of what was made of the file *name*."""
    result = found.result
    counted = f"tokens by {result.tokenizer}"
    if result.tokenizer == _ESTIMATE:
        counted += ", an estimate: no tokenizer has counted"
    notes = [f"read as {result.tool}; budget {tokens(found.limit)}; {counted}"]
    reported = _listed(found.found.counts)
    if reported:
        notes.append(f"it reports {reported}")
    notes.append(f"left out: {_listed(result.dropped) or 'nothing'}")
    if found.difference:
        notes.append("the text is the difference to the run before; kept is what both show")
    elif found.difference is not None:
        notes.append("the difference to the run before would be longer, or of another tool")
    columns = tuple(
        Column(header, header != "measure") for header in ("measure", "kept", "head and tail", "of")
    )
    return [Table(name, columns, tuple(_rows(found)), tuple(notes))]


def _rows(found: Reducing) -> list[Line]:
    result, kept, blind = found.result, found.kept, found.blind
    rows = [
        Line(
            (
                "tokens",
                tokens(result.tokens_after),
                tokens(min(found.limit, result.tokens_before)),
                tokens(result.tokens_before),
            )
        )
    ]
    for what, mine, other, all_ in (
        ("files with an error", kept.files, blind.files, kept.of_files),
        ("distinct failures", kept.failures, blind.failures, kept.of_failures),
    ):
        if all_:
            rows.append(Line((what, _share(mine, all_), _share(other, all_), tokens(all_))))
    return rows


def _listed(counts: Mapping[str, int]) -> str:
    """Return *counts* by noun, each in its number; the nouns come in the plural."""
    return ", ".join(
        f"{tokens(count)} {singular(noun) if count == 1 else noun}"
        for noun, count in counts.items()
    )


def _share(kept: int, of: int) -> str:
    return f"{tokens(kept)} ({percent(kept / of)} %)"
