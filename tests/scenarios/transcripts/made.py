"""Recordings made for the tests, and a short way to load them."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from scenarios import transcripts
from scenarios.scenario import Scenario
from scenarios.transcripts.findings import Findings
from scenarios.transcripts.session import Session
from scenarios.transcripts.sources import find, read
from sim.script import Arrival, Query, Script, Wait, Write
from sim.tokens import BYTES, tokenizer

START = datetime(2026, 5, 4, 10, 0, 0, tzinfo=UTC)


def at(seconds: float) -> str:
    """Return the time *seconds* after the start, as Claude Code writes it."""
    text = (START + timedelta(seconds=seconds)).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


def use(id: str, name: str = "Bash", **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": name, "input": arguments}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


class Lines:
    """The lines of a Claude Code session under way."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def put(self, kind: str, message: Any, seconds: float, **more: Any) -> Lines:
        record = {
            "type": kind,
            "uuid": f"u{len(self.lines)}",
            "isSidechain": False,
            "timestamp": at(seconds),
            "message": message,
            **more,
        }
        return self.raw(json.dumps(record))

    def raw(self, line: str) -> Lines:
        self.lines.append(line)
        return self

    def user(self, content: Any, seconds: float, **more: Any) -> Lines:
        return self.put("user", {"role": "user", "content": content}, seconds, **more)

    def model(self, id: str, seconds: float, *blocks: Any, usage: Any = None, **more: Any) -> Lines:
        message = {"id": id, "role": "assistant", "content": list(blocks), "stop_reason": None}
        if usage is not None:
            message["usage"] = usage
        message.update(more.pop("message", {}))
        return self.put("assistant", message, seconds, **more)

    def result(self, id: str, content: Any, seconds: float, **more: Any) -> Lines:
        error = more.pop("is_error", False)
        block = {"type": "tool_result", "tool_use_id": id, "content": content, "is_error": error}
        return self.user([block], seconds, **more)

    def write(self, path: Path, end: str = "\n") -> Path:
        path.write_bytes(("\n".join(self.lines) + end).encode())
        return path


def short() -> Lines:
    """A session of two calls, whole and sound."""
    lines = Lines().user("please list the files", 0)
    lines.model("m1", 2, use("t1", command="ls"))
    lines.result("t1", "notes.txt", 3)
    return lines.model("m2", 5, text("There is one file."))


def load(path: Path, **more: Any) -> tuple[Scenario, list[str], list[str]]:
    """Return the only session of *path*, the warnings and the notes."""
    (scenario,), warnings, notes = load_all(path, **more)
    return scenario, warnings, notes


def load_all(path: Path, **more: Any) -> tuple[list[Scenario], list[str], list[str]]:
    """Return the sessions of *path*, the warnings and the notes."""
    warnings: list[str] = []
    notes: list[str] = []
    more.setdefault("tokenizer", BYTES)
    more.setdefault("budget", 1_000_000)
    found = transcripts.load([path], on_warning=warnings.append, on_note=notes.append, **more)
    return found, warnings, notes


def session_of(path: Path, **more: Any) -> tuple[Session, Findings]:
    """Return the session of a file and what was found wrong with it."""
    (source,) = find([path], False, print)
    findings = Findings(source.place, **more)
    ((_, session),) = read(source, tokenizer(BYTES), findings)
    return session, findings


def arrivals(script: Script) -> dict[str, Arrival]:
    return {s.id: s for s in script.stimuli if isinstance(s, Arrival)}


def by_turn(script: Script) -> dict[int, list[str]]:
    """Return the ids of each turn's arrivals, in order."""
    turns: dict[int, list[str]] = {}
    for stimulus in script.stimuli:
        if isinstance(stimulus, Arrival):
            turns.setdefault(stimulus.turn, []).append(stimulus.id)
    return turns


def waits(script: Script) -> dict[int, float]:
    return {s.turn: s.seconds for s in script.stimuli if isinstance(s, Wait)}


def writes(script: Script) -> list[Write]:
    return [s for s in script.stimuli if isinstance(s, Write)]


def queries(script: Script) -> list[Query]:
    return [s for s in script.stimuli if isinstance(s, Query)]
