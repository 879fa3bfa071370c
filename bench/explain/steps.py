"""The steps of a segment's life, one for each record that concerns it, with a sentence each."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bench.explain.causes import breaches
from bench.explain.rebuilt import named

if TYPE_CHECKING:
    from bench.explain.findings import Told
    from bench.explain.rebuilt import Item, Rebuilt

__all__ = ["Step", "few", "salience", "steps"]

Values = dict[str, Any]


@dataclass(slots=True)
class Step:
    """What the record at *index* did to *segment*: its *event* in a word, and *says*, a sentence.

    *tokens* are those before and after, None where there were none; *salience* is s before and
    after, equal where the event did not change it.
    """

    index: int
    turn: int
    event: str
    segment: str
    says: str
    tokens: tuple[int | None, int | None] = (None, None)
    salience: tuple[float | None, float | None] = (None, None)
    inevitable: bool = False
    more: dict[str, Any] = field(default_factory=dict)
    """The record's own values that are not told otherwise."""

    def as_dict(self) -> dict[str, Any]:
        """Return everything by name."""
        return {
            "record": self.index,
            "turn": self.turn,
            "event": self.event,
            "segment": self.segment,
            "tokens_before": self.tokens[0],
            "tokens_after": self.tokens[1],
            "salience_before": self.salience[0],
            "salience_after": self.salience[1],
            "inevitable": self.inevitable,
            "says": self.says,
            **self.more,
        }


def salience(value: float | None) -> str:
    """Return s for a person: two decimals, or two digits where that were nothing."""
    if value is None:
        return "–"
    if value == 0.0:
        return "0"
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"


def few(names: Collection[str], most: int = 3) -> str:
    """Return *names* as words; of many the first and how many more."""
    shown = ", ".join(list(names)[:most])
    more = len(names) - most
    return f"{shown} and {more} more" if more > 0 else shown


def steps(
    told: Told,
    roots: Iterable[str] | None,
    until: int | None = None,
    turn: int | None = None,
) -> list[Step]:
    """Return the steps of the segments *roots*, of what was made of them, and of their pages.

    Without *roots* those of every segment; *turn* keeps those of one turn; *until* is the index of
    a record with which they end. In the order of the records.
    """
    world = told.rebuilt()
    walker = _Walker(told, world, None if roots is None else set(roots))
    found: list[Step] = []
    last = len(told.records) if until is None else until
    for index, record in enumerate(told.records[:last]):
        if turn is None or record[2] == turn or record[0] == "arrive":
            found += walker.look(index)
        elif turn is not None and record[2] > turn:
            break
        world.apply(record, told.follower(index))
        walker.grow(index)
    return found


