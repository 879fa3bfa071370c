"""What a script is like in figures: the same yardstick for a recorded session and a made one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, fields

from sim.script import Arrival, Compaction, Query, Script, Turn
from sim.segments import Kind

__all__ = ["GROUPS", "LONG_WAIT", "REREAD", "Figures", "measure", "pooled"]

GROUPS = ("read", "edit", "search", "run")
"""What tools do: read a file, write one, search, and all the rest."""

LONG_WAIT = 300.0
"""Seconds after which the shorter life of a cached prefix is over (A1)."""

REREAD = "read-"
"""With this the id of a question begins that stands for a read of what had been read before."""

_WORDS = frozenset({Kind.ASSISTANT, Kind.THINKING})
_OUTPUT = _WORDS | {Kind.TOOL_CALL}
_SEARCHES = ("find", "glob", "grep", "search")


@dataclass(slots=True)
class Figures:
    """The figures of one script, or of several pooled: samples in tokens, seconds or turns.

    Turns are counted from the second on, which the first call's head does not fill.
    """

    turns: list[int] = field(default_factory=list)
    """Length of each script."""
    budgets: list[int] = field(default_factory=list)
    heads: list[int] = field(default_factory=list)
    """Pinned tokens of the first turn, without the task."""
    tasks: list[int] = field(default_factory=list)
    users: list[int] = field(default_factory=list)
    """Size of what the user wrote, by turn that brings no call."""
    user_waits: list[float] = field(default_factory=list)
    """What those turns waited for, where the session has times."""
    own_waits: list[float] = field(default_factory=list)
    """What other turns waited for."""
    words: list[int] = field(default_factory=list)
    """What the model wrote besides calls, by turn."""
    calls: list[int] = field(default_factory=list)
    """Calls by turn that the user did not start; a repeated read is one."""
    call_tokens: list[int] = field(default_factory=list)
    """Size of each call, but for those that write a file."""
    changes: list[int] = field(default_factory=list)
    """Size of each call that writes a file."""
    sizes: dict[str, list[int]] = field(default_factory=lambda: {name: [] for name in GROUPS})
    tools: dict[str, Counter[str]] = field(
        default_factory=lambda: {name: Counter() for name in GROUPS}
    )
    latencies: list[float] = field(default_factory=list)
    reread_lags: list[int] = field(default_factory=list)
    """Turns since a path was last read, for each read of one that has been read."""
    repeats: int = 0
    """Reads that brought what an earlier one had: questions in a replay."""
    writes: int = 0
    blind_writes: int = 0
    """Writes of a path that has not been read."""
    lags: list[int] = field(default_factory=list)
    """How far each question goes back."""
    relevances: list[float] = field(default_factory=list)
    facts: list[int] = field(default_factory=list)
    """Facts of each segment that has any."""
    scores: list[float] = field(default_factory=list)
    """Salience on arrival of what is read."""
    message_scores: list[float] = field(default_factory=list)
    output: list[int] = field(default_factory=list)
    """What the model wrote, by turn."""
    growth: list[int] = field(default_factory=list)
    """What came in, by turn."""
    left: Counter[str] = field(default_factory=Counter)
    """Tokens that no family brings, by what they are."""
    quiet: int = 0
    """Turns without a call and without a message of the user."""
    compactions: int = 0
    timed: int = 0
    """Scripts that say how long anything took."""

    @property
    def reads(self) -> int:
        """Reads, those among them that brought what an earlier one had."""
        return len(self.sizes["read"]) + self.repeats

    @property
    def later(self) -> int:
        """Turns behind the first."""
        return len(self.growth)


def pooled(figures: Iterable[Figures]) -> Figures:
    """Return the figures of several scripts together."""
    both = Figures()
    for one in figures:
        for part in fields(Figures):
            mine, new = getattr(both, part.name), getattr(one, part.name)
            if isinstance(new, int):
                setattr(both, part.name, mine + new)
            elif isinstance(new, list):
                mine.extend(new)
            elif isinstance(new, Counter):
                mine.update(new)
            else:
                for name, values in new.items():
                    mine[name] += values
    return both


def measure(script: Script) -> Figures:
    """Return the figures of *script*, a recorded session's or one that a family made."""
    return _Meter(script).measured()


def _group(arrival: Arrival, recorded: bool) -> str:
    """Return what the tool of a result does; a recorded result that wrote a file is a diff."""
    tool = (arrival.tool or "").lower()
    if arrival.kind is Kind.FILE:
        return "read"
    if arrival.kind is Kind.DIFF if recorded else tool == "edit":
        return "edit"
    return "search" if any(name in tool for name in _SEARCHES) else "run"


