import json
import pickle

import pytest

from scenarios import transcripts
from scenarios.transcripts.assemble import suggest_budget
from scenarios.transcripts.session import Compacted, Draft, Session, Written
from sim.errors import InputError
from sim.segments import Kind
from sim.settings import Settings
from tests.scenarios.transcripts.made import Lines, arrivals, load, short, text, use

PLAIN = [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]


@pytest.fixture
def path(tmp_path):
    return short().write(tmp_path / "session.jsonl")


def test_formats_are_listed_with_a_description():
    names = [name for name, about in transcripts.formats()]
    assert {"claude-code", "openhands"} <= set(names)
    assert names[-2:] == ["anthropic", "openai"]
    assert len(set(names)) == len(names)
    assert all(about for _, about in transcripts.formats())


def test_a_replay_is_a_scenario(path):
    scenario, *_ = load(path, tokenizer=None)
    assert (scenario.name, scenario.kind, scenario.seeded, scenario.flips) == (
        "session",
        "replay",
        False,
        (),
    )
    assert scenario.script(0).tokens_from == "o200k"
    assert scenario.script(3).seed == 3
    assert scenario.script(3).stimuli == scenario.script(0).stimuli
    assert Settings.from_flat(scenario.settings).budget == 1_000_000
    assert scenario.settings["price"] == "claude-sonnet-5"
    copy = pickle.loads(pickle.dumps(scenario))
    assert copy.script(0) == scenario.script(0)


def test_settings_are_laid_over_the_defaults(path):
    given = {"salience.decay": "0.5", "copies.tool_result": 1.0, "reader": "measured"}
    scenario, *_ = load(path, settings=given)
    assert scenario.settings["salience.decay"] == 0.5
    assert scenario.settings["reader.fetch_tagged"] == 0.75
    assert arrivals(scenario.script(0))["result-1"].copy


def test_the_budget_of_the_settings_counts_where_none_is_given(path):
    scenario, *_ = load(path, budget=None, settings={"budget": "4321"})
    assert scenario.settings["budget"] == 4321
    scenario, *_ = load(path, budget=5000, settings={"budget": "4321"})
    assert scenario.settings["budget"] == 5000


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"settings": {"salience.decya": 0.5}}, "'salience.decay'"),
        ({"settings": {"salience.decay": "2"}}, "salience.decay must be"),
        ({"settings": {"turns": 5}}, "turns of a recorded session cannot be set"),
        ({"settings": {"wait.median": 5}}, "unknown key of a recorded session"),
        ({"budget": 0}, "budget must be"),
        ({"budget": -4}, "budget must be"),
        ({"budget": 3}, "the segments pinned in turn 1 hold 6 tokens"),
        ({"tokenizer": "gpt"}, "unknown tokenizer"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(path, more, says):
    with pytest.raises(InputError) as raised:
        load(path, **more)
    assert says in str(raised.value)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", "hello\n"),
        ("a.json", "{}"),
        ("a.json", "[]"),
        ("a.json", "7"),
        ("a.json", '{"messages": []}'),
        ("a.json", '{"messages": "x"}'),
        ("a.json", '[{"role": "narrator", "content": "x"}]'),
        ("a.jsonl", '{"payload": 1}\n{"payload": 2}\n'),
        ("a.md", "# notes"),
        ("empty", ""),
    ],
)
def test_an_unknown_format_says_where_those_that_are_read_stand(tmp_path, name, content):
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(InputError) as raised:
        load(tmp_path / name)
    assert str(raised.value).startswith(f"{tmp_path / name}")
    assert "(`evictbench replay --list-formats`)" in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_missing_file_is_one_sentence(tmp_path):
    with pytest.raises(InputError, match="there is no such file"):
        load(tmp_path / "none.jsonl")


def test_a_directory_is_all_the_sessions_in_it(tmp_path):
    (tmp_path / "deep" / ".git").mkdir(parents=True)
    short().write(tmp_path / "b.jsonl")
    short().write(tmp_path / "deep" / "b.jsonl")
    short().write(tmp_path / "deep" / ".git" / "c.jsonl")
    (tmp_path / "a.json").write_text(json.dumps(PLAIN), encoding="utf-8")
    (tmp_path / "README.md").write_text("# notes", encoding="utf-8")
    warnings = []
    found = transcripts.load([tmp_path], 1000, on_warning=warnings.append, on_note=print)
    assert [s.name for s in found] == ["a", "b", "b-2"]
    assert [w.partition(": ")[0] for w in warnings] == [f"{tmp_path / 'README.md'}:1"]
    again = transcripts.load([tmp_path / "deep", tmp_path], 1000)
    assert [s.name for s in again] == ["a", "b", "b-2"]
    with pytest.raises(InputError, match=r"README\.md"):
        transcripts.load([tmp_path], 1000, strict=True)


def test_a_directory_without_a_session_is_one_sentence(tmp_path):
    with pytest.raises(InputError, match="there is no recorded session in it"):
        transcripts.load([tmp_path])


