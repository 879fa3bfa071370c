"""The names of models as recordings give them, and which row of a price book such a name is.

A provider's name in front, a date, a version and a tag behind, and the stroke between the parts of
a number say nothing of the price: ``anthropic/claude-haiku-4-5-20251001`` is ``claude-haiku-4.5``.
Whatever else differs makes another model; no name is taken for one that is only like it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from scenarios.transcripts.events import Model

__all__ = ["by_name", "model_of", "row_of"]

_LEAD = re.compile(r".*/|(?:[a-z]{2,6}\.)?(?:anthropic|openai|google|deepseek|xai|moonshot)\.")
_TAIL = re.compile(r"(?:-v\d+)?(?::[\w.-]+)$|\[\w+\]$|@[\w-]+$|-latest$|-v\d$")
_DATE = re.compile(r"-(?:20\d{6}|20\d\d-\d\d(?:-\d\d)?)$")


def model_of(record: Any, place: int, time: float | None = None) -> Iterator[Model]:
    """Yield the model that a record names, if it names one."""
    name = record.get("model") if isinstance(record, Mapping) else None
    if isinstance(name, str) and name.strip():
        yield Model(place, time, name.strip())


def by_name(rows: Iterable[str]) -> dict[str, str]:
    """Return the *rows* of a price book by the name to which that of a model is reduced."""
    return {_plain(row): row for row in rows}


def row_of(model: str, rows: Mapping[str, str]) -> str | None:
    """Return the row of *rows*, of :func:`by_name`, that a recorded *model* is, None if none is."""
    name = _LEAD.sub("", model.strip().lower(), count=1)
    name = _TAIL.sub("", name)
    return rows.get(_plain(name)) or rows.get(_plain(_DATE.sub("", name)))


def _plain(name: str) -> str:
    return name.lower().replace(".", "-")
