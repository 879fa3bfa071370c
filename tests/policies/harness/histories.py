"""Stretches of history for the tests of harnesses."""

from sim.script import Arrival
from sim.segments import Kind


def system(tokens):
    return Arrival(1, "system", Kind.SYSTEM, tokens, 1.0, pinned=True)


def task(tokens, **more):
    return Arrival(1, "task", Kind.TASK, tokens, 1.0, pinned=True, **more)


def say(turn, tokens, name=None, **more):
    return Arrival(turn, name or f"say-{turn}", Kind.USER, tokens, 1.0, **more)


def words(turn, tokens, name=None, **more):
    return Arrival(turn, name or f"words-{turn}", Kind.ASSISTANT, tokens, 1.0, **more)


def note(turn, tokens, name=None, **more):
    return Arrival(turn, name or f"note-{turn}", Kind.NOTE, tokens, 1.0, **more)


def step(turn, call, result, name=None, kind=Kind.TOOL_RESULT, **more):
    """A call and its result, of so many tokens."""
    name = name or str(turn)
    about = {"pair": name, "tool": more.pop("tool", "look")}
    return (
        Arrival(turn, f"call-{name}", Kind.TOOL_CALL, call, 1.0, **about),
        Arrival(turn, f"result-{name}", kind, result, 1.0, time=1.0, **about, **more),
    )
