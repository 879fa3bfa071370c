"""An agent whose history a policy keeps small, with a model that only plays its part.

It reads six files of a repository that is made up, one after the other, then asks for a name it met
in the first. The loop is that of any agent: it keeps the whole history, and sends what `request`
makes of it. Run it with ``python examples/live_agent.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import policies

BUDGET = 3_000
FILES = {
    f"/repo/part_{number}.py": "\n".join(
        f"def handler_{number}_{line}(event):\n    return event.field_{line}" for line in range(60)
    )
    for number in range(6)
}
TOOLS = [{"name": "Read", "input_schema": {"type": "object"}}]


def run_tool(name: str, arguments: Any) -> str:
    """Read a file of the repository."""
    return FILES[arguments["path"]]


def model() -> Iterator[dict[str, Any]]:
    """Answer request after request, as the API would: read every file, then speak of the first."""
    for number, path in enumerate(FILES):
        call = {"type": "tool_use", "id": f"use_{number}", "name": "Read", "input": {"path": path}}
        yield {"role": "assistant", "content": [{"type": "text", "text": "Next."}, call]}
    text = "Where is `handler_0_17` called?"
    yield {"role": "assistant", "content": [{"type": "text", "text": text}]}
    yield {"role": "assistant", "content": [{"type": "text", "text": "Nowhere."}]}


def main() -> None:
    agent = policies.adapt("tag-or-drop", budget=BUDGET, tools=TOOLS, read=run_tool)
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Find what is never called."}]
    answers = model()
    for call in range(1, len(FILES) + 3):
        request = agent.request(messages)
        print(f"call {call}: {len(messages)} messages, {len(request)} sent, {agent.tokens} tokens")
        answer = next(answers)
        messages.append(answer)
        calls = [block for block in answer["content"] if block["type"] == "tool_use"]
        results = [
            {
                "type": "tool_result",
                "tool_use_id": use["id"],
                "content": run_tool(use["name"], use["input"]),
            }
            for use in calls
        ]
        messages.append({"role": "user", "content": results or "Go on."})
    print(*agent.why("use_0"), sep="\n")
    metrics = agent.metrics()
    print(f"{metrics['calls']} calls, ${metrics['total_cost_usd']:.4f} by the simulator's books")


if __name__ == "__main__":
    main()
