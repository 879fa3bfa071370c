"""What became of a segment, in sentences, from the ledger."""

from __future__ import annotations

from collections.abc import Iterator

from sim.ledger import Entry, Ledger
from sim.segments import Segment

__all__ = ["told"]


def told(segment: Segment, ledger: Ledger) -> Iterator[str]:
    """Yield a sentence for each thing that happened to *segment*, oldest first."""
    for entry in ledger.why(segment.id):
        yield f"{entry[0]}, turn {entry[2]}: {_says(entry)}"


def _says(entry: Entry) -> str:
    match entry[1], entry[3:]:
        case "admitted", (how,):
            return f"came in {how}"
        case "never-admitted", (reason,):
            return f"was not let in ({reason})"
        case "fetched", _:
            return "was brought back"
        case "rewritten", (surrogate, tagged):
            return f"became {surrogate}{'' if tagged else ', which does not say so'}"
        case "restored", (invented,):
            return f"became {invented}, detail that nothing states"
        case "evicted", (book, reason):
            return f"was evicted ({reason}), {'with a' if book == 'copy' else 'without'} copy"
    return "was cut off, since the request did not fit"
