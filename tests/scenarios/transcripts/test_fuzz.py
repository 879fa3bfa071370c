"""Whatever a file holds, it is read, named or refused in one sentence: never a traceback."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scenarios import transcripts
from sim.errors import InputError
from sim.script import Arrival, Compaction, Query, Wait, Write
from sim.tokens import BYTES
from tests.scenarios.transcripts.made import Lines, text, use

FUZZ = settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def read(path: Path, strict: bool) -> None:
    """Load *path* and check what must hold of any script."""
    try:
        (*scenarios,) = transcripts.load([path], 10**9, strict=strict, tokenizer=BYTES)
    except InputError as error:
        assert str(error).startswith(str(path))
        assert "\n" not in str(error)
        return
    for scenario in scenarios:
        check(scenario.script(0))


def check(script) -> None:
    turns = script.settings["turns"]
    found = {s.id: s for s in script.stimuli if isinstance(s, Arrival)}
    assert len(found) == sum(isinstance(s, Arrival) for s in script.stimuli)
    pairs: dict[str, list[Arrival]] = {}
    for stimulus in script.stimuli:
        assert 1 <= stimulus.turn <= turns
        if isinstance(stimulus, Arrival):
            assert stimulus.tokens > 0
            assert stimulus.time >= 0
            if stimulus.pair is not None:
                pairs.setdefault(stimulus.pair, []).append(stimulus)
        elif isinstance(stimulus, Query):
            source = found[stimulus.touches[0]]
            assert source.turn < stimulus.turn
            assert stimulus.key in [f.key for f in source.facts]
        elif isinstance(stimulus, Wait):
            assert stimulus.seconds > 0
        elif isinstance(stimulus, Compaction):
            assert set(stimulus.kept) <= set(found)
        else:
            assert isinstance(stimulus, Write)
    for call, *results in pairs.values():
        assert call.kind == "tool_call"
        assert results
        assert {r.turn for r in results} == {call.turn}
        assert "tool_call" not in {r.kind for r in results}
    json.dumps([s.id for s in found.values()] + [s.path for s in found.values()]).encode()


def claude_code() -> list[str]:
    usage = {"input_tokens": 3, "cache_read_input_tokens": 9, "output_tokens": 1}
    lines = Lines().user("please look at the parser", 0)
    lines.model("m1", 1, {"type": "thinking", "thinking": "hm"}, usage=usage)
    lines.model("m1", 2, use("a", "Read", file_path="/r/parse_header.py"), usage=usage)
    lines.model("m1", 2, use("b", command="ls"), usage=usage)
    lines.result("b", "parse_header.py\nload_balancer.py", 3)
    lines.result("a", [text("     1→def parse_header(): 31415926")], 4)
    lines.put("system", None, 5, subtype="compact_boundary", compactMetadata={"trigger": "auto"})
    lines.user([text("go on"), {"type": "image", "source": {"data": "AA"}}], 500)
    lines.model("m2", 501, use("c", "Edit", file_path="/r/parse_header.py"), usage=usage)
    lines.result("c", "updated load_balancer.py", 502, isSidechain=False)
    lines.user("inside", 503, isSidechain=True)
    lines.model("m3", 504, text("parse_header is done"), message={"stop_reason": "end_turn"})
    return lines.lines


def openhands() -> dict:
    call = {"id": "a", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}
    messages = [
        {"role": "system", "content": [{"type": "text", "text": "s", "cache_control": {}}]},
        {"role": "user", "content": "fix"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "a_b_c_1"}]},
    ]
    response = {
        "choices": [{"message": {"role": "assistant", "content": "a_b_c_1"}}],
        "usage": {"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 3}},
    }
    return {
        "messages": messages,
        "kwargs": {"tools": [{"type": "function"}]},
        "response": response,
        "timestamp": 1.5,
    }


def anthropic() -> dict:
    blocks = [text("ok"), use("a", "Write", file_path="/x", content="y")]
    result = {"type": "tool_result", "tool_use_id": "a", "content": "done"}
    return {
        "system": "s",
        "tools": [{"name": "Write"}],
        "messages": [
            {"role": "user", "content": "x", "timestamp": "2026-01-01T00:00:00Z"},
            {"role": "assistant", "content": blocks, "usage": {"input_tokens": 5}},
            {"role": "user", "content": [result]},
            {"role": "assistant", "content": "end"},
        ],
    }


JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["a", "tool_use", "tool_result", "text", "user", "assistant", "\ud800"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "text", "content", "id", "role", "message", "x"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=6,
)


def places(value, at=()):
    """Yield the place of everything inside a JSON value."""
    yield at
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in items:
            yield from places(inner, (*at, key))


def replaced(value, at, junk):
    if not at:
        return junk
    copy = value.copy()
    copy[at[0]] = replaced(value[at[0]], at[1:], junk)
    return copy


@st.composite
def spoilt(draw, document):
    """A document in which some values are of another type, or gone."""
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.sampled_from(list(places(document))))
        if at and draw(st.booleans()):
            parent = document
            for key in at[:-1]:
                parent = parent[key]
            rest = parent.copy()
            del rest[at[-1]]
            document = replaced(document, at[:-1], rest)
        else:
            document = replaced(document, at, draw(JUNK))
    return document


@FUZZ
@given(st.binary(max_size=200) | st.text(max_size=100).map(str.encode), st.booleans())
def test_any_bytes(tmp_path, content, strict):
    path = tmp_path / "any"
    path.write_bytes(content)
    read(path, strict)


@FUZZ
@given(JUNK, st.booleans())
def test_any_json(tmp_path, value, strict):
    path = tmp_path / "any.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    read(path, strict)


@pytest.mark.parametrize("make", [openhands, anthropic])
def test_a_spoilt_document(tmp_path, make):
    document = make()

    @FUZZ
    @given(spoilt(document), st.booleans())
    def run(value, strict):
        path = tmp_path / "spoilt.json"
        path.write_text(json.dumps(value), encoding="utf-8")
        read(path, strict)

    run()


@st.composite
def spoilt_lines(draw):
    """Lines of a session: some spoilt, doubled, swapped, split elsewhere, or cut."""
    lines = claude_code()
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(lines) - 1))
        other = draw(st.integers(0, len(lines) - 1))
        match draw(st.sampled_from(["spoil", "double", "swap", "drop", "join", "cut", "bytes"])):
            case "spoil" if lines[at].startswith("{"):
                try:
                    lines[at] = json.dumps(draw(spoilt(json.loads(lines[at]))))
                except ValueError:
                    continue
            case "double":
                lines.insert(other, lines[at])
            case "swap":
                lines[at], lines[other] = lines[other], lines[at]
            case "drop" if len(lines) > 1:
                del lines[at]
            case "join":
                mark = draw(st.sampled_from(["", "\r", "\u2028", "\x0b", "\x1e", ","]))
                lines[at] += mark + lines[other]
            case "cut":
                lines[at] = lines[at][: draw(st.integers(0, len(lines[at])))]
            case "bytes":
                lines[at] += draw(st.text(max_size=4))
    text = "\n".join(lines)
    content = text.encode("utf-8", "replace")
    return content[: draw(st.integers(0, len(content)))] if draw(st.booleans()) else content


@settings(FUZZ, max_examples=500)
@given(spoilt_lines(), st.booleans())
def test_a_spoilt_session(tmp_path, content, strict):
    path = tmp_path / "spoilt.jsonl"
    path.write_bytes(content)
    read(path, strict)


def test_the_sessions_that_are_spoilt_are_sound(tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_text("\n".join(claude_code()), encoding="utf-8")
    read(path, strict=True)
    for make in (openhands, anthropic):
        path.write_text(json.dumps(make()), encoding="utf-8")
        read(path, strict=True)


@pytest.mark.parametrize("depth", [200, 700, 900, 960, 990])
def test_deep_arguments(tmp_path, depth):
    deep = "[" * depth + '"load_balancer"' + "]" * depth
    lines = claude_code()
    lines[2] = lines[2].replace('"/r/parse_header.py"', deep)
    path = tmp_path / "deep.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    read(path, strict=False)
