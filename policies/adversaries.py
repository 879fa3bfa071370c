"""Small scripts that lie in wait for a policy: each is a corner that one has been known to miss."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

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
from sim.streams import uniform

__all__ = ["CAPABILITIES", "SETTINGS", "adversaries", "script"]

SETTINGS: Mapping[str, Any] = MappingProxyType(
    {
        "turns": 6,
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
        "image_tokens": 90,
        "cache.long": 0,
        "history": "editable",
        "overflow": "truncate",
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
        "output.reserve": 0,
        "count.by": "exact",
        "line.characters": 40.0,
        "summariser.retention": "keep",
        "summariser.fabricate": 0.0,
        "summariser.fail": 0.0,
        **{f"estimate.{kind}": 1.0 for kind in Kind},
        **{f"characters.{kind}": 4.0 for kind in Kind},
    }
)
"""Common keys of every such script, where it does not say otherwise."""

CAPABILITIES = frozenset({"edits", "facts", "future", "ranks", "recording", "roles"})


def adversaries() -> Iterator[Script]:
    """Yield the scripts, the same ones in the same order at every call."""
    yield _growing_messages()
    yield _exactly_full()
    yield _larger_than_all()
    yield _parallel_calls()
    yield _nothing_taggable()
    yield _surrogates_that_grow()
    yield _stale_copies()
    yield _reversal()
    yield _attempts()
    yield _zero_scores()
    yield _late_pins()
    yield _explicit_requests()
    yield _covered()
    yield _unpinned_head()
    yield _read_on()
    yield _run_again()
    yield _old_results()
    yield _many_turns()
    yield _read_again()
    for number in range(8):
        yield _mixed(number)


def script(
    name: str, *stimuli: Stimulus, attempts: tuple[Attempt, ...] = (), **settings: Any
) -> Script:
    """Return a script of *stimuli*; ``salience__decay=1.0`` sets the key ``salience.decay``."""
    changed = {key.replace("__", "."): value for key, value in settings.items()}
    return Script(
        scenario=name,
        seed=0,
        settings={**SETTINGS, **changed},
        stimuli=(*_head(), *stimuli),
        attempts=attempts,
        capabilities=CAPABILITIES,
    )


def _head() -> tuple[Stimulus, ...]:
    return (
        Arrival(1, "system", Kind.SYSTEM, 100, 1.0, pinned=True),
        Arrival(1, "task", Kind.TASK, 50, 1.0, pinned=True, facts=(Fact("goal", "ship"),)),
    )


def _growing_messages() -> Script:
    messages = (
        Arrival(turn, f"say-{turn}", Kind.ASSISTANT if turn % 2 else Kind.USER, 300, 0.5)
        for turn in range(1, 7)
    )
    return script("growing-messages", *messages)


def _exactly_full() -> Script:
    return script(
        "exactly-full",
        Arrival(1, "big", Kind.FILE, 850, 0.9, path="a.py", copy=True, rank=1),
        Arrival(3, "note", Kind.NOTE, 1, 0.9),
        Query(5, "q", "x", 0.9, ("big",)),
    )


def _larger_than_all() -> Script:
    structure = Structure(entries=60, groups=10, entry_tokens=40, notice_tokens=9)
    return script(
        "larger-than-all",
        Arrival(1, "file", Kind.FILE, 300, 0.8, path="a.py", rank=3, copy=True),
        Arrival(
            2,
            "errors",
            Kind.TOOL_RESULT,
            2_400,
            1.0,
            tool="typecheck",
            names=("a.py",),
            max_result_tokens=400,
            structure=structure,
        ),
        Arrival(3, "page", Kind.TOOL_RESULT, 60_000, 1.0, tool="bash", max_result_tokens=600),
        Arrival(4, "blob", Kind.TOOL_RESULT, 990, 1.0, tool="blob"),
        Arrival(5, "image", Kind.IMAGE, 4_000, 0.7),
    )


def _parallel_calls() -> Script:
    calls = [
        Arrival(turn, f"call-{turn}-{n}", Kind.TOOL_CALL, 15, 0.9, tool=f"t{n}", pair=f"{turn}.{n}")
        for turn in (1, 3, 5)
        for n in range(3)
    ]
    results = [
        Arrival(
            turn,
            f"result-{turn}-{n}",
            Kind.TOOL_RESULT,
            180 + 40 * n,
            0.9,
            time=3.0 - n,
            tool=f"t{n}",
            pair=f"{turn}.{n}",
            copy=n == 1,
            facts=(Fact(f"k{turn}{n}", "v", "w"),),
        )
        for turn in (1, 3, 5)
        for n in range(3)
    ]
    late = Query(6, "q", "k11", 0.95, ("result-1-1", "result-1-2"))
    return script("parallel-calls", *calls, *results, late)


def _nothing_taggable() -> Script:
    spans = [
        Arrival(
            turn,
            f"span-{turn}",
            Kind.TOOL_RESULT,
            260,
            0.4,
            taggable=False,
            facts=(Fact(f"k{turn}", "v", "w"),),
        )
        for turn in range(1, 7)
    ]
    return script("nothing-taggable", *spans, Query(6, "q", "k1", 0.9, ("span-1",)))


def _surrogates_that_grow() -> Script:
    spans = [
        Arrival(turn, f"span-{turn}", Kind.NOTE, 10, 0.3, surrogate_tokens=200, copy=turn == 2)
        for turn in range(1, 4)
    ]
    return script(
        "surrogates-that-grow",
        *spans,
        Arrival(3, "large", Kind.USER, 800, 0.9),
        Arrival(6, "more", Kind.ASSISTANT, 200, 0.9),
    )


def _stale_copies() -> Script:
    return script(
        "stale-copies",
        Arrival(1, "a", Kind.FILE, 200, 0.9, path="a.py", copy=True, rank=1),
        Arrival(2, "a-again", Kind.TOOL_RESULT, 200, 0.9, path="a.py", copy=True),
        Arrival(2, "b", Kind.FILE, 200, 0.9, path="b.py", copy=True, rank=2),
        Write(3, "a.py", tokens=320),
        Write(4, "b.py", tokens=5),
        WorldRefresh(5, "b", 420),
        Query(6, "q", "x", 0.9, ("a",)),
    )


def _reversal() -> Script:
    documents = [
        Arrival(turn, f"doc-{turn}", Kind.FILE, 280, 0.4, path=f"{turn}.md", copy=True, rank=turn)
        for turn in range(1, 5)
    ]
    return script(
        "reversal",
        Arrival(1, "table", Kind.NOTE, 120, 0.3, copy=True, facts=(Fact("limit", "90", "60"),)),
        Arrival(2, "summary", Kind.SUMMARY, 40, 0.3, facts=(Fact("limit", "90", "60"),)),
        *documents,
        Arrival(5, "say", Kind.USER, 90, 0.9),
        Query(5, "q1", "limit", 0.95, ("table", "doc-1")),
        Query(6, "q2", "limit", 0.99, ("table",)),
        Wait(6, 900.0),
    )


def _attempts() -> Script:
    def tries(number: int, turn: int) -> tuple[Stimulus, ...]:
        return (
            Arrival(turn, f"think-{number}", Kind.THINKING, 60, 1.0, attempt=number),
            Arrival(turn, f"diff-{number}", Kind.DIFF, 90, 1.0, attempt=number),
            Write(turn, "a.py", attempt=number),
            Arrival(
                turn,
                f"lint-{number}",
                Kind.TOOL_RESULT,
                130,
                1.0,
                tool="lint",
                attempt=number,
                names=("a.py",) if number % 2 else ("b.py",),
                taggable=number != 2,
            ),
        )

    guarded = tuple(
        Attempt(
            number,
            turn,
            ("signature",),
            ("a.py",),
            (Arrival(turn, f"ok-{number}", Kind.TOOL_RESULT, 5, 1.0, tool="tests"),),
            tries(number, turn),
        )
        for number, turn in ((3, 4), (4, 6))
    )
    return script(
        "attempts",
        Arrival(
            1, "a", Kind.FILE, 220, 1.0, path="a.py", copy=True, facts=(Fact("signature", "f"),)
        ),
        Arrival(1, "b", Kind.FILE, 180, 1.0, path="b.py", copy=True, rank=1),
        Arrival(1, "rule", Kind.USER, 30, 1.0, standing=True, facts=(Fact("rule", "r"),)),
        *tries(1, 2),
        *tries(2, 3),
        Act(4, "act", ("rule", "task")),
        attempts=(Attempt(1, 2), Attempt(2, 3), *guarded),
        turns=6,
    )


def _zero_scores() -> Script:
    spans = [
        Arrival(turn, f"{kind}-{turn}", kind, 110, 0.0, copy=kind is Kind.FILE, path=f"{turn}")
        for turn in range(1, 5)
        for kind in (Kind.FILE, Kind.NOTE)
    ]
    return script("zero-scores", *spans, Query(5, "q", "x", 0.0, ("note-1",)), salience__decay=1.0)


def _late_pins() -> Script:
    return script(
        "late-pins",
        Arrival(1, "file", Kind.FILE, 500, 0.9, path="a.py", copy=True, rank=1),
        Arrival(2, "rule", Kind.USER, 400, 0.2, pinned=True, standing=True),
        Arrival(3, "dump", Kind.TOOL_RESULT, 450, 0.2, pinned=True, tool="dump"),
        Arrival(4, "say", Kind.ASSISTANT, 1, 1.0),
        Act(5, "act", ("rule",)),
    )


def _explicit_requests() -> Script:
    return script(
        "explicit-requests",
        Arrival(1, "manual", Kind.FILE, 700, 0.3, path="m.md", copy=True, rank=2),
        Arrival(2, "dump", Kind.TOOL_RESULT, 600, 0.2, copy=True, tool="dump"),
        Arrival(3, "say", Kind.USER, 200, 0.9),
        Operator(4, "ask-dump", "dump"),
        Operator(5, "ask-manual", "manual"),
        Query(6, "q", "x", 0.9, ("dump", "manual")),
    )


def _covered() -> Script:
    facts = (Fact("limit", "90", "60"),)
    return script(
        "covered",
        Arrival(1, "table", Kind.FILE, 300, 0.2, path="t.md", copy=True, rank=1, facts=facts),
        Arrival(1, "summary", Kind.SUMMARY, 100, 0.25, facts=facts),
        Arrival(1, "talk", Kind.USER, 300, 0.5),
        Arrival(2, "more-talk", Kind.USER, 400, 0.9),
        Query(3, "q", "limit", 0.9, ("table",)),
    )


def _unpinned_head() -> Script:
    return script(
        "unpinned-head",
        Arrival(1, "tools", Kind.TOOLS, 200, 1.0),
        Arrival(2, "rule", Kind.USER, 620, 1.0, pinned=True),
        Arrival(3, "say", Kind.USER, 40, 1.0, pinned=True),
    )


def _read_on() -> Script:
    """Return a script in which what is asked stands on later pages, or at the end."""
    facts = tuple(Fact(f"failure-{n}", "v", "w", reducible=n < 4, at=150 * n) for n in range(1, 11))
    return script(
        "read-on",
        Arrival(
            1, "log", Kind.TOOL_RESULT, 1_600, 0.9, tool="tests", max_result_tokens=200, facts=facts
        ),
        Arrival(
            2, "tail", Kind.TOOL_RESULT, 900, 0.8, tool="lint", max_result_tokens=250, pages=True
        ),
        Query(2, "q1", "failure-10", 0.95, ("log",)),
        Query(2, "q2", "failure-4", 0.95, ("log",)),
        Arrival(3, "say", Kind.USER, 300, 0.9),
        Query(4, "q3", "failure-9", 0.9, ("log",)),
        Arrival(5, "other", Kind.TOOL_RESULT, 60, 0.9, tool="tests"),
        Query(6, "q4", "failure-2", 0.7, ("log",)),
    )


def _run_again() -> Script:
    """Return a script in which a tool runs again and little has changed."""
    old, new = Fact("old", "v", "w"), Fact("new", "v", "w")
    return script(
        "run-again",
        Arrival(1, "check-1", Kind.TOOL_RESULT, 400, 0.9, tool="typecheck", facts=(old,)),
        Arrival(
            2,
            "check-2",
            Kind.TOOL_RESULT,
            410,
            0.9,
            tool="typecheck",
            delta_tokens=30,
            facts=(old, new),
        ),
        Query(3, "q1", "old", 0.9, ("check-2",)),
        Arrival(3, "lint", Kind.TOOL_RESULT, 200, 0.9, tool="lint"),
        Arrival(
            4,
            "check-3",
            Kind.TOOL_RESULT,
            390,
            0.9,
            tool="typecheck",
            delta_tokens=20,
            facts=(new,),
        ),
        Arrival(5, "file", Kind.FILE, 500, 0.95, path="a.py", copy=True, rank=1),
        Query(5, "q2", "new", 0.9, ("check-3",)),
        Arrival(6, "check-4", Kind.TOOL_RESULT, 380, 0.9, tool="typecheck", facts=(new,)),
    )


def _old_results() -> Script:
    """Return a script of long results with long thoughts and arguments; one is asked for again."""
    stimuli: list[Stimulus] = []
    for turn in range(1, 9):
        pair, fact = f"p{turn}", Fact(f"k{turn}", "v", "w")
        about: Mapping[str, Any] = {"pair": pair, "tool": "read"}
        stimuli += [
            Arrival(turn, f"thought-{turn}", Kind.THINKING, 700, 0.5),
            Arrival(turn, f"call-{turn}", Kind.TOOL_CALL, 450 + 50 * turn, 0.5, **about),
            Arrival(
                turn,
                f"result-{turn}",
                Kind.TOOL_RESULT,
                16_000 if turn != 2 else 499,
                0.5,
                facts=(fact,),
                copy=turn != 3,
                taggable=turn != 4,
                **about,
            ),
        ]
    stimuli.append(Query(8, "q1", "k1", 0.9, ("result-1",)))
    return script("old-results", *stimuli, turns=9, budget=130_000)


def _many_turns() -> Script:
    """Return a script of many turns that all fit; the first result is asked for at the end."""
    stimuli: list[Stimulus] = []
    for turn in range(1, 57):
        about: Mapping[str, Any] = {"pair": f"p{turn}", "tool": "read", "copy": turn % 2 == 1}
        stimuli += [
            Arrival(turn, f"call-{turn}", Kind.TOOL_CALL, 5, 0.5, **about),
            Arrival(turn, f"result-{turn}", Kind.TOOL_RESULT, 30, 0.5, **about),
        ]
    stimuli.append(Operator(56, "o1", "result-1"))
    return script("many-turns", *stimuli, budget=5_000, turns=57)


def _read_again() -> Script:
    """Return a script of two files that are read in turn, between messages and after a pause."""
    stimuli: list[Stimulus] = []
    for turn in range(1, 9):
        about: Mapping[str, Any] = {"pair": f"p{turn}", "tool": "read"}
        path = "a.py" if turn % 2 else "b.py"
        read: Mapping[str, Any] = {
            "path": path,
            "copy": turn != 5,
            "facts": (Fact(f"k{turn}", "v", "w"),),
        }
        stimuli += [
            Arrival(turn, f"call-{turn}", Kind.TOOL_CALL, 5, 0.5, **about),
            Arrival(turn, f"read-{turn}", Kind.FILE, 90, 0.5, **read, **about),
        ]
        if turn in (3, 5, 7):
            stimuli.append(Arrival(turn, f"say-{turn}", Kind.USER, 20, 0.5))
    asked = Query(8, "q1", "k1", 0.9, ("read-1",))
    stimuli += [Write(4, "a.py", tokens=90), Wait(8, 4_000.0), asked]
    return script("read-again", *stimuli, turns=9)


def _mixed(number: int) -> Script:
    """Return a script of forty arrivals, drawn by name."""

    def draw(*what: object) -> float:
        return uniform(number, "adversary", *what)

    kinds = [k for k in Kind if k not in (Kind.TOOLS, Kind.SYSTEM, Kind.TASK, Kind.TOOL_CALL)]
    stimuli: list[Stimulus] = []
    for n in range(40):
        kind = kinds[int(draw("kind", n) * len(kinds))]
        turn = 1 + int(draw("turn", n) * 12)
        stimuli.append(
            Arrival(
                turn,
                f"m{n}",
                kind,
                1 + int(draw("size", n) ** 3 * 400),
                round(draw("score", n), 2),
                copy=draw("copy", n) < 0.4,
                taggable=draw("taggable", n) < 0.7,
                pinned=draw("pinned", n) < 0.03,
                path=f"{n % 7}.py" if kind is Kind.FILE else None,
                rank=n if kind is Kind.FILE and n % 2 else None,
                tool=f"tool{n % 3}" if kind is Kind.TOOL_RESULT else None,
                facts=(Fact(f"k{n}", "v", "w"),),
            )
        )
        if draw("asked", n) < 0.5:
            later = min(12, turn + 1 + int(draw("lag", n) * 6))
            stimuli.append(Query(later, f"q{n}", f"k{n}", round(draw("hot", n), 2), (f"m{n}",)))
    stimuli.extend(Write(turn, f"{turn % 7}.py", tokens=60) for turn in range(3, 12, 3))
    return script(
        f"mixed-{number}",
        *stimuli,
        turns=12,
        budget=700 + 100 * number,
        surrogate__keep=0.5,
        clock__turn_seconds=0.0,
    )
