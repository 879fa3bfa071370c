"""Claude Code sessions, worked by hand. Sizes are bytes/4, rounded up."""

import json

import pytest

from scenarios.transcripts.builder import FRAME
from sim.errors import InputError
from sim.script import Compaction
from sim.segments import Kind
from tests.scenarios.transcripts.made import (
    Lines,
    arrivals,
    by_turn,
    load,
    load_all,
    queries,
    short,
    text,
    use,
    waits,
    writes,
)

USAGE = {
    "input_tokens": 3,
    "cache_read_input_tokens": 100,
    "cache_creation_input_tokens": 40,
    "output_tokens": 1,
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "session.jsonl"


def test_a_turn_is_a_call_and_all_that_leads_up_to_it(path):
    lines = Lines().user("x" * 40, 0)
    lines.model("m1", 2, {"type": "thinking", "thinking": "y" * 12})
    lines.model("m1", 3, text("z" * 8))
    lines.model("m1", 4, use("t1", command="ls"))
    lines.result("t1", "w" * 21, 6.5)
    lines.model("m2", 9, text("v" * 5))
    lines.user("u" * 3, 609.25)
    lines.model("m3", 612, text("s"))
    scenario, warnings, _ = load(lines.write(path))
    script = scenario.script(0)
    assert warnings == []
    assert by_turn(script) == {
        1: ["task"],
        2: ["thinking-1", "assistant-1", "call-1", "result-1"],
        3: ["assistant-2", "user-1"],
    }
    found = arrivals(script)
    # call-1: "Bash" is 1 token, {"command": "ls"} has 17 bytes, 5 tokens
    sizes = {name: arrival.tokens for name, arrival in found.items()}
    assert sizes == {
        "task": 10,
        "thinking-1": 3,
        "assistant-1": 2,
        "call-1": 6 + FRAME,
        "result-1": 6,
        "assistant-2": 2,
        "user-1": 1,
    }
    assert found["result-1"].time == 2.5
    assert {a.time for name, a in found.items() if name != "result-1"} == {0.0}
    assert waits(script) == {3: 600.25}
    assert script.output_tokens == {1: 11, 2: 2, 3: 1}
    assert scenario.settings["turns"] == 3
    assert script.tokens_from == "bytes/4"
    assert [s.score for s in found.values()] == [1.0] * 7


def test_kinds_pairs_and_tools(path):
    lines = Lines().user("go", 0)
    lines.model(
        "m1",
        1,
        use("a", "Read", file_path="/r/one.py"),
        use("b", "Edit", file_path="/r/one.py", old_string="x", new_string="y"),
        use("c", "Bash", command="ls"),
    )
    lines.result("c", "out", 2)
    lines.result("a", "     1→x", 3)
    lines.result("b", "The file /r/one.py has been updated.", 4)
    lines.model("m2", 5, text("done"))
    script = load(lines.write(path))[0].script(0)
    found = arrivals(script)
    assert by_turn(script)[2] == ["call-1", "call-2", "call-3", "result-3", "file-1", "diff-2"]
    assert {n: a.kind for n, a in found.items() if a.turn == 2} == {
        "call-1": Kind.TOOL_CALL,
        "call-2": Kind.TOOL_CALL,
        "call-3": Kind.TOOL_CALL,
        "result-3": Kind.TOOL_RESULT,
        "file-1": Kind.FILE,
        "diff-2": Kind.DIFF,
    }
    assert [(a.pair, a.tool) for a in found.values() if a.turn == 2] == [
        ("call-1", "Read"),
        ("call-2", "Edit"),
        ("call-3", "Bash"),
        ("call-3", "Bash"),
        ("call-1", "Read"),
        ("call-2", "Edit"),
    ]
    assert found["file-1"].path == "/r/one.py"
    assert found["file-1"].copy
    assert [a.path for a in found.values()].count(None) == len(found) - 1
    assert not any(a.copy for a in found.values() if a.id != "file-1")
    assert [(w.turn, w.path, w.tokens) for w in writes(script)] == [(2, "/r/one.py", None)]


def test_one_call_on_several_lines_counts_once(path):
    lines = Lines().user("go", 0)
    lines.model("m1", 1, text("one"), usage=USAGE)
    lines.model("m1", 2, use("a", command="x"), usage=USAGE)
    lines.result("a", "r1", 3)
    lines.model("m1", 4, use("b", command="y"), usage=USAGE)
    lines.result("b", "r2", 5)
    final = {**USAGE, "output_tokens": 77}
    lines.model("m2", 6, text("end"), usage=USAGE)
    lines.model("m2", 7, text("!"), usage=final, message={"stop_reason": "end_turn"})
    scenario, warnings, _ = load(lines.write(path))
    script = scenario.script(0)
    assert warnings == []
    assert scenario.settings["turns"] == 2
    assert by_turn(script)[2] == ["assistant-1", "call-1", "call-2", "result-1", "result-2"]
    assert script.recorded == {
        1: {"input_tokens": 143, "cached_tokens": 100, "written_tokens": 40},
        2: {
            "input_tokens": 143,
            "cached_tokens": 100,
            "written_tokens": 40,
            "output_tokens": 77,
        },
    }


def test_what_is_not_recorded_of_the_prompt_is_one_pinned_segment(path):
    lines = Lines().user("x" * 40, 0)
    lines.model("m1", 1, text("hi"), usage=USAGE)
    scenario, _, notes = load(lines.write(path))
    first = scenario.script(0).stimuli[0]
    assert (first.id, first.kind, first.tokens, first.pinned) == (
        "unrecorded",
        Kind.SYSTEM,
        133,
        True,
    )
    assert any("not recorded" in note and "133 tokens" in note for note in notes)


def test_without_usage_nothing_is_made_up_and_it_is_said(path):
    scenario, _, notes = load(short().write(path))
    assert "unrecorded" not in arrivals(scenario.script(0))
    assert any("count as nothing" in note for note in notes)


def test_the_task_is_the_first_message_of_the_users_own(path):
    lines = Lines().user("caveat", 0, isMeta=True).user("the task", 1).user("and more", 2)
    script = load(lines.model("m1", 3, text("ok")).write(path))[0].script(0)
    assert by_turn(script) == {1: ["user-1", "task", "user-2"]}
    assert [a.pinned for a in arrivals(script).values()] == [False, True, False]


def test_if_the_harness_alone_wrote_its_message_is_the_task(path):
    lines = Lines().user("skill", 0, isMeta=True).model("m1", 3, text("ok"))
    script = load(lines.write(path))[0].script(0)
    assert by_turn(script) == {1: ["task"]}


def test_a_side_chain_is_a_session_of_its_own(path):
    lines = Lines().user("go", 0)
    lines.model("m1", 1, use("t1", "Task", prompt="look"))
    lines.user("look", 2, isSidechain=True)
    lines.model("s1", 3, use("x1", command="ls"), isSidechain=True)
    lines.result("x1", "a b c", 4, isSidechain=True)
    lines.model("s2", 5, text("found"), isSidechain=True)
    lines.result("t1", "found", 6)
    lines.model("m2", 7, text("ok"))
    (main, agent), warnings, notes = load_all(lines.write(path))
    assert warnings == []
    assert (main.name, agent.name) == ("session", "session/agent-1")
    assert by_turn(main.script(0)) == {1: ["task"], 2: ["call-1", "result-1"]}
    assert by_turn(agent.script(0)) == {1: ["task"], 2: ["call-1", "result-1"]}
    assert sizes(main)["result-1"] == 2 and sizes(agent)["result-1"] == 2
    told = "4 lines of side chains, the threads of 1 sub-agent, are replayed as sessions"
    assert [note for note in notes if told in note] != []


def test_side_chains_that_run_at_once_are_told_apart(path):
    lines = Lines().user("go", 0)
    lines.model("m1", 1, use("t1", "Task", prompt="a"), use("t2", "Task", prompt="b"))
    for name in ("a", "b"):
        lines.user(f"look {name}", 2, isSidechain=True, agentId=name)
    for name in ("b", "a"):
        call = use(f"x{name}", command=name)
        lines.model(f"s{name}", 3, call, isSidechain=True, agentId=name)
        lines.result(
            f"x{name}", "abcd" * (1 if name == "a" else 9), 4, isSidechain=True, agentId=name
        )
        lines.model(f"e{name}", 5, text("found"), isSidechain=True, agentId=name)
    lines.result("t1", "found", 6).result("t2", "found", 6).model("m2", 7, text("ok"))
    (main, first, second), warnings, _ = load_all(lines.write(path))
    assert warnings == []
    assert [s.settings["turns"] for s in (main, first, second)] == [2, 2, 2]
    assert (sizes(first)["result-1"], sizes(second)["result-1"]) == (1, 9)


def test_side_chains_without_agent_ids_hang_on_their_first_line(path):
    lines = Lines().user("go", 0)
    lines.model("m1", 1, use("t1", "Task", prompt="a"))
    for name in ("a", "b"):
        lines.user("look", 2, isSidechain=True, uuid=f"{name}1", parentUuid=None)
    for name in ("b", "a"):
        more = {"isSidechain": True, "uuid": f"{name}2", "parentUuid": f"{name}1"}
        lines.model(f"s{name}", 3, text(f"I am {name}"), **more)
    lines.result("t1", "found", 6).model("m2", 7, text("ok"))
    (main, first, second), warnings, _ = load_all(lines.write(path))
    assert warnings == []
    assert [s.settings["turns"] for s in (main, first, second)] == [2, 1, 1]


def sizes(scenario):
    return {name: arrival.tokens for name, arrival in arrivals(scenario.script(0)).items()}


def test_a_file_of_nothing_but_a_side_chain_is_a_session(path):
    lines = Lines().user("look", 0, isSidechain=True)
    lines.model("s1", 1, use("x1", command="ls"), isSidechain=True)
    lines.result("x1", "a", 2, isSidechain=True)
    lines.model("s2", 3, text("found"), isSidechain=True)
    scenario, warnings, notes = load(lines.write(path))
    assert warnings == []
    assert scenario.settings["turns"] == 2
    assert any("side chains of sub-agents" in note for note in notes)


def test_a_compaction_is_a_boundary_of_the_script(path):
    lines = short()
    data = {"trigger": "auto", "preTokens": 5000}
    lines.put("system", None, 6, subtype="compact_boundary", compactMetadata=data)
    lines.user("This session is being continued!", 7, isCompactSummary=True)
    lines.user("go on", 7)
    lines.model("m3", 8, text("going on"))
    scenario, warnings, notes = load(lines.write(path))
    script = scenario.script(0)
    assert warnings == []
    assert by_turn(script)[3] == ["assistant-1", "user-1"]
    assert arrivals(script)["user-1"].tokens == 2
    assert arrivals(script)["result-1"].turn == 2
    boundaries = [s for s in script.stimuli if isinstance(s, Compaction)]
    assert boundaries == [Compaction(3, 8, "auto", ("user-1",))]
    assert any("1 compaction of the recording's own" in note for note in notes)


def test_what_is_no_part_of_a_prompt_is_counted(path):
    lines = short()
    lines.raw('{"type": "file-history-snapshot", "snapshot": {}}')
    lines.raw('{"type": "summary", "summary": "x"}')
    lines.raw('{"type": "progress", "data": {}}')
    lines.raw('{"type": "progress", "data": {}}')
    lines.model("m3", 9, text("API error"), message={"model": "<synthetic>"})
    scenario, warnings, notes = load(lines.write(path))
    assert warnings == []
    assert scenario.settings["turns"] == 2
    counted = "1 file-history-snapshot, 2 progress, 1 summary"
    assert f"{path.stem}: lines that are no part of a prompt: {counted}" in notes
    assert any("1 message in the model's name" in note for note in notes)


def test_what_comes_after_the_last_call_is_counted(path):
    lines = short().user("thanks", 9).user("bye", 10)
    scenario, warnings, notes = load(lines.write(path))
    assert warnings == []
    assert by_turn(scenario.script(0)) == {1: ["task"], 2: ["call-1", "result-1"]}
    assert any("2 messages and results after the last model call" in note for note in notes)


def test_latency_and_wait_are_never_negative_and_missing_times_are_zero(path):
    lines = Lines().user("go", 0).model("m1", 10, use("a"), use("b"))
    lines.result("a", "early", 4)
    lines.raw(
        json.dumps(
            {
                "type": "user",
                "uuid": "n",
                "message": {
                    "content": [{"type": "tool_result", "tool_use_id": "b", "content": "x"}]
                },
            }
        )
    )
    lines.model("m2", 20, text("ok"))
    lines.user("sooner than that", 12)
    lines.model("m3", 30, text("ok"))
    script = load(lines.write(path))[0].script(0)
    assert [a.time for a in arrivals(script).values()] == [0.0] * len(arrivals(script))
    assert waits(script) == {}


def test_a_message_among_results_comes_when_it_came(path):
    lines = Lines().user("go", 0).model("m1", 10, use("a"), use("b"))
    lines.result("a", "x", 14).user("stop that", 12).result("b", "y", 11)
    lines.model("m2", 20, text("ok"))
    script = load(lines.write(path))[0].script(0)
    times = {a.id: a.time for a in arrivals(script).values() if a.turn == 2}
    assert times == {"call-1": 0, "call-2": 0, "result-1": 4, "user-1": 4, "result-2": 1}
    assert waits(script) == {}


def test_a_late_result_brings_its_call_with_it(path):
    lines = Lines().user("go", 0).model("m1", 1, use("a"), use("b"))
    lines.result("b", "y", 2)
    lines.model("m2", 3, text("meanwhile"))
    lines.result("a", "x", 9)
    lines.model("m3", 10, text("ok"))
    scenario, warnings, _ = load(lines.write(path))
    assert warnings == []
    assert by_turn(scenario.script(0)) == {
        1: ["task"],
        2: ["call-2", "result-2"],
        3: ["call-1", "assistant-1", "result-1"],
    }
    assert arrivals(scenario.script(0))["result-1"].time == 8


def test_images_are_segments_of_their_own(path):
    image = {"type": "image", "source": {"type": "base64", "data": "AAAA"}}
    lines = Lines().user([text("what is this"), image, image], 0)
    lines.model("m1", 1, use("a", "Read", file_path="/r/p.png"), use("b", "Shot"))
    lines.result("a", [image], 2).result("b", [text("taken"), image], 3)
    lines.model("m2", 4, text("a cat"))
    script = load(lines.write(path), settings={"image_tokens": 900})[0].script(0)
    found = arrivals(script)
    assert by_turn(script) == {
        1: ["task", "task.image-1", "task.image-2"],
        2: ["call-1", "call-2", "file-1.image-1", "result-2", "result-2.image-1"],
    }
    images = [a for a in found.values() if a.kind is Kind.IMAGE]
    assert [a.tokens for a in images] == [900] * 4
    assert [a.pair for a in images] == [None, None, "call-1", "call-2"]
    assert found["file-1.image-1"].copy
    assert not found["result-2.image-1"].copy


def test_an_encrypted_thought_counts_by_its_bytes(path):
    lines = Lines().user("go", 0)
    lines.model("m1", 1, {"type": "redacted_thinking", "data": "A" * 160})
    lines.model("m1", 1, {"type": "thinking", "thinking": "", "signature": "s"})
    lines.model("m2", 2, text("ok"))
    script = load(lines.write(path))[0].script(0)
    # 160 characters of base64 are 120 bytes, 30 tokens
    assert [(a.id, a.tokens) for a in arrivals(script).values()][1:] == [("thinking-1", 30)]


BREAKS = {
    "a result whose call is missing": lambda s: s.result("gone", "x", 6),
    "a second result for one call": lambda s: s.result("t1", "x", 6),
    "a tool call whose id was used before": lambda s: s.model("m3", 6, use("t1")),
    "a call that was never answered": lambda s: s.model("m3", 6, use("t9")),
    "a record that is not an object": lambda s: s.raw("[1]"),
    "a record of the unknown type 'novel'": lambda s: s.raw('{"type": "novel"}'),
    "a record of the unknown type '{}'": lambda s: s.raw('{"type": {}}'),
    "a record without a type": lambda s: s.raw('{"silly": "this"}'),
    "a record of type 'user' without content": lambda s: s.put("user", "error", 6),
    "content that is neither text nor a list": lambda s: s.user(
        [{"type": "tool_result", "tool_use_id": "t1", "content": 7}], 6
    ),
    "a content part that is not an object": lambda s: s.user(["wow"], 6),
    "a content part of the unknown type 'odd'": lambda s: s.model("m3", 6, {"type": "odd"}),
    "a content part without a type": lambda s: s.user([{}], 6),
    "a tool call without id or name": lambda s: s.model("m3", 6, {"type": "tool_use", "id": 4}),
    "a tool result that names no call": lambda s: s.user([{"type": "tool_result"}], 6),
    "a time that cannot be read": lambda s: s.put(
        "user", {"content": "x"}, 6, timestamp="yesterday"
    ),
    "a record whose uuid was used before": lambda s: s.raw(s.lines[0]),
    "a line that is not valid JSON": lambda s: s.raw("{oops"),
    "records separated by U+2028 rather than a line feed": lambda s: s.raw("{}\u2028{}"),
}


@pytest.mark.parametrize("what", BREAKS)
def test_what_breaks_the_pattern_is_named_counted_and_skipped(path, what):
    lines = BREAKS[what](short())
    lines.user("go on", 7).model("m9", 8, text("still here"))
    lines.write(path)
    scenario, warnings, _ = load(path)
    where = path if warnings[0].startswith(f"{path}:5: {what}") else path.stem
    assert f"{where}:5: {what} (skipped)" in warnings
    script = scenario.script(0)
    assert {"task", "call-1", "result-1", "assistant-1"} <= set(arrivals(script))
    assert arrivals(script)["result-1"].tokens == 3
    with pytest.raises(InputError) as raised:
        load(path, strict=True)
    assert str(raised.value).startswith(f"{path}:5: ")


@pytest.mark.parametrize("what", BREAKS)
def test_each_kind_of_breakage_is_counted(path, what):
    lines = short()
    BREAKS[what](lines)
    lines.user("go on", 7).model("m9", 8, text("still here"))
    if what in ("a call that was never answered",):
        lines.model("m10", 9, use("t10"))
    elif what == "a tool call whose id was used before":
        lines.model("m10", 9, use("t1"))
    else:
        BREAKS[what](lines)
    lines.user("on", 10).model("m11", 11, text("."))
    _, warnings, _ = load(lines.write(path))
    where = path if warnings[0].startswith(f"{path}:5: {what}") else path.stem
    assert f"{where}:5: {what} (2 of them, this is the first; skipped)" in warnings


def test_a_part_of_a_call_behind_the_next_call_is_the_later_ones(path):
    lines = short().model("m1", 6, text("late"))
    lines.user("go on", 7).model("m3", 8, text("."))
    scenario, warnings, _ = load(lines.write(path))
    assert warnings == [
        f"{path}:5: a part of a model call that stands behind the next call "
        "(taken as the later call's)"
    ]
    assert by_turn(scenario.script(0))[3] == ["assistant-1", "assistant-2", "user-1"]


def test_a_cut_last_line_leaves_its_call_unanswered(path):
    lines = short().user("more", 6).model("m3", 7, use("t2", command="x")).result("t2", "out", 8)
    whole = "\n".join(lines.lines)
    path.write_text(whole[:-30], encoding="utf-8")
    _, warnings, _ = load(path)
    assert warnings == [
        f"{path}:6: a call that was never answered (skipped)",
        f"{path.stem}:7: a cut last line (skipped)",
    ]


def test_many_kinds_of_breakage_do_not_flood(path):
    lines = short()
    for number in range(100):
        lines.raw(json.dumps({"type": f"kind {number}"}))
    _, warnings, _ = load(lines.write(path))
    assert len(warnings) == 21
    assert warnings[-1] == f"{path.stem}: 80 more kinds of breakage, 80 in all"


def test_control_characters_of_a_recording_stay_out_of_what_is_said(path):
    lines = short().raw(json.dumps({"type": "\x1b[31mred\x07" + "x" * 500}))
    _, warnings, _ = load(lines.write(path))
    assert "\x1b" not in warnings[0]
    assert len(warnings[0]) < len(str(path)) + 200
    lines = Lines().user("go", 0).model("m1", 1, use("t", "To\x1bol\ud800"))
    lines.result("t", "x", 2).model("m2", 3, text("ok"))
    script = load(lines.write(path))[0].script(0)
    assert arrivals(script)["call-1"].tool == "To�ol�"


def test_a_session_without_a_call_is_refused_with_the_reason(path):
    Lines().user("hello?", 0).write(path)
    with pytest.raises(InputError, match="there is no model call in it"):
        load(path)
    path.write_text("\r".join(short().lines) + "\r", encoding="utf-8")
    with pytest.raises(InputError, match=r"no model call in it; .*separated by U\+000D"):
        load(path)


def test_a_mention_is_a_query_in_the_turn_of_the_call_that_wrote_it(path):
    lines = Lines().user("go", 0)
    lines.model("m1", 1, use("a", command="cat log"))
    lines.result("a", "request req_77ab1 took 31415926 us in load_balancer", 2)
    lines.model("m2", 3, use("b", command="echo load_balancer"))
    lines.result("b", "load_balancer", 4)
    lines.model("m3", 5, use("c", command="grep req_77ab1 other"))
    lines.result("c", "nothing", 6)
    lines.model("m4", 7, text("It was req_77ab1, 31415926 us."))
    script = load(lines.write(path))[0].script(0)
    # m2 answers at once to what has just come in; m3 is the second call after m1; what m3 wrote
    # m4 has from itself
    assert [(q.turn, q.key, q.touches, q.relevance) for q in queries(script)] == [
        (3, "req_77ab1", ("result-1",), 1.0),
        (4, "31415926", ("result-1",), 1.0),
    ]
    facts = {a.id: [f.key for f in a.facts] for a in arrivals(script).values() if a.facts}
    assert facts == {"result-1": ["req_77ab1", "31415926"]}


def test_a_wait_of_more_than_a_year_is_not_known(path):
    """A year is the longest that is believed: 31,536,000 seconds."""
    lines = Lines().user("x", 0).model("m1", 2, text("ok"))
    lines.user("a year later", 2 + 31_536_000).model("m2", 2 + 31_536_001, text("ok"))
    lines.user("later still", 2 + 2 * 31_536_001).model("m3", 9, text("ok"))
    scenario, warnings, _ = load(lines.write(path))
    assert waits(scenario.script(0)) == {2: 31_536_000.0}
    assert warnings == [
        f"{path}:5: a time more than a year after the one before it "
        "(the time between is taken as not known)"
    ]


def test_a_tool_that_took_thousands_of_years_is_one_that_is_not_known(path):
    lines = Lines().user("x", 0).model("m1", 2, use("t1", command="ls"))
    lines.result("t1", "a", 0, timestamp="9999-12-31T23:59:59Z").model("m2", 9, text("ok"))
    scenario, warnings, _ = load(lines.write(path))
    assert arrivals(scenario.script(0))["result-1"].time == 0.0
    assert len(warnings) == 1 and ":3: a time more than a year after" in warnings[0]
