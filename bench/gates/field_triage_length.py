"""Gate field-triage-length: the gate of that name under the provider's own policies."""

from __future__ import annotations

from bench.gates import triage_length

__all__ = ["GATE"]

GATE = triage_length.gate(
    "field-triage-length",
    {
        "boundary prune": "boundary-prune:compact=off",
        "compaction": "anthropic-compact:trigger=80000",
        "context editing": "anthropic-clear-tool-uses:trigger=30000",
    },
    (
        "Compaction is anthropic-compact and editing anthropic-clear-tool-uses, with the triggers "
        "of triage-length; no policy of the field prunes at task boundaries, so that one is the "
        "same here as there.",
    ),
)
