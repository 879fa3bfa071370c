"""Histories of an agent, made by seed, in both formats; and recorded ones brought into them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

DATA = Path(__file__).resolve().parents[3] / "shared/data/transcripts"

IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
IMAGE_URL = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}

TOOLS = {
    "anthropic": [{"name": "Read", "input_schema": {"type": "object"}}],
    "openai": [{"type": "function", "function": {"name": "Read", "parameters": {}}}],
}


def steps(seed: int, calls: int = 25) -> Iterator[dict[str, Any]]:
    """Yield what happens: a message of the user, or a call with what it says, asks and gets.

    Files are read, read again unchanged, and written; what was read is spoken of later; calls come
    side by side; thoughts, images and messages beside results are among it.
    """
    random = Random(seed)
    versions = dict.fromkeys(range(6), 0)
    yield {"user": f"Repair the importer. Order {seed}. " + "Mind the style. " * 20, "image": 0}
    made = 0
    for number in range(calls):
        uses = []
        for _ in range(random.choice((0, 1, 1, 1, 2, 3))):
            made += 1
            what, file = random.random(), random.randrange(6)
            path = f"/repo/src/module_{file}.py"
            if what < 0.55:
                text = _file(file, versions[file])
                uses.append((f"use_{made}", "Read", {"file_path": path}, text, 0))
            elif what < 0.7:
                versions[file] += 1
                arguments = {"file_path": path, "content": _file(file, versions[file])}
                uses.append((f"use_{made}", "Write", arguments, "The file has been written.", 0))
            else:
                log = "\n".join(f"case_{made}_{n} passed in {n} ms" for n in range(40))
                images = int(random.random() < 0.15)
                uses.append((f"use_{made}", "Bash", {"command": f"pytest -k {made}"}, log, images))
        file, version = random.randrange(6), random.randrange(3)
        mention = f"handler_{file}_{version}_{random.randrange(30)}"
        yield {
            "thought": "Where is it?" if random.random() < 0.4 else "",
            "said": f"Step {number}: I look at `{mention}` now." if random.random() < 0.8 else "",
            "uses": uses,
            "beside": "Please be quick." if uses and random.random() < 0.2 else "",
        }
        if not uses:
            image = int(random.random() < 0.2)
            yield {"user": f"Go on with part {number} of it.", "image": image}


def _file(file: int, version: int) -> str:
    return "\n".join(
        f"def handler_{file}_{version}_{n}(event): return event.field_{n}" for n in range(30)
    )


def history(format: str, seed: int, calls: int = 25) -> list[dict[str, Any]]:
    """Return a history in *format*; it ends with what leads up to a call."""
    make = _anthropic if format == "anthropic" else _openai
    out: list[dict[str, Any]] = []
    if format == "openai":
        out.append({"role": "system", "content": "You are an agent."})
    for step in steps(seed, calls):
        out.extend(make(step))
    if out[-1]["role"] == "assistant":
        out.append({"role": "user", "content": "Go on."})
    return out


def _anthropic(step: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "user" in step:
        text = {"type": "text", "text": step["user"]}
        yield {"role": "user", "content": [text, IMAGE] if step["image"] else step["user"]}
        return
    content: list[dict[str, Any]] = []
    if step["thought"]:
        content.append({"type": "thinking", "thinking": step["thought"], "signature": "c2ln"})
    if step["said"] or not step["uses"]:
        content.append({"type": "text", "text": step["said"] or "Hm."})
    for id, name, arguments, _, _ in step["uses"]:
        content.append({"type": "tool_use", "id": id, "name": name, "input": arguments})
    yield {"role": "assistant", "content": content}
    results: list[dict[str, Any]] = []
    for id, _, _, text, images in step["uses"]:
        inner: Any = [{"type": "text", "text": text}, IMAGE] if images else text
        results.append({"type": "tool_result", "tool_use_id": id, "content": inner})
    if step["beside"]:
        results.append({"type": "text", "text": step["beside"]})
    if results:
        yield {"role": "user", "content": results}


def _openai(step: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "user" in step:
        text = {"type": "text", "text": step["user"]}
        yield {"role": "user", "content": [text, IMAGE_URL] if step["image"] else step["user"]}
        return
    message: dict[str, Any] = {"role": "assistant", "content": step["said"] or None}
    if step["thought"]:
        message["reasoning_content"] = step["thought"]
    calls = [
        {
            "id": id,
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        for id, name, arguments, _, _ in step["uses"]
    ]
    if calls:
        message["tool_calls"] = calls
    elif not step["said"]:
        message["content"] = "Hm."
    yield message
    for id, _, _, text, images in step["uses"]:
        inner: Any = [{"type": "text", "text": text}, IMAGE_URL] if images else text
        yield {"role": "tool", "tool_call_id": id, "content": inner}
    if step["beside"]:
        yield {"role": "user", "content": step["beside"]}


def ends(messages: list[dict[str, Any]]) -> list[int]:
    """Return after how many messages each call is made: before an assistant's, and at the end."""
    inner = [n for n in range(1, len(messages)) if messages[n]["role"] == "assistant"]
    return [*inner, len(messages)]


def document(format: str, messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a history as a recording: with what stands beside it, and a last answer."""
    last = {"role": "assistant", "content": "That is all."}
    system = {"system": "You are an agent."} if format == "anthropic" else {}
    return {**system, "tools": TOOLS[format], "messages": [*messages, last]}


def openhands(name: str) -> dict[str, Any]:
    """Return the messages and tools of a recorded run, the exact prompt of its last call."""
    path = DATA / "openhands_llm_completions" / "last_call" / f"{name}.json"
    log = json.loads(path.read_text(encoding="utf-8"))
    return {"tools": log["kwargs"]["tools"], "messages": log["messages"]}


def claude_code(name: str) -> dict[str, Any]:
    """Return a recorded session as the messages that its calls were made with.

    The lines of one call are one message, and so are those of the user between two calls.
    """
    path = DATA / "claude_code_jsonl" / f"{name}.jsonl"
    messages: list[dict[str, Any]] = []
    calls: dict[str, dict[str, Any]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        if record["type"] not in ("user", "assistant") or record.get("isSidechain"):
            continue
        message, content = record["message"], record["message"]["content"]
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        if record["type"] == "assistant" and message["id"] in calls:
            calls[message["id"]]["content"] += content
        elif messages and messages[-1]["role"] == message["role"]:
            messages[-1]["content"] += content
        else:
            messages.append({"role": message["role"], "content": list(content)})
            if record["type"] == "assistant":
                calls[message["id"]] = messages[-1]
    return {"system": "You are an agent.", "messages": messages}
