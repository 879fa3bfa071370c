"""``evictbench new``: a scenario file fitted to recorded sessions."""

import os
import subprocess
import sys
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest

from bench.cli import main
from bench.fitting import fit_sessions
from bench.loading import load
from scenarios import transcripts
from scenarios.fitting import fit as fitting
from scenarios.fitting.families import FITTED
from scenarios.fitting.measure import Figures, measure, pooled
from scenarios.fitting.summary import summary
from sim.errors import InputError
from tests.scenarios.transcripts.made import Lines, short, text, use

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "transcripts"
FILES = sorted(p for p in DATA.rglob("*") if p.is_file()) if DATA.is_dir() else []
recordings = pytest.mark.skipif(not FILES, reason="the recorded transcripts are not here")


@pytest.fixture(autouse=True)
def few_seeds(monkeypatch):
    """Compare with few seeds in the file's table, which takes most of the time."""
    monkeypatch.setattr(fitting, "_TURNS", 1)


@pytest.fixture
def evictbench(capsys):
    def run(*arguments):
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        streams = capsys.readouterr()
        return ended.value.code, streams.out, streams.err

    return run


def made(folder, name="ours.jsonl", tool="Grep"):
    """Write a session of six calls, whose figures the tests below have by hand (bytes / 4)."""
    lines = Lines().user("t" * 40, 0)
    lines.model("m1", 2, text("x" * 40), use("c1", "Read", file_path="/a.py"))
    lines.result("c1", "x" * 400, 3)
    lines.model("m2", 5, use("c2", "Edit", file_path="/a.py", old_string="x", new_string="y"))
    lines.result("c2", "x" * 80, 7)
    lines.model("m3", 8, use("c3", tool, pattern="y"))
    lines.result("c3", "x" * 200, 12)
    lines.model("m4", 13, use("c4", "Read", file_path="/a.py"))
    lines.result("c4", "y" * 800, 21)
    lines.model("m5", 22, text("x" * 80))
    lines.user("u" * 120, 522)
    lines.model("m6", 530, text("bye"))
    return lines.write(folder / name)


def flat(document, name=""):
    """Return the settings of a scenario file by dotted key."""
    found = {}
    for key, value in document.items():
        if isinstance(value, dict):
            found |= flat(value, f"{name}{key}.")
        else:
            found[name + key] = value
    return found


def settings(written):
    return flat(tomllib.loads(written)["settings"])


HAND = {
    "turns": 6,
    "task.tokens": 10,
    "user.share": 0.2,  # the sixth of five turns behind the first
    "user.median": 30,
    "wait.median": 500.0,
    "wait.p90": 500.0,
    "wait.cap": 500.0,
    "message.share": 0.4,  # turns 2 and 6
    "call.output_tokens": 15,
    "message.cap": 20,
    "message.sigma": 0.184,  # ln(19 / 15) / 1.2816
    "calls.mean": 1.0,
    "latency.median": 3.0,  # of 1, 2, 4, 8
    "latency.p90": 6.8,
    "latency.cap": 8.0,
    "mix.read": 2,
    "mix.edit": 1,
    "mix.grep": 1,
    "mix.bash": 0,
    "read.median": 150,
    "read.p90": 190,
    "read.cap": 200,
    "grep.median": 50,
    "grep.limit": 50,
    "edit.median": 20,
    "reads.again": 0.5,
    "files.count": 1,
    "returns.rate": 0.0,
}


def test_each_setting_is_what_the_hand_finds(evictbench, tmp_path):
    file = made(tmp_path)
    code, out, _ = evictbench("new", "--from", file, "--tokenizer", "bytes/4")
    assert code == 0
    assert "the first 30 seeds" in out
    found = settings(out)
    assert {key: found[key] for key in HAND} == HAND
    assert tomllib.loads(out)["family"] == "coding-agent"
    assert not [key for key in found if key.startswith("bash.")]
    for said in (
        "Turns that the user starts: 1 of 5",
        "n = 4, median 3, p90 6.8, largest 8",
        "1 of 1 above 300 s",
        "Reads of a path that had been read: 1 of 2",
        "grep for Grep 1",
        "reads.alpha: too few",
    ):
        assert said in out


def test_two_sessions_are_pooled(evictbench, tmp_path):
    one, two = made(tmp_path, "a.jsonl"), short().write(tmp_path / "b.jsonl")
    code, out, _ = evictbench("new", "--from", one, "--from", two, "--tokenizer", "bytes/4")
    assert code == 0
    found = settings(out)
    assert found["turns"] == 4  # the median of 6 and 2
    assert found["mix.bash"] == 1
    assert found["user.share"] == 0.1667  # 1 of 5 + 1
    assert "median of 2 sessions, 2 to 6" in out
    assert evictbench("new", "--from", one, two, "--tokenizer", "bytes/4")[1] == out
    assert settings(evictbench("new", "--from", tmp_path, "--tokenizer", "bytes/4")[1]) == found


