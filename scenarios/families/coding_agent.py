"""coding-agent: retrieval, reads, edits and guarded attempts with three tools each (S3's agent)."""

from __future__ import annotations

from scenarios.families.asking import Asking
from scenarios.families.attempts import Attempts
from scenarios.families.builder import Builder
from scenarios.families.calls import Call, Calls, Mix
from scenarios.families.common import Family
from scenarios.families.logged import Logged, Output
from scenarios.families.past import Item, Past
from scenarios.families.repository import Repository
from scenarios.families.sizes import Lognormal
from scenarios.families.talk import Talk
from sim.script import Arrival
from sim.segments import Kind

__all__ = ["FAMILY"]

_TOOLS = ("read", "bash", "grep", "edit")


class _Coder:
    """Works on one request of the user after another, until the attempts are used up."""

    def __init__(self, builder: Builder) -> None:
        settings = builder.settings
        self._builder = builder
        self._past = Past()
        self._repository = Repository(builder)
        self._talk = Talk(builder)
        self._calls = Calls(builder)
        self._asking = Asking(builder, self._past)
        self._sizes = {tool: Lognormal.of(settings, tool) for tool in _TOOLS}
        self._change = Lognormal.of(settings, "change")
        self._limits = {tool: settings[f"{tool}.limit"] for tool in ("bash", "grep")}
        self._mix = Mix(builder, _TOOLS)
        self._call_tokens: int = settings["call.tokens"]
        self._edited: list[str] = []
        self._request = 1
        self._logged = Logged(builder)
        self.attempts = Attempts(builder, self._past, self._repository, self._logged)

    def turn(self, turn: int) -> None:
        """Put everything that *turn* brings."""
        if turn == 1:
            self._begin()
        attempted = turn == self.attempts.turn
        by_user = not attempted and self._talk.by_user(turn)
        self._talk.open(turn, by_user)
        if attempted:
            self.attempts.make(self._request)
        elif by_user:
            self._request += 1
            self._talk.say(turn)
            self._builder.put(self._talk.user(turn))
        else:
            self._talk.say(turn)
            self._work(turn)
        self._asking.ask(turn)
        self._past.close()
        self._repository.close()

    def _begin(self) -> None:
        self._talk.begin()
        for file in self._repository.ranked():
            self._builder.put(file)
            self._see(file.id, file)

    def _work(self, turn: int) -> None:
        """Put the calls of an ordinary turn, their results, and the writes after them."""
        pairs = [self._use(turn, call) for call in self._calls.of(turn)]
        results = self._logged.in_order(result for _, result in pairs)
        self._builder.put(*(call for call, _ in pairs), *results)
        for path in self._edited:
            self._builder.put(self._repository.write(turn, path))
        self._edited.clear()

    def _use(self, turn: int, call: Call) -> tuple[Arrival, Arrival]:
        tool = self._mix.pick(call.what)
        if tool == "read":
            return self._read(turn, call)
        if tool == "edit":
            return self._edit(turn, call)
        return self._run(turn, call, tool)

    def _read(self, turn: int, call: Call) -> tuple[Arrival, Arrival]:
        """Return a read of a new path, or of one that has been read before."""
        again, lag, which = call.more
        if again < self._builder.settings["reads.again"]:
            path = self._repository.pick(turn, lag, which)
        else:
            path = f"src/t{turn}_{call.number}.py"
            self._repository.create(path, self._sizes["read"].tokens(call.size))
        pair = self._builder.pair(
            turn,
            f"read{call.number}",
            Kind.FILE,
            self._repository.tokens(path),
            call.score,
            call_tokens=self._call_tokens,
            tool="read",
            time=call.seconds,
            path=path,
            facts=self._repository.facts(path),
        )
        self._see(pair[1].id, pair[1])
        return pair

    def _see(self, id: str, file: Arrival) -> None:
        assert file.path is not None
        item = Item(id, file.path, tuple(fact.key for fact in file.facts), self._request)
        self._past.add(item)
        self._repository.see(item)

    def _edit(self, turn: int, call: Call) -> tuple[Arrival, Arrival]:
        """Return an edit: the change is in the call, and the result only says that it was made."""
        change, lag, which = call.more
        self._edited.append(self._repository.pick(turn, lag, which))
        return self._builder.pair(
            turn,
            f"edit{call.number}",
            Kind.TOOL_RESULT,
            self._sizes["edit"].tokens(call.size),
            call.score,
            call_tokens=self._change.tokens(change),
            tool="edit",
            time=call.seconds,
        )

    def _run(self, turn: int, call: Call, tool: str) -> tuple[Arrival, Arrival]:
        """Return a command or a search with its output."""
        name = f"{tool}{call.number}"
        id = f"t{turn}.{name}"
        limit = self._limits[tool]
        output = self._logged.result(tool, id, limit)
        if output is None:
            tokens = self._sizes[tool].tokens(call.size)
            output = Output(tokens, self._builder.stated(id, tokens, limit))
        facts = output.facts
        if facts:
            self._past.add(Item(id, id, tuple(fact.key for fact in facts), self._request))
        return self._builder.pair(
            turn,
            name,
            Kind.TOOL_RESULT,
            output.tokens,
            call.score,
            call_tokens=self._call_tokens,
            tool=tool,
            time=call.seconds,
            facts=facts,
            max_result_tokens=limit,
            reduced_tokens=output.reduced_tokens,
        )


def _fill(builder: Builder) -> None:
    coder = _Coder(builder)
    for turn in range(1, builder.turns + 1):
        if coder.attempts.over:
            return
        coder.turn(turn)
    builder.attempts_cut = not coder.attempts.over


FAMILY = Family(
    name="coding-agent",
    summary="ranked files, reads and edits, attempts that need what was seen long before",
    capabilities=frozenset({"facts", "ranks", "roles"}),
    fill=_fill,
)
