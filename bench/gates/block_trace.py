"""Recorded requests as blocks: the ids of each prompt, and how many of them a server would find."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scenarios.transcripts.formats.mooncake import BLOCK
from sim.errors import InputError
from sim.prefix_cache import make_cache
from sim.prices import CacheRules

__all__ = ["Trace", "blocks_read", "read_blocks"]

Trace = Sequence[Sequence[int]]
"""The block ids of each prompt, in the order of the requests."""


def read_blocks(file: Path) -> Trace:
    """Return the ``hash_ids`` of each line of a Mooncake serving trace, JSONL.

    Raises InputError, with the line, for what is no such trace.
    """
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise InputError(f"cannot read it: {error.strerror or error}", file=file) from None
    except UnicodeDecodeError:
        raise InputError("cannot read it: not UTF-8 text", file=file) from None
    trace = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                trace.append(_ids(json.loads(line)))
            except (RecursionError, ValueError) as error:
                says = str(error) if type(error) is ValueError else "not one JSON value"
                raise InputError(says, file=file, line=number) from None
    if not any(trace):
        raise InputError("there is no block in it", file=file)
    return trace


def _ids(record: Any) -> list[int]:
    if not isinstance(record, dict):
        raise ValueError("a request must be an object")
    if "hash_ids" not in record:
        raise ValueError("a request needs hash_ids, a list of whole numbers")
    ids = record["hash_ids"]
    if not isinstance(ids, list) or any(type(block) is not int for block in ids):
        raise ValueError("hash_ids must be a list of whole numbers")
    return ids


def blocks_read(trace: Trace, order: str, capacity: int | None) -> int:
    """Return how many blocks of *trace* a server of *capacity* blocks reads that frees by *order*.

    Each id is a full block, and one token follows the last, so that any of them can be read. A
    request ends before the next one begins. Raises ValueError for an unknown order.
    """
    cache = make_cache(CacheRules("blocks", step=BLOCK, capacity=capacity, evict=order))
    read = 0
    for number, blocks in enumerate(trace):
        prompt = cache.prompt()
        for block in blocks:
            prompt.append(block, 0, BLOCK, "user")
        prompt.append("", 0, 1, "user")
        read += cache.call(prompt, float(number)).read // BLOCK
        prompt.close()
    return read
