"""Roles: what is current in the loop, and what has been superseded."""

from __future__ import annotations

from typing import Any

from sim.roles import Roles
from sim.segments import Kind, Segment
from tests.sim.build import segment


def result(name: str, tool: str, *names: str, **fields: Any) -> Segment:
    return segment(name, kind=Kind.TOOL_RESULT, tool=tool, names=names, **fields)


def word(name: str, attempt: int, kind: Kind = Kind.ASSISTANT) -> Segment:
    return segment(name, kind=kind, attempt=attempt)


def test_a_newer_result_supersedes_the_older_one_of_its_tool_alone() -> None:
    roles, lint, check = Roles(), result("l1", "lint"), result("c1", "check")
    roles.arrive(lint)
    roles.arrive(check)
    assert not lint.superseded
    changed, _ = roles.arrive(result("l2", "lint"))
    assert lint in changed
    assert (lint.superseded, check.superseded) == (True, False)
    assert roles.latest("check") is check
    assert roles.latest("lint") is not lint
    assert roles.latest("tests") is None


def test_the_last_to_finish_of_any_tool_overtakes() -> None:
    roles, lint, check = Roles(), result("l1", "lint"), result("c1", "check")
    roles.arrive(lint)
    assert roles.last_result is lint
    assert not lint.overtaken
    changed, _ = roles.arrive(check)
    assert (lint in changed, lint.overtaken, check.overtaken) == (True, True, False)
    assert roles.last_result is check


def test_a_call_is_no_result() -> None:
    roles = Roles()
    roles.arrive(segment("c", kind=Kind.TOOL_CALL, tool="lint"))
    assert roles.latest("lint") is None


def test_only_current_diagnostics_name_a_path() -> None:
    roles = Roles()
    roles.arrive(result("l1", "lint", "a.py", "b.py"))
    roles.arrive(result("c1", "check", "b.py"))
    _, paths = roles.arrive(result("l2", "lint", "c.py"))
    assert set(paths) == {"a.py", "b.py", "c.py"}
    assert [p for p in ("a.py", "b.py", "c.py") if roles.named(p)] == ["b.py", "c.py"]
    assert not roles.named(None)
    roles.arrive(result("c2", "check"))
    assert not roles.named("b.py")


def test_a_newer_attempt_supersedes_words_and_diff() -> None:
    roles = Roles()
    say, diff = word("say", 1), word("diff", 1, Kind.DIFF)
    think, read = word("think", 1, Kind.THINKING), word("read", 1, Kind.FILE)
    for it in (say, diff, think, read):
        roles.arrive(it)
    assert roles.words(1) == [say, diff, think]
    changed, _ = roles.arrive(word("say2", 2))
    assert changed == [say, diff, think]
    assert all(s.superseded for s in changed)
    assert not read.superseded
    assert roles.attempt == 2
    assert roles.words(3) == []


def test_an_attempt_begins_once() -> None:
    roles = Roles()
    roles.arrive(word("say", 1))
    assert roles.begin(1) == ([], [])
    superseded, _ = roles.begin(2)
    assert [s.id for s in superseded] == ["say"]
    assert roles.begin(2) == ([], [])
    late = word("late", 1)
    roles.arrive(late)
    assert late.superseded


def test_written_files_belong_to_the_attempt() -> None:
    roles = Roles()
    roles.begin(1)
    roles.write("b.py")
    roles.write("a.py")
    roles.write("b.py")
    assert list(roles.written) == ["b.py", "a.py"]
    _, paths = roles.begin(2)
    assert paths == ["b.py", "a.py"]
    assert not roles.written