class _Meter:
    """Goes through a script turn by turn."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._recorded = "recording" in script.capabilities
        self._figures = Figures(
            turns=[script.settings["turns"]], budgets=[script.settings["budget"]]
        )
        self._came: dict[str, int] = {}
        """The turn in which each segment came."""
        self._seen: dict[str, int] = {}
        """The turn in which each path was last read."""
        self._paths: dict[str, str] = {}
        self._calls: dict[str, int] = {}
        """Size of each call, by pair."""

    def measured(self) -> Figures:
        """Return the figures of the whole script."""
        turns = self._script.turns()
        empty = Turn()
        for turn in range(1, self._figures.turns[0] + 1):
            self._turn(turn, turns.get(turn, empty))
        self._times(turns)
        return self._figures

    def _turn(self, turn: int, part: Turn) -> None:
        figures = self._figures
        for arrival in part.arrivals:
            self._came[arrival.id] = turn
            if arrival.kind is Kind.TOOL_CALL and arrival.pair is not None:
                self._calls[arrival.pair] = arrival.tokens
            if arrival.path is not None and arrival.pair is None:
                self._seen[arrival.path] = turn
        answered = [a for a in part.arrivals if a.pair is not None and a.kind is not Kind.TOOL_CALL]
        results = [a for a in answered if a.kind is not Kind.IMAGE]
        repeats = [q for q in part.queries if self._recorded and q.id.startswith(REREAD)]
        called = len({a.pair for a in answered}) + len(repeats)
        for result in results:
            self._result(turn, result)
        for question in repeats:
            self._repeat(turn, question)
        for write in part.writes:
            if write.type == "write":
                figures.writes += 1
                figures.blind_writes += write.path not in self._seen  # type: ignore[union-attr]
        for query in part.queries:
            if query not in repeats:
                self._question(turn, query)
        figures.compactions += isinstance(part.compaction, Compaction)
        for arrival in part.arrivals:
            if arrival.facts:
                figures.facts.append(len(arrival.facts))
        if turn == 1:
            self._head(part)
        else:
            self._later(part, called)

    def _head(self, part: Turn) -> None:
        pinned = [a for a in part.arrivals if a.pinned]
        task = sum(a.tokens for a in pinned if a.kind is Kind.TASK)
        self._figures.tasks.append(task)
        self._figures.heads.append(sum(a.tokens for a in pinned) - task)
        for arrival in part.arrivals:
            if not arrival.pinned and arrival.pair is None:
                self._figures.left["in the first request, not pinned"] += arrival.tokens

    def _later(self, part: Turn, called: int) -> None:
        figures = self._figures
        words = sum(a.tokens for a in part.arrivals if a.kind in _WORDS)
        heard = sum(a.tokens for a in part.arrivals if a.kind is Kind.USER)
        figures.words.append(words)
        figures.output.append(sum(a.tokens for a in part.arrivals if a.kind in _OUTPUT))
        figures.growth.append(sum(a.tokens for a in part.arrivals))
        figures.message_scores += [a.score for a in part.arrivals if a.kind in _OUTPUT]
        for arrival in part.arrivals:
            if arrival.pair is None and arrival.kind not in _WORDS | {Kind.USER}:
                figures.left[f"of kind {arrival.kind}"] += arrival.tokens
            elif arrival.kind is Kind.IMAGE:
                figures.left["images of results"] += arrival.tokens
        if called or not heard:
            figures.calls.append(called)
            figures.quiet += not called
            if heard:
                figures.left["of the user beside results"] += heard
            if part.wait:
                figures.own_waits.append(part.wait)
        else:
            figures.users.append(heard)
            figures.user_waits.append(part.wait)

    def _result(self, turn: int, result: Arrival) -> None:
        figures = self._figures
        group = _group(result, self._recorded)
        figures.sizes[group].append(result.tokens)
        figures.tools[group][result.tool or "?"] += 1
        figures.latencies.append(result.time)
        figures.scores.append(result.score)
        call = self._calls.get(result.pair or "")
        if call is not None:
            (figures.changes if group == "edit" else figures.call_tokens).append(call)
        if group == "read" and result.path is not None:
            self._paths[result.id] = result.path
            self._read(turn, result.path)

    def _read(self, turn: int, path: str) -> None:
        if path in self._seen:
            self._figures.reread_lags.append(turn - self._seen[path])
        self._seen[path] = turn

    def _repeat(self, turn: int, question: Query) -> None:
        self._figures.repeats += 1
        path = self._paths.get(question.touches[0])
        if path is not None:
            self._read(turn, path)

    def _question(self, turn: int, query: Query) -> None:
        figures = self._figures
        figures.lags.append(turn - self._came.get(query.touches[0], turn))
        figures.relevances.append(query.relevance)

    def _times(self, turns: dict[int, Turn]) -> None:
        """Leave the times out of a script that has none."""
        figures = self._figures
        if any(figures.latencies) or any(part.wait for part in turns.values()):
            figures.timed = 1
        else:
            figures.latencies, figures.user_waits = [], []
