"""τ-bench runs: a session each, chat messages, tool calls that share an id."""

import json
from pathlib import Path

import pytest

from scenarios.transcripts.formats import recognise
from sim.errors import InputError
from tests.scenarios.transcripts.made import arrivals, by_turn, load, load_all, waits

DATA = Path(__file__).resolve().parents[5] / "shared" / "data" / "transcripts" / "tau_bench"
here = pytest.mark.skipif(not DATA.is_dir(), reason="the recordings are not here")


def called(id, name="look", **arguments):
    return {
        "id": id,
        "type": "function",
        "function": {"name": name, "arguments": json.dumps(arguments)},
    }


def result(id, content):
    return {"role": "tool", "tool_call_id": id, "name": "look", "content": content}


TRAJ = [
    {"role": "system", "content": "s" * 40},
    {"role": "user", "content": "u" * 8},
    {"role": "assistant", "content": None, "tool_calls": [called("c", at=1)]},
    result("c", "r" * 12),
    {"role": "assistant", "content": "a" * 16},
    {"role": "user", "content": "v" * 20},
    {"role": "assistant", "content": "", "tool_calls": [called("c", at=2)]},
    result("c", "q" * 24),
    {"role": "assistant", "content": "end"},
    {"role": "user", "content": "###STOP###"},
]


def run(task=0, trial=0, traj=TRAJ, **more):
    return {"task_id": task, "trial": trial, "reward": 1.0, "info": {}, "traj": traj, **more}


def write(path, value):
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def test_a_run_is_a_session_and_ids_used_again_pair_by_order(tmp_path):
    scenario, warnings, notes = load(write(tmp_path / "t.json", [run()]), strict=True)
    script = scenario.script(0)
    assert warnings == []
    assert by_turn(script) == {
        1: ["system", "task"],
        2: ["call-1", "result-1"],
        3: ["assistant-1", "user-1"],
        4: ["call-2", "result-2"],
    }
    found = arrivals(script)
    assert [found[id].tokens for id in ("system", "task", "result-1", "assistant-1")] == [
        10,
        2,
        3,
        4,
    ]
    assert [found[id].tokens for id in ("user-1", "result-2")] == [5, 6]
    assert waits(script) == {} and script.recorded == {}
    assert any("1 tool call has the id of an earlier one" in note for note in notes)
    assert any("reward 1" in note for note in notes)


def test_runs_are_named_by_task_and_trial_and_no_two_alike(tmp_path):
    runs = [run(3, 0), run(3, 1), run(3, 1), run("a b/c", None), run(3, "1-2")]
    found, *_ = load_all(write(tmp_path / "t.json", runs))
    names = [scenario.name for scenario in found]
    assert names[:2] == ["t/task-3-trial-0", "t/task-3-trial-1"]
    assert names[3] == "t/task-a-b-c"
    assert len(set(names)) == len(names)


def test_a_broken_run_is_named_and_the_others_are_read(tmp_path):
    path = write(tmp_path / "t.json", [run(1), {"task_id": 2}, 5, run(3)])
    found, warnings, _ = load_all(path)
    assert [scenario.name for scenario in found] == ["t/task-1-trial-0", "t/task-3-trial-0"]
    assert any("run 2 has no messages" in text for text in warnings)
    assert any("run 3 has no messages" in text for text in warnings)
    with pytest.raises(InputError, match="run 2 has no messages"):
        load_all(path, strict=True)


