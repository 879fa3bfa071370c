"""Real logs in a workload: which are taken, what is drawn, and what it comes to."""

from __future__ import annotations

import json
import os
import pickle
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from bench import api
from bench.cli import main
from bench.loading import load as load_with_reducers
from policies.reducers.measuring import measure as measure_with_reducers
from scenarios import catalogue, reference, tool_logs
from scenarios.families.logged import NOT_THERE
from scenarios.tool_logs import KINDS, LogFile, ToolLogs
from sim.errors import InputError
from sim.measured import Measured, Point
from sim.script import Arrival, Query, Script, script_to_json
from tests.support.families import check, text

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "tool_outputs"
TOOLS = tuple(KINDS)

Logs = Mapping[str, str]


def measure(raw: bytes, limit: int, tool: str | None, before: bytes | None) -> Measured:
    """Read a made log: ``KIND TOKENS`` and then a line ``NAME AT KEPT SAYS`` for each point.

    It is reduced to four tokens less than the limit; a difference has the tokens of both.
    """
    first, *lines = raw.decode().splitlines()
    kind, size = first.split()
    points = []
    for line in lines:
        name, at, kept, says = line.split(" ", 3)
        points.append(Point(name, says, int(at), kept == "yes"))
    tokens = int(size)
    delta = None if before is None else tokens + int(before.decode().split()[1])
    reduced = tokens if tokens <= limit else limit - 4
    return Measured("made", kind, tokens, reduced, tuple(points), (), "made-up", delta)


def made(kind: str, tokens: int, *points: str) -> str:
    return "\n".join((f"{kind} {tokens}", *points))


def two_points(tokens: int) -> tuple[str, str]:
    return f"a 3 yes a says {tokens}", f"b 9 no b says {tokens}"


ONE_OF_EACH = {
    f"{kind}.log": made(kind, tokens, *two_points(tokens))
    for tokens, kind in enumerate(
        (
            "typecheck",
            "lint",
            "tests",
            "build",
            "trace",
            "diff",
            "search",
            "listing",
            "data",
            "log",
        ),
        start=50_001,
    )
}
"""A log of each sort; its size says which it is."""
SIZES = {kind.removesuffix(".log"): int(log.split()[1]) for kind, log in ONE_OF_EACH.items()}


def fill(folder: Path, logs: Logs) -> Path:
    for name, content in logs.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return folder


def script(folder: Path | None, seed: int = 0, **changes: Any) -> Script:
    settings: dict[str, Any] = {"attempts.max": 0, "turns": 120}
    settings.update({key.replace("__", "."): value for key, value in changes.items()})
    if folder is not None:
        settings["tool_logs"] = str(folder)
    return catalogue.load("coding-agent", settings, measure).script(seed)


def arrivals(made: Script) -> Iterator[Arrival]:
    guarded = (s for attempt in made.attempts for s in (*attempt.ok, *attempt.failed))
    return (s for s in (*made.stimuli, *guarded) if isinstance(s, Arrival))


def results(made: Script, tool: str) -> list[Arrival]:
    """Return what *tool* returned, but for checks that say that all is well."""
    return [
        s
        for s in arrivals(made)
        if s.tool == tool and s.max_result_tokens is not None and ".ok." not in s.id
    ]


# -- which logs ----------------------------------------------------------------------------------


def test_each_tool_draws_from_its_own_sorts(tmp_path: Path) -> None:
    found = script(fill(tmp_path, ONE_OF_EACH), turns=600, attempts__spacing=6.0)
    sorts = {
        "typecheck": {"typecheck", "build"},
        "lint": {"lint"},
        "tests": {"tests"},
        "bash": {"build", "trace", "diff", "listing", "data", "log"},
        "grep": {"search"},
    }
    for tool, kinds in sorts.items():
        assert {s.tokens for s in results(found, tool)} == {SIZES[kind] for kind in kinds}
    ok = [s for s in arrivals(found) if ".ok." in s.id and s.max_result_tokens is not None]
    assert ok and all(s.tokens == 40 and not s.facts and not s.delta_tokens for s in ok)
    assert found.tokens_from == "made-up"
    check(found)


def test_a_sort_nobody_knows_counts_as_a_plain_log(tmp_path: Path) -> None:
    fill(tmp_path, {"a.log": made("astrology", 7), "b.log": made("lint", 8)})
    assert {s.tokens for s in results(script(tmp_path), "bash")} == {7}


