"""The formats of recordings that are read, and how a file is recognised: by its content alone."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path

from scenarios.transcripts.formats import (
    aider,
    anthropic,
    claude_code,
    cline,
    codex,
    mooncake,
    openai,
    openhands_completions,
    openhands_events,
    pi,
    qwen_code,
    roo,
    specstory,
    swe_agent,
    tau_bench,
    tracelab,
)
from scenarios.transcripts.formats.format import Format, Seen
from scenarios.transcripts.recording import Recording
from sim.errors import InputError

__all__ = ["FORMATS", "Found", "formats", "get_format", "recognise"]

FORMATS: tuple[Format, ...] = (
    specstory.FORMAT,
    aider.FORMAT,
    roo.FORMAT,
    claude_code.FORMAT,
    codex.FORMAT,
    pi.FORMAT,
    qwen_code.FORMAT,
    openhands_events.FORMAT,
    openhands_completions.FORMAT,
    swe_agent.FORMAT,
    tau_bench.FORMAT,
    mooncake.FORMAT,
    tracelab.FORMAT,
    cline.FORMAT,
    anthropic.FORMAT,
    openai.FORMAT,
)
"""Every format, in the order in which they are tried: the narrower first."""


def formats() -> list[tuple[str, str]]:
    """Return the name and a description of each format, in the order in which they are tried."""
    return [(format.name, format.about) for format in FORMATS]


def get_format(name: str) -> Format:
    """Return the format called *name*."""
    return next(format for format in FORMATS if format.name == name)


@dataclass(frozen=True, slots=True)
class Found:
    """A recognised file; *outline* is what tells which files of a series belong together."""

    path: Path
    format: Format
    outline: Hashable = None


def recognise(path: Path) -> Found:
    """Return what *path* holds; raises InputError if it is none."""
    seen = Seen(Recording(path))
    for format in FORMATS:
        if format.fits(seen):
            series = format.series
            return Found(
                path, format, None if series is None else series.outline(path, seen.document)
            )
    what = "not a recording in a format that is read here (`evictbench replay --list-formats`)"
    fault = seen.fault
    if fault is None:
        raise InputError(what, file=path)
    if len(seen.sample) > 1 and isinstance(seen.sample[0], (dict, list)):
        raise InputError(f"{what}; its lines are JSON of another shape", file=path)
    raise InputError(f"{what}; {fault.message}", file=path, line=fault.line)
