from __future__ import annotations

import csv
import io
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench.cli import main
from bench.cli.app import app
from bench.results import load
from bench.summary import COLUMNS
from policies import harness, registry
from scenarios import catalogue
from sim.metrics import NAMES

ROOT = Path(__file__).resolve().parents[2]
ROW = ["scenario", "policy", "seed", "price", *NAMES, "status", "reason"]
SMALL = ("doc-analysis", "-p", "tiered", "-p", "no-op", "--seeds", "2", "--set", "turns=12")

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def evictbench(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the command line in this process: exit code, standard output, standard error."""

    def run(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        streams = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, streams.out, streams.err

    return run


def start(*arguments: object, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "bench", *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )


def commands() -> list[str]:
    return app.list_commands(app.make_context("evictbench", []))


# -- help ------------------------------------------------------------------------------------


def test_help_teaches(evictbench: Run) -> None:
    for arguments in (["--help"], [], *([name, "--help"] for name in commands())):
        code, out, err = evictbench(*arguments)
        assert (code, err) == (0, "")
        assert "Examples:" in out
        assert "evictbench " in out


def test_version(evictbench: Run) -> None:
    code, out, _ = evictbench("--version")
    assert code == 0
    assert out.startswith("evictbench 0.")


def test_the_commands_of_the_contract_are_there() -> None:
    assert {"compare", "list", "replay", "run"} <= set(commands())


def test_nothing_heavy_is_imported_for_help_or_lists() -> None:
    heavy = (
        "numpy",
        "pandas",
        "pyarrow",
        "matplotlib",
        "scipy",
        "simpy",
        "pydantic",
        "distributed",
    )
    words = (["compare", "--help"], ["diff", "--help"], ["sweep", "--help"], ["list", "policies"])
    for arguments in (["--help"], *words):
        code = (
            "import sys\n"
            "from bench.cli import main\n"
            f"try: main({arguments})\n"
            "except SystemExit: pass\n"
            f"print([m for m in {heavy} if m in sys.modules], file=sys.stderr)"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
        )
        assert done.stderr.strip() == "[]", arguments


# -- compare ---------------------------------------------------------------------------------


def test_json_is_one_document_and_nothing_else(evictbench: Run) -> None:
    code, out, err = evictbench("compare", *SMALL, "--format", "json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert set(found) == {"rows", "summary", "leaders", "advice", "manifest"}
    assert [list(row) for row in found["rows"]] == [ROW] * 4
    assert [tuple(line) for line in found["summary"]] == [COLUMNS] * (2 * len(NAMES))
    assert {line["baseline"] for line in found["summary"]} == {"no-op"}


def test_floats_have_nine_significant_digits(evictbench: Run) -> None:
    _, out, _ = evictbench("compare", *SMALL, "--format", "json")
    found = json.loads(out)
    floats = [v for part in ("rows", "summary") for d in found[part] for v in d.values()]
    floats = [v for v in floats if isinstance(v, float)]
    assert floats
    assert all(float(f"{v:.9g}") == v for v in floats)


def test_csv_is_the_rows_under_one_header(evictbench: Run) -> None:
    code, out, err = evictbench("compare", *SMALL, "--format", "csv")
    assert (code, err) == (0, "")
    lines = list(csv.reader(io.StringIO(out)))
    assert lines[0] == ROW
    assert [line[:3] for line in lines[1:]] == [
        ["doc-analysis", policy, seed] for policy in ("tiered", "no-op") for seed in "01"
    ]


def test_table_and_markdown_name_every_policy(evictbench: Run) -> None:
    for form in ("table", "md"):
        code, out, err = evictbench("compare", *SMALL, "--format", form)
        assert (code, err) == (0, "")
        assert "doc-analysis: 2 seeds, 12 turns" in out
        assert "tiered" in out
        assert "★" in out
        assert "\x1b" not in out


def test_the_same_bytes_whatever_the_jobs_the_order_and_the_hash_seed(tmp_path: Path) -> None:
    orders = (
        ["compare", "doc-analysis", "stale-file", "-p", "tiered", "-p", "no-op"],
        ["compare", "stale-file", "doc-analysis", "-p", "no-op", "-p", "tiered"],
    )
    started = [
        start(
            *(*order, "--seeds", 4, "--jobs", jobs, "--out", tmp_path / seed, "--turns"),
            PYTHONHASHSEED=seed,
        )
        for order, jobs, seed in zip(orders, (1, 2), ("1", "2"), strict=True)
    ]
    assert [process.wait(timeout=300) for process in started] == [0, 0]
    for name in ("runs.parquet", "turns.parquet", "summary.parquet", "schema.json"):
        one, other = ((tmp_path / seed / name).read_bytes() for seed in "12")
        assert one == other


def test_out_keeps_everything(evictbench: Run, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    code, out, _ = evictbench("compare", *SMALL, "--out", folder, "--format", "json")
    assert code == 0
    printed, kept = json.loads(out), load(folder)
    assert kept.rows == printed["rows"]
    assert kept.table("summary") == printed["summary"]
    more = {name: kept.manifest.pop(name) for name in ("format", "files")}
    assert kept.manifest == printed["manifest"]
    assert set(more["files"]) == {"runs.parquet", "summary.parquet", "schema.json"}


def test_turns_are_kept_where_they_are_asked_for(evictbench: Run, tmp_path: Path) -> None:
    assert evictbench("compare", *SMALL, "--out", tmp_path, "--turns", "--jobs", 1)[0] == 0
    turns = load(tmp_path).table("turns")
    assert [(t["policy"], t["seed"], t["turn"]) for t in turns] == [
        (policy, seed, turn)
        for policy in ("tiered", "no-op")
        for seed in (0, 1)
        for turn in range(1, 13)
    ]
    code, out, err = evictbench("compare", *SMALL, "--turns")
    assert (code, out) == (2, "")
    assert err.startswith("evictbench: --turns needs --out")


def test_baseline_price_and_settings(evictbench: Run) -> None:
    code, out, _ = evictbench(
        *("compare", *SMALL, "--baseline", "tiered", "--price", "gpt-5.5"),
        *("--set", "budget=60000", "--format", "json"),
    )
    found = json.loads(out)
    assert code == 0
    assert {line["baseline"] for line in found["summary"]} == {"tiered"}
    settings = found["manifest"]["scenarios"]["doc-analysis"]["settings"]
    assert (settings["price"], settings["budget"], settings["turns"]) == ("gpt-5.5", 60_000, 12)


def test_without_names_everything_is_compared(evictbench: Run) -> None:
    code, out, _ = evictbench(
        "compare", "--seeds", 1, "--set", "turns=5", "--jobs", 2, "--format", "json"
    )
    found = json.loads(out)
    assert code == 0
    assert list(dict.fromkeys(r["scenario"] for r in found["rows"])) == catalogue.names()
    assert list(dict.fromkeys(r["policy"] for r in found["rows"])) == registry.seed_names()
    others = {"pays-back", "lease", "compaction", "recorded", "clairvoyant", "no-op"}
    others |= {"masking", "context-editing", "boundary-prune", "rolling-summary", "hybrid"}
    others |= {policy.name for policy in harness.found()}
    assert set(registry.names()) - set(registry.seed_names()) == others
    baselines = {line["scenario"]: line["baseline"] for line in found["summary"]}
    assert baselines["coding-agent"] == "naive-trim"
    assert baselines["doc-analysis"] == "sliding-window"
    assert any("turns" in note for note in found["manifest"]["notes"])


def test_strict_ends_with_3_if_a_policy_has_a_bug(evictbench: Run) -> None:
    arguments = ("compare", "growing-surrogate", "--strict", "--format", "csv")
    code, out, err = evictbench(*arguments, "-p", "naive-rewrite", "-p", "tag-or-drop")
    assert code == 3
    assert len(out.splitlines()) == 3
    assert "naive-rewrite" in err
    assert "tag-or-drop" not in err
    assert evictbench(*arguments, "-p", "tag-or-drop")[0] == 0


# -- run -------------------------------------------------------------------------------------


def test_run_json(evictbench: Run) -> None:
    code, out, err = evictbench("run", "stale-file", "-p", "tiered", "--format", "json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert set(found) == {"metrics", "events", "costs"}
    assert set(found["costs"]) == {"by_cause", "by_turn", "passes"}
    assert list(found["metrics"]) == [*NAMES, "status", "reason"]
    assert found["metrics"]["attempts"] == 2
    assert found["events"][0]["type"] == "run"
    assert found["events"][-1]["type"] == "end"


def test_run_writes_its_events(evictbench: Run, tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    code, out, _ = evictbench(
        "run", "stale-file", "-p", "tiered", "--events", path, "--format", "json"
    )
    assert code == 0
    assert [json.loads(line) for line in path.read_text().splitlines()] == json.loads(out)["events"]


@pytest.mark.parametrize(
    "arguments",
    [("stale-file",), ("coding-agent", "--seed", "3", "--set", "turns=30")],
)
def test_a_script_that_was_written_runs_alike(
    evictbench: Run, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    path = tmp_path / "script.json"
    form = ("-p", "disciplined", "--format", "json")
    code, first, _ = evictbench("run", *arguments, *form, "--write-script", path)
    assert code == 0
    code, second, _ = evictbench("run", path, *form)
    assert code == 0
    assert first == second


def test_run_table_shows_causes_and_bugs(evictbench: Run) -> None:
    code, out, _ = evictbench("run", "threshold-drift", "-p", "naive-rewrite")
    assert code == 0
    assert "answers that were not correct: 1" in out
    assert "confabulated" in out
    code, out, _ = evictbench("run", "signature-change", "-p", "naive-trim")
    assert code == 0
    assert "policy bugs: 11" in out
    assert "attempts exhausted" in out


def test_run_of_a_policy_that_is_not_applicable(evictbench: Run) -> None:
    code, out, _ = evictbench("run", "rate-limit-table", "-p", "naive-trim", "--format", "json")
    found = json.loads(out)
    assert code == 0
    assert found["metrics"]["status"] == "not-applicable"
    assert found["events"] == []
    assert "not-applicable" in evictbench("run", "rate-limit-table", "-p", "naive-trim")[1]


def test_run_strict_ends_with_3(evictbench: Run) -> None:
    code, _, _ = evictbench("run", "growing-surrogate", "-p", "naive-rewrite", "--strict")
    assert code == 3


# -- replay ----------------------------------------------------------------------------------


def test_replay_of_the_shipped_session(evictbench: Run) -> None:
    session = ROOT / "examples" / "demo-session.jsonl"
    code, out, err = evictbench(
        "replay", session, "-p", "no-op", "-p", "tiered", "--format", "json"
    )
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert [list(row) for row in found["rows"]] == [ROW] * 2
    (facts,) = found["manifest"]["scenarios"].values()
    assert (facts["kind"], facts["seeds"]) == ("replay", 1)
    code, out, _ = evictbench(
        *("replay", session, "-p", "no-op", "-p", "tiered", "--budget", "21000"),
        *("--tokenizer", "bytes/4"),
    )
    assert code == 0
    assert "budget 21,000 tokens" in out
    assert "tokens: bytes/4" in out


def test_replay_names_what_it_cannot_use(evictbench: Run, tmp_path: Path) -> None:
    session = ROOT / "examples" / "demo-session.jsonl"
    path = tmp_path / "cut.jsonl"
    path.write_bytes(session.read_bytes()[:-40])
    code, _, err = evictbench("replay", path, "-p", "no-op", "--format", "csv")
    assert code == 0
    assert err.startswith("evictbench: warning: ")
    assert "cut.jsonl" in err
    code, out, err = evictbench("replay", path, "-p", "no-op", "--strict")
    assert (code, out) == (2, "")
    assert "cut.jsonl:" in err


def test_replay_lists_what_it_reads(evictbench: Run) -> None:
    code, out, _ = evictbench("replay", "--list-formats")
    assert code == 0
    assert "claude-code" in out


# -- list ------------------------------------------------------------------------------------


@pytest.mark.parametrize("what", ["policies", "scenarios", "prices", "metrics"])
def test_list(evictbench: Run, what: str) -> None:
    code, out, err = evictbench("list", what, "--format", "json")
    assert (code, err) == (0, "")
    (items,) = json.loads(out).values()
    names = [item["name"] for item in items]
    assert len(names) == len(set(names)) > 9
    code, out, _ = evictbench("list", what, "--format", "csv")
    assert [line["name"] for line in csv.DictReader(io.StringIO(out))] == names
    for form in ("table", "md"):
        code, out, _ = evictbench("list", what, "--format", form)
        assert code == 0
        assert all(name in out for name in names)


def test_lists_are_complete(evictbench: Run) -> None:
    def names(what: str) -> list[str]:
        found = json.loads(evictbench("list", what, "--format", "json")[1])
        return [item["name"] for item in found[what]]

    assert names("policies") == registry.names()
    assert names("scenarios") == catalogue.every_name()
    assert names("metrics") == list(NAMES)


# -- errors ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["compar"], "did you mean 'compare'?"),
        (["compare", "--polcy", "x"], "'--policy'"),
        (["compare", "doc-analisis"], "did you mean 'doc-analysis'?"),
        (["compare", "stale-file", "-p", "tierd"], "did you mean 'tiered'?"),
        (["compare", "stale-file", "-p", "tiered:arival=off"], "arrival"),
        (["compare", "stale-file", "-p", "tiered:arrival=of"], "did you mean 'off'?"),
        (["compare", "stale-file", "-p", "nowhere.py:Mine"], "nowhere.py"),
        (["compare", "stale-file", "--set", "budgt=1"], "did you mean 'budget'?"),
        (["compare", "stale-file", "--set", "budget"], "is not KEY=VALUE"),
        (["compare", "stale-file", "--set", "budget=-1"], "budget must be"),
        (["compare", "stale-file", "--set", "budget=2400"], "pinned"),
        (["compare", "stale-file", "--set", "turns=4"], "turns"),
        (["compare", "doc-analysis", "--set", "salience.decay=nan"], "salience.decay must be"),
        (["compare", "doc-analysis", "--set", "salience.decay=1.01"], "salience.decay must be"),
        (["compare", "stale-file", "--price", "claud-sonnet-5"], "did you mean"),
        (["compare", "stale-file", "--seeds", "0"], "--seeds"),
        (["compare", "stale-file", "--jobs", "0"], "--jobs"),
        (["compare", "stale-file", "--format", "jsn"], "did you mean 'json'?"),
        (["compare", "stale-file", "-p", "no-op", "--baseline", "tiered"], "baseline"),
        (["compare", "missing.toml"], "missing.toml"),
        (["run", "stale-file"], "--policy"),
        (["run", "missing.json", "-p", "no-op"], "missing.json"),
        (["run", "stale-file", "-p", "no-op", "--events", "no/such/f.jsonl"], "f.jsonl"),
        (["run", "stale-file/flop", "-p", "no-op"], "flop"),
        (["list", "prises"], "did you mean 'prices'?"),
        (["replay"], "FILE"),
        (["replay", "missing.jsonl"], "missing.jsonl"),
        (["compare", "--seeds", "1,000"], "'1,000' is no whole number; write 1000 or 1_000"),
        (["compare", "--seeds", "9" * 5000], "is no whole number"),
        (["compare", "--seeds", "1" + 20 * "0"], "runs are more than can be made at once"),
    ],
)
def test_bad_input_is_one_plain_sentence_and_exit_code_2(
    evictbench: Run, arguments: list[str], says: str
) -> None:
    code, out, err = evictbench(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("evictbench: ")
    assert says in err
    assert len(err.splitlines()) == 1
    assert "Traceback" not in err


@pytest.mark.parametrize("command", ["run", "compare", "check"])
def test_an_unknown_reducer_is_refused_by_whatever_loads_the_scenario(
    evictbench: Run, tmp_path: Path, command: str
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        "[settings]\nturns = 1\nbudget = 1000\n"
        '[tools.lint]\nmax_result_tokens = 50\nreducer = "mipy"\n'
        '[[segment]]\nid = "a"\nturn = 1\nkind = "tool_result"\ntool = "lint"\ntokens = 9\n'
    )
    policy = [] if command == "check" else ["-p", "no-op"]
    assert evictbench(command, path, *policy) == (
        2,
        "",
        f"evictbench: {path}:6: tool 'lint': unknown reducer 'mipy'; did you mean 'mypy'?\n",
    )


def test_a_script_that_is_no_json_names_file_and_line(evictbench: Run, tmp_path: Path) -> None:
    path = tmp_path / "broken.json"
    path.write_text('{\n "a": 1,\n oops\n}')
    code, _, err = evictbench("run", path, "-p", "no-op")
    assert code == 2
    assert "broken.json:3" in err


def test_out_that_is_a_file_is_bad_input_before_anything_runs(
    evictbench: Run, tmp_path: Path
) -> None:
    path = tmp_path / "file"
    path.write_text("")
    code, out, err = evictbench("compare", *SMALL, "--out", path)
    assert (code, out) == (2, "")
    assert "file" in err


def test_what_is_our_own_fault_is_a_sentence_too(
    evictbench: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: Any, **options: Any) -> None:
        raise RuntimeError("no\nway")

    monkeypatch.setattr("bench.api.compare", broken)
    monkeypatch.delenv("EVICTBENCH_DEBUG", raising=False)
    code, _, err = evictbench("compare")
    assert code == 4
    assert err == (
        "evictbench: evictbench itself failed, RuntimeError: no way; "
        "EVICTBENCH_DEBUG=1 shows where\n"
    )
    monkeypatch.setenv("EVICTBENCH_DEBUG", "1")
    code, _, err = evictbench("compare")
    assert code == 4
    assert err.startswith("Traceback") and "in broken" in err


def test_a_policy_that_raises_is_an_error_of_its_own(evictbench: Run, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("class Mine:\n    def before_call(self, view):\n        return 1 / 0\n")
    code, _, err = evictbench("compare", "stale-file", "-p", f"{path}:Mine", "--jobs", 1)
    assert code == 4
    assert "Mine on stale-file, seed 0" in err
    assert "mine.py:3" in err


# -- who does the work -----------------------------------------------------------------------


@pytest.mark.parametrize("command", ["compare", "ablate", "replay"])
def test_an_executor_that_is_none_is_wrong_input(evictbench: Run, command: str) -> None:
    code, out, err = evictbench(command, "x", "-p", "tiered", "--executor", "daks")
    assert (code, out) == (2, "")
    assert "unknown executor 'daks'; it is processes, dask or dask://HOST:PORT" in err
    code, out, err = evictbench(
        command, "x", "-p", "tiered", "--executor", "dask://host:1", "--jobs", 2
    )
    assert (code, out) == (2, "")
    assert err.startswith("evictbench: --jobs is for this machine: a cluster has its own workers")


def test_processes_are_what_is_meant_without_a_word(evictbench: Run) -> None:
    _, plain, _ = evictbench("compare", *SMALL, "--format", "csv", "--jobs", 1)
    _, named, _ = evictbench(
        "compare", *SMALL, "--format", "csv", "--jobs", 1, "--executor", "processes"
    )
    assert plain == named


# -- interrupts and pipes --------------------------------------------------------------------


COUNTING = """
from pathlib import Path

class Counting:
    label = "counting"

    def before_call(self, view):
        if view.turn == 1:
            with Path(__file__).with_suffix(".runs").open("a") as file:
                file.write("x")
        return ()
"""


def wait_for(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    until = time.monotonic() + seconds
    while not condition() and time.monotonic() < until:
        time.sleep(0.05)
    assert condition()


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupt_keeps_what_was_finished(tmp_path: Path, jobs: int) -> None:
    policy, runs, out = tmp_path / "p.py", tmp_path / "p.runs", tmp_path / "out"
    policy.write_text(COUNTING)
    process = start(
        *("compare", "doc-analysis", "-p", f"{policy}:Counting", "--seeds", 50_000),
        *("--set", "turns=5", "--jobs", jobs, "--out", out, "--format", "json"),
    )
    wait_for(lambda: runs.exists() and runs.stat().st_size > 100)
    process.send_signal(signal.SIGINT)
    printed, says = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in says
    rows = len(json.loads(printed)["rows"])
    assert 0 < rows < 50_000
    assert f"interrupted; {rows} of 50000 runs were finished and are kept in {out}" in says
    assert len(load(out).rows) == rows


def alive(process: int) -> bool:
    stat = Path(f"/proc/{process}/stat")
    try:
        return stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def descendants(process: int) -> list[int]:
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [d for child in map(int, children) for d in (child, *descendants(child))]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs Linux's /proc")
def test_workers_end_with_the_process_they_work_for() -> None:
    process = start(
        *("compare", "doc-analysis", "-p", "no-op", "--seeds", 5_000, "--set", "turns=20"),
        *("--jobs", 2, "--format", "csv"),
    )
    wait_for(lambda: len(descendants(process.pid)) == 4)
    time.sleep(1.0)
    workers = descendants(process.pid)
    process.kill()
    process.communicate(timeout=60)
    wait_for(lambda: not any(map(alive, workers)))


def test_a_reader_that_leaves_is_no_error() -> None:
    process = start("list", "metrics", "--format", "json")
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait(timeout=60) == 0
    assert process.stderr is not None
    assert process.stderr.read() == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ("list", "policies"),
        ("list", "metrics", "--format", "json"),
        ("reduce", "README.md"),
        ("compare", "stale-file", "-p", "tiered", "--jobs", "1"),
        ("--help",),
    ],
)
def test_output_that_cannot_be_written_is_an_error(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    # A file of no bytes at most is what a full disk is: the write fails, the open does not.
    code = (
        "import resource, signal\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
        f"from bench.cli import main\nmain({list(arguments)})"
    )
    with (tmp_path / "full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 4
    assert done.stderr == "evictbench: standard output cannot be written: file too large\n"


@pytest.mark.skipif(not Path("/bin/sh").exists(), reason="needs a shell")
def test_closed_streams_are_an_error() -> None:
    def shell(redirected: str) -> tuple[int, str]:
        line = f"{shlex.quote(sys.executable)} -m bench {redirected}"
        done = subprocess.run(["/bin/sh", "-c", line], cwd=ROOT, capture_output=True, text=True)
        return done.returncode, done.stderr

    assert shell("list policies >&-") == (4, "evictbench: standard output is closed\n")
    assert shell("reduce - <&-") == (
        2,
        "evictbench: standard input is closed; name a file, or pipe an output in\n",
    )


def test_a_terminal_that_knows_no_unicode_is_served() -> None:
    process = start("compare", "stale-file", "-p", "tiered", PYTHONIOENCODING="ascii")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    assert "tiered" in out


def test_no_colours_where_none_are_wanted() -> None:
    for environment in ({}, {"NO_COLOR": "1"}):
        process = start("compare", "stale-file", "-p", "tiered", **environment)
        out, _ = process.communicate(timeout=60)
        assert "\x1b" not in out
