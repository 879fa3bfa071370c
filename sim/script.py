"""The script of a run: every stimulus, fixed before the first turn, and its JSON form.

A stimulus is something the world does to the agent. Unguarded ones are the same for every policy;
an attempt holds the stimuli of both of its branches and which of them comes is decided by what is
resident when its turn begins.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, field, fields
from typing import Any, ClassVar

from sim.segments import Fact, Kind
from sim.streams import replicate_seed

__all__ = [
    "CHANGES",
    "STIMULI",
    "Act",
    "Arrival",
    "Attempt",
    "Change",
    "Compaction",
    "KeepAlive",
    "Operator",
    "Query",
    "Script",
    "Stimulus",
    "Structure",
    "Turn",
    "Wait",
    "WorldRefresh",
    "Write",
    "script_from_json",
    "script_to_json",
]


@dataclass(frozen=True, slots=True)
class Structure:
    """How a tool result is built, so that it can be reduced by its structure.

    *entries* (errors, failures) fall into *groups* (files, tests); a reduction keeps the first
    entry of each group, *entry_tokens* each, and a notice of *notice_tokens* that says what was
    dropped.
    """

    entries: int
    groups: int
    entry_tokens: int
    notice_tokens: int


@dataclass(frozen=True, slots=True)
class Arrival:
    """A segment comes: a message, a read, a tool call, a tool result.

    *time* is its latency in seconds from the start of the turn; arrivals of one time come in the
    order of the script.
    """

    type: ClassVar[str] = "arrival"
    turn: int
    id: str
    kind: Kind
    tokens: int
    score: float
    time: float = 0.0
    facts: tuple[Fact, ...] = ()
    copy: bool = False
    pinned: bool = False
    standing: bool = False
    taggable: bool = True
    path: str | None = None
    tool: str | None = None
    pair: str | None = None
    attempt: int | None = None
    rank: int | None = None
    names: tuple[str, ...] = ()
    surrogate_tokens: int | None = None
    max_result_tokens: int | None = None
    structure: Structure | None = None
    reduced_tokens: int | None = None
    """Size to which a reducer brings the result, where that was measured."""
    delta_tokens: int | None = None
    """Size of the difference to the result of the same tool before it."""
    pages: bool = False
    """Whether its tool returns an oversized result page by page."""


@dataclass(frozen=True, slots=True)
class Write:
    """The agent writes a file successfully: every resident copy of *path* is stale.

    *tokens* is the new size, None if unchanged; *facts* what the new version states, None if it
    states the same keys as before.
    """

    type: ClassVar[str] = "write"
    turn: int
    path: str
    tokens: int | None = None
    facts: tuple[Fact, ...] | None = None
    attempt: int | None = None


@dataclass(frozen=True, slots=True)
class WorldRefresh:
    """The world replaces a segment by another version, in place if it is resident."""

    type: ClassVar[str] = "refresh"
    turn: int
    segment: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Query:
    """A question for fact *key*; it re-scores every segment of *touches*, the asked one first."""

    type: ClassVar[str] = "query"
    turn: int
    id: str
    key: str
    relevance: float
    touches: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Act:
    """The agent acts; every segment in *requires* should be readable in that turn's call."""

    type: ClassVar[str] = "act"
    turn: int
    id: str
    requires: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Operator:
    """An explicit request for a segment: it bypasses every gate and is recorded."""

    type: ClassVar[str] = "operator"
    turn: int
    id: str
    segment: str


@dataclass(frozen=True, slots=True)
class Wait:
    """Seconds that pass before the turn begins."""

    type: ClassVar[str] = "wait"
    turn: int
    seconds: float


@dataclass(frozen=True, slots=True)
class KeepAlive:
    """While the wait before the turn lasts, the last request is sent again every so many seconds.

    Such a ping reads the cached prefix, and so renews it.
    """

    type: ClassVar[str] = "keep-alive"
    turn: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Change:
    """Something about the requests changes that the provider keeps apart from the messages.

    *what* is one of :data:`CHANGES`, *value* what it is from now on; the cached prefix ends where
    *what* comes in, and is found again if the value returns.
    """

    type: ClassVar[str] = "change"
    turn: int
    what: str
    value: str


CHANGES = ("tools", "system", "tool_choice", "images", "effort")
"""What can change: the first comes in before everything, the second before the system, the others
before the messages (Anthropic: prompt caching, what invalidates the cache)."""


