"""Exit codes of the command line; 0 is done."""

from __future__ import annotations

__all__ = ["BROKEN", "INPUT", "INTERRUPTED", "REGRESSION", "STRICT"]

BROKEN = 1
"""Evictbench itself, a worker or a policy broke."""

REGRESSION = 1
"""``diff`` found something worse."""

INPUT = 2
"""The input was wrong."""

STRICT = 3
"""A policy bug under ``--strict``."""

INTERRUPTED = 130
"""Interrupted; what was finished was kept."""
