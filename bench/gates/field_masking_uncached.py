"""Gate field-masking-uncached: the gate of that name under policies as harnesses run them."""

from __future__ import annotations

from bench.gates import masking_uncached

__all__ = ["GATE"]

GATE = masking_uncached.gate(
    "field-masking-uncached",
    {
        "raw": "no-op",
        "mask": "swe-agent-last-observations:n=10",
        "summary": "openhands-llm-summarizing",
        "hybrid": "hybrid",
    },
    (
        "The mask is swe-agent-last-observations with the newest 10, as in the study, the summary "
        "openhands-llm-summarizing at its default of 100 events; no policy of the field is the "
        "study's hybrid, so that one is the same here as there.",
    ),
)