@dataclass(frozen=True, slots=True)
class Compaction:
    """In the recording, the harness replaced here what the window held by a summary.

    A policy may do the same and need not. *tokens* is the size of the summary, None where that is
    not recorded; *trigger* is ``auto``, ``manual`` or ``unknown``; the segments *kept* stayed as
    they were.
    """

    type: ClassVar[str] = "compaction"
    turn: int
    tokens: int | None = None
    trigger: str = "auto"
    kept: tuple[str, ...] = ()


Stimulus = (
    Arrival | Write | WorldRefresh | Query | Act | Operator | Wait | KeepAlive | Change | Compaction
)
STIMULI: Mapping[str, type[Any]] = {
    cls.type: cls
    for cls in (
        Arrival,
        Write,
        WorldRefresh,
        Query,
        Act,
        Operator,
        Wait,
        KeepAlive,
        Change,
        Compaction,
    )
}


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt at the task, made in one turn.

    It is guarded if it needs anything: each fact of *facts* and the current version of each path
    of *paths*. All met is ``ok``, else ``failed``; the stimuli of both branches are here. An
    unguarded attempt fails by script and its stimuli are among the script's own.
    """

    number: int
    turn: int
    facts: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    ok: tuple[Stimulus, ...] = ()
    failed: tuple[Stimulus, ...] = ()

    @property
    def guarded(self) -> bool:
        """Whether what is resident decides how it ends."""
        return bool(self.facts or self.paths)


@dataclass(slots=True)
class Turn:
    """The unguarded stimuli of one turn, by what they are, each in the order of the script."""

    arrivals: list[Arrival] = field(default_factory=list)
    writes: list[Write | WorldRefresh] = field(default_factory=list)
    queries: list[Query] = field(default_factory=list)
    acts: list[Act] = field(default_factory=list)
    operators: list[Operator] = field(default_factory=list)
    wait: float = 0.0
    keep_alive: float = 0.0
    """Seconds from one ping to the next while the wait lasts; 0: none is sent."""
    changes: list[Change] = field(default_factory=list)
    compaction: Compaction | None = None

    def add(self, stimulus: Stimulus) -> None:
        """File *stimulus* under its kind."""
        match stimulus:
            case Arrival():
                self.arrivals.append(stimulus)
            case Write() | WorldRefresh():
                self.writes.append(stimulus)
            case Query():
                self.queries.append(stimulus)
            case Act():
                self.acts.append(stimulus)
            case Operator():
                self.operators.append(stimulus)
            case Wait():
                self.wait += stimulus.seconds
            case KeepAlive():
                self.keep_alive = stimulus.seconds
            case Change():
                self.changes.append(stimulus)
            case Compaction():
                self.compaction = stimulus

    def joined(self, stimuli: Sequence[Stimulus]) -> Turn:
        """Return a new turn with *stimuli* after these."""
        both = Turn(
            list(self.arrivals),
            list(self.writes),
            list(self.queries),
            list(self.acts),
            list(self.operators),
            self.wait,
            self.keep_alive,
            list(self.changes),
            self.compaction,
        )
        for stimulus in stimuli:
            both.add(stimulus)
        return both


@dataclass(frozen=True, slots=True)
class Script:
    """Everything a run will meet.

    *settings* are the flat, dotted common keys (see ``sim.settings``); *capabilities* what the
    workload offers to policies that need it (``ranks``, ``roles``, ``facts``); *output_tokens*
    the length of each turn's answer where it is not the common one; *recorded* what a replayed
    session's own usage was, by turn. *replicate* tells the scripts of agents with one seed apart.
    """

    scenario: str
    seed: int
    settings: Mapping[str, Any]
    stimuli: tuple[Stimulus, ...]
    attempts: tuple[Attempt, ...] = ()
    capabilities: frozenset[str] = frozenset()
    output_tokens: Mapping[int, int] = field(default_factory=dict)
    tokens_from: str = "script"
    """Where sizes come from: ``script``, a tokenizer's name, or ``bytes/4``."""
    recorded: Mapping[int, Mapping[str, int]] = field(default_factory=dict)
    attempts_cut: bool = False
    """Whether a longer run has more attempts: then none here is the last, and a run that reaches
    its last turn without success is completed like any other."""
    replicate: int = 0

    @property
    def draws(self) -> int:
        """The seed by which a run of this script draws."""
        return replicate_seed(self.seed, self.replicate)

    def turns(self) -> dict[int, Turn]:
        """Return the unguarded stimuli by turn; a turn without any is absent."""
        turns: dict[int, Turn] = {}
        for stimulus in self.stimuli:
            turns.setdefault(stimulus.turn, Turn()).add(stimulus)
        return turns

    def digest(self) -> str:
        """Return the hash of the unguarded stimuli, which every policy must have met alike."""
        text = json.dumps(
            [_stimulus_to_json(s) for s in self.stimuli], sort_keys=True, separators=(",", ":")
        )
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _lean(value: Any) -> dict[str, Any]:
    """Return a dataclass as a dict without the fields that hold their default."""
    out = {}
    full = asdict(value)
    for f in fields(value):
        default = f.default if f.default is not MISSING else MISSING
        if default is MISSING or full[f.name] != default:
            if f.default_factory is not MISSING and full[f.name] == f.default_factory():
                continue
            out[f.name] = full[f.name]
    return out


