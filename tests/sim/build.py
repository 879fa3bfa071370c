"""Small builders for the tests of sim: a segment, a stimulus, a script, a policy, a run."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from sim.engine import Run, run
from sim.prices import CacheRules, Price, Speed
from sim.records import to_dicts
from sim.script import Arrival, Attempt, Script, Stimulus
from sim.segments import Fact, Kind, Segment
from tests.support.scripts import BASE_SETTINGS

SPEED = Speed(prefill_rate=1_000.0, cached_rate=10_000.0, overhead=0.5, decode_rate=50.0)
UNCACHED = Price("plain", 10.0, 10.0, 10.0, 50.0, CacheRules("none"), SPEED)
"""Ten dollars a million tokens of input, fifty of output; nothing is cached."""
MARKED = Price("marked", 2.0, 2.5, 0.2, 10.0, CacheRules("breakpoints", ttl=300.0), SPEED)
"""Two dollars plain, 2.50 written, 0.20 read, 10 output; a cache of breakpoints for 300 s."""


def segment(
    name: str, tokens: int = 10, *, seq: int = 0, kind: Kind = Kind.NOTE, **fields: Any
) -> Segment:
    """Return a segment as the log would hold it before it is admitted."""
    return Segment(id=name, kind=kind, tokens=tokens, turn=1, seq=seq, **fields)


def come(
    turn: int, name: str, tokens: int, *, kind: Kind = Kind.NOTE, score: float = 1.0, **fields: Any
) -> Arrival:
    """Return an arrival; *facts* may be given as keys, whose value is KEY! and prior KEY?."""
    facts = tuple(
        f if isinstance(f, Fact) else Fact(f, f"{f}!", f"{f}?") for f in fields.pop("facts", ())
    )
    return Arrival(turn, name, kind, tokens, score, facts=facts, **fields)


def pair(turn: int, name: str, tokens: int, **fields: Any) -> tuple[Arrival, Arrival]:
    """Return a call of 1 token and its result."""
    fields = {"tool": "lint", "pair": name, **fields}
    call = come(turn, f"{name}.call", 1, kind=Kind.TOOL_CALL, tool=fields["tool"], pair=name)
    return call, come(turn, name, tokens, kind=Kind.TOOL_RESULT, **fields)


def script(
    *stimuli: Stimulus,
    turns: int | None = None,
    attempts: Iterable[Attempt] = (),
    budget: int = 1_000_000,
    seed: int = 0,
    capabilities: Iterable[str] = (),
    output_tokens: Mapping[int, int] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Script:
    """Return a script of these stimuli, as many turns long as they need."""
    attempts = tuple(attempts)
    last = max((s.turn for s in (*stimuli, *attempts)), default=1)
    flat = {**BASE_SETTINGS, "turns": turns or last, "budget": budget, **(settings or {})}
    return Script(
        "test",
        seed,
        flat,
        tuple(stimuli),
        attempts,
        capabilities=frozenset(capabilities),
        output_tokens=output_tokens or {},
    )


class Idle:
    """A policy that does nothing; tests give it hooks, by name."""

    label = "idle"
    declares: frozenset[str] = frozenset()
    needs: frozenset[str] = frozenset()

    def __init__(self, *, declares: Iterable[str] = (), **hooks: Callable[..., Any]) -> None:
        self.declares = frozenset(declares)
        for name, hook in hooks.items():
            setattr(self, name, hook)

    def before_call(self, view: Any) -> Iterable[Any]:
        return ()


def acting(actions: Mapping[int, Iterable[Any]], **more: Any) -> Idle:
    """Return a policy whose first pass of turn N takes *actions*[N]."""
    todo = {turn: list(each) for turn, each in actions.items()}
    return Idle(before_call=lambda view: todo.pop(view.turn, ()), **more)


def play(it: Script, policy: Any = None, price: Price = UNCACHED, *, strict: bool = True) -> Run:
    """Run a script, strictly unless told otherwise."""
    return run(it, Idle() if policy is None else policy, price, strict=strict)


def told(result: Run, kind: str) -> list[dict[str, Any]]:
    """Return the records of one type as dicts."""
    return [r for r in to_dicts(result.records) if r["type"] == kind]


def outcomes(result: Run) -> list[tuple[str, str]]:
    """Return (outcome, cause) of every answer."""
    return [(r["outcome"], r["cause"]) for r in told(result, "answer")]


def window(result: Run) -> tuple[str, ...]:
    """Return what is resident at the end, in order."""
    names: tuple[str, ...] = told(result, "end")[0]["window"]
    return names


def cheaper(price: Price, **fields: Any) -> Price:
    """Return *price* with other fields."""
    return replace(price, **fields)


def elsewhere(code: str, hash_seed: int) -> str:
    """Return what *code* prints in a fresh process with another hash seed."""
    root = str(Path(__file__).parents[2])
    env = {**os.environ, "PYTHONHASHSEED": str(hash_seed)}
    env["PYTHONPATH"] = os.pathsep.join([root, *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()
