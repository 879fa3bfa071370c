"""Recorded sessions against the simulated cache: made by hand, and the real ones."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bench.gates.calls import HOUR, MINUTES_5
from bench.gates.recorded import claude_code, openhands
from bench.gates.recorded.__main__ import arms
from bench.gates.recorded.arms import ALL, BEYOND, CONTINUES, FIRST, LATER, SHRINKS

ROOT = Path(__file__).resolve().parents[3]
TRANSCRIPTS = ROOT.parent / "shared" / "data" / "transcripts"
CLAUDE = TRANSCRIPTS / "claude_code_jsonl"
OPENHANDS = TRANSCRIPTS / "openhands_llm_completions" / "per_call"


def line(call: str, second: int, plain: int, written: int, read: int, life: str = "1h") -> str:
    """Return one line of a Claude Code session."""
    usage = {
        "input_tokens": plain,
        "cache_creation_input_tokens": written,
        "cache_read_input_tokens": read,
        "cache_creation": {f"ephemeral_{life}_input_tokens": written},
        "output_tokens": 1,
    }
    message = {"id": call, "role": "assistant", "content": [], "usage": usage}
    time = f"2026-01-01T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}.000Z"
    record = {
        "type": "assistant",
        "uuid": f"{call}-{second}",
        "sessionId": "s",
        "timestamp": time,
        "message": message,
    }
    return json.dumps(record)


def session(folder: Path, *lines: str) -> Path:
    file = folder / "session.jsonl"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def test_a_call_over_several_lines_is_one_with_the_gap_from_its_last(tmp_path: Path) -> None:
    file = session(
        tmp_path,
        line("a", 0, 10, 19_990, 0),
        line("a", 8, 10, 19_990, 0),
        line("b", 30, 0, 1_000, 20_000),
    )
    found = claude_code.thread("s", file)
    assert found is not None
    assert [call.tokens for call in found.calls] == [20_000, 21_000]
    assert [call.gap for call in found.calls] == [None, 22.0]
    assert found.life == HOUR


def test_a_session_that_writes_for_five_minutes_has_that_life(tmp_path: Path) -> None:
    file = session(tmp_path, line("a", 0, 0, 9, 0, "5m"), line("b", 1, 0, 8, 0, "1h"))
    found = claude_code.thread("s", file)
    assert found is not None
    assert found.life == MINUTES_5


def test_situations_of_a_claude_code_session(tmp_path: Path) -> None:
    file = session(
        tmp_path,
        line("a", 0, 0, 20_000, 0),
        line("b", 10, 0, 2_000, 20_000),
        line("c", 20, 0, 19_000, 0),
        line("d", 4_000, 0, 30_000, 0),
    )
    (arm,) = arms([file])
    assert [call.situation for call in arm.calls] == [FIRST, CONTINUES, SHRINKS, BEYOND]
    assert [call.predicted for call in arm.calls] == [0, 20_000, 18_000, 0]
    rows = {row["part"]: row for row in arm.situations()}
    assert rows[SHRINKS]["absolute_error"] == pytest.approx(100 * 18 / 19)
    assert rows[LATER]["calls"] == 3
    assert rows[ALL]["off"] == 4_500.0
    assert rows[ALL]["wrong_flags"] == 25.0


def document(
    time: float, texts: list[str], tokens: int, read: int | None, backend: str = "A"
) -> dict[str, Any]:
    """Return an OpenHands log: a mark on the system message and on the last three others."""
    messages: list[dict[str, Any]] = []
    for number, text in enumerate(texts):
        role = "system" if number == 0 else "assistant" if number % 2 == 0 else "user"
        messages.append({"role": role, "content": [{"type": "text", "text": text}]})
    others = [message for message in messages if message["role"] == "user"][-3:]
    for message in [messages[0], *others]:
        message["content"][-1]["cache_control"] = {"type": "ephemeral"}
    usage: dict[str, Any] = {"prompt_tokens": tokens, "completion_tokens": 1}
    if read is not None:
        usage["prompt_tokens_details"] = {"cached_tokens": read}
    return {
        "messages": messages,
        "response": {"model": backend, "usage": usage, "choices": []},
        "timestamp": time,
    }


HEAD = "s" * 100


def run(*turns: tuple[float, int, int | None, str]) -> list[dict[str, Any]]:
    """Return the logs of a run that gains an answer and an observation a call."""
    texts = [HEAD, "task" * 25]
    logs = []
    for number, (time, tokens, read, backend) in enumerate(turns):
        logs.append(document(time, list(texts), tokens, read, backend))
        texts += [f"{number}{'a' * 99}", f"{number}{'u' * 99}"]
    return logs


def test_the_prefix_is_known_by_its_messages_and_the_size_by_the_record() -> None:
    logs = run((0.0, 4_000, 0, "A"), (10.0, 6_000, 4_000, "A"))
    first, second = openhands.requests("r", logs)
    assert sum(part.tokens for part in first.parts) == 4_000
    assert second.parts[:2] == first.parts
    assert sum(part.tokens for part in second.parts[2:]) == 2_000
    assert first.marks == (1, 2)
    assert second.marks == (1, 2, 4)
    assert (first.read, second.read, second.backend) == (0, 4_000, "A")


def test_a_mark_is_no_part_of_the_content() -> None:
    marked = {"role": "user", "content": [{"type": "text", "text": "x", "cache_control": {}}]}
    assert openhands._unmarked(marked) == ({"role": "user", "content": "x"}, True)
    plain = {"role": "user", "content": [{"type": "text", "text": "x"}]}
    assert openhands._unmarked(plain) == ({"role": "user", "content": "x"}, False)


def test_each_backend_has_its_own_cache_and_the_look_back_tells() -> None:
    logs = run(
        (0.0, 4_000, 0, "A"),
        (10.0, 6_000, None, "B"),
        (20.0, 8_000, 4_000, "A"),
        (30.0, 10_000, None, "B"),
        (40.0, 12_000, None, "B"),
        (50.0, 14_000, None, "B"),
        (60.0, 16_000, 2_000, "A"),
        (999.0, 18_000, 0, "A"),
    )
    near, exact, mixed = openhands.arms(list(openhands.requests("r", logs)))
    # The request of 8,000 tokens still has a mark where that of 4,000 ended. That of 16,000 has
    # marks at the ends of those of 12,000, 14,000 and itself, and after the system message, whose
    # 133 of 264 characters are 2,015 of 4,000 tokens.
    assert [call.predicted for call in near.calls] == [0, 4_000, 8_000, 0]
    assert [call.predicted for call in exact.calls] == [0, 4_000, 2_015, 0]
    assert [call.situation for call in exact.calls] == [FIRST, CONTINUES, CONTINUES, BEYOND]
    assert [call.predicted for call in mixed.calls] == [
        0,
        4_000,
        6_000,
        8_000,
        10_000,
        12_000,
        14_000,
        0,
    ]
    assert [call.call.read for call in mixed.calls] == [0, 0, 4_000, 0, 0, 0, 2_000, 0]


def test_a_document_without_usage_is_passed_over() -> None:
    logs = run((0.0, 4_000, 0, "A"), (10.0, 6_000, 4_000, "A"))
    del logs[0]["response"]["usage"]
    assert [request.tokens for request in openhands.requests("r", logs)] == [6_000]


def command(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bench.gates.recorded", *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_command_prints_rows(tmp_path: Path) -> None:
    file = session(tmp_path, line("a", 0, 0, 20_000, 0), line("b", 10, 0, 2_000, 20_000))
    done = command(file, "--format", "json")
    assert (done.returncode, done.stderr) == (0, "")
    rows = json.loads(done.stdout)["rows"]
    assert [row["part"] for row in rows] == [CONTINUES, FIRST, LATER, ALL]
    done = command(file, "--sessions", "--format", "csv")
    assert done.stdout.splitlines()[1].startswith("claude-code,")


def test_the_command_says_what_is_wrong_in_a_sentence(tmp_path: Path) -> None:
    empty = tmp_path / "notes.txt"
    empty.write_text("nothing\n")
    for arguments in ((empty,), (tmp_path / "absent",), (tmp_path, "--format", "xml"), ()):
        done = command(*arguments)
        assert done.returncode == 2
        assert done.stdout == ""
        assert done.stderr.splitlines()[-1].startswith("evictbench: ")
        assert "Traceback" not in done.stderr


@pytest.mark.skipif(not CLAUDE.is_dir(), reason="the recordings are not here")
def test_recorded_claude_code_sessions() -> None:
    (arm,) = arms([CLAUDE])
    rows = {row["part"]: row for row in arm.situations()}
    assert rows[ALL]["calls"] == len(arm.calls)
    assert abs(rows[LATER]["predicted_hit"] - rows[LATER]["recorded_hit"]) < 3.0
    assert rows[LATER]["absolute_error"] < 1.5


@pytest.mark.skipif(not OPENHANDS.is_dir(), reason="the recordings are not here")
def test_recorded_openhands_runs_where_an_entry_stood_at_a_mark() -> None:
    near, exact, _ = arms([OPENHANDS])
    agreed = [
        call
        for call, other in zip(near.calls, exact.calls, strict=True)
        if call.situation == CONTINUES and call.predicted == other.predicted
    ]
    assert len(agreed) > 10
    assert all(abs(call.predicted - call.call.read) <= 10 for call in agreed)
