"""A stack of whatever language, as test runners put it into their reports."""

from __future__ import annotations

from collections.abc import Hashable

from policies.reducers import java_stack, js_stack, tracebacks
from policies.reducers.java_stack import JvmStack
from policies.reducers.js_stack import Stack
from policies.reducers.tracebacks import Frame

__all__ = ["key_of", "own_frame", "read"]


def read(text: str) -> Stack | None:
    """Return the stack that *text* holds, None if it is blank.

    It is a traceback of Python or of pytest, a stack trace of the JVM, or a stack of JavaScript;
    where there is none of them, all of *text* is the message.
    """
    if 'File "' in text:
        traceback = tracebacks.read(text)
        if traceback and traceback.frames:
            return Stack(traceback.frames, traceback.type, traceback.message)
    if java_stack.FRAME.search(text):
        jvm = java_stack.read(text)
        if jvm and any(frame.line for frame in jvm.frames):
            return jvm
    frames, kind = tracebacks.pytest_frames(text)
    if frames and (kind or _marked(text)):
        return Stack(frames, kind, _marked(text) or tuple(text.strip().split("\n")[:1]))
    return js_stack.read(text)


def own_frame(stack: Stack) -> Frame | None:
    """Return the frame in the project where *stack* was thrown, None if no frame is there."""
    if not isinstance(stack, JvmStack) and _of_python(stack):
        frame = tracebacks.innermost(stack.frames)
        return frame if frame and tracebacks.in_project(frame.file) else None
    return stack.innermost


def key_of(stack: Stack, frame: Frame) -> tuple[Hashable, ...]:
    """Return what makes the failure at *frame* distinct: its place and the type of the error.

    A file of Java is named without its folder, so there the class belongs to the place.
    """
    where = frame.name.rpartition(".")[0] if isinstance(stack, JvmStack) else ""
    return (where, frame.file, frame.line, stack.type)


def _of_python(stack: Stack) -> bool:
    return any(frame.file.endswith((".py", ".pyi", ".pyx", ">")) for frame in stack.frames)


def _marked(text: str) -> tuple[str, ...]:
    """Return the lines that pytest marks with an E, without the mark."""
    return tuple(line[1:].strip() for line in text.split("\n") if line.startswith("E  "))
