"""The steps of an SWE-agent trajectory: each a model call, with what the history has of it."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from scenarios.transcripts.content import as_text
from scenarios.transcripts.findings import Findings, counted

__all__ = ["Step", "agents", "is_demo", "plain", "steps"]

_LONGEST = 1e7
"""Seconds; a longer time of an action is none."""


@dataclass(slots=True)
class Step:
    """One model call: what led up to it, what the model answered, what the action came back with.

    *sent* is the whole prompt, where the trajectory has it; *before* what the history has between
    the answer before and this one. *follows* is the result as the next prompt holds it.
    """

    response: str
    action: str
    observation: str | None = None
    seconds: float | None = None
    directory: str = ""
    message: dict[str, Any] = field(default_factory=dict)
    before: list[dict[str, Any]] = field(default_factory=list)
    sent: list[Any] | None = None
    follows: str | None = None

    @property
    def result(self) -> str:
        """What the action came back with, as well as it is known."""
        return self.follows if self.follows is not None else self.observation or ""


def plain(content: Any) -> str:
    """Return the text of a message's content, empty where there is none."""
    if isinstance(content, list):
        parts = (as_text(block) for block in content if isinstance(block, dict))
        return "\n".join(part for part in parts if part is not None)
    return content if isinstance(content, str) else ""


def is_demo(message: dict[str, Any]) -> bool:
    """Whether a message is a part of a demonstration, which no call of the session wrote."""
    return message.get("is_demo") is True


def _is_answer(message: dict[str, Any]) -> bool:
    return message.get("role") == "assistant" and not is_demo(message)


def agents(history: list[Any]) -> list[str]:
    """Return the agents of a history that answered, the one with the most answers first."""
    answers: Counter[str] = Counter(
        _agent(message) for message in history if isinstance(message, dict) and _is_answer(message)
    )
    return [agent for agent, _ in answers.most_common()]


def _agent(message: dict[str, Any]) -> str:
    agent = message.get("agent")
    return agent if isinstance(agent, str) else ""


def steps(
    trajectory: list[Any], history: list[Any], agent: str, findings: Findings
) -> tuple[list[Step], list[dict[str, Any]]]:
    """Return the steps of *agent* and what its history holds behind the last."""
    own, unsent = [], 0
    for number, message in enumerate(history, 1):
        if not isinstance(message, dict):
            findings.breaks(f"message {number} of the history is not an object", None)
        elif _agent(message) in ("", agent):
            own.append(message)
        else:
            unsent += is_demo(message)
    if unsent:
        count = counted(unsent, "message", "messages")
        findings.note(
            f"{count} of a demonstration in another agent's name, left out: its prompts have none"
        )
    groups, tail = _groups(own)
    rows = []
    for number, row in enumerate(trajectory, 1):
        if isinstance(row, dict):
            rows.append(_of_row(row))
        else:
            findings.breaks("a step that is not an object", number)
    return _joined(rows, groups, tail), tail


def _groups(messages: list[dict[str, Any]]) -> tuple[list[Step], list[dict[str, Any]]]:
    """Return a step for each answer in the history, and what follows the last."""
    found: list[Step] = []
    before: list[dict[str, Any]] = []
    for message in messages:
        if _is_answer(message):
            response, action = plain(message.get("content")), plain(message.get("action"))
            found.append(Step(response, action, message=message, before=before))
            before = []
        else:
            before.append(message)
    return found, before


def _of_row(row: dict[str, Any]) -> Step:
    observation, sent = row.get("observation"), row.get("query")
    step = Step(
        plain(row.get("response")),
        plain(row.get("action")),
        observation if isinstance(observation, str) else None,
        _seconds(row.get("execution_time")),
        _directory(row.get("state")),
    )
    if not isinstance(sent, list) and isinstance(sent := row.get("messages"), list):
        sent = _until(sent, step.response)
    step.sent = sent if isinstance(sent, list) and sent else None
    return step


def _until(messages: list[Any], response: str) -> list[Any]:
    """Return *messages* without the answer itself, which some versions had added already."""
    for at in range(len(messages) - 1, max(-1, len(messages) - 3), -1):
        message = messages[at]
        if isinstance(message, dict) and message.get("role") == "assistant":
            return messages[:at] if plain(message.get("content")) == response else messages
    return messages


def _seconds(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < _LONGEST else None


def _directory(state: Any) -> str:
    """Return the working directory of a state, which may be JSON in a string."""
    if isinstance(state, str):
        try:
            state = json.loads(state)
        except (ValueError, RecursionError):
            return ""
    directory = state.get("working_dir") if isinstance(state, dict) else None
    return directory if isinstance(directory, str) else ""


def _joined(rows: list[Step], groups: list[Step], tail: list[dict[str, Any]]) -> list[Step]:
    """Return the rows of the trajectory with what the history has of them, in order."""
    found: list[Step] = []
    for row, group in _aligned(rows, groups):
        if row is None:
            assert group is not None
            found.append(group)
        else:
            if group is not None:
                row.message, row.before = group.message, group.before
                row.response = group.response
            found.append(row)
    for step, after in pairwise(found):
        if not step.message and not step.before:
            step.before, after.before = after.before, []
    if found and not found[-1].message and not found[-1].before:
        found[-1].before = tail[:]
        tail.clear()
    for number, step in enumerate(found):
        behind = found[number + 1].before if number + 1 < len(found) else tail
        step.follows = next(
            (plain(m.get("content")) for m in behind if m.get("role") in ("tool", "user")), None
        )
    return found


def _aligned(rows: list[Step], groups: list[Step]) -> Iterator[tuple[Step | None, Step | None]]:
    """Yield rows and groups that are one call, and between them those that have no partner."""
    (row_keys, row_at), (group_keys, group_at) = _keyed(rows), _keyed(groups)
    i = j = 0
    while i < len(rows) and j < len(groups):
        if row_keys[i] != group_keys[j]:
            later = _next(group_at.get(row_keys[i]), j)
            sooner = _next(row_at.get(group_keys[j]), i)
            if sooner is not None and (later is None or sooner - i < later - j):
                yield rows[i], None
                i += 1
                continue
            if later is not None:
                yield None, groups[j]
                j += 1
                continue
        yield rows[i], groups[j]
        i, j = i + 1, j + 1
    yield from ((row, None) for row in rows[i:])
    yield from ((None, group) for group in groups[j:])


_Key = tuple[str, str]


def _keyed(found: list[Step]) -> tuple[list[_Key], dict[_Key, list[int]]]:
    keys = [(step.response.strip(), step.action.strip()) for step in found]
    places: dict[_Key, list[int]] = defaultdict(list)
    for number, key in enumerate(keys):
        places[key].append(number)
    return keys, places


def _next(places: list[int] | None, since: int) -> int | None:
    if places is None:
        return None
    at = bisect_left(places, since)
    return places[at] if at < len(places) else None
