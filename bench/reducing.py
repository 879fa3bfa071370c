"""What the reducers make of one output, and what survives beside a blind cut of the same size."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from policies.reducers.difference import difference
from policies.reducers.reduction import FALLBACK, Output, Reduced, reduced
from policies.reducers.room import Room
from policies.reducers.survival import Survival, survival
from sim.tokens import tokenizer

if TYPE_CHECKING:
    from policies.reducers.form import Found

__all__ = ["DEFAULT_TOKENS", "Reducing", "reduce_output"]

DEFAULT_TOKENS = 24_000
"""The budget of a tool that declares none. Source: S3, its type checker's."""


@dataclass(frozen=True, slots=True)
class Reducing:
    """A reduced output, what was *found* in it, and what the text keeps of that.

    *blind* is what head and tail of the same size would keep. *difference* is whether the text is
    the difference to an earlier output, None if there is none; if it is, *kept* is what both show.
    """

    limit: int
    result: Reduced
    found: Found
    kept: Survival
    blind: Survival
    difference: bool | None = None

    def document(self) -> dict[str, Any]:
        """Return everything as one JSON object."""
        result = self.result
        return {
            "tool": result.tool,
            "tokens_before": result.tokens_before,
            "tokens_after": result.tokens_after,
            "max_result_tokens": self.limit,
            "tokenizer": result.tokenizer,
            "found": dict(self.found.counts),
            "dropped": dict(result.dropped),
            "kept": _kept(self.kept),
            "head_tail_kept": _kept(self.blind),
            "difference": self.difference,
            "text": result.text,
        }


def _kept(kept: Survival) -> dict[str, int | float | None]:
    return {
        "files": kept.files,
        "of_files": kept.of_files,
        "share_of_files": kept.share_of_files,
        "failures": kept.failures,
        "of_failures": kept.of_failures,
        "share_of_failures": kept.share_of_failures,
    }


def reduce_output(
    raw: bytes,
    limit: int = DEFAULT_TOKENS,
    tool: str | None = None,
    counted_by: str | None = None,
    since: bytes | None = None,
) -> Reducing:
    """Return *raw* reduced to *limit* tokens with the reducer *tool*, or by its content.

    *counted_by* names a tokenizer. With *since*, the output of the run before, the text is the
    difference to that one, where it is shorter. Raises InputError for an unknown
    reducer or tokenizer and for a limit that is too small.
    """
    room = Room(limit, tokenizer(counted_by))
    Room.check(limit, "max_result_tokens")
    output = Output(raw, tool)
    result = reduced(output, room)
    is_difference: bool | None = None
    seen = ""
    if since is not None:
        before = Output(since, tool)
        same = before.tool == output.tool
        text = difference(before.log, output.log, room) if same else None
        tokens = 0 if text is None else room.count(text)
        is_difference = text is not None and tokens < result.tokens_after
        if text is not None and is_difference:
            seen = reduced(before, room).text
            result = replace(result, text=text, tokens_after=tokens, dropped={})
    found = output.found()
    cut = reduced(Output(output.text, FALLBACK), room)
    return Reducing(
        limit,
        result,
        found,
        survival(found, f"{seen}\n{result.text}" if seen else result.text),
        survival(found, cut.text),
        is_difference,
    )
