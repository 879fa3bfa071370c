"""The tables of a reduction: how large the text is, what it keeps, and what it leaves out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.tables.parts import Column, Line, Table, percent, tokens

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
    reported = ", ".join(f"{tokens(count)} {noun}" for noun, count in found.found.counts.items())
    if reported:
        notes.append(f"it reports {reported}")
    left_out = ", ".join(f"{tokens(count)} {noun}" for noun, count in result.dropped.items())
    notes.append(f"left out: {left_out or 'nothing'}")
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


def _share(kept: int, of: int) -> str:
    return f"{tokens(kept)} ({percent(kept / of)} %)"
