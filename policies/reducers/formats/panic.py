"""Panics of Rust and Go in any log: each distinct one once, with its number and last frames."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from policies.reducers.log import Log
from policies.reducers.tracebacks import Frame
from policies.reducers.traces import Bounds, Trace, Tracer, frame_lines

__all__ = ["REDUCER", "Panic"]

_START = re.compile(
    r"^(?:(?P<rust>[^'\n]{0,200}thread '[^'\n]{1,200}'(?: \(\d{1,9}\))? panicked at )"
    r"|(?P<go>panic: |fatal error: ))",
    re.MULTILINE,
)
_RUST_OLD = re.compile(
    r"'(?P<said>[^\n]*)', (?P<file>[^\n]{1,400}?):(?P<line>\d{1,9})(?::\d{1,9})?$"
)
_RUST = re.compile(r"(?P<file>[^\n]{1,400}?):(?P<line>\d{1,9})(?::\d{1,9})?:?$")
_BELOW = re.compile(r"\s+(?:\d{1,9}: |at )|stack backtrace:|note: |\s+\[\.\.\. omitted \d")
_AT = re.compile(r"\s+at (?P<file>[^\n]{1,400}?):(?P<line>\d{1,9})(?::\d{1,9})?$")
_GOROUTINE = re.compile(r"goroutine \d{1,18}(?: gp=\S{1,40})?(?: m=\S{1,40})?(?: mp=\S{1,40})? \[")
_PLACE = re.compile(r"\t(?P<file>[^\n]{1,400}?):(?P<line>\d{1,9})(?: \+0x[0-9a-f]{1,16})?$")
_CALL = re.compile(r"(?:created by )?[\w./*()\[\]{}·%~-]{1,300}(?:\(|$| in goroutine )")
_OUTSIDE = ("/rustc/", "/.cargo/registry/", "/go/pkg/mod/", "/usr/local/go/", "/usr/lib/go",
            "/go/src/runtime/", "/src/runtime/", "/src/testing/", "/toolchains/", "library/std/",
            "library/core/", "/hostedtoolcache/go/")  # fmt: skip
_MESSAGE = 20
"""Lines a message may have."""
_HEAD = 12
"""Lines after which the first goroutine stands."""


class Panic(Tracer):
    """Panics of programs in Rust and in Go, with or without a backtrace.

    A failure is the innermost frame in the project, for Rust the place of the panic itself if it
    is there. Of a Go program the first goroutine counts, the one that panicked.
    """

    name = "panic"
    hints = ("panicked at ", "panic: ", "fatal error: ")
    noun = "panic"

    def bounds(self, log: Log) -> Iterator[Bounds]:
        """Yield the lines of each panic with its backtrace."""
        stop = 0
        for line, match in log.matching(_START):
            if line < stop:
                continue
            end = _rust_end(log.lines, line) if match["rust"] else _go_end(log.lines, line)
            if end:
                stop = end
                yield Bounds(line, line, end)

    def trace(self, log: Log, at: Bounds) -> Trace | None:
        """Return the panic at those lines."""
        lines = log.lines[at.start : at.stop]
        if "panicked at " in lines[0]:
            return _rust(lines)
        return _go(lines)


def _rust_end(lines: Sequence[str], start: int) -> int:
    """Return the line after the message and the backtrace of the panic at *start*."""
    last = min(len(lines), start + 1 + _MESSAGE)
    rest = lines[start].partition("panicked at ")[2]
    told = next((n for n in range(start + 1, last) if _BELOW.match(lines[n][:400])), None)
    if told is None:
        return min(len(lines), start + (1 if _RUST_OLD.match(rest) else 2))
    while told < len(lines) and _BELOW.match(lines[told][:400]):
        told += 1
    return told


def _rust(lines: Sequence[str]) -> Trace | None:
    rest = lines[0].partition("panicked at ")[2].strip()
    found = _RUST_OLD.match(rest) or _RUST.match(rest)
    if found is None:
        return None
    told = next((n for n in range(1, len(lines)) if _BELOW.match(lines[n][:400])), len(lines))
    said = [found["said"]] if "said" in found.groupdict() else [x.strip() for x in lines[1:told]]
    place = Frame(found["file"], int(found["line"]))
    matches = [match for line in lines[told:] if (match := _AT.match(line))]
    frames = [Frame(m["file"], int(m["line"])) for m in matches]
    own = next((f for f in (place, *frames) if _in_project(f.file)), place)
    frames = frames or [place]
    return Trace((own.file, own.line), said or [rest], own.place, frame_lines(frames[::-1], own))


def _go_end(lines: Sequence[str], start: int) -> int:
    """Return the line after the goroutines below *start*, 0 if there are none."""
    last = min(len(lines), start + _HEAD)
    first = next((n for n in range(start + 1, last) if _GOROUTINE.match(lines[n][:200])), None)
    if first is None:
        return 0
    at = stop = first + 1
    while at < len(lines):
        line = lines[at][:500]
        if _PLACE.match(line) or _GOROUTINE.match(line) or line.startswith("...additional frames"):
            stop = at + 1
        elif line and not (
            _CALL.match(line) and _PLACE.match("".join(lines[at + 1 : at + 2])[:500])
        ):
            break
        at += 1
    if stop < len(lines) and lines[stop].startswith("exit status "):
        stop += 1
    return stop


def _go(lines: Sequence[str]) -> Trace | None:
    said, frames, goroutines = [], [], 0
    for number, line in enumerate(lines):
        goroutines += bool(_GOROUTINE.match(line[:200]))
        if goroutines == 0 and line.strip():
            said.append(line.strip())
        place = _PLACE.match(line[:500]) if goroutines == 1 else None
        if place:
            name = lines[number - 1].partition("(")[0].removeprefix("created by ")
            frames.append(Frame(place["file"], int(place["line"]), name))
    if not frames:
        return None
    own = next((frame for frame in frames if _in_project(frame.file)), frames[0])
    return Trace((own.file, own.line), said, own.place, frame_lines(frames[::-1], own))


def _in_project(file: str) -> bool:
    return not any(part in file for part in _OUTSIDE)


REDUCER = Panic()
