"""Recorded sessions explained: many of them, one of many, and what finds a segment in a record."""

from __future__ import annotations

import json
import shlex

import pytest

from bench.cli import main
from bench.explain.stated import Stated
from bench.selection import REPLAYED
from bench.tables.explain import list_tables
from sim.script import Arrival, Script, Write
from sim.segments import Kind
from tests.scenarios.transcripts.made import Lines, short, text, use

VALUE = "LIMIT_BURST_4711"
KEEP = ("--set", "surrogate.keep=0", "--budget", "9000")
"""Nothing stays in a surrogate, and the budget does not bind."""


def session(folder, name, calls=12):
    """Write a session that reads a file in its first call and names a value of it in its last.

    What is read scores 1.0 in turn 2; 0.85^9 is the first power below 0.25, so naive-rewrite
    rewrites it in turn 11.
    """
    lines = Lines().user("mend the limits", 0)
    lines.model("m0", 1, use("c0", "Read", file_path="/srv/team/app/limits.py"))
    lines.result("c0", f"{VALUE} = 3\n" * 40, 2)
    for n in range(1, calls + 1):
        lines.model(f"m{n}", 10 * n, use(f"c{n}", "Bash", command=f"make step{n}"))
        lines.result(f"c{n}", f"step {n} is done and well\n" * 4, 10 * n + 2)
    lines.model("m97", 500, text(f"{VALUE} is what matters"))
    lines.user("go on", 510)
    lines.model("m99", 520, text("done"))
    return lines.write(folder / f"{name}.jsonl")


