"""The complaint stories: failures that users of harnesses reported, one scenario file each.

A new one is a file here with a ``[complaint]`` table and its line in `FILES`.
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["FILES", "FOLDER", "NAMES", "file"]

FOLDER = "complaints"
"""What stands in front of the name of each, with a slash."""

FILES = (
    "finished-request",
    "newest-request",
    "standing-instructions",
    "invented-order",
    "cold-prune",
    "one-threshold",
    "large-tool-list",
    "read-again",
    "parallel-results",
    "old-text",
    "unchanged-read",
    "idle-clearing",
    "no-word-of-the-user",
    "one-turn-job",
    "uncounted-overhead",
    "late-result",
)
"""The files, by the number of the complaint."""

NAMES = tuple(f"{FOLDER}/{name}" for name in FILES)
"""Their names as scenarios, in the order in which lists show them."""


def file(name: str) -> Path:
    """Return the scenario file of the complaint *name*, with or without the folder in front."""
    return Path(__file__).with_name(f"{name.removeprefix(FOLDER + '/')}.toml")