def test_folders_are_searched_and_what_is_hidden_or_empty_is_left_out(tmp_path: Path) -> None:
    logs = {
        "deep/er/x.txt": made("lint", 2),
        "b": made("lint", 3),
        ".hidden": made("lint", 4),
        ".git/a.log": made("lint", 5),
        "deep/.svn/a.log": made("lint", 6),
        "nothing.log": "",
    }
    read = ToolLogs.read(str(fill(tmp_path, logs)), measure, 100)
    assert [log.path for log in read.files["lint"]] == ["b", "deep/er/x.txt"]
    os.mkfifo(tmp_path / "pipe.log")
    assert ToolLogs.read(str(tmp_path), measure, 100) == read


def test_the_order_in_which_a_folder_is_listed_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs = {f"{d}/{n}.log": made("lint", n) for d in "ba" for n in (3, 1, 2)}
    fill(tmp_path, logs)
    walk = os.walk

    def backwards(*arguments: Any, **more: Any) -> Iterator[Any]:
        yield from reversed([(at, sub, names[::-1]) for at, sub, names in walk(*arguments, **more)])

    there = script(tmp_path)
    monkeypatch.setattr(os, "walk", backwards)
    assert script_to_json(script(tmp_path)) == script_to_json(there)
    read = ToolLogs.read(str(tmp_path), measure, 100)
    assert [log.path for log in read.files["lint"]] == sorted(logs)


def test_a_file_that_is_too_large_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path, {"big.log": made("tests", 9, *two_points(9)), "small.log": made("lint", 2)})
    monkeypatch.setattr(tool_logs, "LARGEST", 20)
    read = ToolLogs.read(str(tmp_path), measure, 100)
    assert not read.files["tests"] and read.files["lint"]
    assert read.notes == (
        f"{tmp_path} holds no log for typecheck, tests, bash and grep: what they return stays "
        "synthetic",
        f"{tmp_path}: left out: big.log, over 20 bytes",
    )


def test_a_folder_of_nothing_but_large_files_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path, {f"{n}.log": made("lint", 9) for n in range(7)})
    monkeypatch.setattr(tool_logs, "LARGEST", 5)
    with pytest.raises(InputError) as raised:
        ToolLogs.read(str(tmp_path), measure, 100)
    assert str(raised.value) == (
        f"tool_logs: there is no log in the folder '{tmp_path}'; left out: 0.log, 1.log, 2.log, "
        "3.log, 4.log and 2 more, over 5 bytes"
    )


def test_a_link_that_leads_nowhere_is_named_and_passed_over(tmp_path: Path) -> None:
    fill(tmp_path, {name: made("lint", 2) for name in ("a.log", "b.log")})
    (tmp_path / "gone.log").symlink_to(tmp_path / "nothing")
    (tmp_path / "round.log").symlink_to(tmp_path / "round.log")
    read = ToolLogs.read(str(tmp_path), measure, 100)
    assert [log.path for log in read.files["lint"]] == ["a.log", "b.log"]
    assert read.notes[-1] == (
        f"{tmp_path}: left out: gone.log and round.log, a link that leads nowhere"
    )


def test_each_log_is_as_likely() -> None:
    files = tuple(LogFile(f"{n}.log", "") for n in range(8))
    logs = ToolLogs("nowhere", {"bash": files}, measure, "made-up")
    drawn = Counter(logs.draw(seed, "bash", f"t{n}") for seed in range(40) for n in range(200))
    assert set(drawn) == set(files)
    assert all(abs(count - 1000) < 120 for count in drawn.values())  # four standard deviations
    assert logs.draw(0, "lint", "t1") is None


# -- what is drawn -------------------------------------------------------------------------------


def test_sizes_are_those_that_were_measured(tmp_path: Path) -> None:
    logs = {"a.log": made("log", 7500), "b.log": made("log", 7501), "c.log": made("data", 60_000)}
    found = results(script(fill(tmp_path, logs), turns=300), "bash")
    assert {(s.tokens, s.reduced_tokens) for s in found} == {
        (7500, None),
        (7501, 7496),
        (60_000, 7496),
    }
    assert all(s.structure is None and s.max_result_tokens == 7500 for s in found)


def test_the_limit_is_that_of_the_tool(tmp_path: Path) -> None:
    fill(tmp_path, {f"{kind}.log": made(kind, 90_000) for kind in ("tests", "search", "log")})
    found = script(tmp_path, check__limit=40, grep__limit=50, bash__limit=60)
    for tool, reduced in (("tests", 36), ("grep", 46), ("bash", 56)):
        assert {s.reduced_tokens for s in results(found, tool)} == {reduced}


