"""Records a session on the invented repository, in the shape that Claude Code writes."""

from __future__ import annotations

import json
import re
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from demo_repository import FILES

ROOT = "/srv/tidewatch"
HIDDEN_TOKENS = 15_400
"""System prompt and tools, which this format does not record."""
CACHE_SECONDS = 300

Block = dict[str, Any]


class Recorder:
    """Carries out the session on the invented repository and keeps its lines."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._files = dict(FILES)
        self._clock = datetime(2026, 3, 4, 9, 12, 5, tzinfo=UTC)
        self._parent: str | None = None
        self._calls = self._messages = 0
        self._prompt_bytes = self._cached_bytes = 0
        self._last_call = self._clock

    # -- the three kinds of lines ----------------------------------------------------------

    def user(self, text: str, after: float) -> None:
        """The user writes, *after* seconds of pause."""
        self._pass(after)
        self._line("user", {"role": "user", "content": text})

    def turn(self, seconds: float, *blocks: Block) -> None:
        """One model call: *blocks* are its thinking, text and tool calls, with their results."""
        usage = self._usage()
        self._messages += 1
        name = f"msg_demo{self._messages:04}"
        results = [(b.pop("result"), b.pop("took"), b["id"]) for b in blocks if "result" in b]
        written = sum(len(json.dumps(block)) for block in blocks)
        for number, block in enumerate(blocks, 1):
            self._pass(seconds / len(blocks))
            last = number == len(blocks)
            message = {
                "id": name,
                "type": "message",
                "role": "assistant",
                "model": "claude-demo-1",
                "content": [block],
                "stop_reason": ("tool_use" if results else "end_turn") if last else None,
                "usage": {**usage, "output_tokens": written // 4 if last else 2},
            }
            self._line("assistant", message)
        for text, took, identity in sorted(results, key=lambda result: result[1]):
            block = {"type": "tool_result", "tool_use_id": identity, "content": text}
            before = self._clock
            self._pass(took)
            self._line("user", {"role": "user", "content": [block]})
            if len(results) > 1:
                self._clock = before
        self._pass(max((took for _, took, _ in results), default=0.0) if len(results) > 1 else 0.0)

    def _usage(self) -> dict[str, int]:
        idle = (self._clock - self._last_call).total_seconds()
        cached = 0 if idle > CACHE_SECONDS or not self._cached_bytes else self._cached_bytes
        prompt = HIDDEN_TOKENS * 4 + self._prompt_bytes
        self._last_call, self._cached_bytes = self._clock, prompt
        return {
            "input_tokens": 4,
            "cache_creation_input_tokens": (prompt - cached) // 4,
            "cache_read_input_tokens": cached // 4,
        }

    def _line(self, kind: str, message: dict[str, Any]) -> None:
        name = str(uuid.uuid5(uuid.NAMESPACE_URL, f"line {len(self.lines)}"))
        record = {
            "parentUuid": self._parent,
            "isSidechain": False,
            "userType": "external",
            "cwd": ROOT,
            "sessionId": "demo-session",
            "version": "2.1.0",
            "type": kind,
            "message": message,
            "uuid": name,
            "timestamp": self._clock.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        }
        self.lines.append(json.dumps(record, ensure_ascii=False))
        self._prompt_bytes += len(json.dumps(message.get("content")))
        self._parent = name

    def _pass(self, seconds: float) -> None:
        self._clock += timedelta(seconds=seconds)

    # -- blocks ----------------------------------------------------------------------------

    @staticmethod
    def think(text: str) -> Block:
        return {"type": "thinking", "thinking": text, "signature": "demo"}

    @staticmethod
    def say(text: str) -> Block:
        return {"type": "text", "text": text}

    def _call(self, name: str, arguments: dict[str, Any], result: str, took: float) -> Block:
        self._calls += 1
        return {
            "type": "tool_use",
            "id": f"toolu_demo{self._calls:04}",
            "name": name,
            "input": arguments,
            "result": result,
            "took": took,
        }

    def read(self, path: str, first: int = 1, count: int = 2000) -> Block:
        """Read a file as it is now, with line numbers."""
        lines = self._files[path].splitlines()
        arguments: dict[str, Any] = {"file_path": f"{ROOT}/{path}"}
        if (first, count) != (1, 2000):
            arguments |= {"offset": first, "limit": count}
        shown = lines[first - 1 : first - 1 + count]
        text = "\n".join(f"{first + n:6}→{line}" for n, line in enumerate(shown))
        return self._call("Read", arguments, text, 0.2)

    def edit(self, path: str, old: str, new: str) -> Block:
        """Replace a text that stands in the file once."""
        assert self._files[path].count(old) == 1, (path, old)
        self._files[path] = self._files[path].replace(old, new)
        at = self._files[path][: self._files[path].index(new)].count("\n")
        lines = self._files[path].splitlines()
        first, last = max(0, at - 3), at + new.count("\n") + 4
        snippet = "\n".join(f"{n + 1:6}→{lines[n]}" for n in range(first, min(last, len(lines))))
        where = f"{ROOT}/{path}"
        text = f"The file {where} has been updated. Here's a snippet of the result:\n{snippet}"
        arguments = {"file_path": where, "old_string": old, "new_string": new}
        return self._call("Edit", arguments, text, 0.3)

    def write(self, path: str, text: str) -> Block:
        """Write a whole file."""
        self._files[path] = text
        where = f"{ROOT}/{path}"
        result = f"File created successfully at: {where}"
        return self._call("Write", {"file_path": where, "content": text}, result, 0.3)

    def grep(self, pattern: str, under: str = "") -> Block:
        """Search the repository for a regular expression."""
        found = [
            f"{path}:{number}:{line}"
            for path, text in sorted(self._files.items())
            if path.startswith(under)
            for number, line in enumerate(text.splitlines(), 1)
            if re.search(pattern, line)
        ]
        arguments = {"pattern": pattern, "output_mode": "content", "-n": True}
        if under:
            arguments["path"] = f"{ROOT}/{under}"
        return self._call("Grep", arguments, "\n".join(found) or "No matches found", 0.4)

    def bash(self, command: str, output: str, took: float) -> Block:
        """Run a command whose output is written out here."""
        return self._call("Bash", {"command": command}, output, took)

    def tests(self, passed: int, failures: str = "", took: float = 21.0, path: str = "") -> Block:
        """Run the tests; *failures* is what pytest prints about those that failed."""
        failed = failures.count("\n____")
        head = f"collected {passed + failed} items\n\n"
        dots = "." * passed + "F" * failed
        summary = f"{failed} failed, {passed} passed" if failed else f"{passed} passed"
        body = f"\n=== FAILURES ===\n{failures}" if failed else ""
        output = f"{head}{path or 'tests'} {dots}\n{body}\n=== {summary} in {took - 1.4:.2f}s ==="
        return self.bash(f"python -m pytest -q {path}".strip(), output, took)
