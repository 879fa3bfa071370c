"""The forms in which a tool result can enter the window: their sizes, and what each leaves out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim.segments import Fact, Kind

if TYPE_CHECKING:
    from sim.script import Arrival
    from sim.segments import Segment

__all__ = [
    "FORMS",
    "HEADS",
    "SAVED",
    "least_tokens",
    "lost",
    "page_holding",
    "page_size",
    "page_tokens",
    "pages",
    "place_of",
    "raw_tokens",
    "reduced_tokens",
    "text_place",
]

_ENDS = {"head-tail": 0.5, "head-tail-20": 0.2, "head": 1.0, "tail": 0.0}

HEADS = {**_ENDS, **{f"{form}-saved": share for form, share in _ENDS.items()}}
"""Forms that leave ends of a result, and the share of what they leave that is its front."""

SAVED = frozenset({"spill", "pointer", *(f"{form}-saved" for form in _ENDS)})
"""Forms of which a file holds the whole result, which is an external copy."""

FORMS = ("whole", "reduced", *HEADS, "page", "spill", "pointer", "delta")
"""Forms of an admission.

``whole`` is everything; ``reduced`` what the structure of the result leaves; ``head-tail`` both
ends around a marked gap, as much of each, ``head-tail-20`` a fifth of the front and the rest of the
end, ``head`` and ``tail`` one of them alone; ``page`` the first page, with a cursor for the next;
``spill`` the reduced text with a pointer to a file that holds all of it, which is an external copy;
``head-tail-saved`` and its like the ends with such a pointer, and ``pointer`` the pointer alone;
``delta`` the difference to the result of the same tool before, which is resident.
"""


def raw_tokens(arrival: Arrival, image_tokens: int) -> int:
    """Return the size of *arrival* at the door; an image counts the same whatever its encoding."""
    return image_tokens if arrival.kind is Kind.IMAGE else arrival.tokens


def least_tokens(arrival: Arrival) -> int | None:
    """Return the size to which *arrival* is reduced if it is over its tool's limit, or None.

    The size that a reducer was measured to leave, where the script has it. Else, with a structure:
    the first entry of each group and a notice of what was dropped, as many groups as fit; without
    one: head and tail with a marked gap, exactly the limit. An image has no text to reduce.
    """
    limit = arrival.max_result_tokens
    if limit is None or arrival.kind is Kind.IMAGE:
        return None
    if arrival.reduced_tokens is not None:
        return max(1, min(limit, arrival.reduced_tokens))
    structure = arrival.structure
    if structure is None:
        return limit
    room = max(0, limit - structure.notice_tokens)
    groups = min(structure.groups, room // max(1, structure.entry_tokens))
    return max(1, min(limit, groups * structure.entry_tokens + structure.notice_tokens))


def reduced_tokens(segment: Segment, tokens: int) -> int | None:
    """Return the size to which *tokens* of *segment* are reduced, None if they are in its limit."""
    limit = segment.max_result_tokens
    if limit is None or tokens <= limit or segment.least_tokens is None:
        return None
    return min(tokens, segment.least_tokens)


def page_size(segment: Segment, form: str, tokens: int) -> int:
    """Return the size of a page of *segment*, entered as *form* at *tokens*.

    The first page, if it came as one, sets it; from a file what the tool's limit allows is read.
    """
    if form in SAVED and segment.max_result_tokens is not None:
        return segment.max_result_tokens
    return tokens


def pages(segment: Segment) -> int:
    """Return how many pages the whole of *segment*, which has entered, has."""
    return -(-segment.raw_tokens // segment.page_size)


def page_tokens(segment: Segment, number: int) -> int:
    """Return the size of page *number*, from 1, of *segment*; the last is what remains."""
    return min(segment.page_size, segment.raw_tokens - (number - 1) * segment.page_size)


def page_holding(segment: Segment, fact: Fact) -> int:
    """Return the number, from 1, of the page of *segment* on which *fact* stands."""
    return place_of(segment, fact) // segment.page_size + 1


def place_of(segment: Segment, fact: Fact) -> int:
    """Return where *fact* stands in the whole of *segment*, in tokens from the front."""
    if fact.at is None:
        return 0 if fact.reducible else segment.raw_tokens - 1
    return min(fact.at, segment.raw_tokens - 1)


def text_place(segment: Segment, fact: Fact) -> int:
    """Return where *fact* stands in the text of *segment* as it is, in tokens from its front.

    In ends, where they leave it; in anything else that is shorter than the whole, in proportion.
    """
    place, whole, tokens = place_of(segment, fact), segment.raw_tokens, segment.tokens
    if tokens >= whole or segment.form == "page":
        return min(place, tokens - 1)
    if segment.form in HEADS:
        head = int(tokens * HEADS[segment.form])
        return place if place < head else max(head, place - (whole - tokens))
    return place * tokens // whole


def lost(segment: Segment, form: str, tokens: int) -> frozenset[str]:
    """Return the keys of the facts that *segment* does not state, entered as *form* at *tokens*."""
    if form == "whole" or (tokens >= segment.raw_tokens and form != "delta"):
        return frozenset()
    return frozenset(fact.key for fact in segment.facts if not _kept(segment, form, tokens, fact))


def _kept(segment: Segment, form: str, tokens: int, fact: Fact) -> bool:
    if form == "pointer":
        return False
    if form == "page":
        return place_of(segment, fact) < tokens
    if form in HEADS:
        return _at_an_end(segment, tokens, fact, HEADS[form])
    if form == "delta":
        before = () if segment.previous is None else segment.previous.facts
        return (fact.key, fact.value) not in {(f.key, f.value) for f in before}
    return _reducible(segment, fact)


def _reducible(segment: Segment, fact: Fact) -> bool:
    """Whether a reduction of *segment* to its tool's limit keeps *fact*."""
    limit = segment.max_result_tokens
    if segment.blind and limit is not None and fact.at is not None:
        return _at_an_end(segment, limit, fact)
    return fact.reducible


def _at_an_end(segment: Segment, tokens: int, fact: Fact, share: float = 0.5) -> bool:
    """Whether *fact* stands in *tokens* of the whole, of which a *share* is its front."""
    place, head = place_of(segment, fact), int(tokens * share)
    return place < head or place >= segment.raw_tokens - (tokens - head)