class _Walker:
    """Makes the steps, with the world as it was just before each record."""

    def __init__(self, told: Told, world: Rebuilt, followed: set[str] | None) -> None:
        self._told = told
        self._world = world
        self._followed = followed
        self._arrived: dict[str, tuple[Values, int]] = {}

    def follows(self, name: str | None) -> bool:
        return name is not None and (self._followed is None or name in self._followed)

    def grow(self, index: int) -> None:
        """Follow what the record at *index* made of what is followed."""
        record = self._told.records[index]
        followed = self._followed
        if followed is None:
            return
        if record[0] == "rewrite" and not followed.isdisjoint(record[4]):
            followed.add(record[3])
        elif record[0] in ("restore", "page") and record[3] in followed:
            followed.add(record[4])

    def look(self, index: int) -> Iterator[Step]:
        """Yield the steps of the record at *index*."""
        record = self._told.records[index]
        make: Callable[..., Iterator[Step]] | None = _STEPS.get(record[0])
        if make is not None:
            yield from make(self, index, record[2], named(record))

    def item(self, name: str) -> Item:
        return self._world.items[name]

    def s(self, name: str) -> float | None:
        item = self._world.items.get(name)
        return None if item is None else self._world.salience(item)

    def step(
        self, index: int, event: str, name: str, says: str, before: int | None = None,
        after: int | None = None, **more: Any,
    ) -> Step:  # fmt: skip
        s = self.s(name)
        turn = self._told.records[index][2]
        return Step(index, turn, event, name, says, (before, after), (s, s), more=more)

    # -- one method a record --------------------------------------------------------------------

    def arrive(self, index: int, turn: int, v: Values) -> Iterator[Step]:
        self._arrived[v["segment"]] = v, turn
        return iter(())

    def admit(self, index: int, turn: int, v: Values) -> Iterator[Step]:
        name = v["segment"]
        if not self.follows(name):
            return
        says = f"enters {v['how']}"
        if v["never"]:
            says += f", {v['never']:,} tokens of it never"
        says += f": {self._describe(name)}{self._weighed(v)}"
        step = self.step(
            index, "admitted", name, says, None, v["tokens"], **self._facts_of(name), how=v["how"],
            never=v["never"], displaced=list(v["displaced"]), score=v["score"], floor=v["floor"],
        )  # fmt: skip
        yield step

    def refuse(self, index: int, turn: int, v: Values) -> Iterator[Step]:
        name = v["segment"]
        if not self.follows(name):
            return
        says = f"kept out at the door ({v['reason']}): {self._describe(name)}{self._weighed(v)}"
        yield self.step(
            index, "kept out", name, says, self.item(name).raw_tokens, 0, **self._facts_of(name),
            reason=v["reason"], displaced=list(v["displaced"]), score=v["score"], floor=v["floor"],
        )  # fmt: skip

    def page(self, index: int, turn: int, v: Values) -> Iterator[Step]:
        if self.follows(v["segment"]):
            says = f"page {v['number']} of {v['pages']} is asked for by its {v['how']}"
            yield self.step(index, "page asked for", v["segment"], says, page=v["page"])

    def write(self, index: int, turn: int, v: Values) -> Iterator[Step]:
        names = [n for n, item in self._world.items.items() if item.path == v["path"]]
        for name in names if self._followed is not None else v["stale"]:
            if not self.follows(name):
                continue
            stale = name in v["stale"]
            says = f"{self._told.stated.short(v['path'])} is written, version {v['version']}"
            says += ": this copy is stale" if stale else ""
            yield self.step(
                index, "stale" if stale else "written", name, says, path=v["path"],
                version=v["version"],
            )  # fmt: skip

    def refresh(self, index: int, turn: int, v: Values) -> Iterator[Step]:
        name = v["segment"]
        if self.follows(name) and self.item(name).resident:
            whom = "the world" if v["by"] == "world" else "the policy"
            says = f"refreshed in place by {whom}, version {v['version']}"
            yield self.step(
                index, "refreshed", name, says, v["before"], v["after"], version=v["version"],
                by=v["by"],
            )  # fmt: skip

    def score(self, index: int, turn: int, v: Values) -> Iterator[Step]:
        name = v["segment"]
        if not self.follows(name) or name not in self._world.items:
            return
        if v["after"] > v["before"]:
            says = "a query re-scores it"
            says += ", over the threshold while it is not there" if v["crossed"] else ""
        else:
            says = "a query asks for it and raises nothing"
        step = self.step(index, "re-scored", name, says, crossed=v["crossed"])
        step.salience = v["before"], v["after"]
        yield step

    def evict(self, index: int, turn: int, v: Values) -> Iterator[Step]:
        name = v["segment"]
        if not self.follows(name):
            return
        copy = "a copy stays outside" if v["book"] == "copy" else "there is no copy"
        says = f"evicted ({v['reason']}, by {_by(v['by'])}), {copy}"
        displacer = self._displacer(index, name)
        says += f"; it makes room for {displacer}" if displacer else ""
        yield self.step(
            index, "evicted", name, says + self._room() + self._broke(index), v["tokens"], 0,
            book=v["book"], reason=v["reason"], by=v["by"], displaced_by=displacer,
            **self._room_values(), broke=list(breaches(self._told, index)),
        )  # fmt: skip

    def rewrite(self, index: int, turn: int, v: Values) -> Iterator[Step]:
        mine = [name for name in v["sources"] if self.follows(name)]
        if not mine:
            return
        name = mine[0]
        others = len(v["sources"]) - 1
        tagged = "tagged" if v["tagged"] else "untagged"
        says = f"rewritten as {v['surrogate']}, {tagged} ({v['reason']}, by {_by(v['by'])})"
        says += f", with {others} more" if others else ""
        known = {key for n in v["sources"] for o in self.item(n).originals() for key in o.keys}
        says += _kept(known, set(v["kept"])) if len(v["sources"]) == 1 else ""
        summary = self._summary(index, v["surrogate"])
        says += _summed_up(summary) + self._room() + self._broke(index)
        yield self.step(
            index, "rewritten", name, says, v["before"],
            v["after"], surrogate=v["surrogate"], sources=list(v["sources"]), tagged=v["tagged"],
            kept=list(v["kept"]), reason=v["reason"], by=v["by"], summary=summary,
            **self._room_values(), broke=list(breaches(self._told, index)),
        )  # fmt: skip

    def reveal(self, index: int, turn: int, v: Values) -> Iterator[Step]:
        name = v["segment"]
        if self.follows(name):
            says = f"shown again where {v['stub']} hid it"
            yield self.step(
                index, "shown again", name, says, v["before"], v["after"], stub=v["stub"]
            )

    def wasted(self, index: int, turn: int, v: Values) -> Iterator[Step]:
        mine = [name for name in v["sources"] if self.follows(name)]
        if not mine:
            return
        others = len(v["sources"]) - 1
        says = "a summary of it" + (f" and {others} more" if others else "")
        if v["why"] == "overflow":
            says += " is asked for and not made: it is more than the summariser takes"
        else:
            says += f" is asked for and fails; {v['input']:,} tokens are paid for"
        yield self.step(
            index, "not summarised", mine[0], says, why=v["why"], sources=list(v["sources"]),
            input=v["input"], usd=v["usd"],
        )  # fmt: skip

    def _summary(self, index: int, surrogate: str) -> dict[str, Any] | None:
        """Return what is particular about the rewrite at *index* that left *surrogate*."""
        before = self._told.records[index - 1]
        if before[0] != "summary" or before[3] != surrogate:
            return None
        values = named(before)
        del values["surrogate"]
        return {name: list(v) if isinstance(v, tuple) else v for name, v in values.items()}

    def restore(self, index: int, turn: int, v: Values) -> Iterator[Step]:
        if self.follows(v["surrogate"]):
            says = f"replaced by invented text, {v['segment']}, for {v['key']}"
            yield self.step(
                index, "made up", v["surrogate"], says, v["before"], v["after"],
                invented=v["segment"], key=v["key"],
            )  # fmt: skip

    def truncate(self, index: int, turn: int, v: Values) -> Iterator[Step]:
        name = v["segment"]
        if not self.follows(name):
            return
        pin = ", though it is pinned" if v["pinned"] else ""
        says = f"cut by the backstop{pin}; what last grew the window was {v['cause']}"
        yield self.step(index, "cut", name, says, v["tokens"], 0, grew=v["cause"])

    def rehydrate(self, index: int, turn: int, v: Values) -> Iterator[Step]:
        name = v["segment"]
        if not self.follows(name):
            return
        reason = f" ({v['reason']})" if v["reason"] else ""
        says = f"its return, asked for by the {v['by']}, is {_HOW[v['how']]}{reason}"
        yield self.step(
            index, "return decided", name, says + self._weighed(v), 0, v["tokens"], how=v["how"],
            by=v["by"], reason=v["reason"], displaced=list(v["displaced"]), score=v["score"],
            floor=v["floor"],
        )  # fmt: skip

    def fetch(self, index: int, turn: int, v: Values) -> Iterator[Step]:
        name = v["segment"]
        if self.follows(name):
            version = f", version {v['version']}" if v["version"] else ""
            says = f"comes back from its copy{version}, for the {v['by']}"
            yield self.step(
                index, "fetched", name, says, 0, v["tokens"], version=v["version"], by=v["by"]
            )

    def operator(self, index: int, turn: int, v: Values) -> Iterator[Step]:
        if self.follows(v["segment"]) and v["segment"] in self._world.items:
            says = f"explicit request {v['operator']}: {v['how']}"
            yield self.step(index, "requested", v["segment"], says, operator=v["operator"])

    def bug(self, index: int, turn: int, v: Values) -> Iterator[Step]:
        cut = v["rule"] == "unexplained truncation"
        if not cut and self.follows(v["segment"]) and v["segment"] in self._world.items:
            says = f"policy bug, {v['rule']}: {v['says']}"
            yield self.step(index, "refused action", v["segment"], says, rule=v["rule"])

    # -- words ------------------------------------------------------------------------------------

    def _describe(self, name: str) -> str:
        v = self._arrived[name][0]
        words = [v["kind"]]
        tool = self._told.stated.tool(name)
        if v["path"]:
            words[0] += f" {self._told.stated.short(v['path'])}"
        elif tool:
            words[0] += f" of {tool}"
        if v["pinned"]:
            words.append("pinned")
        words.append("has a copy" if v["copy"] else "no copy")
        facts = self._values(name)
        if facts:
            words.append("states " + few([_stated(key, value) for key, value in facts.items()]))
        return ", ".join(words)

    def _values(self, name: str) -> dict[str, str]:
        keys = self._arrived[name][0]["facts"]
        values = {fact.key: fact.value for fact in self._told.stated.facts(name)}
        return {key: values.get(key, "") for key in keys}

    def _facts_of(self, name: str) -> dict[str, Any]:
        v = self._arrived[name][0]
        return {
            "kind": v["kind"],
            "raw_tokens": v["raw_tokens"],
            "arrival_score": v["score"],
            "copy": v["copy"],
            "pinned": v["pinned"],
            "path": v["path"],
            "tool": self._told.stated.tool(name),
            "facts": self._values(name),
        }

    def _weighed(self, v: Values) -> str:
        words = ""
        if v["floor"] is not None and v["score"] is not None:
            words = f"; its {salience(v['score'])} against {salience(v['floor'])}"
        elif v["score"] is not None:
            words = f"; its score {salience(v['score'])}"
        if v["displaced"]:
            refused = v.get("how") == "blocked" or "how" not in v
            words += f"; {'would displace' if refused else 'displaces'} {few(v['displaced'])}"
        return words

    def _displacer(self, index: int, name: str) -> str | None:
        """Return what the eviction at *index* made room for, where door or gate decided it."""
        records = self._told.records
        for at in range(index + 1, len(records)):
            record = records[at]
            if record[0] in ("admit", "rehydrate"):
                values = named(record)
                return str(values["segment"]) if name in values["displaced"] else None
            if record[0] not in _AT_DOOR:
                return None
        return None

    def _room(self) -> str:
        room = self._room_values()
        if room["grew"] is None or room["over"] is None:
            return ""
        return f"; the window was {room['over']:,} over after {room['grew']}"

    def _room_values(self) -> dict[str, Any]:
        world = self._world
        over = world.tokens - world.budget
        if world.grew is None:
            return {"over": over if over > 0 else None, "grew": None}
        what, name, tokens = world.grew
        grew = f"{_GREW[what]} {name} ({tokens:,})"
        return {"over": over if over > 0 else None, "grew": grew}

    def _broke(self, index: int) -> str:
        broke = breaches(self._told, index)
        return f"; breaks {few(broke)}" if broke else ""