def test_the_file_is_what_run_and_compare_take(evictbench, tmp_path):
    file = tmp_path / "ours.toml"
    assert evictbench("new", "--from", made(tmp_path), "-o", file)[:2] == (0, "")
    code, out, _ = evictbench("run", file, "-p", "tiered", "--strict")
    assert code == 0 and out
    code, _, _ = evictbench("compare", file, "-p", "tiered", "-p", "no-op", "--seeds", "3")
    assert code == 0
    scenario = load(str(file))
    assert scenario.script(5) == scenario.script(5)
    assert scenario.script(5).digest() != scenario.script(6).digest()
    assert scenario.about.startswith("fitted to ours, 6 calls")


def test_nothing_is_overwritten_unasked(evictbench, tmp_path):
    session, file = made(tmp_path), tmp_path / "ours.toml"
    file.write_text("mine")
    code, out, err = evictbench("new", "--from", session, "-o", file)
    assert (code, out) == (2, "") and "--force" in err and len(err.splitlines()) == 1
    assert file.read_text() == "mine"
    assert evictbench("new", "--from", session, "-o", file, "--force")[0] == 0
    load(str(file))
    odd = made(tmp_path, "session.toml")
    before = odd.read_bytes()
    code, _, err = evictbench("new", "--from", odd, "-o", odd, "--force")
    assert code == 2 and "never overwritten" in err
    assert odd.read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--family", "coding-agnt"], "did you mean 'coding-agent'?"),
        (["--family", "tool-loop"], "unknown family"),
        (["--tokenizer", "o100k"], "o200k"),
        (["-o", "ours.json"], ".toml"),
        (["-o", "nowhere/ours.toml"], "cannot write it"),
        (["-o", "folder.toml"], "it is a folder"),
    ],
)
def test_what_is_wrong_is_one_sentence(evictbench, tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.toml").mkdir()
    code, out, err = evictbench("new", "--from", made(tmp_path), *arguments)
    assert (code, out) == (2, "")
    assert said in err.splitlines()[-1] and "Traceback" not in err


def test_what_is_no_session_or_too_short_is_named(evictbench, tmp_path):
    none = tmp_path / "none.jsonl"
    none.write_text("{}\n")
    code, _, err = evictbench("new", "--from", none)
    assert code == 2 and "none.jsonl" in err
    brief = short().write(tmp_path / "brief.jsonl")
    code, _, err = evictbench("new", "--from", brief)
    assert code == 2 and "brief.jsonl: 2 model calls are too few" in err.splitlines()[-1]
    assert evictbench("new", "--from", tmp_path / "missing.jsonl")[0] == 2
    assert evictbench("new")[0] == 2


@pytest.mark.parametrize("family", FITTED)
def test_every_family_takes_every_kind_of_session(tmp_path, family):
    talk = Lines()
    for turn in range(6):
        talk.user("go on", 100 * turn).model(f"m{turn}", 100 * turn + 1, text("well"))
    for session in (made(tmp_path), talk.write(tmp_path / "talk.jsonl")):
        file = tmp_path / "ours.toml"
        file.write_text(fit_sessions([session], family))
        scenario = load(str(file))
        assert scenario.settings["turns"] == 6
        assert scenario.script(0).stimuli


def test_a_talk_without_tools_is_a_person_who_asks(tmp_path):
    talk = Lines()
    for turn in range(6):
        talk.user("go on", 100 * turn).model(f"m{turn}", 100 * turn + 1, text("well"))
    out = fit_sessions([talk.write(tmp_path / "talk.jsonl")])
    assert tomllib.loads(out)["family"] == "support-agent"
    found = settings(out)
    assert found["user.share"] == 1.0 and found["wait.median"] == 99.0
    assert (found["mix.lookup"], found["lookup.median"], found["lookup.cap"]) == (1, 1, 1)


def test_odd_names_stay_in_their_comment(evictbench, tmp_path):
    odd = 'x\x1b[31m\u2028"""\nturns = 1 #\\'
    code, out, _ = evictbench("new", "--from", made(tmp_path, 'q"\\ours.jsonl', odd))
    assert code == 0
    assert "\x1b" not in out and "\u2028" not in out
    found = settings(out)
    assert found["turns"] == 6 and found["mix.bash"] == 1
    assert tomllib.loads(out)["about"].startswith('fitted to q"\\ours,')


def test_no_text_of_the_session_is_in_it(tmp_path):
    secret = "the payroll of Jane Whitfield"
    lines = Lines().user(secret, 0)
    for turn in range(1, 5):
        path = f"/home/jane/{turn}.py"
        lines.model(f"m{turn}", 10 * turn, text(secret), use(f"c{turn}", "Read", file_path=path))
        lines.result(f"c{turn}", f"salary_{turn} = 91500", 10 * turn + 1)
    lines.model("m9", 90, text("salary_1 is 91500"))
    out = fit_sessions([lines.write(tmp_path / "s.jsonl")])
    assert not [word for word in ("ayroll", "Jane", "jane", "salary", "91500") if word in out]


def test_a_redacted_session_gives_the_same_settings(evictbench, tmp_path):
    session, script = made(tmp_path, tool="Bash"), tmp_path / "hidden.json"
    assert evictbench("redact", session, "-o", script)[0] == 0
    code, out, _ = evictbench("new", "--from", script)
    assert code == 0
    assert settings(out) == settings(evictbench("new", "--from", session)[1])


def test_the_bytes_do_not_hang_on_the_hash_seed(tmp_path):
    session = made(tmp_path)
    texts = {
        subprocess.run(
            [sys.executable, "-m", "bench", "new", "--from", str(session)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=Path(__file__).resolve().parents[2],
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(texts) == 1


def test_without_times_the_defaults_stay_and_the_file_says_so(tmp_path):
    lines = made(tmp_path).read_text().replace('"timestamp"', '"no"')
    file = tmp_path / "timeless.jsonl"
    file.write_text(lines)
    out = fit_sessions([file])
    assert not {"wait.median", "latency.median"} & settings(out).keys()
    assert out.count("the record has no times") == 2


# -- the recorded transcripts -----------------------------------------------------------------

LONG = (
    "claude_code_jsonl/b6_*",
    "claude_code_jsonl",
    "pi_jsonl/before-compaction*",
    "tau_bench/gpt-4o-airline*",
    "openhands_llm_completions/last_call",
)
WITHIN = {"median": 0.3, "p90": 0.3, "share": 0.15, "a turn": 0.2}
"""How far the figures of 30 seeds may be from what was recorded, as shares of it."""
APART = 0.06
"""How far shares may be apart anyway."""


def figures_of(pattern):
    found = sorted(DATA.glob(pattern))
    if not found:
        pytest.skip(f"no {pattern} here")
    return pooled(measure(s.script(0)) for s in transcripts.load(found))


@recordings
@pytest.mark.parametrize("pattern", LONG)
def test_thirty_seeds_resemble_what_was_recorded(pattern):
    recorded = figures_of(pattern)
    fitted = fitting.fit(recorded)
    tools = FITTED[fitted.family].groups
    theirs = summary(fitted.made(max(30, 6000 // recorded.turns[0])), tools)
    ours = summary(recorded, tools)
    for name in ("calls a turn", "writes a turn", "questions a turn", "tokens written a turn"):
        assert theirs[name] == pytest.approx(ours[name], rel=WITHIN["a turn"], abs=0.02), name
    for name in (
        "turns of the user",
        "waits of the user over 300 s",
        "turns with words of the model",
        "reads of a path read before",
        *(name for name in ours if name.startswith("share of results")),
    ):
        if ours[name] is not None:
            assert theirs[name] == pytest.approx(ours[name], rel=WITHIN["share"], abs=APART), name
    counts = {tool: sum(len(recorded.sizes[g]) for g in groups) for tool, groups in tools.items()}
    for tool in (tool for tool, count in counts.items() if count >= 20):
        for part in ("median", "p90"):
            name = f"result of {tool}, {part}"
            assert theirs[name] == pytest.approx(ours[name], rel=WITHIN[part], abs=8), name
    if recorded.timed:
        for part in ("median", "p90"):
            name = f"seconds of a call, {part}"
            assert theirs[name] == pytest.approx(ours[name], rel=WITHIN[part]), name


@recordings
def test_every_file_gives_a_scenario_that_loads_or_a_message(tmp_path, monkeypatch):
    monkeypatch.setattr(fitting, "SEEDS", 1)
    fitted = 0
    for path in FILES:
        try:
            out = fit_sessions([path])
        except InputError as error:
            assert path.name in str(error)
            continue
        file = tmp_path / "ours.toml"
        file.write_text(out)
        assert load(str(file)).script(1).stimuli
        fitted += 1
    assert fitted >= len(FILES) // 2


def test_figures_are_pooled_field_by_field(tmp_path):
    (scenario,) = transcripts.load([made(tmp_path)])
    one = measure(scenario.script(0))
    both = pooled([one, one])
    for part in fields(Figures):
        mine, twice = getattr(one, part.name), getattr(both, part.name)
        if isinstance(mine, int):
            assert twice == 2 * mine
        elif isinstance(mine, list):
            assert twice == mine + mine
    assert both.tools["read"]["Read"] == 4
    assert both.later == 10 and one.later == 5
