import json

import pytest

from sim.errors import InputError
from tests.scenarios.transcripts.made import Lines, arrivals, load, queries, text, use


@pytest.fixture
def session(tmp_path):
    lines = Lines().user("go", 0)
    lines.model("m1", 1, use("a", "Read", file_path="/r/one.py"), use("b", "Bash", command="ls"))
    lines.result("a", "def load_balancer(): drain_queue()", 2).result("b", "nothing", 3)
    lines.model("m2", 4, use("c", "Read", file_path="/r/two.py"))
    lines.result("c", "x", 5)
    lines.model("m3", 6, text("load_balancer")).user("and?", 7)
    lines.model("m4", 8, text("still drain_queue"))
    return lines.write(tmp_path / "session.jsonl")


def scores(session, tmp_path, content, name="r.json", **more):
    file = tmp_path / name
    file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    scenario, warnings, _ = load(session, relevance_file=file, **more)
    script = scenario.script(0)
    found = {a.id: a.score for a in arrivals(script).values()}
    return found, [q.relevance for q in queries(script)], warnings


def test_without_a_file_arrivals_and_mentions_score_one(session):
    script = load(session)[0].script(0)
    assert {a.score for a in arrivals(script).values()} == {1.0}
    assert [(q.turn, q.relevance) for q in queries(script)] == [(3, 1.0), (4, 1.0)]


def test_the_weight_of_a_kind_is_its_score_on_arrival(session):
    script = load(session, settings={"relevance.file": 0.4})[0].script(0)
    assert {a.id for a in arrivals(script).values() if a.score == 0.4} == {"file-1", "file-3"}


@pytest.mark.parametrize(
    ("target", "changed"),
    [
        ("file-1", {"file-1"}),
        ("/r/one.py", {"file-1"}),
        ("Read", {"call-1", "call-3", "file-1", "file-3"}),
        ("task", {"task"}),
    ],
)
def test_a_target_is_an_id_a_path_or_a_tool(session, tmp_path, target, changed):
    found, _, warnings = scores(session, tmp_path, {target: 0.25})
    assert warnings == []
    assert {name for name, score in found.items() if score == 0.25} == changed
    assert {score for name, score in found.items() if name not in changed} == {1.0}


def test_the_more_exact_target_wins(session, tmp_path):
    found, mentions, _ = scores(session, tmp_path, {"Read": 0.1, "/r/one.py": 0.2, "file-1": 0.3})
    assert (found["file-1"], found["file-3"], found["call-1"]) == (0.3, 0.1, 0.1)
    assert mentions == [0.3, 0.3]


def test_a_score_for_a_turn_holds_for_what_happens_in_it(session, tmp_path):
    found, mentions, _ = scores(
        session, tmp_path, {"file-1": {"2": 0.6, "3": 0.7}, "/r/one.py": 0.5}
    )
    assert found["file-1"] == 0.6
    assert mentions == [0.7, 0.5]


def test_csv_says_the_same(session, tmp_path):
    table = "target,score,turn\nfile-1,0.6,2\nfile-1,0.7,3\n/r/one.py,0.5,\n"
    found, mentions, warnings = scores(session, tmp_path, table, "r.csv")
    assert (found["file-1"], mentions, warnings) == (0.6, [0.7, 0.5], [])
    found, mentions, _ = scores(session, tmp_path, "score,target\n.5,file-1\n", "r.csv")
    assert (found["file-1"], mentions) == (0.5, [0.5, 0.5])


def test_a_target_that_does_not_occur_is_named_with_the_nearest(session, tmp_path):
    _, _, warnings = scores(session, tmp_path, {"file-11": 0.5})
    (warning,) = warnings
    assert (
        "relevance is given for 'file-11', which does not occur; did you mean 'file-1'?" in warning
    )
    with pytest.raises(InputError, match="which does not occur"):
        scores(session, tmp_path, {"file-11": 0.5}, strict=True)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{", "r.txt:1: it is not valid JSON"),
        ("[1]", "an object of target and score"),
        ("{}x", "it is not valid JSON"),
        ("name,score\n", "r.txt:1: its header is not"),
        ("", "its header is not"),
        ("target,score\nfile-1,high\n", "r.txt:2: a score lies between 0 and 1, not 'high'"),
        ("target,score\nfile-1\n", "r.txt:2: a score lies between 0 and 1"),
        ("target,score,turn\nfile-1,1,x\n", "r.txt:2: a turn is a whole number, not 'x'"),
        ("target,score,turn\nfile-1,1,-2\n", "a turn is a whole number"),
        ('{"a": 1.5}', "a score lies between 0 and 1, not '1.5'"),
        ('{"a": -0.1}', "a score lies between"),
        ('{"a": NaN}', "a score lies between"),
        ('{"a": true}', "a score lies between"),
        ('{"a": null}', "a score lies between"),
        ('{"a": [1]}', "a score lies between"),
        ('{"a": {"soon": 1}}', "a turn is a whole number, not 'soon'"),
        ("\x00,score", "its header is not"),
        ("[" * 100_000, "it is not valid JSON"),
    ],
)
def test_a_file_that_is_none_is_one_sentence(session, tmp_path, content, says):
    with pytest.raises(InputError) as raised:
        scores(session, tmp_path, content, "r.txt")
    assert says in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_missing_file_is_one_sentence(session, tmp_path):
    with pytest.raises(InputError, match="cannot read it"):
        load(session, relevance_file=tmp_path / "none.csv")


def test_bytes_that_are_no_text_are_one_sentence(session, tmp_path):
    (tmp_path / "r.csv").write_bytes(b"target,score\n\xff,1\n")
    with pytest.raises(InputError, match="not utf-8 text"):
        load(session, relevance_file=tmp_path / "r.csv")