def _stimulus_to_json(stimulus: Stimulus) -> dict[str, Any]:
    out = {"type": stimulus.type, **_lean(stimulus)}
    if out.get("facts"):
        out["facts"] = [_lean(f) for f in stimulus.facts or ()]  # type: ignore[union-attr]
    return {k: list(v) if isinstance(v, tuple) else v for k, v in out.items()}


def _attempt_to_json(attempt: Attempt) -> dict[str, Any]:
    out: dict[str, Any] = {"number": attempt.number, "turn": attempt.turn}
    if attempt.guarded:
        out["needs"] = {"facts": list(attempt.facts), "paths": list(attempt.paths)}
    if attempt.guarded or attempt.ok or attempt.failed:
        out["ok"] = [_stimulus_to_json(s) for s in attempt.ok]
        out["failed"] = [_stimulus_to_json(s) for s in attempt.failed]
    return out


def script_to_json(script: Script) -> dict[str, Any]:
    """Return the documented JSON document of *script* (docs/script.md)."""
    return {
        "evictbench_script": 1,
        "scenario": script.scenario,
        "seed": script.seed,
        **({"replicate": script.replicate} if script.replicate else {}),
        "settings": {
            k: list(v) if isinstance(v, tuple) else v for k, v in sorted(script.settings.items())
        },
        "capabilities": sorted(script.capabilities),
        "tokens_from": script.tokens_from,
        "output_tokens": {str(k): v for k, v in sorted(script.output_tokens.items())},
        "recorded": {str(k): dict(v) for k, v in sorted(script.recorded.items())},
        "stimuli": [_stimulus_to_json(s) for s in script.stimuli],
        "attempts": [_attempt_to_json(a) for a in script.attempts],
        "attempts_cut": script.attempts_cut,
    }


def _stimulus_from_json(data: Mapping[str, Any]) -> Stimulus:
    values = dict(data)
    cls = STIMULI[values.pop("type")]
    if values.get("facts") is not None and "facts" in values:
        values["facts"] = tuple(Fact(**f) for f in values["facts"])
    if values.get("structure") is not None and "structure" in values:
        values["structure"] = Structure(**values["structure"])
    if "kind" in values:
        values["kind"] = Kind(values["kind"])
    for name in ("names", "touches", "requires", "kept"):
        if name in values:
            values[name] = tuple(values[name])
    stimulus: Stimulus = cls(**values)
    return stimulus


def script_from_json(data: Mapping[str, Any]) -> Script:
    """Return the script that :func:`script_to_json` wrote; the caller has validated *data*.

    Raises KeyError, TypeError or ValueError where *data* has not that shape.
    """

    def attempts() -> Iterator[Attempt]:
        for a in data.get("attempts", ()):
            needs = a.get("needs", {})
            yield Attempt(
                a["number"],
                a["turn"],
                tuple(needs.get("facts", ())),
                tuple(needs.get("paths", ())),
                tuple(_stimulus_from_json(s) for s in a.get("ok", ())),
                tuple(_stimulus_from_json(s) for s in a.get("failed", ())),
            )

    return Script(
        scenario=data["scenario"],
        seed=data["seed"],
        settings={k: tuple(v) if isinstance(v, list) else v for k, v in data["settings"].items()},
        stimuli=tuple(_stimulus_from_json(s) for s in data["stimuli"]),
        attempts=tuple(attempts()),
        capabilities=frozenset(data.get("capabilities", ())),
        tokens_from=data.get("tokens_from", "script"),
        output_tokens={int(k): v for k, v in data.get("output_tokens", {}).items()},
        recorded={int(k): dict(v) for k, v in data.get("recorded", {}).items()},
        attempts_cut=bool(data.get("attempts_cut", False)),
        replicate=data.get("replicate", 0),
    )
