"""OpenHands completion logs as requests: which messages each one had, and where its marks stood.

Each log holds a whole request, so its prefix is known message by message. Sizes are the recorded
ones: what a request has more than the one before is shared out by length among its new messages.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from bench.gates.calls import MINUTES_5, Call
from bench.gates.recorded.arms import BEYOND, CONTINUES, FIRST, Arm, Replayed
from bench.gates.replaying import MINIMUM
from sim.prefix_cache import MAX_BREAKPOINTS, PrefixCache, Prompt, make_cache
from sim.prices import CacheRules

__all__ = ["Part", "Request", "arms", "requests"]

LOOKBACK = 20
"""Positions before a mark that are searched, by today's rule."""

_KINDS = {"assistant": "assistant", "system": "system", "tool": "tool_result", "user": "user"}


@dataclass(frozen=True, slots=True)
class Part:
    """A message, or the list of tools, by its content, with its tokens."""

    key: str
    tokens: int
    kind: str


@dataclass(frozen=True, slots=True)
class Request:
    """One recorded request; *read* is None where the backend does not say what it read.

    *marks* are numbers of leading parts after which a breakpoint stood; *time* is in seconds.
    """

    run: str
    backend: str
    time: float
    tokens: int
    read: int | None
    parts: tuple[Part, ...]
    marks: tuple[int, ...]


def requests(run: str, documents: Iterable[Mapping[str, Any]]) -> Iterator[Request]:
    """Yield the requests of a run; a document without usage or time is passed over."""
    parts: list[Part] = []
    for document in documents:
        response = document["response"]
        usage, time = response.get("usage"), document.get("timestamp")
        tokens = usage.get("prompt_tokens") if isinstance(usage, dict) else None
        if not isinstance(tokens, int) or not isinstance(time, int | float):
            continue
        content = _content(document)
        marks = [number for number, (_, _, marked) in enumerate(content, 1) if marked]
        parts = _sized(parts, [(text, kind) for text, kind, _ in content], tokens)
        yield Request(
            run,
            str(response.get("model")),
            float(time),
            tokens,
            _read(usage),
            tuple(parts),
            tuple(marks[-MAX_BREAKPOINTS:]),
        )


def _read(usage: Mapping[str, Any]) -> int | None:
    details = usage.get("prompt_tokens_details")
    read = details.get("cached_tokens") if isinstance(details, dict) else None
    if read is None:
        read = usage.get("cache_read_input_tokens")
    return read if isinstance(read, int) else None


def _content(document: Mapping[str, Any]) -> list[tuple[str, str, bool]]:
    """Return the text, kind and mark of the tools, if there are any, and of every message."""
    arguments = document.get("kwargs")
    tools = arguments.get("tools") if isinstance(arguments, dict) else None
    found = [(json.dumps(tools), "tools", False)] if tools else []
    for message in document["messages"]:
        bare, marked = _unmarked(message)
        role = message.get("role") if isinstance(message, dict) else None
        found.append((json.dumps(bare), _KINDS.get(str(role), "user"), marked))
    return found


def _unmarked(value: Any) -> tuple[Any, bool]:
    """Return *value* without cache marks, in the shape that does not depend on them, and if any."""
    if isinstance(value, list):
        items = [_unmarked(item) for item in value]
        bare: Any = [item for item, _ in items]
        if all(isinstance(item, dict) and item.keys() == {"type", "text"} for item in bare):
            bare = "\n".join(str(item["text"]) for item in bare)
        return bare, any(marked for _, marked in items)
    if isinstance(value, dict):
        pairs = {key: _unmarked(item) for key, item in value.items() if key != "cache_control"}
        marked = "cache_control" in value or any(marked for _, marked in pairs.values())
        return {key: item for key, (item, _) in pairs.items()}, marked
    return value, False


def _sized(before: Sequence[Part], content: Sequence[tuple[str, str]], tokens: int) -> list[Part]:
    """Return the parts of a request of so many *tokens*; those it shares keep their size."""
    keys = [
        blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
        for text, _ in content
    ]
    same = 0
    while same < min(len(before), len(keys)) and before[same].key == keys[same]:
        same += 1
    parts = list(before[:same])
    left = max(0, tokens - sum(part.tokens for part in parts))
    length = sum(len(text) for text, _ in content[same:])
    for key, (text, kind) in zip(keys[same:], content[same:], strict=True):
        share = left * len(text) // length if length else 0
        parts.append(Part(key, share, kind))
        left, length = left - share, length - len(text)
    return parts


def arms(found: Sequence[Request]) -> Iterator[Arm]:
    """Yield what was read under each reading of the backends and of the look-back."""
    reported = [request for request in found if request.read is not None]
    if reported:
        for lookback in (LOOKBACK, 0):
            about = f"a cache a backend, look-back {lookback}"
            yield Arm("openhands", about, tuple(_replayed(reported, lookback, apart=True)))
    if len(reported) < len(found):
        about = f"one cache for all backends, look-back {LOOKBACK}, reads not reported are 0"
        yield Arm("openhands", about, tuple(_replayed(found, LOOKBACK, apart=False)))


def _replayed(found: Iterable[Request], lookback: int, apart: bool) -> Iterator[Replayed]:
    rules = CacheRules("breakpoints", MINIMUM, ttl=MINUTES_5, lookback=lookback)
    caches: dict[tuple[str, str], tuple[PrefixCache, Prompt]] = {}
    last: dict[tuple[str, str], float] = {}
    for request in found:
        server = (request.run, request.backend if apart else "")
        if server not in caches:
            cache = make_cache(rules)
            caches[server] = cache, cache.prompt()
        cache, prompt = caches[server]
        gap = request.time - last[server] if server in last else None
        last[server] = request.time
        _follow(prompt, request.parts)
        predicted = cache.call(prompt, request.time, request.marks).read
        call = Call(max(1, request.tokens), request.read or 0, gap, request.time)
        situation = FIRST if gap is None else BEYOND if gap >= MINUTES_5 else CONTINUES
        yield Replayed(request.run, situation, call, predicted)


def _follow(prompt: Prompt, parts: Sequence[Part]) -> None:
    """Make *prompt* the request of these parts."""
    same = 0
    for node, part in zip(prompt.path[1:], parts, strict=False):
        if node.edge[1:] != (part.key, 0, part.tokens):
            break
        same += 1
    prompt.truncate(same)
    for part in parts[same:]:
        prompt.append(part.key, 0, part.tokens, part.kind)
