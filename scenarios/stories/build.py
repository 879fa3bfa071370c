"""From the tables of a scenario file to its stimuli, and from those to the script of a seed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

from scenarios import reference
from scenarios.consistency import Placed, PlacedAttempt, check_consistency
from scenarios.documents import Faults
from scenarios.items import Item, read_item, to_stimulus
from scenarios.lines import Path
from scenarios.pings import with_pings
from scenarios.scenario import capabilities
from scenarios.stories.document import OWN_KEYS, AttemptItem, Document
from scenarios.tools import Tool, declared
from sim import streams
from sim.script import Arrival, Attempt, KeepAlive, Script, Stimulus, Wait
from sim.segments import Kind

__all__ = ["Story", "build", "settle_layers", "story_script"]

_ANY_SIZE = 10**18
"""Stands for `turns` and `budget` where the file lacks them, so that the rest is still checked."""


_UNNAMED = ("write", "refresh", "wait", "keep-alive", "change", "compaction")
"""What has an id only for patches to call it by."""


@dataclass(frozen=True)
class Story:
    """The stimuli of a scenario file, in order, before anything is drawn."""

    name: str
    stimuli: tuple[Stimulus, ...]
    attempts: tuple[Attempt, ...]
    own_copy: frozenset[str]
    """Ids of segments that say themselves whether a copy exists; for the rest it is drawn."""
    own_taggable: frozenset[str]


def story_script(story: Story, settings: Mapping[str, Any], seed: int) -> Script:
    """Return the script of *story* for *seed*: copies and taggability drawn, pings put in."""

    def drawn(stimulus: Stimulus) -> Stimulus:
        if not isinstance(stimulus, Arrival):
            return stimulus
        name = stimulus.id
        if name not in story.own_copy:
            share = settings[f"copies.{stimulus.kind}"]
            stimulus = replace(stimulus, copy=streams.uniform(seed, "copy", name) < share)
        if name not in story.own_taggable:
            drawn_for = stimulus.pair or name
            taggable = streams.uniform(seed, "taggable", drawn_for) < settings["surrogate.taggable"]
            stimulus = replace(stimulus, taggable=taggable)
        return stimulus

    stimuli = with_pings(map(drawn, story.stimuli), settings)
    attempts = tuple(
        replace(a, ok=tuple(map(drawn, a.ok)), failed=tuple(map(drawn, a.failed)))
        for a in story.attempts
    )
    offered = capabilities(stimuli, attempts)
    return Script(story.name, seed, settings, stimuli, attempts, offered)


def settle_layers(document: Document, layer: str, faults: Faults) -> dict[str, Any]:
    """Return the settings of *document*: defaults of *layer*, then its own, each checked.

    *layer* is the name of a family, or ``story``. A value that is no good is noted in *faults*
    and left out.
    """
    keys = reference.keys(layer)
    typed = []
    for given in document.layers:
        good, wrong = reference.sift(given.values, keys)
        for name, message in wrong.items():
            faults.add(f"settings: {message}", given.paths.get(name))
        typed.append(good)
    settings = reference.settle(reference.defaults(layer), *typed)
    for conflict in reference.conflicts(settings):
        faults.add(f"settings: {conflict}", ("settings",))
    said = settings.keys() | {name for given in document.layers for name in given.values}
    missing = [name for name, key in keys.items() if key.required and name not in said]
    if missing:
        faults.add(f"settings lack {' and '.join(missing)}", ("settings",))
    return settings


def build(document: Document, name: str, settings: Mapping[str, Any], faults: Faults) -> Story:
    """Return the story that *document* tells; what is wrong with it goes to *faults*."""
    tools = declared(document.tools, faults)
    builder = _Builder({"turns": _ANY_SIZE, "budget": _ANY_SIZE, **settings}, tools, faults)
    for item in document.items:
        builder.stimuli.extend(builder.placed(item))
    for attempt in document.attempts:
        builder.attempt(attempt)
    builder.stimuli.sort(key=lambda placed: placed.stimulus.turn)
    builder.check({key: path for given in document.layers for key, path in given.paths.items()})
    guarded = (p for a in builder.attempts for p in (*a.ok, *a.failed))
    arrivals = [p for p in (*builder.stimuli, *guarded) if isinstance(p.stimulus, Arrival)]
    return Story(
        name,
        tuple(p.stimulus for p in builder.stimuli),
        tuple(a.attempt for a in builder.attempts),
        _given("copy", arrivals),
        _given("taggable", arrivals),
    )


def _given(key: str, arrivals: Iterable[Placed]) -> frozenset[str]:
    """Return the ids of the segments whose table has *key*."""
    return frozenset(
        p.stimulus.id for p in arrivals if isinstance(p.stimulus, Arrival) and key in p.item.values
    )


def _is(placed: Placed, sort: type[Stimulus]) -> bool:
    return isinstance(placed.stimulus, sort)


class _Builder:
    """Gathers stimuli and attempts from tables, and the tables that are no good."""

    def __init__(
        self, settings: Mapping[str, Any], tools: Mapping[str, Tool], faults: Faults
    ) -> None:
        self.stimuli: list[Placed] = []
        self.attempts: list[PlacedAttempt] = []
        self._broken: list[Item] = []
        self._settings = settings
        self._tools = tools
        self._faults = faults

    def check(self, settings_paths: Mapping[str, Path]) -> None:
        """Note where the stimuli contradict each other."""
        check_consistency(
            self.stimuli,
            self.attempts,
            self._settings,
            self._faults,
            settings_paths,
            self._broken,
        )
        self._check_pings()

    def _check_pings(self) -> None:
        """Note each ping that is never sent, for none of its turns begins with a wait."""
        if any(item.section == "wait" for item in self._broken):
            return
        waits = {placed.stimulus.turn for placed in self.stimuli if _is(placed, Wait)}
        pings: dict[Path, list[Placed]] = {}
        for placed in self.stimuli:
            if _is(placed, KeepAlive):
                pings.setdefault(placed.item.path, []).append(placed)
        for sent in pings.values():
            item = sent[0].item
            if waits.isdisjoint(placed.stimulus.turn for placed in sent):
                key = "turns" if "turns" in item.values else "turn"
                message = f"{item.title} is never sent: no turn of it begins with a wait"
                self._faults.add(message, item.at(key))

    def placed(self, item: Item, attempt: Attempt | None = None) -> list[Placed]:
        """Return the stimulus that a table describes, for each turn in which it comes."""
        values = read_item(item, reference.section(item.section), self._faults)
        span = None if values is None else self._span(item, values, attempt)
        if values is None or span is None or not self._completed(item, values):
            self._broken.append(item)
            return []
        if attempt is not None and item.section in ("segment", "write"):
            values["attempt"] = attempt.number
        if item.section in _UNNAMED:
            values.pop("id", None)
        return [
            Placed(to_stimulus(item.section, self._in(turn, item.section, values)), item)
            for turn in span
        ]

    def attempt(self, given: AttemptItem) -> None:
        """Take in an attempt and the stimuli in its table."""
        section = reference.section("attempt")
        values = read_item(given.item, {key: section[key] for key in OWN_KEYS}, self._faults)
        if values is None:
            self._broken.extend([given.item, *(item for x in given.lists() for item in x)])
            return
        needs = values.get("needs", {})
        bare = Attempt(
            values["number"], values["turn"], needs.get("facts", ()), needs.get("paths", ())
        )
        both = [p for item in given.both for p in self.placed(item, bare)]
        branches = {
            name: [p for item in items for p in self.placed(item, bare)]
            for name, items in given.branches.items()
        }
        if bare.guarded:
            ok, failed = ((*both, *branches[name]) for name in ("ok", "failed"))
            stimulus = attrgetter("stimulus")
            full = replace(bare, ok=tuple(map(stimulus, ok)), failed=tuple(map(stimulus, failed)))
            self.attempts.append(PlacedAttempt(full, given.item, ok, failed))
            return
        for name, items in given.branches.items():
            if items:
                message = f"attempt {bare.number} needs nothing, so it has no branch {name}"
                self._faults.add(message, items[0].at())
        self.stimuli.extend(both)
        self.attempts.append(PlacedAttempt(bare, given.item))

    def _span(self, item: Item, values: dict[str, Any], attempt: Attempt | None) -> range | None:
        """Take the turns out of *values* and return them; None if it is not clear which."""
        single, span = values.pop("turn", None), values.pop("turns", None)
        if attempt is not None:
            for key in ("turn", "turns", "attempt"):
                if key in item.values:
                    message = f"{item.title} is its attempt's; leave out {key}"
                    self._faults.add(message, item.at(key))
            return range(attempt.turn, attempt.turn + 1)
        if (single is None) == (span is None):
            self._faults.add(f"{item.title} must have either turn or turns", item.at())
            return None
        first, last = (single, single) if span is None else span
        last = max(first, min(last, self._settings["turns"] + 1))  # one beyond is fault enough
        return range(first, last + 1)

    def _completed(self, item: Item, values: dict[str, Any]) -> bool:
        """Fill in a segment's size and score; return whether the size is as its kind wants it."""
        if item.section != "segment":
            return True
        if values["kind"] == "image" and "tokens" in values:
            message = f"{item.title}: an image counts image_tokens; leave out tokens"
            self._faults.add(message, item.at("tokens"))
            return False
        if values["kind"] == "image":
            values["tokens"] = self._settings["image_tokens"]
        if "tokens" not in values:
            self._faults.add(f"{item.title} lacks tokens", item.at())
            return False
        values.setdefault("score", self._settings[f"relevance.{values['kind']}"])
        return True

    def _in(self, turn: int, section: str, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return *values* as they are in *turn*, with what a segment's tool declares of results."""
        here = {key: _in_turn(value, turn) for key, value in values.items()}
        here["turn"] = turn
        tool = self._tools.get(here.get("tool", "")) if section == "segment" else None
        if tool is None or here["kind"] == Kind.TOOL_CALL:
            return here
        if tool.max_result_tokens is not None:
            here.setdefault("max_result_tokens", tool.max_result_tokens)
        if tool.pages:
            here.setdefault("pages", True)
        return here


def _in_turn(value: Any, turn: int) -> Any:
    """Return *value* with the number of the turn in place of each ``{turn}``."""
    match value:
        case str():
            return value.replace("{turn}", str(turn))
        case dict():
            return {key: _in_turn(part, turn) for key, part in value.items()}
        case list() | tuple():
            return type(value)(_in_turn(part, turn) for part in value)
        case _:
            return value
