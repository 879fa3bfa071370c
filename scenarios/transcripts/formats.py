"""The formats of recordings that are read, and how a file is recognised: by its content alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scenarios.transcripts import anthropic, claude_code, openai, openhands
from scenarios.transcripts.recording import Recording
from sim.errors import InputError

__all__ = ["Found", "formats", "recognise"]

_LINES = {
    "claude-code": (claude_code.is_claude_code, "Claude Code session, JSONL"),
}
_DOCUMENTS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "openhands": (
        openhands.is_openhands,
        "OpenHands completion logs, one JSON document a call: a directory of them, or the last",
    ),
    "anthropic": (
        anthropic.is_anthropic,
        'Anthropic messages, JSON: a list, or {"system", "tools", "messages"}',
    ),
    "openai": (openai.is_openai, 'OpenAI chat messages, JSON: a list, or {"messages", "tools"}'),
}


def formats() -> list[tuple[str, str]]:
    """Return the name and a description of each format, in the order in which they are tried."""
    return [(name, about) for name, (_, about) in {**_LINES, **_DOCUMENTS}.items()]


@dataclass(frozen=True, slots=True)
class Found:
    """A recognised file; *outline* tells a document of a series by its messages."""

    path: Path
    format: str
    outline: openhands.Outline | None = None


def recognise(path: Path) -> Found:
    """Return what *path* holds; raises InputError that names the formats if it is none."""
    recording = Recording(path)
    sample = recording.sample()
    for name, (matches, _) in _LINES.items():
        if matches(sample):
            return Found(path, name)
    several = len(sample) > 1 and isinstance(sample[0], (dict, list))
    del sample
    try:
        document = recording.document()
    except InputError as error:
        if several:
            raise _unknown(path, None, "; its lines are JSON of another shape") from None
        raise _unknown(path, error.line, f"; {error.message}") from None
    for name, (fits, _) in _DOCUMENTS.items():
        if fits(document):
            outlined = openhands.outline(path, document) if name == "openhands" else None
            return Found(path, name, outlined)
    raise _unknown(path, None, "")


def _unknown(path: Path, line: int | None, why: str) -> InputError:
    known = ", ".join(name for name, _ in formats())
    return InputError(
        f"not a recording in a format that is read here ({known}){why}", file=path, line=line
    )
