"""The caller's history: a list of messages that grows at its end, and what of it is new."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from scenarios.transcripts.findings import shown
from sim.errors import InputError

__all__ = ["History", "plain"]

_MARK = "cache_control"
"""What may change in a message that was sent: a cache mark moves from call to call."""


class History:
    """The messages so far, checked to be those of the last request with more behind them.

    *messages* are the caller's own; *plain* the same as plain JSON values, in which objects of a
    provider's library are the fields they were given.
    """

    def __init__(self) -> None:
        self.messages: Sequence[Any] = ()
        self.plain: list[dict[str, Any]] = []
        self._digests: list[bytes] = []

    def take(self, messages: Any) -> int:
        """Take in the whole history as it is now and return how many messages are new.

        Raises InputError where it is no list of messages, is empty, or where a message that was
        there is gone or another than it was; the history then stays as it was.
        """
        read = [_message(number, each) for number, each in enumerate(_listed(messages), 1)]
        digests = [_digest(number, each) for number, each in enumerate(read, 1)]
        known = len(self._digests)
        for number, (before, after) in enumerate(zip(self._digests, digests, strict=False), 1):
            if before != after:
                raise InputError(
                    f"message {number} is another than in the last request; a history only grows "
                    "at its end"
                )
        if len(digests) < known:
            raise InputError(
                f"the history has {len(digests)} messages and had {known}; it only grows at its end"
            )
        self.messages, self.plain, self._digests = messages, read, digests
        return len(digests) - known


def _listed(messages: Any) -> Sequence[Any]:
    if not isinstance(messages, list | tuple):
        raise InputError(f"a history is a list of messages, not {shown(type(messages).__name__)}")
    if not messages:
        raise InputError("the history is empty: a request needs a message")
    return messages


def _message(number: int, message: Any) -> dict[str, Any]:
    """Return a message as plain values; raises InputError where it has not the form of one."""
    try:
        read = plain(message)
    except (RecursionError, ValueError):
        raise InputError(f"message {number} is nested too deeply") from None
    if not isinstance(read, dict) or not isinstance(read.get("role"), str):
        raise InputError(f"message {number} is no message: it has no role")
    content = read.get("content")
    if content is not None and not isinstance(content, str | list):
        raise InputError(f"message {number}: its content is neither text nor a list")
    if isinstance(content, list) and not all(isinstance(block, dict) for block in content):
        raise InputError(f"message {number}: a part of its content is no object")
    calls = read.get("tool_calls")
    if calls is not None and not isinstance(calls, list):
        raise InputError(f"message {number}: its tool calls are no list")
    return read


def plain(value: Any) -> Any:
    """Return *value* as plain JSON values.

    An object of a provider's library gives its fields by ``model_dump``.
    """
    if isinstance(value, str | int | float | bool) or value is None:
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return plain(dump(mode="json", exclude_unset=True))
    raise InputError(f"a message holds {shown(type(value).__name__)}, which is no JSON value")


def _digest(number: int, message: dict[str, Any]) -> bytes:
    """Return the hash of a message, its cache marks left out."""
    try:
        text = json.dumps(_unmarked(message), sort_keys=True)
    except RecursionError:
        raise InputError(f"message {number} is nested too deeply") from None
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _unmarked(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _unmarked(each) for key, each in value.items() if key != _MARK}
    return [_unmarked(each) for each in value] if isinstance(value, list) else value
