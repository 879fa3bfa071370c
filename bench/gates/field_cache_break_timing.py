"""Gate field-cache-break-timing: the gate of that name under a provider's own compaction."""

from __future__ import annotations

from bench.gates import cache_break_timing

__all__ = ["GATE"]

GATE = cache_break_timing.gate(
    "field-cache-break-timing",
    "anthropic-compact:trigger=80000",
    ("The policy is anthropic-compact with the trigger that the source's session has.",),
)
