"""What Claude Code attaches to a conversation, and what of it the prompt held."""

import json

import pytest

from tests.scenarios.transcripts.made import Lines, at, load, session_of, short, text, use, writes

USER = {"type": "queued_command", "prompt": "stop that"}


def attach(lines, attachment, seconds, **more):
    record = {
        "type": "attachment",
        "uuid": f"u{len(lines.lines)}",
        "isSidechain": False,
        "timestamp": at(seconds),
        "attachment": attachment,
        **more,
    }
    return lines.raw(json.dumps(record))


def spoken(tmp_path, attachment, **more):
    """Return what an attachment before the second call brings, and what is said of it."""
    lines = Lines().user("hi", 0).model("m1", 2, use("t1", command="ls"))
    attach(lines.result("t1", "done", 3), attachment, 4, **more)
    file = lines.model("m2", 5, text("ok")).write(tmp_path / "s.jsonl")
    session, found = session_of(file)
    known = ("task", "call-1", "result-1")
    return [d for d in session.arrivals if d.id not in known], found


@pytest.mark.parametrize(
    ("attachment", "tokens", "injected"),
    [
        ({"type": "skill_listing", "content": "s" * 40}, 10, True),
        ({"type": "nested_memory", "path": "/p", "content": {"content": "m" * 8}}, 2, True),
        ({"type": "mcp_instructions_delta", "addedBlocks": ["a" * 4, "b" * 3]}, 2, True),
        ({"type": "hook_additional_context", "content": ["c" * 12]}, 3, True),
        ({"type": "hook_success", "hookEvent": "SessionStart", "content": "h" * 20}, 5, True),
        ({"type": "hook_blocking_error", "blockingError": {"blockingError": "b" * 4}}, 1, True),
        ({"type": "file", "content": {"type": "text", "file": {"content": "f" * 16}}}, 4, True),
        ({"type": "edited_text_file", "filename": "/a", "snippet": "1 x" * 4}, 3, True),
        (USER, 3, False),
        ({**USER, "commandMode": "prompt"}, 3, False),
        ({**USER, "commandMode": "task-notification"}, 3, True),
        ({**USER, "prompt": [{"type": "text", "text": "abcd"}]}, 1, False),
    ],
)
def test_what_the_prompt_held(tmp_path, attachment, tokens, injected):
    (draft,), found = spoken(tmp_path, attachment)
    assert (draft.turn, draft.kind, draft.tokens, draft.injected) == (2, "user", tokens, injected)
    assert found.warnings() == []


@pytest.mark.parametrize(
    "attachment",
    [
        {"type": "hook_success", "hookEvent": "PostToolUse", "content": "x"},
        {"type": "hook_success", "content": "x"},
        {"type": "command_permissions", "allowedTools": []},
        {"type": "hook_non_blocking_error", "stderr": "x"},
    ],
)
def test_what_the_harness_kept_to_itself(tmp_path, attachment):
    drafts, found = spoken(tmp_path, attachment)
    assert drafts == [] and found.warnings() == []
    assert found.notes[-1] == "lines that are no part of a prompt: 1 attachment"


@pytest.mark.parametrize(
    "attachment",
    [
        {"type": "task_reminder", "content": [], "itemCount": 0},
        {"type": "todo_reminder", "content": [{"id": 1}]},
        {"type": "date_change", "newDate": "2026-05-05"},
        {"type": "nested_memory", "content": "not an object"},
        {"type": "hook_additional_context", "content": [7]},
        {"type": "edited_text_file", "filename": "/a"},
    ],
)
def test_what_is_not_recorded_is_counted_by_kind(tmp_path, attachment):
    drafts, found = spoken(tmp_path, attachment)
    assert drafts == [] and found.warnings() == []
    kind = attachment["type"]
    assert f"1 attachment whose text is not recorded, left out: 1 '{kind}'" in found.notes


@pytest.mark.parametrize("attachment", [None, 7, [], {}, {"type": 7}])
def test_what_is_no_attachment_breaks_the_pattern(tmp_path, attachment):
    drafts, found = spoken(tmp_path, attachment)
    assert drafts == []
    assert [each.split(": ", 1)[1] for each in found.warnings()] == [
        "an attachment without a type (skipped)"
    ]


def test_an_attachment_of_a_side_chain_is_not_the_main_threads(tmp_path):
    drafts, _ = spoken(tmp_path, USER, isSidechain=True, agentId="x")
    assert drafts == []


def test_a_file_that_somebody_else_edited_goes_stale(tmp_path):
    lines = Lines().user("hi", 0).model("m1", 2, use("t1", "Read", file_path="/srv/a.py"))
    lines.result("t1", "old = 1\n", 3).model("m2", 4, text("seen"))
    attach(lines, {"type": "edited_text_file", "filename": "/srv/a.py", "snippet": "1 new"}, 5)
    lines.user("go on", 6).model("m3", 7, use("t2", "Read", file_path="/srv/a.py"))
    lines.result("t2", "old = 1\n", 8).model("m4", 9, text("same again"))
    script = load(lines.write(tmp_path / "s.jsonl"))[0].script(0)
    assert [(w.turn, w.path, w.tokens) for w in writes(script)] == [(3, "/srv/a.py", None)]
    assert not [s for s in script.stimuli if getattr(s, "id", "").startswith("read-")]


def test_the_folder_of_a_later_call_of_a_message_is_not_what_its_record_says(tmp_path):
    """The calls of a message run one after the other; their records stood before that."""
    lines = Lines().user("hi", 0)
    for name, command in (("t1", "cat a"), ("t2", "cd sub"), ("t3", "cat a")):
        lines.model("m1", 2, use(name, command=command), cwd="/w")
    for name in ("t1", "t2", "t3"):
        lines.result(name, f"{name} is here", 3)
    lines.model("m2", 4, use("t4", command="cat a"), cwd="/w/sub").result("t4", "t4", 5)
    lines.model("m3", 6, text("ok"))
    session, _ = session_of(lines.write(tmp_path / "s.jsonl"))
    paths = {d.id: d.path for d in session.arrivals if d.tool and d.kind != "tool_call"}
    assert paths == {"file-1": "/w/a", "result-2": None, "result-3": None, "file-4": "/w/sub/a"}


def test_a_session_without_attachments_says_nothing_of_them(tmp_path):
    _, warnings, notes = load(short().write(tmp_path / "s.jsonl"))
    assert not [each for each in (*warnings, *notes) if "attachment" in each]
