"""The rules that a provider holds a request to, written down from its documentation alone.

Anthropic (Messages API, tool use, extended thinking): the first and the last turn are the user's;
consecutive messages of one role are one turn; no turn is empty and no text block is; every tool_use
is answered in the very next turn, whose first blocks are its results, each once, and no result
stands anywhere else; a call of the provider's own tools stands with its result in one message; at
most four blocks are marked for the cache.

OpenAI (Chat Completions): a message with tool_calls is followed at once by one tool message for
each of their ids, and no tool message stands anywhere else; a message says or calls something.
"""

from __future__ import annotations

from itertools import groupby
from typing import Any


def faults(format: str, messages: list[dict[str, Any]]) -> list[str]:
    """Return what is wrong with a request, a sentence each."""
    if not messages:
        return ["there is no message"]
    return list(_anthropic(messages) if format == "anthropic" else _openai(messages))


def _blocks(content: Any) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content or ())


def _anthropic(messages):
    turns = [
        (role, [block for message in group for block in _blocks(message["content"])])
        for role, group in groupby(messages, key=lambda message: message["role"])
    ]
    if {role for role, _ in turns} - {"user", "assistant"}:
        yield "a role that there is not"
    if turns[0][0] != "user":
        yield "the first turn is not the user's"
    if turns[-1][0] != "user":
        yield "the last turn is not the user's"
    marks = 0
    asked: list[str] = []
    for number, (role, blocks) in enumerate(turns):
        if not blocks:
            yield f"turn {number} is empty"
        marks += sum("cache_control" in block for block in blocks)
        if any(block["type"] == "text" and not block["text"].strip() for block in blocks):
            yield f"turn {number} has a text block without text"
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if any(block["type"] != "tool_result" for block in blocks[: len(results)]):
            yield f"turn {number} has something in front of its results"
        if sorted(results) != sorted(asked):
            yield f"turn {number} answers {results}, asked was {asked}"
        if results and role != "user":
            yield f"turn {number} has results and is the assistant's"
        asked = [block["id"] for block in blocks if block["type"] == "tool_use"]
        if asked and role != "assistant":
            yield f"turn {number} has calls and is the user's"
        served = [block["id"] for block in blocks if block["type"] == "server_tool_use"]
        done = [
            block["tool_use_id"]
            for block in blocks
            if block["type"].endswith("_tool_result") and block["type"] != "tool_result"
        ]
        if sorted(served) != sorted(done):
            yield f"turn {number} has served calls {served} and results {done}"
        if len(set(asked)) != len(asked):
            yield f"turn {number} has a call twice"
    if asked:
        yield "the last calls are not answered"
    if marks > 4:
        yield f"{marks} blocks are marked for the cache"


def _openai(messages):
    open_calls: list[str] = []
    for number, message in enumerate(messages):
        role = message["role"]
        if role == "tool":
            if message["tool_call_id"] not in open_calls:
                yield f"message {number} answers {message['tool_call_id']}, asked was {open_calls}"
            else:
                open_calls.remove(message["tool_call_id"])
            continue
        if open_calls:
            yield f"message {number} comes before {open_calls} are answered"
        open_calls = []
        if role not in ("system", "developer", "user", "assistant"):
            yield f"message {number} has a role that there is not"
        if "tool_calls" in message:
            if role != "assistant" or not message["tool_calls"]:
                yield f"message {number} has no calls to make"
            open_calls = [call["id"] for call in message["tool_calls"]]
            for call in message["tool_calls"]:
                if "function" in call and not isinstance(call["function"]["arguments"], str):
                    yield f"message {number} has arguments that are no text"
        elif message.get("content") is None and not message.get("refusal"):
            yield f"message {number} says nothing"
    if open_calls:
        yield f"{open_calls} are not answered"
