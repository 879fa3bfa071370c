"""Stack traces of the JVM: their frames, what was thrown, its causes, and the project's frame."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from policies.reducers.js_stack import Stack
from policies.reducers.tracebacks import Frame

__all__ = ["FRAME", "JvmStack", "in_project", "innermost", "read", "thrown_type"]

FRAME = re.compile(
    r"^(?:[\w.-]{1,60} {0,20}\| ?|\[[A-Z]{4,7}\] )?+[ \t|│]*+at (?P<name>[^()\n]{1,400})"
    r"\((?P<where>[\w$-]{1,120}\.[a-z]{1,10}(?::\d{1,9})?|Native Method|Unknown Source"
    r"|SourceFile:\d{1,9}|<\w{1,30}>)\)(?:[ \t]~?\[[^\]\n]{0,300}\])?[ \t]*+$",
    re.MULTILINE,
)
"""A frame, as Throwable.printStackTrace prints it, with a logger's mention of the archive."""

CAUSE = re.compile(
    r"^(?:[\w.-]{1,60} {0,20}\| ?|\[[A-Z]{4,7}\] )?+[ \t|│]*+"
    r"(?:Caused by|Wrapped by): (?P<said>[^\n]++)$",
    re.MULTILINE,
)
"""The line that begins a cause."""

_THROWN = re.compile(
    r"(?:Exception in thread \"[^\"\n]{0,200}\" )?"
    r"(?P<type>(?:[A-Za-z_]\w{0,80}\.){0,20}[A-Za-z_][\w$]{0,120})(?=:|$|\s*$)"
)
_NAMED = re.compile(
    r"(?:Exception|Error|Throwable|Failure|Failed|Abort|Timeout|Violation|NotFound|Condition\w*)$"
)
_LIBRARIES = (
    "java.", "javax.", "jdk.", "sun.", "com.sun.", "jakarta.", "kotlin.", "kotlinx.", "scala.",
    "groovy.", "clojure.", "org.codehaus.groovy.", "org.apache.groovy.", "org.gradle.",
    "org.junit.", "junit.", "org.testng.", "org.mockito.", "net.bytebuddy.", "org.hamcrest.",
    "org.assertj.", "org.opentest4j.", "com.google.common.", "com.google.inject.", "org.scalatest.",
    "org.spockframework.", "io.kotest.", "io.mockk.", "org.apache.maven.", "org.codehaus.plexus.",
    "org.springframework.", "org.hibernate.", "io.netty.", "reactor.", "io.reactivex.", "akka.",
    "org.apache.tomcat.", "org.apache.catalina.", "org.apache.coyote.", "org.eclipse.jetty.",
    "org.jboss.", "org.wildfly.", "io.undertow.", "com.intellij.rt.", "org.eclipse.jdt.",
    "org.eclipse.core.", "org.eclipse.osgi.", "org.eclipse.equinox.", "org.eclipse.tycho.",
    "org.osgi.", "com.fasterxml.jackson.", "org.apache.commons.", "org.apache.logging.",
    "org.slf4j.", "ch.qos.logback.", "com.zaxxer.hikari.", "org.postgresql.", "com.mysql.",
    "okhttp3.", "retrofit2.", "android.", "androidx.", "com.android.", "dalvik.",
    "hudson.remoting.", "org.robolectric.", "io.micronaut.", "io.quarkus.", "sbt.", "xsbt.",
    "com.gradle.", "worker.org.gradle.", "org.aspectj.", "com.sun.proxy.", "$Proxy",
)  # fmt: skip
"""Packages of the platform and of what many projects are built on: not a project's own."""


class JvmStack(Stack):
    """The frames of a throwable and of its causes, outermost first, and what was thrown.

    *type* is that of the last cause, *message* its line, then those of what it was wrapped in.
    """

    __slots__ = ()

    @property
    def innermost(self) -> Frame | None:
        """The frame in the project where the last cause was thrown; None if no frame is."""
        return innermost(self.frames)


def innermost(frames: Sequence[Frame]) -> Frame | None:
    """Return the last of *frames*, outermost first, that is not a library's."""
    return next((each for each in reversed(frames) if in_project(each.name, each.file)), None)


@lru_cache(maxsize=4096)
def in_project(name: str, file: str) -> bool:
    """Whether the method *name*, with its class and package, is in the project, by its package.

    A method without a source (generated, native) is not.
    """
    if file in ("Native Method", "Unknown Source", "<generated>"):
        return False
    name = name.rpartition("/")[2]
    return not name.startswith(_LIBRARIES)


def _frame(match: re.Match[str]) -> Frame:
    file, _, line = match["where"].rpartition(":")
    if not file or not line.isdecimal():
        return Frame(match["where"], 0, match["name"])
    return Frame(file, int(line[:9]), match["name"])


def read(text: str) -> JvmStack | None:
    """Return the stack trace *text* holds; None without a frame.

    *text* is one throwable with its causes and no more.
    """
    first = FRAME.search(text)
    if first is None:
        return None
    said = _said(text[: first.start()])
    causes = list(CAUSE.finditer(text, first.end()))
    starts = [0, *(match.start() for match in causes)]
    parts = [text[at:stop] for at, stop in zip(starts, [*starts[1:], len(text)], strict=True)]
    frames = [[_frame(match) for match in FRAME.finditer(part)] for part in parts]
    every = [frame for part in frames for frame in reversed(part)]
    ordered = _from_project([frame for frame in every if frame.line] or every)
    lines = [match["said"].strip() for match in causes[::-1]]
    kind = next((found for line in (*lines[:1], *said) if (found := thrown_type(line))), "")
    wrapped = [f"the cause of: {line}" for line in (*lines[1:], *said[:1])] if lines else said
    return JvmStack(ordered, kind, (*lines[:1], *wrapped))


def _from_project(frames: Sequence[Frame]) -> tuple[Frame, ...]:
    """Return *frames*, outermost first, without the libraries' that called the project."""
    own = (number for number, frame in enumerate(frames) if in_project(frame.name, frame.file))
    return tuple(frames[next(own, 0) :])


def _said(text: str) -> list[str]:
    """Return the lines of what was thrown, the line that names its type first."""
    lines = [line.strip() for line in text.split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    for at in range(len(lines) - 1, -1, -1):
        if thrown_type(lines[at]):
            return lines[at:]
    return lines


def thrown_type(line: str) -> str:
    """Return the name of the throwable with which *line* begins, "" if it begins with none."""
    found = _THROWN.match(line.strip()[:600])
    if found and ("." in found["type"] or _NAMED.search(found["type"])):
        return found["type"]
    return ""
