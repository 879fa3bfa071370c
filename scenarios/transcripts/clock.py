"""Times as recordings write them, in seconds since 1970."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from scenarios.transcripts.findings import Findings

__all__ = ["seconds", "stamp"]

_MILLISECONDS = 1e11
"""A number above this counts milliseconds: as seconds it would lie in the year 5138."""
_LAST = 1e11


def seconds(value: Any) -> float | None:
    """Return an ISO 8601 text or an epoch number as seconds, None if there is none.

    A text without a zone is UTC; a number may count seconds or milliseconds. Raises ValueError if
    *value* is no time.
    """
    if value is None:
        return None
    if isinstance(value, str):
        try:
            when = datetime.fromisoformat(value.strip())
            return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            raise ValueError("a time that cannot be read") from None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("a time that cannot be read")
    try:
        number = float(value)
    except OverflowError:
        raise ValueError("a time that cannot be read") from None
    if number > _MILLISECONDS:
        number /= 1000.0
    if not math.isfinite(number) or not 0.0 <= number <= _LAST:
        raise ValueError("a time that cannot be read")
    return number


def stamp(
    record: Mapping[str, Any], keys: tuple[str, ...], place: int, findings: Findings
) -> float | None:
    """Return the time under the first of *keys* that *record* has; what is no time is named."""
    try:
        return seconds(next((record[key] for key in keys if key in record), None))
    except ValueError as error:
        findings.breaks(str(error), place)
        return None
