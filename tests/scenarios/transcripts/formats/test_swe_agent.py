"""SWE-agent trajectories: what each call was sent, what the text's commands do, what failed."""

import json
from pathlib import Path

import pytest

from scenarios.transcripts.formats import recognise
from sim.errors import InputError
from sim.segments import Kind
from tests.scenarios.transcripts.made import arrivals, by_turn, load, load_all, queries, writes

DATA = Path(__file__).resolve().parents[5] / "shared" / "data" / "transcripts" / "sweagent_traj"
here = pytest.mark.skipif(not DATA.is_dir(), reason="the recordings are not here")
SHELL = "\n(Open file: /w/a.py)\n(Current directory: /w)\nbash-$"
WINDOW = "[File: a.py (3 lines total)]\n1:x" + SHELL


def row(response, action, observation="", **more):
    return {
        "response": response,
        "thought": "",
        "action": action,
        "observation": observation,
        "state": '{"open_file": "n/a", "working_dir": "/w"}',
        **more,
    }


def said(role, content, **more):
    return {"role": role, "content": content, "agent": "main", **more}


def function(id, name, **arguments):
    return {
        "id": id,
        "type": "function",
        "function": {"name": name, "arguments": json.dumps(arguments)},
    }


def answer(content, *calls, action=""):
    return said("assistant", content, thought=content, action=action, tool_calls=list(calls))


def result(id, content):
    return said("tool", content, tool_call_ids=[id])


def text_run():
    """Three calls whose actions stand in the text; the last is in the trajectory alone."""
    asked = [("t" * 8 + "\n```\nopen a.py\n```", "open a.py\n"), ("go\n```\nls\n```", "ls\n")]
    history = [said("system", "s" * 40), said("user", "d" * 16, is_demo=True)]
    history += [said("user", "u" * 24)]
    for (content, action), seen in zip(asked, (WINDOW, "files" + SHELL), strict=True):
        history += [said("assistant", content, action=action), said("user", seen)]
    trajectory = [
        row(*asked[0], "raw", execution_time=0.5),
        row(*asked[1], "files", execution_time=2),
        row("bye\n```\nsubmit\n```", "submit\n", "the diff", execution_time=1.0),
    ]
    stats = {"tokens_sent": 900, "tokens_received": 30, "api_calls": 3}
    info = {"exit_status": "submitted", "model_stats": stats}
    return {"environment": "e", "trajectory": trajectory, "history": history, "info": info}


def calls_run():
    """Function calls; the prompt of each call is recorded, with an attempt that was asked again."""
    first = [said("system", "sys!"), said("user", "task")]
    one = [answer("one", function("c", "bash", command="ls"), action="ls"), result("c", "r" * 80)]
    wrong = [said("assistant", "wrong"), said("user", "your format is wrong")]
    two = [
        answer("two", function("c", "create", filename="a.py"), action="create a.py"),
        result("c", WINDOW),
    ]
    three = [
        answer("three", function("d", "edit", search="x", replace="y"), action="edit x y"),
        result("d", WINDOW),
    ]
    short = [one[0], result("c", "omitted")]
    rows = [
        row("one", "ls", "r" * 80, query=first),
        row("wrong", "", "", query=first + one),
        row("two", "create a.py", "", query=first + one + wrong),
        row("three", "edit x y", "", query=first + short + two),
        row("four", "", "", query=first + short + two + three),
    ]
    last = [answer("four")]
    return {"trajectory": rows, "history": first + one + two + three + last, "info": {}}


