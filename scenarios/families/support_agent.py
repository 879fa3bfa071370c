"""support-agent: a person asks, waits and sets rules; records come as JSON dumps (S4's agent)."""

from __future__ import annotations

from scenarios.families.asking import Asking
from scenarios.families.builder import Builder
from scenarios.families.calls import Call, Calls, Mix
from scenarios.families.common import Family
from scenarios.families.past import Item, Past
from scenarios.families.sizes import Lognormal
from scenarios.families.talk import Talk
from sim.script import Act, Arrival
from sim.segments import Fact, Kind
from sim.streams import uniform

__all__ = ["FAMILY"]

_TOOLS = ("lookup", "page", "dump")


class _Desk:
    """Takes up one case after the other, under standing constraints of the user."""

    def __init__(self, builder: Builder) -> None:
        settings = builder.settings
        self._builder = builder
        self._past = Past()
        self._talk = Talk(builder)
        self._calls = Calls(builder)
        self._asking = Asking(builder, self._past)
        self._sizes = {tool: Lognormal.of(settings, tool) for tool in _TOOLS}
        self._limits = {tool: settings[f"{tool}.limit"] for tool in ("lookup", "dump")}
        self._mix = Mix(builder, _TOOLS)
        self._constraint = Lognormal.of(settings, "constraint")
        self._standing = builder.rows("constraint", 2)
        self._acts = builder.rows("act", 2)
        self._cases = builder.rows("case", 1)
        self._summaries = builder.rows("summary", 1)
        self._rules: list[str] = []
        self._unsummed: list[Fact] = []
        self._case = 1

    def turn(self, turn: int) -> None:
        """Put everything that *turn* brings."""
        settings = self._builder.settings
        if self._cases[turn][0] * settings["case.turns"] < 1.0:
            self._case += 1
        if turn == 1:
            self._talk.begin()
        rules = len(self._rules)
        by_user = self._talk.by_user(turn)
        self._talk.open(turn, by_user)
        if by_user:
            self._talk.say(turn)
            self._hear(turn)
        else:
            self._talk.say(turn)
            pairs = [self._use(turn, call) for call in self._calls.of(turn)]
            self._builder.put(*(call for call, _ in pairs), *(result for _, result in pairs))
        self._sum_up(turn)
        self._asking.ask(turn)
        self._act(turn, self._rules[:rules])
        self._past.close()

    def _hear(self, turn: int) -> None:
        """Put the user's message, which may state a constraint that stands from now on."""
        settings = self._builder.settings
        draw, size = self._standing[turn]
        if draw >= settings["constraint.rate"] or len(self._rules) >= settings["constraint.max"]:
            self._builder.put(self._talk.user(turn))
            return
        id = f"t{turn}.rule"
        self._rules.append(id)
        self._builder.put(
            self._builder.arrival(
                turn,
                id,
                Kind.USER,
                self._constraint.tokens(size),
                settings["score.message"],
                standing=True,
                facts=self._builder.facts(id)[:1],
            )
        )

    def _act(self, turn: int, rules: list[str]) -> None:
        """Put an act that requires some of the constraints stated in earlier turns."""
        settings = self._builder.settings
        draw, first = self._acts[turn]
        if not rules or draw >= settings["acts.rate"]:
            return
        start = int(first * len(rules))
        some = min(settings["acts.requires"], len(rules))
        required = (rules[(start + i) % len(rules)] for i in range(some))
        self._builder.put(Act(turn, f"t{turn}.act", tuple(required)))

    def _use(self, turn: int, call: Call) -> tuple[Arrival, Arrival]:
        tool = self._mix.pick(call.what)
        if tool == "page":
            return self._page(turn, call)
        name = f"{tool}{call.number}"
        id = f"t{turn}.{name}"
        tokens = self._sizes[tool].tokens(call.size)
        facts = self._builder.stated(id, tokens, self._limits[tool])
        self._see(id, id, facts)
        return self._builder.pair(
            turn,
            name,
            Kind.TOOL_RESULT,
            tokens,
            call.score,
            call_tokens=self._builder.settings["call.tokens"],
            tool=tool,
            time=call.seconds,
            facts=facts,
            max_result_tokens=self._limits[tool],
        )

    def _page(self, turn: int, call: Call) -> tuple[Arrival, Arrival]:
        """Return the call for a page of the knowledge base, and the page."""
        name = f"page{call.number}"
        path = f"kb/t{turn}_{call.number}"
        facts = self._builder.facts(path)
        self._see(f"t{turn}.{name}", path, facts)
        return self._builder.pair(
            turn,
            name,
            Kind.FILE,
            self._sizes["page"].tokens(call.size),
            call.score,
            call_tokens=self._builder.settings["call.tokens"],
            tool="page",
            time=call.seconds,
            path=path,
            facts=facts,
        )

    def _see(self, id: str, subject: str, facts: tuple[Fact, ...]) -> None:
        self._past.add(Item(id, subject, tuple(fact.key for fact in facts), self._case))
        if self._builder.settings["summary.every"]:
            self._unsummed.extend(facts)

    def _sum_up(self, turn: int) -> None:
        """Put a summary that covers some of what came since the last one."""
        settings = self._builder.settings
        every, keep = settings["summary.every"], settings["summary.keep"]
        if not every or self._summaries[turn][0] * every >= 1.0:
            return
        id = f"t{turn}.summary"
        facts = tuple(
            Fact(fact.key, fact.value, fact.prior)
            for fact in self._unsummed
            if uniform(self._builder.seed, "summary", id, fact.key) < keep
        )
        self._unsummed.clear()
        self._builder.put(
            self._builder.arrival(
                turn,
                id,
                Kind.SUMMARY,
                settings["summary.tokens"],
                settings["score.summary"],
                facts=facts,
            )
        )


def _fill(builder: Builder) -> None:
    desk = _Desk(builder)
    for turn in range(1, builder.turns + 1):
        desk.turn(turn)


FAMILY = Family(
    name="support-agent",
    summary="a person who asks, waits and sets rules; JSON dumps, pages and summaries",
    capabilities=frozenset({"facts", "roles"}),
    fill=_fill,
)
