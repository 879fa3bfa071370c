"""Roo Code's logs: messages that were streamed, results in the next request, and its logger."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.scenarios.transcripts.made import by_turn, load, load_all, session_of

SHARED = Path(__file__).parents[5] / "shared/data/transcripts/roo"

DETAILS = "<environment_details>\n# Mode\n</environment_details>"


class Log:
    """A log under way: each message after its time, spread over lines."""

    def __init__(self) -> None:
        self.parts = ["[2026-05-04T10:00:00.000Z] taskStarted -> t-1"]
        self.shown: list[dict[str, Any]] = []

    def put(self, seconds: float, kind: str, what: str, text: Any = "", **more: Any) -> "Log":
        ts = 1_777_888_800_000 + int(seconds * 1000)
        text = text if isinstance(text, str) else json.dumps(text)
        message = {"ts": ts, "type": kind, kind: what, "text": text, **more}
        self.shown.append(message)
        self.parts.append(f"[2026-05-04T10:00:00.000Z] {json.dumps(message, indent=2)}")
        return self

    def request(self, seconds: float, text: str | None, **usage: Any) -> "Log":
        told = {} if text is None else {"request": f"{text}\n\nLoading..."}
        return self.put(seconds, "say", "api_req_started", {**told, **usage})

    def write(self, tmp_path: Path) -> Path:
        path = tmp_path / "roo.log"
        path.write_text("\n".join(self.parts) + "\n", encoding="utf-8")
        return path


def short() -> Log:
    log = Log().put(0, "say", "text", "look around")
    usage = {"tokensIn": 7, "tokensOut": 5, "cacheReads": 100, "cacheWrites": 20}
    log.request(1, f"<task>\nlook around\n</task>\n\n{DETAILS}", **usage)
    log.put(2, "say", "text", "I", partial=True).put(2, "say", "text", "I read", partial=False)
    tool = {"tool": "readFile", "path": "a.py", "content": "/r/a.py", "reason": ""}
    log.put(3, "ask", "tool", tool, partial=False)
    log.request(4, f"[read_file for 'a.py'] Result:\n\nx = 1\n\n{DETAILS}")
    return log.put(5, "say", "text", "Done.")


def test_a_log(tmp_path):
    session, findings = session_of(short().write(tmp_path), strict=True)
    # The task is 28 bytes with its marks, the details 51; read_file and {"path": "a.py"} 9 and 16;
    # the result with its header 37.
    assert [(d.turn, str(d.kind), d.tokens, d.injected) for d in session.arrivals] == [
        (1, "task", 7, False),
        (1, "user", 13, True),
        (2, "assistant", 2, False),
        (2, "tool_call", 7, False),
        (2, "file", 10, False),
        (2, "user", 13, True),
    ]
    assert session.recorded[1] == {
        "input_tokens": 127,
        "cached_tokens": 100,
        "written_tokens": 20,
        "output_tokens": 5,
    }
    assert [d.path for d in session.arrivals if d.path] == ["a.py"]
    assert session.arrivals[4].time == 1.0
    assert findings.notes[0] == "1 message streamed or repeated, told once"


def test_one_protocol_counts_the_cache_in(tmp_path):
    log = short()
    log.request(6, "[x] Result:\n\ny", tokensIn=50, cacheReads=40, apiProtocol="openai")
    session, _ = session_of(log.write(tmp_path))
    assert session.recorded[3]["input_tokens"] == 50


def test_a_failed_tool_is_known_by_its_result(tmp_path):
    log = short()
    failure = "[apply_diff for 'a.py'] Result:\n\n<error_details>\nno\n</error_details>"
    log.request(6, failure).put(7, "say", "text", "hm")
    log.put(8, "ask", "tool", {"tool": "appliedDiff", "path": "a.py", "diff": "-x\n+y"})
    log.request(9, "[apply_diff for 'a.py'] Result:\n\ndone").put(10, "say", "text", "ok")
    session, _ = session_of(log.write(tmp_path))
    assert [d.tool for d in session.arrivals if d.kind == "tool_call"] == [
        *("read_file", "apply_diff", "apply_diff"),
    ]
    assert [(w.turn, w.path) for w in session.writes] == [(4, "a.py")]


def test_feedback_is_the_users(tmp_path):
    log = short().put(6, "say", "completion_result", "all done")
    log.request(70, "[attempt_completion] Result:\n\n<feedback>\nno, more\n</feedback>")
    log.put(71, "say", "text", "more")
    scenario, _, _ = load(log.write(tmp_path))
    assert by_turn(scenario.script(0))[3] == ["assistant-2", "call-2", "result-2", "user-3"]


def test_without_requests_what_was_shown_counts(tmp_path):
    log = Log().put(0, "say", "text", "go").request(1, None, tokensIn=9)
    log.put(2, "ask", "command", "ls").put(3, "say", "command_output", "a.py")
    log.request(4, None, tokensIn=12)
    log.put(5, "ask", "tool", {"tool": "searchFiles", "regex": "x", "content": "Found 1"})
    log.request(6, None).put(7, "ask", "tool", {"tool": "readFile", "path": "a.py"})
    log.put(8, "say", "user_feedback", "faster").request(9, None).put(10, "say", "text", "ok")
    session, findings = session_of(log.write(tmp_path))
    assert [(d.turn, d.id, d.tokens) for d in session.arrivals if not d.id.startswith("call")] == [
        (1, "task", 1),
        (2, "result-1", 1),
        (3, "result-2", 2),
        (4, "file-3", 1),
        (4, "user-1", 2),
    ]
    assert any("1 tool call whose result is not told" in note for note in findings.notes)


def test_condensing_is_a_compaction(tmp_path):
    log = short()
    told = {"prevContextTokens": 900, "newContextTokens": 100, "summary": "what was, in short"}
    log.put(6, "say", "condense_context", "", contextCondense=told)
    log.request(7, DETAILS).put(8, "say", "text", "on")
    session, _ = session_of(log.write(tmp_path))
    assert [(c.turn, c.before, c.tokens) for c in session.compactions] == [(2, 900, 5)]


def test_what_is_no_message_is_named(tmp_path):
    log = short()
    log.parts.append("[2026-05-04T10:00:00.000Z] {broken")
    log.parts.append('[2026-05-04T10:00:00.000Z] {"ts": 1, "type": "hm"}')
    _, findings = session_of(log.write(tmp_path))
    warnings = findings.warnings()
    assert "a message that is not valid JSON" in warnings[0]
    assert "neither said nor asked" in warnings[1]


def logged(*records: dict[str, Any], session: str = "s-1") -> str:
    frame = {"timestamp": "2026-05-04T10:00:00Z", "session_id": session}
    return "".join(json.dumps({**frame, **record}) + "\n" for record in records)


def wrote(text: str) -> dict[str, Any]:
    return {"type": "ai_response", "content": text, "tool_calls": []}


CALL = "<execute_command>\n<command>ls</command>\n</execute_command>"
TOOL = {"type": "tool_call", "tool_name": "execute_command", "parameters": {"command": "ls"}}


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize(("result", "size"), [("tool use recorded", 1), ("a.py b.py", 3)])
def test_the_logger(tmp_path, first, result, size):
    tool = {**TOOL, "result": result}
    pair = [tool, wrote(f"I look.\n\n{CALL}")]
    path = tmp_path / "log.jsonl"
    lines = [{"type": "user_message", "content": "go"}, *(pair if first else pair[::-1])]
    path.write_text(logged(*lines, wrote("done")), encoding="utf-8")
    session, findings = session_of(path, strict=True)
    # execute_command and {"command": "ls"} are 15 and 17 bytes.
    assert [(d.turn, str(d.kind), d.tokens) for d in session.arrivals] == [
        (1, "task", 1),
        (2, "assistant", 2),
        (2, "tool_call", 9),
        (2, "tool_result", size),
    ]
    assert ("holds no result" in "".join(findings.notes)) == (size == 1)


def test_sessions_of_one_logger(tmp_path):
    path = tmp_path / "log.jsonl"
    one = logged({"type": "user_message", "content": "go"}, wrote("yes"))
    two = logged({"type": "user_message", "content": "go"}, wrote("no"), session="other-2")
    path.write_text(one + two, encoding="utf-8")
    found, _, _ = load_all(path)
    assert [s.name for s in found] == ["log", "log/other2"]


@pytest.mark.parametrize("name", ["2461881a", "ff051507"])
def test_the_real_logs(name):
    if not SHARED.exists():
        pytest.skip("the shared data are not here")
    path = SHARED / f"roo-code-messages_{name}.log"
    parts = re.split(r"(?m)^\[[\dT:.-]+Z\] ", path.read_text(encoding="utf-8"))
    messages = [json.loads(part) for part in parts if part.startswith("{")]
    asked = [m for m in messages if m.get("say") == "api_req_started"]
    results = [m for m in asked if json.loads(m["text"])["request"].startswith("[")]
    session, findings = session_of(path, strict=True)
    calls = sum(d.kind == "tool_call" for d in session.arrivals) + len(session.fetched)
    assert (session.turns, calls) == (len(asked), len(results))
    assert len(asked) == {"2461881a": 44, "ff051507": 19}[name]
    assert not findings.warnings()


def test_the_real_logger():
    if not SHARED.exists():
        pytest.skip("the shared data are not here")
    path = SHARED / "sess_1751744338863_abao5yicu.jsonl"
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    answers = [r for r in records if r["type"] == "ai_response"]
    session, findings = session_of(path, strict=True)
    assert session.turns == len(answers) == 100
    notes = "; ".join(findings.notes)
    assert "94 tool calls: the record holds no result" in notes
    assert sum(d.kind == "tool_call" for d in session.arrivals) == 97


def test_an_edit_that_failed_is_logged_as_a_call_and_is_no_write(tmp_path):
    path = tmp_path / "log.jsonl"
    edit = "<apply_diff>\n<path>a.py</path>\n<diff>x</diff>\n</apply_diff>"
    tool = {"type": "tool_call", "tool_name": "apply_diff", "result": "tool use recorded"}
    asked = {**tool, "parameters": {"path": "a.py", "diff": "x"}}
    error = {**tool, "parameters": "<error_details>\nDiff 1 failed for file: a.py"}
    go = {"type": "user_message", "content": "go"}
    path.write_text(logged(go, asked, error, wrote(edit), wrote("done")), encoding="utf-8")
    session, findings = session_of(path, strict=True)
    assert session.writes == []
    assert [str(d.kind) for d in session.arrivals][-2:] == ["tool_call", "tool_result"]
    assert not any("no result" in note or "left out" in note for note in findings.notes)
    path.write_text(logged(go, asked, wrote(edit), wrote("done")), encoding="utf-8")
    assert [write.path for write in session_of(path)[0].writes] == ["a.py"]