def test_an_output_of_no_token_counts_as_one(tmp_path: Path) -> None:
    found = results(script(fill(tmp_path, {"a.log": made("log", 0)})), "bash")
    assert {(s.tokens, s.reduced_tokens) for s in found} == {(1, None)}


def test_facts_are_what_the_log_says(tmp_path: Path) -> None:
    points = [f"p{n} {n * 10} {'yes' if n % 2 else 'no'} line {n}" for n in range(30)]
    fill(tmp_path, {"t.log": made("tests", 295, *points)})
    found = results(script(tmp_path, facts__count=3), "tests")
    drawn: Counter[str] = Counter()
    for result in found:
        assert [fact.key for fact in result.facts] == [f"{result.id}:f{n}" for n in (1, 2, 3)]
        numbers = [int(fact.value.removeprefix("line ")) for fact in result.facts]
        assert len(set(numbers)) == 3
        for number, fact in zip(numbers, result.facts, strict=True):
            assert fact.reducible == bool(number % 2)
            assert fact.at == number * 10
            assert fact.prior != fact.value and fact.prior in {f"line {n}" for n in range(30)}
        drawn.update(fact.value for fact in result.facts)
    assert len(drawn) > 15


def test_a_place_behind_the_end_is_the_last_token(tmp_path: Path) -> None:
    fill(tmp_path, {"t.log": made("tests", 20, "a 20 yes this", "b 400 yes that")})
    facts = [fact for s in results(script(tmp_path), "tests") for fact in s.facts]
    assert {fact.at for fact in facts} == {19}


def test_what_a_log_of_one_point_would_be_mistaken_for_is_not_there(tmp_path: Path) -> None:
    fill(tmp_path, {"t.log": made("tests", 20, "a 3 yes this")})
    found = results(script(tmp_path), "tests")
    assert {tuple((f.value, f.prior) for f in s.facts) for s in found} == {(("this", NOT_THERE),)}
    fill(tmp_path, {"t.log": made("tests", 20, "a 3 yes this", "b 4 yes this")})
    found = results(script(tmp_path), "tests")
    assert {(f.value, f.prior) for s in found for f in s.facts} == {("this", NOT_THERE)}


def test_a_log_that_says_nothing_is_not_asked_about(tmp_path: Path) -> None:
    logs = {f"{kind}.log": made(kind, 30_000) for kinds in KINDS.values() for kind in kinds}
    found = script(fill(tmp_path, logs), fresh__rate=4.0, returns__rate=4.0)
    silent = {s.id for tool in TOOLS for s in results(found, tool)}
    assert len(silent) > 50
    assert not any(fact for s in arrivals(found) if s.id in silent for fact in s.facts)
    asked = [s for s in found.stimuli if isinstance(s, Query)]
    assert asked and not any(silent & set(query.touches) for query in asked)
    assert all(attempt.facts for attempt in found.attempts if attempt.guarded)
    check(found)


def test_differences_are_to_the_result_that_finished_before(tmp_path: Path) -> None:
    logs = {f"{kind}{n}.log": made(kind, 10**n) for kind in ("tests", "log") for n in range(1, 6)}
    found = script(fill(tmp_path, logs), turns=300, attempts__spacing=5.0, calls__mean=4.0)
    for tool in ("tests", "bash"):
        last: Arrival | None = None
        several = Counter(s.turn for s in results(found, tool))
        assert tool == "tests" or max(several.values()) > 1
        for result in sorted(results(found, tool), key=lambda s: (s.turn, s.time)):
            assert result.delta_tokens == (None if last is None else last.tokens + result.tokens)
            last = result


def test_nothing_else_changes(tmp_path: Path) -> None:
    fill(tmp_path, {name: log for name, log in ONE_OF_EACH.items() if name != "search.log"})
    plain, real = script_to_json(script(None)), script_to_json(script(tmp_path))
    assert real.pop("tokens_from") == "made-up" and plain.pop("tokens_from") == "script"
    sized = ("tokens", "facts", "structure", "reduced_tokens", "delta_tokens")
    for document in (plain, real):
        stimuli = [*document["stimuli"]]
        for attempt in document["attempts"]:
            stimuli += [*attempt.get("ok", ()), *attempt.get("failed", ())]
        for stimulus in stimuli:
            drawn = stimulus.get("tool") in ("typecheck", "lint", "tests", "bash")
            if drawn and "max_result_tokens" in stimulus and ".ok." not in stimulus["id"]:
                for key in sized:
                    stimulus.pop(key, None)
    assert plain == real


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_more_turns_only_add_to_the_end(tmp_path: Path, seed: int) -> None:
    fill(tmp_path, ONE_OF_EACH)
    assert text(script(tmp_path, seed, turns=60)) == text(script(tmp_path, seed, turns=130), 60)


