"""The attempts of a coding agent: words, a diff and writes, then three tools that run at once."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scenarios.families.builder import Builder
from scenarios.families.logged import Logged, Output
from scenarios.families.past import Item, Past
from scenarios.families.repository import Repository
from scenarios.families.sizes import Lognormal, geometric, pareto_lag, spread
from scenarios.families.talk import TASK
from sim.script import Act, Arrival, Attempt, Structure
from sim.segments import Kind

__all__ = ["TOOLS", "Attempts"]

TOOLS = ("typecheck", "lint", "tests")
"""The tools of every attempt, in the order in which they start."""

_MOST = 4
_MOST_NAMES = 8


class Attempts:
    """Attempts at random turns: the first ones fail by script, the others are guarded.

    What follows a guarded attempt may take it to have failed, for a run ends at the first ``ok``.
    """

    def __init__(
        self, builder: Builder, past: Past, repository: Repository, logged: Logged
    ) -> None:
        settings = builder.settings
        self._builder = builder
        self._settings = settings
        self._past = past
        self._repository = repository
        self._logged = logged
        self._said = Lognormal.of(settings, "say")
        self._diff = Lognormal.of(settings, "diff")
        self._latency = Lognormal.of(settings, "check_latency")
        self._sizes = {tool: Lognormal.of(settings, tool) for tool in TOOLS}
        self._gaps = builder.rows("attempt", 1)
        self._words = builder.rows("words", 2)
        self._checks = builder.rows("check", 3 * len(TOOLS))
        self._named = builder.rows("names", 2 * _MOST_NAMES * len(TOOLS))
        self._writes = builder.rows("attempt.write", 2 * _MOST)
        self._fact_needs = builder.rows("needs.facts", 3 * _MOST)
        self._path_needs = builder.rows("needs.paths", 3 * _MOST)
        self._written: list[str] = []
        self.number = 1
        self.turn = 1 + self._gap()

    @property
    def over(self) -> bool:
        """Whether the last attempt that is allowed has been made."""
        most = self._settings["attempts.max"]
        return bool(most) and self.number > most

    def _gap(self) -> int:
        return geometric(self._settings["attempts.spacing"], self._gaps[self.number][0])

    def make(self, topic: int) -> None:
        """Put the attempt of the current turn, and settle the turn of the next one."""
        turn, number = self.turn, self.number
        facts, paths = self._needs(turn)
        self._speak(turn, number)
        if facts or paths:
            self._guard(turn, number, facts, paths)
        else:
            self._fail(turn, number, topic)
        self._write(turn, number, paths)
        self._builder.put(Act(turn, f"t{turn}.act", (TASK,)))
        self.number += 1
        self.turn += self._gap()

    def _speak(self, turn: int, number: int) -> None:
        """Put the attempt's words and diff."""
        draws = self._words[number]
        score = self._settings["score.message"]
        for name, kind, sizes, draw in (
            ("say", Kind.ASSISTANT, self._said, draws[0]),
            ("diff", Kind.DIFF, self._diff, draws[1]),
        ):
            self._builder.put(
                self._builder.arrival(
                    turn, f"t{turn}.{name}", kind, sizes.tokens(draw), score, attempt=number
                )
            )

    def _write(self, turn: int, number: int, needed: Sequence[str]) -> None:
        """Put the writes; an attempt does not change the files that it needs."""
        draws = self._writes[number]
        drawn = [
            self._repository.pick(turn, draws[2 * i], draws[2 * i + 1])
            for i in range(self._settings["attempts.writes"])
        ]
        self._written = [path for path in dict.fromkeys(drawn) if path not in needed]
        for path in self._written:
            self._builder.put(self._repository.write(turn, path, number))

    def _needs(self, turn: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the facts and the paths that the attempt needs, from long before."""
        settings = self._settings
        if self.number <= settings["attempts.unguarded"]:
            return (), ()
        minimum, alpha = settings["needs.min_lag"], settings["returns.alpha"]
        facts, paths = [], []
        draws = self._fact_needs[self.number]
        for i in range(settings["needs.facts"]):
            lag, which, key = draws[3 * i : 3 * i + 3]
            index = self._past.at(max(1, turn - pareto_lag(minimum, alpha, lag)), which)
            assert index is not None
            keys = self._past.items[index].keys
            facts.append(keys[int(key * len(keys))])
        draws = self._path_needs[self.number]
        for i in range(settings["needs.paths"]):
            lag, which, written = draws[3 * i : 3 * i + 3]
            if self._written and written < settings["needs.written"]:
                paths.append(self._written[int(which * len(self._written))])
            else:
                paths.append(self._repository.pick(turn, lag, which, minimum))
        return tuple(dict.fromkeys(facts)), tuple(dict.fromkeys(paths))

    def _fail(self, turn: int, number: int, topic: int) -> None:
        """Put the results of an attempt that fails by script; they can be asked about later."""
        pairs = self._checks_of(turn, number, "")
        self._builder.put(*_calls_first(pairs))
        for _, result in pairs:
            keys = tuple(fact.key for fact in result.facts)
            if keys:
                self._past.add(Item(result.id, result.id, keys, topic))
        self._builder.attempts.append(Attempt(number, turn))

    def _guard(
        self, turn: int, number: int, facts: tuple[str, ...], paths: tuple[str, ...]
    ) -> None:
        """Keep a guarded attempt: all well in one branch, failures and a new look in the other."""
        failed = self._checks_of(turn, number, "failed.")
        failed += [self._look_again(turn, at, path) for at, path in enumerate(paths, 1)]
        passed = self._checks_of(turn, number, "ok.", self._settings["ok.tokens"])
        self._builder.attempts.append(
            Attempt(number, turn, facts, paths, _calls_first(passed), _calls_first(failed))
        )
        self._builder.wrote(turn, sum(call.tokens for call, _ in passed))

    def _look_again(self, turn: int, at: int, path: str) -> tuple[Arrival, Arrival]:
        return self._builder.pair(
            turn,
            f"failed.read{at}",
            Kind.FILE,
            self._repository.tokens(path),
            self._settings["score.high"],
            call_tokens=self._settings["call.tokens"],
            tool="read",
            path=path,
            facts=self._repository.facts(path),
        )

    def _checks_of(
        self, turn: int, number: int, branch: str, tokens: int | None = None
    ) -> list[tuple[Arrival, Arrival]]:
        """Return the calls of the three tools with their results, of *tokens* each if given."""
        draws = self._checks[number]
        pairs = [
            self._check(turn, number, tool, branch + tool, draws[3 * i : 3 * i + 3], tokens)
            for i, tool in enumerate(TOOLS)
        ]
        results = self._logged.in_order(result for _, result in pairs)
        return [(call, result) for (call, _), result in zip(pairs, results, strict=True)]

    def _check(
        self,
        turn: int,
        number: int,
        tool: str,
        name: str,
        draws: Sequence[float],
        tokens: int | None,
    ) -> tuple[Arrival, Arrival]:
        settings = self._settings
        failing = tokens is None
        size, draw = draws[0], draws[2]
        output = self._failing(tool, f"t{turn}.{name}", size) if tokens is None else Output(tokens)
        return self._builder.pair(
            turn,
            name,
            Kind.TOOL_RESULT,
            output.tokens,
            spread(settings["score.low"], settings["score.high"], draw),
            call_tokens=settings["call.tokens"],
            tool=tool,
            time=self._latency.seconds(draws[1]),
            facts=output.facts,
            max_result_tokens=settings["check.limit"],
            structure=output.structure,
            reduced_tokens=output.reduced_tokens,
            names=self._names(turn, number, tool) if failing else (),
        )

    def _failing(self, tool: str, id: str, draw: float) -> Output:
        """Return a failing result of *tool*: a real log, or one of a size that *draw* says."""
        limit = self._settings["check.limit"]
        real = self._logged.result(tool, id, limit)
        if real is not None:
            return real
        size = self._sizes[tool].tokens(draw)
        structure = self._structure(tool, size)
        facts = self._builder.stated(id, size, limit, structure)
        return Output(size, facts, structure=structure)

    def _structure(self, tool: str, tokens: int) -> Structure | None:
        """Return how the result of *tool* is built; the lint has no rule of its own."""
        settings = self._settings
        if tool == "lint":
            return None
        entry: int = settings[f"{tool}.entry_tokens"]
        entries = max(1, round(tokens / entry))
        groups = max(1, math.ceil(entries * settings[f"{tool}.groups"]))
        return Structure(entries, groups, entry, settings["check.notice_tokens"])

    def _names(self, turn: int, number: int, tool: str) -> tuple[str, ...]:
        draws = self._named[number]
        start = 2 * _MOST_NAMES * TOOLS.index(tool)
        named = (
            self._repository.pick(turn, draws[at], draws[at + 1])
            for at in range(start, start + 2 * self._settings["names.count"], 2)
        )
        return tuple(dict.fromkeys(named))


def _calls_first(pairs: Sequence[tuple[Arrival, Arrival]]) -> tuple[Arrival, ...]:
    return (*(call for call, _ in pairs), *(result for _, result in pairs))
