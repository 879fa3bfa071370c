"""What a task of a sweep leaves: the rows of its runs, and their turns packed into texts."""

from __future__ import annotations

import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bench.turns import Turns

__all__ = ["Done", "Row", "pack", "unpack"]

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Done:
    """The *rows* of the task of that *number*, one a policy, in the order of the plan.

    *turns* has those of each row as :func:`pack` packs them, None for a run that came to nothing;
    it is empty where turns were not asked for. *met* is the hash of what every policy met, None
    where none met anything, as where the first pins are over the budget.
    """

    number: int
    rows: list[Row]
    turns: Sequence[str | None] = ()
    met: str | None = None


def pack(turns: Turns) -> str:
    """Return the *turns* of a run as a text, from which :func:`unpack` makes equal ones."""
    text = json.dumps(turns, separators=(",", ":"))
    return b64encode(zlib.compress(text.encode())).decode()


def unpack(packed: str) -> Turns:
    """Return the turns of a run that a text was made of."""
    turns: Turns = json.loads(zlib.decompress(b64decode(packed)))
    return turns
