"""The loops of docs/live.md and the example, run with models that play their part."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.live.made import TOOLS
from tests.support.requests import faults

ROOT = Path(__file__).resolve().parents[2]
LOOPS = re.findall(r"```python\n(.*?)```", (ROOT / "docs/live.md").read_text("utf-8"), re.S)


class Object(SimpleNamespace):
    """An object of a provider's library, as far as the loops use it."""

    def model_dump(self, **how):
        return {
            key: value.model_dump() if isinstance(value, Object) else value
            for key, value in vars(self).items()
        }


class Client:
    """Calls a tool twice, then says that it is done; looks at what it is sent."""

    def __init__(self, format):
        self.format = format
        self.sent = []
        self.messages = SimpleNamespace(create=self._anthropic)
        self.chat = SimpleNamespace(completions=SimpleNamespace(create=self._openai))

    def _met(self, messages):
        plain = [m.model_dump() if isinstance(m, Object) else m for m in messages]
        plain = [{**m, "content": self._content(m.get("content"))} for m in plain]
        if self.format == "openai":
            for message in plain:
                calls = message.get("tool_calls")
                if calls:
                    message["tool_calls"] = [call.model_dump() for call in calls]
        assert faults(self.format, plain) == []
        self.sent.append(plain)

    def _content(self, content):
        if not isinstance(content, list):
            return content
        return [b.model_dump() if isinstance(b, Object) else b for b in content]

    def _anthropic(self, messages, **more):
        self._met(messages)
        number = len(self.sent)
        if number > 2:
            return SimpleNamespace(content=[Object(type="text", text="done")])
        use = Object(type="tool_use", id=f"u{number}", name="Read", input={"path": f"{number}.py"})
        return SimpleNamespace(content=[use])

    def _openai(self, messages, **more):
        self._met(messages)
        number = len(self.sent)
        message = Object(role="assistant", content="done")
        message.tool_calls = None
        if number <= 2:
            called = Object(name="Read", arguments=f'{{"path": "{number}.py"}}')
            call = Object(id=f"u{number}", type="function", function=called)
            message = Object(role="assistant", content=None, tool_calls=[call])
        return SimpleNamespace(choices=[SimpleNamespace(message=message)])


@pytest.mark.parametrize(("format", "loop"), [*zip(("anthropic", "openai"), LOOPS, strict=True)])
def test_the_loops(format, loop):
    client = Client(format)
    asked = []

    def run_tool(name, arguments):
        asked.append((name, arguments))
        return f"the text of {arguments['path']}"

    given = {"client": client, "run_tool": run_tool, "MODEL": "m", "SYSTEM": "be good"}
    exec(loop, {**given, "TOOLS": TOOLS[format]})
    assert asked == [("Read", {"path": "1.py"}), ("Read", {"path": "2.py"})]
    assert len(client.sent) == 3


# Its six files have about 950 tokens each: three are in the window, and the first comes back.
def test_the_example():
    run = subprocess.run(
        [sys.executable, "examples/live_agent.py"],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    lines = run.stdout.splitlines()
    calls = [re.fullmatch(r"call (\d): (\d+) messages, (\d+) sent, (\d+) tokens", x) for x in lines]
    found = [tuple(map(int, match.groups())) for match in calls if match]
    assert [(call, messages) for call, messages, *_ in found] == [
        (call, 2 * call - 1) for call in range(1, 9)
    ]
    assert all(tokens <= 3_000 for *_, tokens in found)
    assert found[-1][2] < found[-1][1]
    assert "file-1, turn 7: was brought back" in lines
