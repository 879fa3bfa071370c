"""The scripted stories: scenario files with exact outcomes, and the reader of such files."""

from __future__ import annotations

from pathlib import Path

__all__ = ["NAMES", "file"]

NAMES = (
    "signature-change",
    "eviction-cost",
    "rate-limit-table",
    "threshold-drift",
    "stale-file",
    "three-tools",
    "only-pins-left",
    "growing-surrogate",
    "compress-then-spend",
    "the-door",
    "last-of-forty",
    "first-of-each-file",
    "cache-life",
)
"""Every story that ships, in the order in which lists show them."""


def file(name: str) -> Path:
    """Return the scenario file of the story *name*."""
    return Path(__file__).with_name(f"{name}.toml")