_AT_DOOR = ("evict", "rewrite", "reveal", "maintain", "pass", "summary", "wasted", "breach")
"""What can happen between a removal that makes room and what comes into it."""

_GREW = {
    "admit": "the admission of",
    "fetch": "the fetch of",
    "refresh": "the refresh of",
    "rewrite": "the rewrite into",
    "restore": "the restoration into",
    "reveal": "the reveal of",
}

_HOW = {
    "granted": "granted",
    "slack": "granted on slack",
    "swap": "granted as a swap",
    "blocked": "blocked",
}

_STEPS: dict[str, Callable[..., Iterator[Step]]] = {
    name: getattr(_Walker, name)
    for name in (
        "arrive", "admit", "refuse", "page", "write", "refresh", "score", "evict", "rewrite",
        "restore", "reveal", "wasted", "truncate", "rehydrate", "fetch", "operator", "bug",
    )
}  # fmt: skip


def _stated(key: str, value: str) -> str:
    """Say what a fact states; a recording's is its own value."""
    return f"{key} = {value}" if value and value != key else key


def _summed_up(summary: Mapping[str, Any] | None) -> str:
    """Say what a summariser was given and what it invented, and whether the sources are kept."""
    if summary is None:
        return ""
    words = ""
    if summary["input"] == 0:
        words += "; nobody was asked, since nothing of it could be given"
    elif summary["input"]:
        words += f"; the summariser was sent {summary['input']:,} tokens"
        if summary["unseen"]:
            words += f", without {few(summary['unseen'])}"
    if summary["made_up"]:
        words += f"; it states what nobody said of {few(summary['made_up'])}"
    return words + ("; the sources are kept outside" if summary["saved"] else "")


def _by(by: str) -> str:
    return by if by.startswith("on_") else f"the {by}"


def _kept(known: set[str], kept: set[str]) -> str:
    if not known:
        return ""
    lost = sorted(known - kept)
    if not lost:
        return f": keeps {few(sorted(known & kept))}"
    return f": {few(lost)} is lost" if len(lost) == 1 else f": {few(lost)} are lost"