def test_the_second_generation_has_times_usage_and_the_users_own_tools(tmp_path):
    messages = [
        {"role": "user", "content": "uuuu", "timestamp": "2026-01-01T00:00:00"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "x", "name": "f", "arguments": {"k": 1}, "requestor": "assistant"}
            ],
            "usage": {"prompt_tokens": 50, "completion_tokens": 7},
            "timestamp": "2026-01-01T00:00:02",
        },
        {
            "id": "x",
            "role": "tool",
            "content": "rrrrrrrr",
            "requestor": "assistant",
            "error": False,
            "timestamp": "2026-01-01T00:00:05",
        },
        {"role": "assistant", "content": "aaaa", "usage": {"prompt_tokens": 60}},
        {
            "role": "user",
            "content": None,
            "tool_calls": [{"id": "y", "name": "g", "arguments": {}}],
        },
        {"id": "y", "role": "tool", "content": "hidden", "requestor": "user"},
        {"role": "user", "content": "bbbb"},
        {"role": "assistant", "content": "done"},
    ]
    document = {"simulations": [{"id": "s", "task_id": "7", "trial": 0, "messages": messages}]}
    scenario, warnings, notes = load(write(tmp_path / "t.json", document))
    script = scenario.script(0)
    assert warnings == [] and scenario.name == "t/task-7-trial-0"
    assert by_turn(script) == {
        1: ["unrecorded", "task"],
        2: ["call-1", "result-1"],
        3: ["assistant-1", "user-1"],
    }
    assert arrivals(script)["unrecorded"].tokens == 49
    assert arrivals(script)["result-1"].time == 3.0
    assert script.recorded[1] == {"input_tokens": 50, "output_tokens": 7}
    assert any("2 messages of the simulated user's own tools" in note for note in notes)


def test_a_dialogue_shown_as_text(tmp_path):
    text = (
        "user: uuuu\nuser2: no mark\nassistant: None\ntool: rrrr\n"
        "assistant: hi\nuser: bye\nassistant: ok"
    )
    path = write(tmp_path / "f.jsonl", json.dumps({"messages_display": text}) + "\n")
    scenario, warnings, notes = load(path)
    script = scenario.script(0)
    assert warnings == [] and scenario.name == "f/dialogue-1"
    assert by_turn(script) == {
        1: ["task"],
        2: ["call-1", "result-1"],
        3: ["assistant-1", "user-1"],
    }
    assert arrivals(script)["task"].tokens == len("uuuu\nuser2: no mark") // 4 + 1
    assert arrivals(script)["call-1"].tokens == 1
    assert any("1 tool call whose name and arguments are not recorded" in note for note in notes)


@pytest.mark.parametrize("text", ["", "nothing", "tool: r\nassistant: x", "None"])
def test_a_display_without_a_speaker_is_named(tmp_path, text):
    good = json.dumps({"messages_display": "user: u\nassistant: a"})
    path = write(tmp_path / "f.jsonl", good + "\n" + json.dumps({"messages_display": text}))
    _, warnings, _ = load_all(path)
    assert warnings


@here
def test_the_published_runs():
    path = DATA / "gpt-4o-airline.json"
    runs = json.loads(path.read_text(encoding="utf-8"))
    found, warnings, _ = load_all(path, strict=True)
    assert warnings == [] and len(found) == len(runs) == 200
    for scenario, record in zip(found, runs, strict=True):
        asked = [m for m in record["traj"] if m["role"] == "assistant"]
        last = record["traj"].index(asked[-1])
        results = sum(m["role"] == "tool" for m in record["traj"][:last])
        script = scenario.script(0)
        assert scenario.settings["turns"] == len(asked)
        pairs = {a.pair for a in arrivals(script).values() if a.pair}
        assert len(pairs) == results
        assert scenario.name.endswith(f"task-{record['task_id']}-trial-{record['trial']}")


@here
def test_the_few_shot_dialogues():
    path = DATA / "MockAirlineDomainEnv-few_shot.jsonl"
    assert recognise(path).format.name == "tau-bench"
    found, warnings, _ = load_all(path, strict=True)
    lines = path.read_text(encoding="utf-8").splitlines()
    assert warnings == [] and len(found) == len(lines) == 19
    for scenario, line in zip(found, lines, strict=True):
        text = "\n" + json.loads(line)["messages_display"]
        assert scenario.settings["turns"] == text.count("\nassistant: ")