# -- what cannot be used -------------------------------------------------------------------------


def refusal(folder: object, give: Callable[..., Any] | None = measure, **more: Any) -> str:
    settings = {"tool_logs": str(folder), **{k.replace("__", "."): v for k, v in more.items()}}
    with pytest.raises(InputError) as raised:
        catalogue.load("coding-agent", settings, give)
    return str(raised.value)


def test_folders_that_cannot_be_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert refusal(tmp_path / "none") == f"tool_logs: there is no folder '{tmp_path}/none'"
    assert refusal(tmp_path) == f"tool_logs: there is no log in the folder '{tmp_path}'"
    fill(tmp_path, {".a": "lint 1", "b": ""})
    assert refusal(tmp_path) == f"tool_logs: there is no log in the folder '{tmp_path}'"
    assert refusal(tmp_path / "b") == f"tool_logs: '{tmp_path}/b' is no folder"
    assert refusal("  ") == "tool_logs must be a text that is not empty, not ''"
    fill(tmp_path, {"c": "lint 1"})

    def deny(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", deny)
    assert refusal(tmp_path) == f"tool_logs: cannot read '{tmp_path}/c': Permission denied"


def test_a_folder_that_may_not_be_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def deny(path: object) -> Any:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "scandir", deny)
    assert refusal(tmp_path) == f"tool_logs: cannot read '{tmp_path}': Permission denied"


def test_without_a_measure_there_are_no_logs(tmp_path: Path) -> None:
    fill(tmp_path, ONE_OF_EACH)
    assert "tool_logs needs a measure of real results" in refusal(tmp_path, None)


def test_other_families_have_no_logs(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unknown key 'tool_logs'"):
        catalogue.load("doc-analysis", {"tool_logs": str(tmp_path)}, measure)


def test_a_log_that_changes_under_way(tmp_path: Path) -> None:
    fill(tmp_path, {"a.log": made("tests", 5, *two_points(5))})
    scenario = catalogue.load("coding-agent", {"tool_logs": str(tmp_path)}, measure)
    tool_logs._content.cache_clear()
    tool_logs._measured.cache_clear()
    fill(tmp_path, {"a.log": made("tests", 6, *two_points(6))})
    with pytest.raises(InputError, match=r"a\.log' was changed during the run"):
        scenario.script(0)


# -- in use --------------------------------------------------------------------------------------


def test_a_scenario_can_be_sent_to_another_process(tmp_path: Path) -> None:
    settings = {"tool_logs": str(fill(tmp_path, ONE_OF_EACH))}
    scenario = catalogue.load("coding-agent", settings, measure)
    sent = pickle.loads(pickle.dumps(scenario))
    assert script_to_json(sent.script(3)) == script_to_json(scenario.script(3))
    assert pickle.loads(pickle.dumps(load_with_reducers("coding-agent", settings)))


def test_in_a_scenario_file_the_folder_stands_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path / "here/logs", {"a.log": made("lint", 77)})
    fill(tmp_path / "there/logs", {"a.log": made("lint", 88)})
    file = tmp_path / "here/mine.toml"
    file.write_text(
        'family = "coding-agent"\n[settings]\ntool_logs = "logs"\n'
        '[flips.off.settings]\ntool_logs = "none"\n'
    )
    monkeypatch.chdir(tmp_path / "there")

    def sizes(name: str, **settings: str) -> set[int]:
        found = catalogue.load(name, settings, measure)
        assert found.notes[0].endswith("stays synthetic")
        return {s.tokens for s in results(found.script(0), "lint")}

    assert sizes(str(file)) == {77}
    assert sizes(str(file), tool_logs="logs") == {88}
    with pytest.raises(InputError, match="there is no folder"):
        catalogue.load(f"{file}/off", {}, measure)


LOG = "\n".join(
    [
        *(
            f"src/part{n % 9}.py:{n}: error: Name 'thing_{n}' is not defined  [name-defined]"
            for n in range(1, 61)
        ),
        "Found 60 errors in 9 files (checked 12 source files)",
    ]
)
"""A type check of more than 400 tokens."""