def write(path, value):
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def test_commands_in_the_text_are_tool_calls(tmp_path):
    scenario, warnings, notes = load(write(tmp_path / "s.traj", text_run()), strict=True)
    script = scenario.script(0)
    assert warnings == []
    assert by_turn(script) == {
        1: ["system", "user-1", "task"],
        2: ["assistant-1", "call-1", "file-1"],
        3: ["assistant-2", "call-2", "result-2"],
    }
    found = arrivals(script)
    assert [found[id].tokens for id in ("system", "user-1", "task")] == [10, 4, 6]
    # The text without its action: 8 letters, the fence and two line ends; as the model wrote it.
    assert found["assistant-1"].tokens == len("tttttttt\n```\n\n```") // 4 + 1
    assert found["call-2"].tokens == 1 + 0 + 1
    assert found["file-1"].path == "/w/a.py"
    assert found["file-1"].tokens == -(-len(WINDOW) // 4)
    assert (found["file-1"].time, found["result-2"].time) == (0.5, 2.0)
    assert any("900 sent and 30 received in 3 calls" in note for note in notes)
    assert any("environment, info.exit_status" in note for note in notes)


def test_the_prompt_of_each_call_tells_what_it_was_sent(tmp_path):
    scenario, warnings, notes = load(write(tmp_path / "s.traj", calls_run()), strict=True)
    script = scenario.script(0)
    assert warnings == [] and scenario.settings["turns"] == 5
    assert by_turn(script) == {
        1: ["system", "task"],
        2: ["assistant-1", "call-1", "result-1"],
        3: ["assistant-2", "user-1"],
        4: ["assistant-3", "call-2", "diff-2"],
        5: ["assistant-4", "call-3", "diff-3"],
    }
    found = arrivals(script)
    assert found["result-1"].tokens == 20
    assert [w.path for w in writes(script)] == ["/w/a.py", "/w/a.py"]
    assert any("1 message that the harness shortened" in note for note in notes)
    assert any("2 messages of failed attempts" in note for note in notes)
    assert any("1 tool call has the id of an earlier one" in note for note in notes)


def test_a_prompt_that_holds_the_answer_already_is_cut_before_it(tmp_path):
    document = calls_run()
    rows = [document["trajectory"][0], document["trajectory"][3]]
    history = document["history"]
    for each, end in zip(rows, (4, 6), strict=True):
        del each["query"]
        each["messages"] = history[:end]
    rows[1] |= {"response": "two"}
    document |= {"trajectory": rows, "history": history[:6]}
    script = load(write(tmp_path / "s.traj", document), strict=True)[0].script(0)
    assert by_turn(script) == {1: ["system", "task"], 2: ["assistant-1", "call-1", "result-1"]}


def test_an_edit_that_was_refused_writes_nothing_and_a_read_again_is_a_fetch(tmp_path):
    refused = "Your proposed edit has introduced new syntax error(s).\n" + WINDOW
    pairs = [("open a.py", WINDOW), ("edit 1:1\nx\nend_of_edit", refused), ("open a.py", WINDOW)]
    pairs += [
        ("edit 1:1\ny\nend_of_edit", WINDOW),
        ("open a.py", WINDOW),
        ("goto 9", "No file open"),
    ]
    history = [said("system", "s"), said("user", "u")]
    for number, (action, seen) in enumerate(pairs):
        history += [said("assistant", f"{number}\n{action}", action=action), said("user", seen)]
    history += [said("assistant", "end", action="")]
    scenario, warnings, _ = load(write(tmp_path / "s.traj", {"history": history}), strict=True)
    script = scenario.script(0)
    kinds = [a.kind for a in arrivals(script).values() if a.pair and a.kind is not Kind.TOOL_CALL]
    assert warnings == []
    assert kinds == [Kind.FILE, Kind.TOOL_RESULT, Kind.DIFF, Kind.FILE, Kind.TOOL_RESULT]
    assert [(w.turn, w.path) for w in writes(script)] == [(5, "/w/a.py")]
    assert [q.turn for q in queries(script) if q.id.startswith("read-")] == [4]


def test_each_attempt_and_each_agent_is_a_session(tmp_path):
    found, warnings, _ = load_all(
        write(tmp_path / "s.traj", {"attempts": [text_run(), calls_run()], **text_run()})
    )
    assert warnings == [] and [s.name for s in found] == ["s/attempt-1", "s/attempt-2"]
    other = {"agent": "helper"}
    history = [
        *text_run()["history"],
        said("system", "other") | other,
        said("user", "part") | other,
        said("assistant", "hm\nls", action="ls") | other,
    ]
    found, warnings, _ = load_all(write(tmp_path / "s.traj", text_run() | {"history": history}))
    assert warnings == [] and [s.name for s in found] == ["s", "s/agent-2"]
    assert [s.settings["turns"] for s in found] == [3, 1]


def test_a_demonstration_in_another_agents_name_was_not_sent(tmp_path):
    document = text_run()
    for role in ("user", "assistant"):
        demo = {"role": role, "content": "demo", "agent": "primary", "is_demo": True}
        document["history"].insert(1, demo)
    scenario, _, notes = load(write(tmp_path / "s.traj", document))
    assert by_turn(scenario.script(0))[1] == ["system", "user-1", "task"]
    assert any("2 messages of a demonstration in another agent's name" in note for note in notes)


@pytest.mark.parametrize(
    ("spoil", "what"),
    [
        (lambda d: d["history"].insert(3, 5), "message 4 of the history is not an object"),
        (lambda d: d["trajectory"].append("x"), "a step that is not an object"),
        (lambda d: d["history"].insert(1, {"role": 7, "agent": "main"}), "without a known role"),
        (lambda d: d["history"][2].update(content=9), "content that is neither text nor a list"),
    ],
)
def test_what_breaks_the_pattern_is_named(tmp_path, spoil, what):
    document = text_run()
    spoil(document)
    path = write(tmp_path / "s.traj", document)
    _, warnings, _ = load(path)
    assert any(what in text for text in warnings)
    with pytest.raises(InputError, match=what):
        load(path, strict=True)


def test_a_trajectory_alone_is_read_from_its_rows(tmp_path):
    document = {"trajectory": text_run()["trajectory"]}
    script = load(write(tmp_path / "s.traj", document), strict=True)[0].script(0)
    assert by_turn(script) == {
        2: ["assistant-1", "call-1", "result-1"],
        3: ["assistant-2", "call-2", "result-2"],
    }


FILES = sorted(DATA.iterdir()) if DATA.is_dir() else []


@here
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem[-30:])
def test_a_published_trajectory(path):
    document = json.loads(path.read_text(encoding="utf-8"))
    history, rows = document["history"], document.get("trajectory") or []
    answers = sum(m["role"] == "assistant" and not m.get("is_demo") for m in history)
    assert recognise(path).format.name == "swe-agent"
    scenario, warnings, notes = load(path, strict=True)
    script = scenario.script(0)
    assert warnings == []
    assert scenario.settings["turns"] == max(len(rows), answers)
    found = arrivals(script).values()
    fetched = sum(q.id.startswith("read-") for q in queries(script))
    calls = [a for a in found if a.kind is Kind.TOOL_CALL]
    assert len(calls) == scenario.settings["turns"] - 1 - fetched
    system = next(m for m in history if m["role"] == "system")
    assert next(a for a in found if a.kind is Kind.SYSTEM).tokens == -(
        -len(system["content"].encode()) // 4
    )
    recorded = (document.get("info") or {}).get("model_stats") or {}
    assert bool(recorded.get("tokens_sent")) == any("whole session only" in n for n in notes)
