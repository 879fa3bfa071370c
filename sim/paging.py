"""Paging: what was left out of a result comes page by page, when the model asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim.reduction import SAVED, page_holding, page_tokens, pages
from sim.segments import Segment, State

if TYPE_CHECKING:
    from sim.door import Door
    from sim.world import World

__all__ = ["Paging", "shows", "wanted_page"]


def wanted_page(segment: Segment, key: str) -> int | None:
    """Return the number of the page that the model asks for to read *key*, None if none has it.

    With a cursor it is the next page, as long as the fact stands on one that has not come; with a
    pointer to the file that holds the whole result, the very page. A page that was kept out at the
    door can be asked for again. What a newer version of a file no longer states is on none.
    """
    if segment.form not in ("page", *SAVED) or key not in segment.lost:
        return None
    stands = (page_holding(segment, fact) for fact in segment.facts if fact.key == key)
    number = next(stands, None)
    came = {page.number for page in segment.pages if page.state is not State.NEVER_ADMITTED}
    if number is None or number in came:
        return None
    return 2 + len(came) if segment.form == "page" else number


def shows(segment: Segment, number: int) -> bool:
    """Whether what is resident says how page *number* of *segment* can be had.

    Its pointer stands in the result alone, a cursor in the page before as well.
    """
    if segment.resident or segment.form != "page":
        return segment.resident
    return any(page.number == number - 1 and page.resident for page in segment.pages)


class Paging:
    """Makes a page of a result and passes it to the door."""

    def __init__(self, world: World, door: Door) -> None:
        self._world = world
        self._door = door

    def bring(self, segment: Segment, number: int, query: str) -> Segment:
        """Ask for page *number* of *segment* on behalf of *query*, and return it.

        It is resident if the policy let it in. Its tokens are in the books as never admitted
        already, with those of the whole result.
        """
        world = self._world
        how = "cursor" if segment.form == "page" else "pointer"
        page = next((p for p in segment.pages if p.number == number), None)
        new = page is None
        page = page or self._made(segment, number)
        world.record("page", segment.id, page.id, number, pages(segment), how, query)
        if new:
            self._door.enter(page)
        self._door.decide(page, how)
        return page

    def _made(self, segment: Segment, number: int) -> Segment:
        """Return page *number* of *segment*, as it comes to the door."""
        world = self._world
        tokens = page_tokens(segment, number)
        page = Segment(
            id=world.free_id(f"{segment.id}.p{number}"),
            kind=segment.kind,
            tokens=tokens,
            raw_tokens=tokens,
            turn=world.view.turn,
            seq=len(world.log),
            score=segment.score,
            scored_at=segment.scored_at,
            copy=segment.copy,
            taggable=segment.taggable,
            tool=segment.tool,
            attempt=segment.attempt,
            names=segment.names,
            facts=tuple(f for f in segment.facts if page_holding(segment, f) == number),
            page_of=segment,
            number=number,
            superseded=segment.superseded,
            overtaken=segment.overtaken,
            booked=True,
        )
        segment.pages.append(page)
        return page
