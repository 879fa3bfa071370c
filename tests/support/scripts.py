"""Random scripts for Hypothesis: small, valid, deterministic, and shrinking to little.

A script is drawn as plain *drafts* (small tuples that refer to earlier segments by number, taken
modulo how many there are), then built without a further draw. So any part of a draft can be
dropped or made smaller without the rest losing its meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hypothesis import strategies as st

from sim.script import (
    Act,
    Arrival,
    Attempt,
    Operator,
    Query,
    Script,
    Stimulus,
    Structure,
    Wait,
    WorldRefresh,
    Write,
)
from sim.segments import Fact, Kind
from sim.settings import KEYS

__all__ = [
    "BASE_SETTINGS",
    "CAPABILITIES",
    "HARNESS",
    "LOOSE_KINDS",
    "PATHS",
    "TOOLS",
    "build",
    "fixed",
    "roomy",
    "scripts",
]

BASE_SETTINGS: dict[str, Any] = {
    "turns": 1,
    "budget": 1_000,
    "salience.decay": 0.85,
    "rehydrate.threshold": 0.6,
    "rehydrate.margin": 0.1,
    "rehydrate.comparison": "min",
    "slack.trigger": 1.0,
    "slack.occupancy": "tokens",
    "rewrite.below": 0.25,
    "surrogate.tokens": 12,
    "surrogate.tag_tokens": 8,
    "surrogate.keep": 0.0,
    "surrogate.taggable": 1.0,
    "line_tokens": 12,
    "restore_tokens": 40,
    "image_tokens": 60,
    "cache.long": 0,
    "history": "editable",
    "overflow": "truncate",
    "output.reserve": 0,
    "count.by": "exact",
    "line.characters": 40.0,
    "summariser.retention": "keep",
    "summariser.fabricate": 0.0,
    "summariser.fail": 0.0,
    "compaction.at": 1.0,
    "compaction.share": 0.05,
    "reader.invent_untagged": 1.0,
    "reader.fetch_tagged": 1.0,
    "reader.abstain_tagged": 0.0,
    "reader.invent_tagged": 0.0,
    "reader.distraction": 0.0,
    "reader.refetch": "tag",
    "clock.turn_seconds": 20.0,
    "clock.extra_call_seconds": 5.0,
    "call.output_tokens": 20,
    "cache.breakpoints": (),
    **{f"copies.{kind}": 1.0 if kind is Kind.FILE else 0.0 for kind in Kind},
    **{f"relevance.{kind}": 1.0 for kind in Kind},
    **{f"estimate.{kind}": 1.0 for kind in Kind},
    **{f"characters.{kind}": 4.0 for kind in Kind},
}
"""Every key of ``sim.settings``, in sizes that suit small scripts."""

assert set(KEYS.values()) <= set(BASE_SETTINGS)

CAPABILITIES = frozenset({"ranks", "roles", "facts", "future"})

PATHS = ("a.py", "b.py", "c.md")
TOOLS = ("lint", "tests")
_MESSAGES = (Kind.USER, Kind.ASSISTANT, Kind.THINKING, Kind.SUMMARY)
LOOSE_KINDS = (*_MESSAGES, Kind.FILE, Kind.NOTE, Kind.DIFF, Kind.IMAGE, Kind.TOOL_RESULT)

_few = st.integers(0, 7)
_scores = st.sampled_from([1.0, 0.9, 0.7, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0])
_tokens = st.one_of(st.integers(1, 60), st.integers(20, 150), st.integers(1, 400))

_segment = st.tuples(
    st.just("segment"),
    st.sampled_from(LOOSE_KINDS),
    _tokens,
    _scores,
    st.fixed_dictionaries(
        {"copy": st.booleans()},
        optional={
            "pinned": st.sampled_from([False, False, True]),
            "standing": st.just(True),
            "taggable": st.just(False),
            "path": st.sampled_from(PATHS),
            "rank": st.integers(1, 5),
            "fact": st.sampled_from([None, False]),
            "surrogate_tokens": st.integers(1, 500),
            "time": st.sampled_from([0.0, 1.0, 2.5]),
            "names": st.lists(st.sampled_from(PATHS), max_size=2, unique=True).map(tuple),
        },
    ),
)
_result = st.tuples(
    st.just("result"),
    st.sampled_from(TOOLS),
    _tokens,
    _scores,
    st.fixed_dictionaries(
        {"copy": st.booleans()},
        optional={
            "pinned": st.sampled_from([False, False, True]),
            "fact": st.sampled_from([None, False]),
            "time": st.sampled_from([0.0, 0.5, 3.0]),
            "max_result_tokens": st.integers(1, 200),
            "at": st.integers(0, 400),
            "pages": st.just(True),
            "reduced_tokens": st.integers(1, 200),
            "delta_tokens": st.integers(1, 60),
            "structure": st.tuples(
                st.integers(1, 9), st.integers(1, 9), st.integers(1, 40), st.integers(1, 20)
            ),
            "names": st.lists(st.sampled_from(PATHS), max_size=2, unique=True).map(tuple),
        },
    ),
)
_write = st.tuples(
    st.just("write"),
    st.sampled_from(PATHS),
    st.one_of(st.none(), _tokens),
    st.sampled_from([None, (), ("new",)]),
)
_world = st.tuples(st.just("world"), _few, _tokens)
_query = st.tuples(
    st.just("query"),
    st.integers(0, 20),
    st.sampled_from([0.9, 1.0, 0.7, 0.5, 0.3, 0.0]),
    st.lists(_few, max_size=2),
)
_act = st.tuples(st.just("act"), st.lists(_few, min_size=1, max_size=2))
_operator = st.tuples(st.just("operator"), _few)
_wait = st.tuples(st.just("wait"), st.sampled_from([1.0, 400.0]))

_draft = st.one_of(
    *(_segment, _result, _query, _segment, _result, _query, _segment, _query),
    *(_write, _act, _operator, _world, _wait),
)
_attempt = st.fixed_dictionaries(
    {"guarded": st.booleans()},
    optional={
        "facts": st.lists(_few, min_size=1, max_size=2),
        "paths": st.lists(st.sampled_from(PATHS), min_size=1, max_size=2, unique=True),
        "ok": st.lists(_draft, max_size=2),
        "failed": st.lists(_draft, max_size=3),
    },
)
_turn = st.tuples(st.lists(_draft, max_size=6), st.one_of(st.none(), st.none(), _attempt))

_settings = st.fixed_dictionaries(
    {"budget": st.one_of(st.integers(120, 400), st.integers(120, 400), st.integers(400, 2_000))},
    optional={
        "salience.decay": st.sampled_from([1.0, 0.85, 0.5, 0.1]),
        "rehydrate.threshold": st.sampled_from([0.0, 0.3, 0.6, 0.95]),
        "rehydrate.margin": st.sampled_from([0.0, 0.1, 1.0]),
        "rehydrate.comparison": st.sampled_from(["min", "max", "sum"]),
        "slack.trigger": st.sampled_from([0.5, 1.0, 2.0]),
        "slack.occupancy": st.sampled_from(["tokens", "mass"]),
        "rewrite.below": st.sampled_from([0.0, 0.25, 0.6, 1.0]),
        "surrogate.tokens": st.integers(1, 30),
        "surrogate.tag_tokens": st.integers(1, 10),
        "surrogate.keep": st.sampled_from([0.0, 0.5, 1.0]),
        "line_tokens": st.integers(1, 20),
        "restore_tokens": st.integers(1, 60),
        "compaction.at": st.sampled_from([0.5, 1.0]),
        "compaction.share": st.sampled_from([0.01, 0.05, 0.5]),
        "reader": st.sampled_from([(0.4, 0.75, 0.1, 0.15), (0.0, 0.0, 1.0, 0.0), (1, 0, 0, 1)]),
        "reader.distraction": st.sampled_from([0.1, 1.0]),
        "reader.refetch": st.just("always"),
        "clock.turn_seconds": st.just(0.0),
        "clock.extra_call_seconds": st.just(0.0),
    },
)

HARNESS: dict[str, tuple[Any, ...]] = {
    "output.reserve": (0, 50),
    "count.by": ("usage", "estimate"),
    "estimate.tool_result": (0.0, 0.5, 3.0),
    "estimate.system": (0.0,),
    "characters.file": (0.1, 3.3),
    "line.characters": (1.0, 80.0),
    "summariser.retention": ("ratio", "rounds"),
    "summariser.fabricate": (0.1, 1.0),
    "summariser.fail": (0.2, 1.0),
}
"""What a harness knows of sizes, and what its summariser does: values beside the defaults."""

_harness = st.fixed_dictionaries(
    {}, optional={key: st.sampled_from(values) for key, values in HARNESS.items()}
)


@dataclass
class _Builder:
    """Turns drafts into stimuli; ids count up, references wrap around what is known."""

    stimuli: list[Stimulus] = field(default_factory=list)
    known: list[Arrival] = field(default_factory=list)
    count: int = 0
    pinned: int = 0
    room_for_pins: int = 0

    def branch(self) -> _Builder:
        """Return a builder for one branch of an attempt: its segments are known to it alone."""
        return _Builder([], list(self.known), self.count, self.pinned, self.room_for_pins)

    def name(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def pick(self, number: int) -> Arrival:
        return self.known[number % len(self.known)]

    def add(self, turn: int, drafts: Iterable[tuple[Any, ...]], attempt: int | None = None) -> None:
        makers: dict[str, Callable[..., None]] = {
            "segment": self._segment,
            "result": self._result,
            "write": self._write,
            "world": self._world,
            "query": self._query,
            "act": self._act,
            "operator": self._operator,
            "wait": self._wait,
        }
        for what, *values in drafts:
            makers[what](turn, attempt, *values)

    def arrive(self, arrival: Arrival) -> None:
        if arrival.pinned:
            if self.pinned + arrival.tokens > self.room_for_pins:
                arrival = replace(arrival, pinned=False)
            else:
                self.pinned += arrival.tokens
        self.stimuli.append(arrival)
        self.known.append(arrival)

    def _segment(
        self, turn: int, attempt: int | None, kind: Kind, tokens: int, score: float, more: Any
    ) -> None:
        more = dict(more)
        name = self.name("m")
        facts = _facts(name, more.pop("fact", True))
        if kind is not Kind.USER:
            more.pop("standing", None)
        if kind is not Kind.TOOL_RESULT:
            more.pop("names", None)
        if kind is Kind.FILE:
            more.setdefault("path", PATHS[self.count % 3])
            more.setdefault("rank", self.count % 5)
        else:
            more.pop("rank", None)
            if kind is not Kind.DIFF:
                more.pop("path", None)
        self.arrive(Arrival(turn, name, kind, tokens, score, facts=facts, attempt=attempt, **more))

    def _result(
        self, turn: int, attempt: int | None, tool: str, tokens: int, score: float, more: Any
    ) -> None:
        more = dict(more)
        name = self.name("r")
        at = more.pop("at", None)
        structure = more.pop("structure", None)
        if structure is not None:
            entries, groups, entry_tokens, notice_tokens = structure
            structure = Structure(max(entries, groups), groups, entry_tokens, notice_tokens)
        self.arrive(
            Arrival(
                turn,
                f"{name}.call",
                Kind.TOOL_CALL,
                3,
                score,
                tool=tool,
                pair=name,
                attempt=attempt,
                pinned=more.get("pinned", False),
            )
        )
        self.arrive(
            Arrival(
                turn,
                name,
                Kind.TOOL_RESULT,
                tokens,
                score,
                tool=tool,
                pair=name,
                attempt=attempt,
                facts=tuple(replace(f, at=at) for f in _facts(name, more.pop("fact", True))),
                structure=structure,
                **more,
            )
        )

    def _write(
        self, turn: int, attempt: int | None, path: str, tokens: int | None, facts: Any
    ) -> None:
        new = None if facts is None else tuple(Fact(f"{path}.{key}") for key in facts)
        self.stimuli.append(Write(turn, path, tokens, new, attempt))

    def _world(self, turn: int, attempt: int | None, number: int, tokens: int) -> None:
        if self.known:
            self.stimuli.append(WorldRefresh(turn, self.pick(number).id, tokens))

    def _query(
        self, turn: int, attempt: int | None, number: int, relevance: float, mates: Sequence[int]
    ) -> None:
        asked = [arrival for arrival in self.known if arrival.facts]
        if not asked:
            return
        source = asked[number % len(asked)]
        touches = dict.fromkeys([source.id, *(self.pick(mate).id for mate in mates)])
        key = source.facts[0].key
        self.stimuli.append(Query(turn, self.name("q"), key, relevance, tuple(touches)))

    def _act(self, turn: int, attempt: int | None, numbers: Sequence[int]) -> None:
        if self.known:
            required = dict.fromkeys(self.pick(number).id for number in numbers)
            self.stimuli.append(Act(turn, self.name("t"), tuple(required)))

    def _operator(self, turn: int, attempt: int | None, number: int) -> None:
        if self.known:
            self.stimuli.append(Operator(turn, self.name("o"), self.pick(number).id))

    def _wait(self, turn: int, attempt: int | None, seconds: float) -> None:
        self.stimuli.append(Wait(turn, seconds))


def _facts(name: str, reducible: bool | None) -> tuple[Fact, ...]:
    return () if reducible is None else (Fact(f"{name}.fact", "true", "prior", reducible),)


def _guarded(builder: _Builder, draft: dict[str, Any], number: int, turn: int) -> Attempt:
    asked = [arrival for arrival in builder.known if arrival.facts]
    numbers = draft.get("facts", ()) if asked else ()
    facts = dict.fromkeys(asked[n % len(asked)].facts[0].key for n in numbers)
    branches = []
    for drafts in (draft.get("ok", ()), draft.get("failed", ())):
        branch = builder.branch()
        branch.add(turn, drafts, number)
        branches.append(tuple(branch.stimuli))
        builder.count = branch.count
    paths = draft.get("paths", () if facts else (PATHS[0],))
    return Attempt(number, turn, tuple(facts), tuple(paths), branches[0], branches[1])


def build(settings: dict[str, Any], turns: Sequence[Any], seed: int) -> Script:
    """Return the script of *turns*, each a list of drafts and the draft of an attempt or None."""
    settings = dict(settings)
    if "reader" in settings:
        names = ("invent_untagged", "fetch_tagged", "abstain_tagged", "invent_tagged")
        shares = (float(share) for share in settings.pop("reader"))
        settings.update(zip((f"reader.{name}" for name in names), shares, strict=True))
    flat = {**BASE_SETTINGS, **settings, "turns": len(turns)}
    builder = _Builder(room_for_pins=flat["budget"] - 10)
    builder.arrive(Arrival(1, "sys", Kind.SYSTEM, 40, 1.0, pinned=True))
    builder.arrive(Arrival(1, "goal", Kind.TASK, 20, 1.0, pinned=True))
    attempts: list[Attempt] = []
    for turn, (drafts, attempt) in enumerate(turns, start=1):
        number = len(attempts) + 1
        if attempt is None:
            builder.add(turn, drafts)
        elif attempt["guarded"]:
            attempts.append(_guarded(builder, attempt, number, turn))
            builder.add(turn, drafts)
        else:
            attempts.append(Attempt(number, turn))
            builder.add(turn, drafts, number)
        if turn == 1:
            builder.room_for_pins = max(flat["budget"] * 2, builder.pinned)
    return Script(
        "random", seed, flat, tuple(builder.stimuli), tuple(attempts), capabilities=CAPABILITIES
    )


def scripts(max_turns: int = 10, *, harness: bool = False) -> st.SearchStrategy[Script]:
    """Scripts of 1 to *max_turns* turns; pins of turn 1 fit the budget, later ones may not.

    With *harness*, sizes may be counted otherwise than they are, and summaries may fail or invent.
    """
    both = st.builds(lambda one, other: {**one, **other}, _settings, _harness)
    return st.builds(
        build,
        both if harness else _settings,
        st.lists(_turn, min_size=1, max_size=max_turns),
        st.integers(0, 3),
    )


def roomy(script: Script, budget: int = 1_000_000) -> Script:
    """Return *script* under a budget that never binds."""
    return replace(script, settings={**script.settings, "budget": budget})


def fixed() -> Script:
    """One script with something of everything, under a budget that binds."""
    turns: list[Any] = [
        (
            [
                ("segment", kind, 40 + 7 * turn, 1.0 / turn, {"copy": kind is Kind.FILE})
                for kind in (Kind.FILE, Kind.USER, Kind.NOTE)
            ]
            + [
                ("result", TOOLS[turn % 2], 60, 0.5, {"time": 0.5}),
                ("write", PATHS[turn % 3], None, None),
                ("query", turn * 3, 0.9, [turn]),
                ("act", [turn, 0]),
                ("operator", turn * 2),
            ],
            {"guarded": turn % 2 == 0, "facts": [turn]} if turn % 3 == 0 else None,
        )
        for turn in range(1, 11)
    ]
    return build({"budget": 500, "surrogate.keep": 0.5}, turns, 7)
