"""Exit codes of the command line; 0 is done. docs/exits.md says which command returns which."""

from __future__ import annotations

__all__ = ["BROKEN", "INPUT", "INTERRUPTED", "STRICT", "UNMET"]

UNMET = 1
"""What a command was asked to hold something to does not hold: of those in docs/exits.md alone."""

INPUT = 2
"""The input was wrong."""

STRICT = 3
"""A policy bug under ``--strict``."""

BROKEN = 4
"""Evictbench itself, a worker or a policy broke, or standard output takes nothing."""

INTERRUPTED = 130
"""Interrupted; what was finished was kept."""