@pytest.mark.parametrize("limit", [100, 400, 10_000])
def test_a_difference_is_what_the_reducers_measure(tmp_path: Path, limit: int) -> None:
    logs = {"a.log": LOG, "b.log": LOG.replace("thing_4", "thing_x"), "c.log": ""}
    fill(tmp_path, logs)
    made = load_with_reducers("coding-agent", {"tool_logs": str(tmp_path)}).make
    read = made.keywords["logs"]  # type: ignore[attr-defined]
    first, second = read.files["typecheck"]
    for one, other in ((first, second), (second, first), (first, first)):
        raw, before = (logs[log.path].encode() for log in (one, other))
        known = measure_with_reducers(raw, limit, None, before)
        assert read.delta(one, limit, other) == known.delta_tokens
        assert read.measured(one, limit) == measure_with_reducers(raw, limit, None, None)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    other = LOG.replace("thing_", "value_")
    return fill(tmp_path / "logs", {"one.txt": LOG, "two.txt": other})


def compared(folder: Path, jobs: int = 1) -> api.Comparison:
    heard: list[str] = []
    found = api.compare(
        ["coding-agent"],
        ["tiered:delta=on", "tiered:arrival=off"],
        seeds=4,
        settings={"tool_logs": str(folder), "check.limit": "400", "turns": "60"},
        jobs=jobs,
        warn=heard.append,
    )
    assert heard == found.manifest["warnings"]
    assert heard == [
        f"{folder} holds no log for lint, tests, bash and grep: what they return stays synthetic"
    ]
    return found


def test_the_rows_are_the_same_for_any_number_of_workers(folder: Path) -> None:
    alone = compared(folder)
    assert compared(folder, 2).rows == alone.rows
    assert alone.manifest["scenarios"]["coding-agent"]["tokens_from"] == "o200k"
    on, off = (
        [row["never_admitted_tokens"] for row in alone.rows if row["policy"] == policy]
        for policy in ("tiered:delta=on", "tiered:arrival=off")
    )
    assert sum(on) > sum(off) == 0


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    streams = capsys.readouterr()
    assert isinstance(ended.value.code, int)
    return ended.value.code, streams.out, streams.err


def test_a_written_script_needs_no_folder(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "script.json"
    settings = (f"tool_logs={folder}", "check.limit=400", "turns=60")
    options = [part for setting in settings for part in ("--set", setting)]
    policy = ("-p", "tiered", "--format", "json")
    code, first, err = run(capsys, "run", "coding-agent", *policy, *options, "--write-script", file)
    assert code == 0 and err.count("stays synthetic") == 1
    for log in folder.iterdir():
        log.unlink()
    code, second, err = run(capsys, "run", file, *policy)
    assert (code, err) == (0, "")
    assert json.loads(second) == json.loads(first)
    written = json.loads(file.read_text())
    assert written["tokens_from"] == "o200k" and "tool_logs" not in written["settings"]


@pytest.mark.parametrize("command", ["run", "compare"])
def test_a_bad_folder_is_one_sentence(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gone = tmp_path / "gone"
    code, out, err = run(
        capsys, command, "coding-agent", "-p", "no-op", "--set", f"tool_logs={gone}"
    )
    assert (code, out) == (2, "")
    assert err.strip().endswith(f"tool_logs: there is no folder '{gone}'")
    assert err.count("\n") == 1


def test_the_reference_file_says_what_the_code_does() -> None:
    text = reference.FILE.read_text(encoding="utf-8")
    about = text[: text.index('"tool_logs" =')].rpartition("\n\n")[2]
    assert f"{tool_logs.LARGEST:,} bytes" in " ".join(about.replace("#", "").split())
    assert reference.keys("coding-agent")["tool_logs"].default is None


@pytest.mark.skipif(not DATA.is_dir(), reason="the recorded logs are not here")
def test_the_recorded_logs_make_a_script() -> None:
    scenario = load_with_reducers("coding-agent", {"tool_logs": str(DATA)})
    found = scenario.script(0)
    check(found)
    logs = scenario.make.keywords["logs"]  # type: ignore[attr-defined]
    mypy = {log.path for log in logs.files["typecheck"] if log.path.startswith("mypy/")}
    assert len(mypy) > 3
    assert any(s.reduced_tokens for s in arrivals(found))
    assert all(s.reduced_tokens is None or s.reduced_tokens < s.tokens for s in arrivals(found))