@pytest.fixture
def evictbench(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")

    def run(*arguments):
        with pytest.raises(SystemExit) as ended:
            main(["explain", *map(str, arguments), "--jobs", "1"])
        streams = capsys.readouterr()
        return ended.value.code, streams.out, streams.err

    return run


@pytest.fixture
def folder(tmp_path):
    for name in ("one", "two", "three", "four"):
        session(tmp_path, name)
    short().write(tmp_path / "brief.jsonl")
    return tmp_path


def runs(out):
    return json.loads(out)["runs"]


def test_the_list_says_what_was_asked_of_which_file(evictbench, tmp_path):
    file = session(tmp_path, "one")
    code, out, _ = evictbench(file, "-p", "naive-rewrite", *KEEP, "--format", "json")
    (run,) = runs(out)
    (row,) = run["wrong"]
    assert code == 0
    assert (row["fact"], row["outcome"], row["decision"]) == (
        VALUE,
        "confabulated",
        "rewritten, untagged",
    )
    assert row["cause"] == "rewritten, untagged (relevance), turn 11"
    (about,) = row["about"]
    assert about == {
        "segment": row["segments"][0],
        "kind": "file",
        "path": "/srv/team/app/limits.py",
        "tool": "Read",
    }
    _, out, _ = evictbench(file, "-p", "naive-rewrite", *KEEP)
    flat = " ".join(out.split())
    assert "asked for" in flat and VALUE in flat
    assert f"{row['segments'][0]} (limits.py)" in flat


def test_a_fact_that_is_its_own_value_is_said_once(evictbench, tmp_path):
    file = session(tmp_path, "one")
    code, out, _ = evictbench(
        file, "-p", "naive-rewrite", *KEEP, "--query", "query-1", "--format", "json"
    )
    (told,) = json.loads(out)["explanations"]
    says = [step["says"] for step in told["chain"]]
    assert code == 0
    assert says[0].endswith(f"states {VALUE}")
    assert says[-1].startswith("makes an answer up; ")
    assert "the source says" not in says[-1]
    assert told["chain"][0]["tool"] == "Read"


def test_what_goes_without_saying_for_a_session(evictbench, tmp_path):
    """Without -p the policies are those of `replay`, and a story has those of `compare`."""
    code, out, _ = evictbench(session(tmp_path, "one"), "--format", "json")
    assert code == 0
    assert sorted(run["policy"] for run in runs(out)) == sorted(REPLAYED)
    assert {run["source"] for run in runs(out)} == {str(tmp_path / "one.jsonl")}
    code, out, err = evictbench("threshold-drift", "--format", "json")
    assert (code, err) == (0, "")
    assert [run["policy"] for run in runs(out)] == [
        "sliding-window",
        "naive-rewrite",
        "naive-rehydrate",
        "tag-or-drop",
        "slack-swap-refuse",
        "tiered",
        "disciplined",
    ]  # naive-trim needs retrieval ranks, which the story has not


def test_many_sessions_have_a_line_each_and_clean_ones_share_one(evictbench, folder):
    code, out, _ = evictbench(folder, "-p", "naive-rewrite", *KEEP)
    lines = [line.split() for line in out.splitlines()]
    assert code == 0
    assert "4 wrong of 4 queries, 0 acts in 4 runs" in " ".join(out.split())
    assert [line[0] for line in lines if line[1:3] == ["1", "1"]] == ["four", "one", "three", "two"]
    assert "naive-rewrite: 1 run" not in out
    assert "brief under naive-rewrite, seed 0" in out and "(0 queries, 0 acts)" in out
    code, out, _ = evictbench(folder, "-p", "compaction", "-p", "tiered", "--budget", "90000")
    assert out.splitlines()[0].strip() == "no answer is wrong"
    assert "compaction: 5 runs" in " ".join(out.split()).replace("tiered, ", "")
    assert len(out.splitlines()) < 6


def test_one_of_many_is_asked_for_and_chosen(evictbench, folder):
    asked = (folder, "-p", "naive-rewrite", *KEEP, "--query", "query-1")
    code, out, err = evictbench(*asked)
    assert (code, out) == (2, "") and len(err.splitlines()) == 1
    assert "5 sessions are recorded there and --query looks into one; --session NAME" in err
    code, out, err = evictbench(*asked, "--session", "three")
    assert code == 0 and "three under naive-rewrite" in out
    assert "three" in err and not [word for word in ("one.jsonl", "two", "brief") if word in err]
    code, out, err = evictbench(*asked, "--session", "thre")
    assert (code, out) == (2, "") and "did you mean 'three'?" in err
    code, out, _ = evictbench(folder / "t*.jsonl", *asked[1:])
    assert code == 0 and "two under" in out and "three under" in out


def test_the_printed_command_names_the_session(evictbench, folder):
    code, out, _ = evictbench(
        *(folder, "-p", "naive-rewrite", *KEEP, "--budget", "9000", "--confabulations"),
        *("--format", "json"),
    )
    (group,) = json.loads(out)["groups"]
    assert code == 0 and group["count"] == 4
    words = shlex.split(group["command"])
    assert words[words.index("--session") + 1] == "four"  # the first by path
    assert words[words.index("--budget") + 1] == "9000"
    code, out, _ = evictbench(*words[2:])
    assert code == 0 and "four under naive-rewrite" in out and "confabulated" in out


def test_a_budget_of_its_own(evictbench, tmp_path):
    file = session(tmp_path, "one")
    for words in (("--budget", "700"), ("--set", "budget=700"), ("--budget", "700") * 2):
        code, out, err = evictbench(file, "-p", "tiered", *words, "--turn", "3", "--format", "json")
        assert code == 0 and "(--budget sets another)" not in err
        assert json.loads(out)["turns"][0]["budget"] == 700
    code, _, err = evictbench(file, "-p", "tiered", "--budget", "700", "--set", "budget=800")
    assert code == 2 and "two budgets were given: 800 and 700" in err
    code, out, _ = evictbench(
        "threshold-drift", "-p", "tiered", "--budget", "5000", "--turn", "1", "--format", "json"
    )
    assert code == 0 and json.loads(out)["turns"][0]["budget"] == 5000


def test_a_path_is_named_from_the_folder_of_most():
    def script(*paths, written=()):
        arrivals = [Arrival(1, f"f{n}", Kind.FILE, 1, 1.0, path=p) for n, p in enumerate(paths)]
        return Script("x", 0, {}, [*arrivals, *(Write(1, path, None) for path in written)])

    stated = Stated(script("/w/a/x.py", "/w/a/b/y.py", "/w/z.py", written=["/tmp/t"]))
    assert stated.folder == "/w/"  # three of four; /w/a/ has but half
    assert [stated.short(p) for p in ("/w/a/x.py", "/tmp/t", "/w/")] == ["a/x.py", "/tmp/t", "/w/"]
    assert Stated(script("C:\\w\\x.py", "C:\\w\\y.py")).folder == "C:\\w\\"
    assert Stated(script("src/x.py", "src/y.py")).folder == ""
    assert Stated(script("/w/x.py")).folder == "" == Stated(script()).folder
    assert Stated(script("/w/x.py", "/v/y.py")).folder == ""  # all lie under the root, as any path
    assert Stated(script("C:\\w\\x.py", "C:\\v\\y.py")).folder == ""
    assert Stated(script("/w/x.py", "/w/x.py", "/v/y.py")).folder == ""  # each path counts once


def told(policy, scenario="s", seed=0, wrong=0, reason=None):
    row = {
        "turn": 3, "id": "q", "fact": "k", "outcome": "stale", "answer": "k", "missing": [],
        "segments": [], "about": [], "decision": "left stale", "cause": "left stale", "rule": "r",
    }  # fmt: skip
    return {
        "source": scenario, "scenario": scenario, "policy": policy, "seed": seed,
        "status": "failed" if reason else "completed", "reason": reason,
        "queries": 5, "acts": 1, "wrong": [row] * wrong,
    }  # fmt: skip


def test_up_to_three_runs_are_told_in_full_and_more_in_a_line():
    three = [*list_tables([told("a", wrong=1), told("b", wrong=2), told("c", wrong=1)])]
    assert [table.title for table in three] == [
        "s under a, seed 0: 1 wrong of 5 queries, 1 act",
        "s under b, seed 0: 2 wrong of 5 queries, 1 act",
        "s under c, seed 0: 1 wrong of 5 queries, 1 act",
    ]
    (four,) = list_tables([told(name, wrong=n) for n, name in enumerate("abcd", 1)])
    assert four.title == "s, seed 0: 10 wrong of 20 queries, 4 acts in 4 runs"
    assert [column.header for column in four.columns][:3] == ["policy", "wrong", "of"]
    assert [line.cells[:3] for line in four.rows] == [
        ("d", "4", "6"),
        ("c", "3", "6"),
        ("b", "2", "6"),
        ("a", "1", "6"),
    ]
    mixed = [told("a", f"s{n % 2}", n, 1) for n in range(4)]
    (table,) = list_tables(mixed)
    assert [column.header for column in table.columns][:3] == ["scenario", "seed", "wrong"]
    assert table.title.startswith("under a: 4 wrong")
    assert table.notes[0].startswith("--session NAME and --seed N lists the answers of one")


def test_runs_without_a_wrong_answer_share_a_line():
    (alone,) = list_tables([told("a")])
    assert alone.notes == ("no answer is wrong (5 queries, 1 act)",)
    (table,) = list_tables(
        [told("a"), told("b"), told("c", reason="pins"), told("a", "t"), told("b", "t")]
    )
    assert table.notes == (
        "a, b: 2 runs each (s, t), 10 queries, 2 acts",
        "c: 1 run (s), 5 queries, 1 act; 1 failed: pins",
    )
