"""What the readers of JavaScript's test runners share: a stack as a failure, figures, repeats."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable

from policies.reducers.js_stack import Stack
from policies.reducers.testrun import Failure

__all__ = ["failure", "figures", "once", "test_name"]

_COUNT = re.compile(r"(?P<number>\d{1,12}) (?P<noun>[a-z]{2,20})")
_TIMES = re.compile(r"\d{1,9}(?:[.,]\d{1,9})?(?:ms|s|m|h| ms| s| m| h)")


def failure(name: str, run: Hashable, stack: Stack | None, also: tuple[str, ...] = ()) -> Failure:
    """Return the failure of test *name* of *run*, of one key with those of the same place.

    Without a frame in the project it is a failure of its own.
    """
    if stack is None:
        return Failure(name, (run, name, also), also=also)
    inner = stack.innermost
    key: Hashable = (run, inner.file, inner.line, stack.type) if inner else (run, name, also)
    place = inner.place if inner else ""
    return Failure(name, key, stack.message, stack.type, place, stack.frames, also)


def once(failures: Iterable[Failure]) -> list[Failure]:
    """Return *failures* without those of the same test that are the same failure: repeats."""
    return list({(each.name, each.key): each for each in reversed(list(failures))}.values())[::-1]


def figures(text: str) -> dict[str, int]:
    """Return the counts in *text* by noun, as in ``2 failed, 5 passed``."""
    return {match["noun"]: int(match["number"]) for match in _COUNT.finditer(text)}


def test_name(text: str) -> str:
    """Return the name of a test from a line of progress: without what it took and was retried."""
    text = text.strip()
    for opener in (" (retry x", " (repeat x"):
        text = text.partition(opener)[0]
    head, _, end = text.rpartition(" ")
    if head and _TIMES.fullmatch(end):
        return head.rstrip()
    if text.endswith(")"):
        head, _, end = text.rpartition(" (")
        if head and _TIMES.fullmatch(end[:-1]):
            return head.rstrip()
    return text