def test_sessions_are_told_apart_by_content_not_by_name(tmp_path):
    path = short().write(tmp_path / "session.json")
    assert "claude-code" in load(path)[0].about
    (tmp_path / "a.jsonl").write_text(json.dumps(PLAIN), encoding="utf-8")
    assert "openai" in load(tmp_path / "a.jsonl")[0].about


def test_notes_go_with_the_warnings_if_nobody_asks_for_them(path):
    heard = []
    transcripts.load([path], on_warning=heard.append)
    assert any("budget" in text for text in heard)


def sized(*sizes, pinned=100):
    """A session that pins some tokens and then grows by the given ones, turn by turn."""
    session = Session("bytes/4", turns=len(sizes))
    session.arrivals.append(Draft("system", Kind.SYSTEM, pinned, 0.0, 1, pinned=True))
    for turn, tokens in enumerate(sizes, 1):
        session.arrivals.append(Draft(f"user-{turn}", Kind.USER, tokens, 0.0, turn))
    return session


@pytest.mark.parametrize(
    ("session", "budget"),
    [
        (sized(10, 10, 10, 10), 120),
        (sized(10, 90, 10, 10), 190),
        (sized(10_000, 10_000, 10_000, 10_000, pinned=500), 21_000),
        (sized(5, pinned=7), 20),
    ],
)
def test_the_budget_suggested_has_room_for_half_of_what_comes(session, budget):
    suggested, why = suggest_budget(session, 1600)
    assert suggested == budget
    assert "names none" in why


def test_the_budget_suggested_has_room_for_what_the_loop_is_at():
    session = sized()
    session.turns = 5

    def came(turn: int, kind: Kind, tokens: int, **more: str) -> None:
        name = f"{kind}-{turn}"
        session.arrivals.append(Draft(f"c{turn}", Kind.TOOL_CALL, 5, 0.0, turn, pair=name))
        session.arrivals.append(Draft(name, kind, tokens, 0.0, turn, pair=name, **more))

    came(1, Kind.FILE, 40, path="a")
    came(2, Kind.TOOL_RESULT, 60, tool="x")
    came(3, Kind.TOOL_RESULT, 70, tool="y")
    came(4, Kind.TOOL_RESULT, 30, tool="x")
    came(5, Kind.DIFF, 1, path="a")
    session.writes.append(Written(5, "a", 80))
    # Pinned 100; y 75 and the newer x 35 with their calls, and the file, now of 80, with its own.
    assert suggest_budget(session, 1600)[0] == 100 + 75 + 35 + 85 + 5  # in steps of ten
    session.writes.clear()
    # Half of 226 is less than x 65 and y 75.
    assert suggest_budget(session, 1600)[0] == 100 + 65 + 75


def test_the_recorded_window_is_the_budget():
    session = sized(10, 10)
    session.window = 777
    assert suggest_budget(session, 1600) == (777, "the recorded context window")


@pytest.mark.parametrize(
    ("marks", "budget"),
    [
        ([(4, "auto")], 140),
        ([(4, "manual")], 150),
        ([(4, "manual"), (6, "auto")], 160),
        ([(10, "auto")], 150),
        ([(0, "auto")], 150),
    ],
)
def test_a_forced_compaction_says_what_the_window_was(marks, budget):
    session = sized(*[10] * 10)
    session.compactions = [Compacted(turn, trigger, 0) for turn, trigger in marks]
    assert suggest_budget(session, 1600)[0] == budget


def test_the_suggested_budget_is_noted(path):
    scenario, _, notes = load(path, budget=None)
    said = [note for note in notes if ": budget " in note]
    assert len(said) == 1
    assert f"budget {scenario.settings['budget']:,} tokens" in said[0]


def test_a_script_can_be_written_and_read_back(path):
    from sim.script import script_from_json, script_to_json

    lines = Lines().user("go", 0)
    lines.model("m1", 1, use("a", "Read", file_path="/r/one.py"))
    lines.result("a", "load_balancer", 2)
    lines.model("m2", 3, use("b", "Write", file_path="/r/one.py", content="new"))
    lines.result("b", "ok", 4).model("m3", 400, text("load_balancer"))
    script = load(lines.write(path))[0].script(0)
    assert script_from_json(json.loads(json.dumps(script_to_json(script)))) == script


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (
            '"""A module."""\n\nimport json\n\nX = [1]\n{}\n[2]\n',
            "it is not valid JSON (Extra data",
        ),
        ('{"a": 1}\n{"b": 2}\n', "its lines are JSON of another shape"),
        ("[tools.x]\npages = true\n", "it is not valid JSON (Expecting value"),
    ],
)
def test_why_a_file_is_no_recording_is_true_of_it(tmp_path, content, why):
    file = tmp_path / "file"
    file.write_text(content)
    with pytest.raises(InputError) as raised:
        load(file)
    assert why in str(raised.value)
    assert str(raised.value).startswith(str(file))
