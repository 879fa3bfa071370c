"""Cline: sessions of its SDK, tasks with calls as text or as blocks, and what the user saw."""

import json
from pathlib import Path
from typing import Any

import pytest

from scenarios.transcripts.builder import FRAME
from scenarios.transcripts.formats import recognise
from scenarios.transcripts.formats.xml_calls import Call, came, written
from sim.errors import InputError
from tests.scenarios.transcripts.made import load_all, session_of, text, use

SHARED = Path(__file__).parents[5] / "shared/data/transcripts/cline_sdk"

DETAILS = "<environment_details>\n# Mode\n</environment_details>"


def save(tmp_path: Path, document: Any) -> Path:
    path = tmp_path / "task.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def user(*blocks: Any, **more: Any) -> dict[str, Any]:
    content = [text(b) if isinstance(b, str) else b for b in blocks]
    return {"role": "user", "content": content, **more}


def model(*blocks: Any, **more: Any) -> dict[str, Any]:
    return {**user(*blocks, **more), "role": "assistant"}


def kinds(path: Path, **more: Any) -> list[tuple[int, str, int]]:
    session, _ = session_of(path, **more)
    return [(d.turn, str(d.kind), d.tokens) for d in session.arrivals]


READ = "<read_file>\n<path>a.py</path>\n</read_file>"
TASK = [
    user("<task>\ngo\n</task>", DETAILS, ts=1_777_888_800_000),
    model(f"<thinking>hm</thinking>\n\n{READ}", ts=1_777_888_802_000),
    user("[read_file for 'a.py'] Result:", "x = 1", DETAILS, ts=1_777_888_803_000),
    model("Done.", ts=1_777_888_804_000),
]


def test_a_task_with_calls_as_text(tmp_path):
    session, findings = session_of(save(tmp_path, TASK), strict=True)
    # "<thinking>hm</thinking>" is 23 bytes, read_file and {"path": "a.py"} 9 and 16, the result
    # with its header 30 + 2 + 5.
    assert [(d.turn, str(d.kind), d.tokens, d.injected) for d in session.arrivals] == [
        (1, "task", 5, False),
        (1, "user", 13, True),
        (2, "assistant", 6, False),
        (2, "tool_call", 7, False),
        (2, "file", 10, False),
        (2, "user", 13, True),
    ]
    assert session.arrivals[4].time == 1.0
    assert session.arrivals[4].path == "a.py"
    assert not findings.notes


def test_a_task_whose_contents_are_texts(tmp_path):
    plain = [{**m, "content": "\n\n".join(block["text"] for block in m["content"])} for m in TASK]
    assert kinds(save(tmp_path, plain)) == kinds(save(tmp_path, TASK))


def test_a_task_with_blocks(tmp_path):
    args = "<file><path>b.py</path></file>"
    result = {"type": "tool_result", "tool_use_id": "t", "content": "[read_file] Result:\n\nx"}
    tokens = {"prompt": 10, "completion": 4, "cached": 90}
    path = save(
        tmp_path,
        [
            user("<task>go</task>"),
            model(
                {"type": "reasoning", "text": "hm hm"},
                use("t", "read_file", args=args),
                metrics={"tokens": tokens, "cost": 1},
            ),
            user(result, DETAILS),
            model("Done."),
        ],
    )
    session, _ = session_of(path, strict=True)
    assert session.recorded[1] == {"input_tokens": 100, "output_tokens": 4}
    assert [d.path for d in session.arrivals if d.kind == "file"] == ["b.py"]
    assert [str(d.kind) for d in session.arrivals if d.turn == 2] == [
        *("thinking", "tool_call", "file", "user")
    ]


def test_a_write_with_the_content(tmp_path):
    content = "<content>\n<path>x</path>\n</content>"
    call = f"<write_to_file>\n<path>a.py</path>\n{content}\n</write_to_file>"
    result = "[write_to_file for 'a.py'] Result:\n\nThe content was saved."
    failed = "[write_to_file for 'a.py'] Result:\n\n<error_details>\nno\n</error_details>"
    path = save(
        tmp_path,
        [*TASK[:1], model(call), user(result), model(call), user(failed), model("Done.")],
    )
    session, _ = session_of(path, strict=True)
    # "<path>x</path>" is 14 bytes.
    assert [(w.turn, w.path, w.tokens) for w in session.writes] == [(2, "a.py", 4)]


def test_a_call_without_a_result_is_named(tmp_path):
    done = "<attempt_completion>\n<result>ok</result>\n</attempt_completion>"
    path = save(tmp_path, [*TASK[:1], model(done), user("and more"), model(done)])
    session, findings = session_of(path, strict=True)
    assert [d.id for d in session.arrivals if d.turn == 2] == ["call-1", "result-1", "user-2"]
    assert findings.notes == ["1 tool call without a result, which counts as one token"]


def test_what_roo_condensed(tmp_path):
    gone = [{**m, "condenseParent": "c-1"} for m in TASK]
    summary = user("what was, in short", isSummary=True, condenseId="c-1")
    path = save(tmp_path, [*gone, summary, user("on"), model("yes")])
    session, _ = session_of(path, strict=True)
    assert [(c.turn, c.trigger, c.tokens, c.kept_from) for c in session.compactions] == [
        (2, "auto", 5, 5)
    ]


def test_what_roo_cut(tmp_path):
    cut = [TASK[0], *({**m, "truncationParent": "t-1"} for m in TASK[1:3]), TASK[3]]
    marker = user("cut here", isTruncationMarker=True, truncationId="t-1")
    path = save(tmp_path, [*cut, marker, user("on"), model("yes")])
    session, _ = session_of(path, strict=True)
    assert [(c.turn, c.kept_from) for c in session.compactions] == [(2, 4)]


