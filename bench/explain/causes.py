"""The cause of a wrong answer: which decision made it inevitable, and for which reason."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bench.explain.rebuilt import by_world, named
from bench.explain.standing import ABSENT, LOST

if TYPE_CHECKING:
    from bench.explain.findings import Finding, Told
    from bench.explain.rebuilt import Item

__all__ = ["Cause", "breaches", "cause_of", "growth"]

_GREW = ("admit", "fetch", "refresh", "reveal", "rewrite", "restore")

_BETWEEN = ("breach", "maintain", "evict", "pass", "summary", "wasted")
"""Records that can stand between the breaches of a removal and the removal."""

_AFTER = {
    "the admission of": "after an admission",
    "the fetch of": "after a fetch",
    "the rewrite of": "after a rewrite that grew",
    "the refresh of": "after a refresh that grew",
    "the reveal of": "after hidden text was shown again",
    "the restoration of": "after a restoration",
}


@dataclass(frozen=True, slots=True)
class Cause:
    """What made an answer wrong.

    *decision* names the kind of event, *reason* the reason its record gives (a policy's, a door's),
    *index* the record, None where nothing was ever decided. *segments* are those that it concerns,
    *kind* is the kind of the first that came from outside; *copy* whether all of them had an
    external copy; *broke* the rules that the event broke, declared or not.
    """

    decision: str
    reason: str
    index: int | None
    segments: tuple[str, ...] = ()
    kind: str = ""
    copy: bool = False
    pinned: bool = False
    broke: tuple[str, ...] = ()
    tagged: bool = False
    """Of a rewrite: whether its surrogate is tagged."""


def cause_of(told: Told, finding: Finding) -> Cause:
    """Return the cause of a wrong answer: see ``bench.explain.standing`` for its decision."""
    if finding.level == ABSENT:
        return Cause("never came", "", None)
    if "distraction" in finding.cause:
        return _about(finding, "distracted", "bulk files", finding.index, ())
    if finding.level != LOST or finding.lost is None:
        row = "a further page" if finding.cause.startswith("paged") else "a tagged surrogate"
        concerned = () if finding.segment is None else (finding.segment,)
        return _about(finding, "left to the reader", row, finding.index, concerned)
    return _lost(told, finding, finding.lost)


def _lost(told: Told, finding: Finding, index: int) -> Cause:
    record = told.records[index]
    values = named(record)
    removal = record[0] in ("rewrite", "evict")
    broke = breaches(told, index) if removal else ()
    match record[0]:
        case "rewrite":
            made = _about(
                finding, _rewritten(finding, values), values["reason"], index, values["sources"],
                broke,
            )  # fmt: skip
            return replace(made, tagged=values["tagged"])
        case "restore":
            return _about(finding, "made up", "restored", index, (values["surrogate"],), broke)
        case "evict":
            return _about(finding, "evicted", values["reason"], index, (values["segment"],), broke)
        case "truncate":
            after = next((w for t, w in _AFTER.items() if values["cause"].startswith(t)), "")
            segments = (values["segment"],)
            return _about(finding, "cut by the backstop", after, index, segments, broke)
        case "write":
            decision = "left stale" if finding.outcome == "stale" else "no longer stated"
            world = by_world(record, told.follower(index), finding.items)
            reason = "changed by the world" if world else "written"
            return _about(finding, decision, reason, index, values["stale"] or finding.carriers)
        case "refuse":
            segments = (values["segment"],)
            return _about(finding, "kept out at the door", values["reason"], index, segments)
        case "admit":
            segments = (values["segment"],)
            return _about(finding, "cut at the door", values["how"], index, segments)
        case what:
            return _about(finding, "no longer stated", str(what), index, (values["segment"],))


def _rewritten(finding: Finding, values: dict[str, Any]) -> str:
    """Return what a rewrite did to what was asked for; a summariser can do it in three ways."""
    made = finding.items[values["surrogate"]]
    if made.input is None or not finding.key:
        return "rewritten, tagged" if values["tagged"] else "rewritten, untagged"
    if finding.key in made.made_up - made.repeated:
        return "made up by the summariser"
    if finding.key in made.unseen:
        return "not given to the summariser"
    return "not kept by the summariser"


def _about(
    finding: Finding,
    decision: str,
    reason: str,
    index: int,
    segments: tuple[str, ...],
    broke: tuple[str, ...] = (),
) -> Cause:
    items = [finding.items[name] for name in segments if name in finding.items]
    concerned = _concerned(finding, items) or items
    originals = [source for item in concerned for source in item.originals()]
    return Cause(
        decision,
        reason,
        index,
        tuple(item.id for item in concerned),
        originals[0].kind if originals else "",
        bool(originals) and all(item.copy for item in originals),
        any(item.pinned for item in originals),
        broke,
    )


def _concerned(finding: Finding, items: list[Item]) -> list[Item]:
    """Return those of *items* that hold what was asked for."""
    wanted = set(finding.carriers)
    return [item for item in items if any(o.id in wanted for o in item.originals())]


def breaches(told: Told, index: int) -> tuple[str, ...]:
    """Return the rules that the removal at *index* broke, from the records just before it."""
    values = named(told.records[index])
    concerned = values.get("sources") or (values["segment"],)
    found: list[str] = []
    at = index - 1
    while at >= 0 and told.records[at][0] in _BETWEEN:
        record = told.records[at]
        if record[0] == "breach" and record[4] in concerned and record[3] not in found:
            found.insert(0, record[3])
        at -= 1
    return tuple(found)


def growth(told: Told, index: int) -> tuple[str, str, int] | None:
    """Return what last grew the window before *index*: record type, segment, and its tokens."""
    for at in range(index - 1, -1, -1):
        record = told.records[at]
        if record[0] not in _GREW:
            continue
        values = named(record)
        if record[0] in ("admit", "fetch"):
            return record[0], values["segment"], values["tokens"]
        if values["after"] > values["before"]:
            name = values.get("segment") or values["surrogate"]
            return record[0], str(name), values["after"] - values["before"]
    return None
