"""The message formats of providers: what a message is made of, and how one is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from live.dialects import anthropic, openai
from live.dialects.dialect import Dialect
from scenarios.transcripts.formats.anthropic import is_anthropic
from sim.errors import InputError, unknown

__all__ = ["DIALECTS", "Dialect", "dialect_of"]

DIALECTS: Mapping[str, Dialect] = {
    "anthropic": anthropic.Anthropic(),
    "openai": openai.OpenAI(),
}
"""The formats that a live history can have, by name."""


def dialect_of(
    name: str | None, messages: Sequence[Mapping[str, Any]], system: object, tools: object
) -> Dialect:
    """Return the dialect *name*, or without one that of the messages and what goes with them.

    Raises InputError for an unknown name, and where nothing tells the formats apart.
    """
    if name is not None:
        if name not in DIALECTS:
            raise InputError(unknown("format", name, DIALECTS))
        return DIALECTS[name]
    roles = {message["role"] for message in messages}
    if roles & openai.ROLES or any("tool_calls" in message for message in messages):
        return DIALECTS["openai"]
    if _has(tools, "function"):
        return DIALECTS["openai"]
    if system or _has(tools, "input_schema") or is_anthropic(list(messages)):
        return DIALECTS["anthropic"]
    raise InputError(
        "nothing in the messages tells their format; say format='anthropic' or format='openai'"
    )


def _has(tools: object, key: str) -> bool:
    return isinstance(tools, list) and any(isinstance(t, dict) and key in t for t in tools)