SESSION = {
    "version": 1,
    "agent": "lead",
    "sessionId": "s",
    "system_prompt": "be good.",
    "messages": [
        user("hello", ts=1_777_888_800_000),
        model(
            "Hi.",
            use("t", "run"),
            ts=1_777_888_801_000,
            metrics={"inputTokens": 120, "outputTokens": 3, "cacheReadTokens": 100},
        ),
        user(
            {"type": "tool_result", "tool_use_id": "t", "content": "ok"},
            {"type": "file", "path": "a", "content": "xy"},
        ),
        model("Bye.", metrics={"inputTokens": 20, "cacheReadTokens": 100, "cacheWriteTokens": 5}),
    ],
}


def test_a_session_of_the_sdk(tmp_path):
    session, _ = session_of(save(tmp_path, SESSION), strict=True)
    # run and {} are 3 and 2 bytes, the file with its path 4; a native call has its frame.
    assert [(d.turn, str(d.kind), d.tokens) for d in session.arrivals] == [
        (1, "system", 2),
        (1, "task", 2),
        (2, "assistant", 1),
        (2, "tool_call", 2 + FRAME),
        (2, "tool_result", 1),
        (2, "user", 1),
    ]
    assert [row["input_tokens"] for row in session.recorded.values()] == [120, 125]
    assert session.recorded[1]["cached_tokens"] == 100


def test_a_session_that_begins_with_a_summary(tmp_path):
    told = {"kind": "compaction_summary", "tokensBefore": 900}
    messages = [user("in short", metadata=told), *SESSION["messages"]]
    session, findings = session_of(save(tmp_path, {**SESSION, "messages": messages}), strict=True)
    assert not session.compactions
    assert "message 1 is what a compaction left" in findings.notes[0]
    assert [d.id for d in session.arrivals if d.turn == 1] == ["system", "user-1", "task"]


def test_ui_messages(tmp_path):
    request = {"request": "[execute_command for 'ls'] Result:\n\na.py", "tokensIn": 5}
    shown = [
        {"ts": 1, "type": "say", "say": "text", "text": "go"},
        {
            "ts": 2,
            "type": "say",
            "say": "api_req_started",
            "text": '{"request": "<task>go</task>"}',
        },
        {"ts": 3, "type": "ask", "ask": "command", "text": "ls"},
        {"ts": 4, "type": "say", "say": "api_req_started", "text": json.dumps(request)},
        {"ts": 5, "type": "say", "say": "text", "text": "One file."},
    ]
    path = save(tmp_path, shown)
    assert recognise(path).format.name == "cline"
    session, _ = session_of(path, strict=True)
    assert [d.id for d in session.arrivals] == ["task", "call-1", "result-1"]
    assert session.recorded[2]["input_tokens"] == 5


@pytest.mark.parametrize(
    ("document", "what"),
    [
        ({"session_id": "s", "messages_path": "m"}, "it describes a session of Cline"),
        (
            [
                {
                    "scope": "https://api.cline.bot",
                    "method": "GET",
                    "path": "/",
                    "status": 1,
                    "response": "",
                }
            ],
            "it is recorded HTTP traffic of Cline",
        ),
        ({**SESSION, "messages": []}, "there is no model call in it"),
    ],
)
def test_what_is_no_session(tmp_path, document, what):
    with pytest.raises(InputError, match=what):
        load_all(save(tmp_path, document))


def test_messages_of_the_api_are_not_claimed(tmp_path):
    path = save(tmp_path, [user("hello"), model(use("t", "run"))])
    assert recognise(path).format.name == "anthropic"


@pytest.mark.parametrize("junk", [None, 1, "x", [1], {"type": "odd"}])
def test_what_breaks_the_pattern_is_named(tmp_path, junk):
    path = save(tmp_path, [*TASK, user("on", junk) if junk != "x" else junk])
    _, findings = session_of(path)
    assert findings.warnings()
    with pytest.raises(InputError, match=r"task\.json:5: "):
        session_of(path, strict=True)


def test_calls_as_text():
    assert written(f"a\n{READ}\nb<plan_mode_respond>\n<response>c") == [
        "a",
        Call("read_file", {"path": "a.py"}),
        "b",
        Call("plan_mode_respond", {"response": "c"}),
    ]


def test_as_many_results_as_calls():
    header = "[read_file for 'a'] Result:"
    parts = came([f"{header}\n\n1", f"{header}\n\n2"], ["read_file"])
    assert [part.text for part in parts] == [f"{header}\n\n1\n\n{header}\n\n2"]
    parts = came([f"{header}\n\n1", f"{header}\n\n2"], ["read_file", "read_file"])
    assert [part.text for part in parts] == [f"{header}\n\n1", f"{header}\n\n2"]


@pytest.mark.parametrize("name", ["agentic", "basic"])
def test_the_real_sessions(name):
    if not SHARED.exists():
        pytest.skip("the shared data are not here")
    path = SHARED / f"{name}.compaction.json"
    messages = json.loads(path.read_text(encoding="utf-8"))["messages"]
    used = [m["metrics"]["inputTokens"] for m in messages if "metrics" in m]
    session, findings = session_of(path, strict=True)
    assert session.turns == sum(m["role"] == "assistant" for m in messages)
    rows = session.recorded.values()
    assert [row["input_tokens"] for row in rows if "input_tokens" in row] == used
    assert "is what a compaction left" in findings.notes[0]


@pytest.mark.parametrize("name", ["session", "read-file", "subagents"])
def test_the_real_files_that_are_no_session(name):
    if not SHARED.exists():
        pytest.skip("the shared data are not here")
    with pytest.raises(InputError, match="of Cline"):
        load_all(SHARED / f"{name}.json")
