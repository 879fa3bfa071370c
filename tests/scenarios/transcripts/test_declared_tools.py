"""Tools declared for a recording: what their results are reduced to, and what of them is left."""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from bench import api
from bench.cli import main
from bench.loading import load_tools
from scenarios.tools import Tool
from scenarios.transcripts.declared import Declared, Reduction
from sim.errors import InputError
from sim.script import Arrival, script_to_json
from sim.segments import Kind
from sim.tokens import TOKENIZERS, tokenizer
from tests.scenarios.transcripts.made import Lines, arrivals, load, text, use

ROOT = Path(__file__).resolve().parents[3]
DEMO = ROOT / "examples" / "demo-session.jsonl"


class Front:
    """Keeps the first four characters for each token of the limit; a difference is the sum."""

    def __init__(self) -> None:
        self.asked: list[tuple[int, str | None]] = []

    def reduce(self, text: str, limit: int, reducer: str | None) -> Reduction:
        self.asked.append((limit, reducer))
        return Reduction(text[: 4 * limit], limit)

    def difference(self, before: str, after: str, limit: int) -> int:
        return (len(before) + len(after)) // 4


def declared(*tools: Tool, by: Front | None = None) -> Declared:
    return Declared("tools.toml", {tool.name: tool for tool in tools}, by or Front())


def session(results: Sequence[str], *asked: str) -> Lines:
    """A session that gets *results* from Bash, one a call, and then says each of *asked*."""
    lines = Lines().user("go on", 0)
    at = 0
    for number, result in enumerate(results):
        lines.model(f"m{number}", at + 1, use(f"t{number}", command="make"))
        lines.result(f"t{number}", result, at + 2)
        at += 2
    lines.model("waits", at + 1, use("pause", "Sleep", seconds=1)).result("pause", "done", at + 2)
    for number, words in enumerate(asked or ("good",)):
        at += 2
        lines.model(f"asks{number}", at + 1, text(words), use(f"p{number}", "Sleep", seconds=1))
        lines.result(f"p{number}", "done", at + 2)
    return lines.model("last", at + 3, text("good"))


def played(lines: Lines, folder: Path, tools: Declared | None) -> dict[str, Arrival]:
    scenario, warnings, _ = load(lines.write(folder / "session.jsonl"), declared=tools)
    assert warnings == []
    return arrivals(scenario.script(0))


# -- sizes and facts -----------------------------------------------------------------------------

LONG = "alpha_1111 " + "x " * 80 + "beta_22222 " + "y " * 80 + "gamma_3333"
"""352 bytes, 88 tokens of four; beta_22222 stands behind 171 bytes, gamma_3333 behind 342."""
VALUES = ("alpha_1111", "beta_22222", "gamma_3333")


def test_a_result_over_its_budget_is_reduced(tmp_path: Path) -> None:
    by = Front()
    tools = declared(Tool("Bash", 50, "mypy", pages=True), by=by)
    result = played(session([LONG], *VALUES), tmp_path, tools)["result-1"]
    assert (result.tokens, result.max_result_tokens, result.reduced_tokens) == (88, 50, 50)
    assert result.pages and result.delta_tokens is None
    assert by.asked == [(50, "mypy")]
    facts = [(fact.key, fact.value, fact.reducible, fact.at) for fact in result.facts]
    assert facts == [
        ("alpha_1111", "alpha_1111", True, 0),
        ("beta_22222", "beta_22222", True, 43),
        ("gamma_3333", "gamma_3333", False, 86),
    ]


@pytest.mark.parametrize("limit", [88, 89])
def test_a_result_within_its_budget_stays_as_it_is(tmp_path: Path, limit: int) -> None:
    by = Front()
    lines = session([LONG], *VALUES)
    result = played(lines, tmp_path, declared(Tool("Bash", limit), by=by))["result-1"]
    plain = played(lines, tmp_path, None)["result-1"]
    assert by.asked == []
    assert (result.max_result_tokens, result.reduced_tokens) == (limit, None)
    assert result.facts == plain.facts and all(fact.at is None for fact in plain.facts)


def test_only_declared_tools_with_a_budget_count(tmp_path: Path) -> None:
    lines = session([LONG, LONG], *VALUES)
    plain = played(lines, tmp_path, None)
    for tools in (declared(Tool("Sleep", 40)), declared(Tool("Bash", None, pages=True))):
        found = played(lines, tmp_path, tools)
        for name in ("result-1", "result-2"):
            assert found[name] == plain[name]
        assert all(s.max_result_tokens is None for s in found.values() if s.tool != "Sleep")


def test_a_call_a_message_and_an_image_have_no_budget(tmp_path: Path) -> None:
    lines = Lines().user("go on", 0).model("m1", 1, use("t1", command="z" * 400))
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": ""}}
    lines.result("t1", [{"type": "text", "text": LONG}, picture], 2)
    found = played(lines.model("m2", 3, text("w " * 200)), tmp_path, declared(Tool("Bash", 40)))
    budgets = {name: s.max_result_tokens for name, s in found.items()}
    assert budgets.pop("result-1") == 40
    assert "result-1.image-1" in budgets and set(budgets.values()) == {None}


def test_a_read_is_a_result_of_its_tool(tmp_path: Path) -> None:
    lines = Lines().user("go on", 0)
    for n in (1, 2):
        lines.model(f"m{n}", 2 * n, use(f"t{n}", "Read", file_path="/a.py"))
        lines.result(f"t{n}", LONG + str(n), 2 * n + 1)
    found = played(lines.model("m3", 9, text("good")), tmp_path, declared(Tool("Read", 50)))
    for name in ("file-1", "file-2"):
        assert found[name].kind is Kind.FILE
        assert (found[name].reduced_tokens, found[name].delta_tokens) == (50, None)


def test_a_value_counts_as_a_whole_word(tmp_path: Path) -> None:
    long = "test_a_10 " + "x " * 100 + "test_a_1"
    result = played(session([long], "test_a_1"), tmp_path, declared(Tool("Bash", 40)))["result-1"]
    assert [(f.key, f.reducible, f.at) for f in result.facts] == [("test_a_1", False, 53)]


def test_a_value_behind_escapes_is_found(tmp_path: Path) -> None:
    front, back = "caf\\u00e9_table", 'say \\"could not connect\\"'
    long = f'{{"k": "{front}", "m": "{"x " * 100}", "n": "{back}"}}'
    lines = session([long], "café_table", '"could not connect"')
    result = played(lines, tmp_path, declared(Tool("Bash", 40)))["result-1"]
    facts = {fact.key: fact for fact in result.facts}
    assert facts["café_table"].reducible and facts["café_table"].at == 2
    assert not facts["could not connect"].reducible
    assert facts["could not connect"].at is not None and facts["could not connect"].at > 50


def test_no_text_stays(tmp_path: Path) -> None:
    secret = "nobody_reads_this_9 " * 4000
    lines = session([secret, secret[:-7]], "something_else_1")
    scenario, _, _ = load(lines.write(tmp_path / "s.jsonl"), declared=declared(Tool("Bash", 50)))
    script = scenario.script(0)
    assert len(pickle.dumps(script)) < 20_000
    assert "nobody_reads" not in json.dumps(script_to_json(script))


# -- differences ---------------------------------------------------------------------------------


def test_a_difference_is_to_the_whole_of_the_result_before(tmp_path: Path) -> None:
    found = played(session(["a" * 40, LONG, "b" * 80]), tmp_path, declared(Tool("Bash", 50)))
    # 40, 352 and 80 characters.
    deltas = [found[f"result-{n}"].delta_tokens for n in (1, 2, 3)]
    assert deltas == [None, 98, 108]


def test_of_results_of_one_turn_the_one_that_finished_before_counts(tmp_path: Path) -> None:
    lines = Lines().user("go on", 0)
    lines.model("m1", 1, use("slow"), use("other", "Grep"), use("fast"))
    lines.result("slow", "s" * 40, 9).result("other", "o" * 4, 4).result("fast", "f" * 80, 3)
    lines.model("m2", 10, use("next")).result("next", "n" * 120, 11)
    tools = declared(Tool("Bash", 50), Tool("Grep", 50))
    found = played(lines.model("m3", 12, text("good")), tmp_path, tools)
    slow, other, fast, after = (found[f"result-{n}"] for n in (1, 2, 3, 4))
    assert (slow.time, other.time, fast.time) == (8.0, 3.0, 2.0)
    assert (fast.delta_tokens, slow.delta_tokens, other.delta_tokens) == (None, 30, None)
    assert after.delta_tokens == 40


# -- tools that do not occur ---------------------------------------------------------------------


def test_a_file_for_more_sessions_may_declare_more(tmp_path: Path) -> None:
    path = session([LONG]).write(tmp_path / "s.jsonl")
    tools = declared(Tool("Other", 50), Tool("Bash", 50))
    scenario, warnings, _ = load(path, declared=tools)
    assert warnings == [] and set(scenario.tools) == {"Bash", "Other"}


def test_a_file_of_other_tools_is_named(tmp_path: Path) -> None:
    path = session([LONG]).write(tmp_path / "s.jsonl")
    scenario, warnings, _ = load(path, declared=declared(Tool("zsh", 50), Tool("bash", 50)))
    said = "no tool that tools.toml declares is called in it"
    assert warnings == [f"{path}: {said}; did you mean 'Bash' for 'bash'? (no result is reduced)"]
    assert arrivals(scenario.script(0))["result-1"].reduced_tokens is None
    _, warnings, _ = load(path, declared=declared(Tool("mcp__jira", 50)))
    assert warnings == [f"{path}: {said}; it calls 'Bash', 'Sleep' (no result is reduced)"]
    with pytest.raises(InputError, match=said):
        load(path, declared=declared(Tool("bash", 50)), strict=True)


# -- with the reducers ---------------------------------------------------------------------------

TYPES = "\n".join(
    [
        *(
            f"src/part{n}.py:{m}: error: Name 'thing_{n}_{m}' is not defined  [name-defined]"
            for n in range(1, 9)
            for m in (1, 2, 3, 4, 5, 6, 7, 8)
        ),
        "Found 64 errors in 8 files (checked 12 source files)",
    ]
)
FILE = """\
[tools.Bash]
max_result_tokens = 400
reducer = "mypy"
"""


@pytest.mark.parametrize("counter", TOKENIZERS)
def test_the_reducers_keep_the_first_error_of_each_file(tmp_path: Path, counter: str) -> None:
    file = tmp_path / "tools.toml"
    file.write_text(FILE)
    later = TYPES.replace("src/part8.py:8", "src/part9.py:8")
    lines = session([TYPES, later], "thing_8_1", "thing_1_8", "part9.py")
    path = lines.write(tmp_path / "s.jsonl")
    scenario, _, _ = load(path, tokenizer=counter, declared=load_tools(file, counter))
    found = arrivals(scenario.script(0))
    count = tokenizer(counter).count
    first, second = found["result-1"], found["result-2"]
    assert first.tokens == count(TYPES) > 400
    assert first.reduced_tokens is not None and 100 < first.reduced_tokens <= 400
    # What both results hold is asked of the later one, and stands in both.
    facts = {fact.key: fact for fact in (*first.facts, *second.facts)}
    assert facts["thing_8_1"].reducible and not facts["thing_1_8"].reducible
    assert facts["thing_8_1"].at == count(TYPES[: TYPES.index("thing_8_1")])
    assert facts["part9.py"].reducible
    gone, come = (each.splitlines()[63] for each in (TYPES, later))
    said = f"[as before, but for 1 line gone and 1 new]\n- {gone}\n+ {come}"
    assert second.delta_tokens == count(said)


def compared(path: Path, file: Path | None) -> api.Comparison:
    return api.replay([path], ["tiered", "tiered:arrival=off"], budget=9_000, tools=file)


def test_a_replay_with_tools(tmp_path: Path) -> None:
    file = tmp_path / "tools.toml"
    file.write_text(FILE)
    path = session([TYPES] * 3, "thing_8_1", "thing_1_8").write(tmp_path / "s.jsonl")
    on, off = compared(path, file).rows
    assert on["never_admitted_tokens"] > 3000 and off["never_admitted_tokens"] == 0
    assert on["peak_tokens"] < off["peak_tokens"]
    on, off = compared(path, None).rows
    assert on["never_admitted_tokens"] == off["never_admitted_tokens"] == 0


def test_without_tools_nothing_is_declared() -> None:
    scenario, _, _ = load(DEMO)
    assert scenario.tools == {}
    for arrival in arrivals(scenario.script(0)).values():
        assert arrival.max_result_tokens is arrival.reduced_tokens is arrival.delta_tokens is None
        assert not arrival.pages and all(fact.at is None for fact in arrival.facts)


def test_the_demo_session_under_the_smallest_budgets(tmp_path: Path) -> None:
    file = tmp_path / "tools.json"
    names = ("Bash", "Grep", "Read", "Edit")
    file.write_text(json.dumps([{"name": name, "max_result_tokens": 40} for name in names]))
    scenario, warnings, _ = load(DEMO, declared=load_tools(file), tokenizer="o200k")
    plain, _, _ = load(DEMO, tokenizer="o200k")
    assert warnings == []
    found, other = arrivals(scenario.script(0)), arrivals(plain.script(0))
    assert list(found) == list(other)
    for name, arrival in found.items():
        assert [fact.key for fact in arrival.facts] == [fact.key for fact in other[name].facts]
        if arrival.max_result_tokens is not None and arrival.tokens > 40:
            assert arrival.reduced_tokens is not None and arrival.reduced_tokens <= 40
            assert all(f.at is not None and 0 <= f.at < arrival.tokens for f in arrival.facts)
    assert sum(s.reduced_tokens is not None for s in found.values()) > 10


def refused(folder: Path, content: str | None) -> str:
    file = folder / "tools.toml"
    if content is not None:
        file.write_text(content)
    with pytest.raises(InputError) as raised:
        api.replay([DEMO], ["no-op"], tools=file)
    return str(raised.value).replace(str(file), "FILE")


def test_tools_files_that_cannot_be_used(tmp_path: Path) -> None:
    assert refused(tmp_path, None).startswith("FILE: ")
    assert refused(tmp_path, "[tools.Bash]\nmax_result_tokens = 39\n").startswith("FILE:2: ")
    bare = refused(tmp_path, '[tools.Bash]\nreducer = "pytest"\n')
    assert bare == "FILE:1: tool 'Bash' declares no max_result_tokens"
    wrong = refused(tmp_path, '[tools.Bash]\nmax_result_tokens = 50\nreducer = "mipy"\n')
    assert wrong == "FILE:3: tool 'Bash': unknown reducer 'mipy'; did you mean 'mypy'?"


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    streams = capsys.readouterr()
    assert isinstance(ended.value.code, int)
    return ended.value.code, streams.out, streams.err


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "tools.toml"
    file.write_text("[tools.bash]\nmax_result_tokens = 100\n")
    options = ("-p", "tiered", "--format", "json", "--jobs", "1", "--tools", file)
    code, out, err = run(capsys, "replay", DEMO, *options)
    assert code == 0 and "did you mean 'Bash' for 'bash'?" in err
    assert json.loads(out)["rows"][0]["never_admitted_tokens"] == 0
    file.write_text(file.read_text().replace("bash", "Bash"))
    code, out, err = run(capsys, "replay", DEMO, *options)
    assert code == 0
    told = r"evictbench: \S+: \S+ declares a budget for (\d+) results, of which (\d+) are over it"
    said = re.fullmatch(told + " and reduced\n", err)
    assert said is not None
    assert json.loads(out)["manifest"]["reductions"] == [err.removeprefix("evictbench: ").strip()]
    scenario, _, _ = load(DEMO, declared=load_tools(file))
    found = arrivals(scenario.script(0)).values()
    assert [int(said[1]), int(said[2])] == [
        sum(s.tool == "Bash" and s.kind is Kind.TOOL_RESULT for s in found),
        sum(s.reduced_tokens is not None for s in found),
    ]
    assert json.loads(out)["rows"][0]["never_admitted_tokens"] > 0
    code, out, err = run(capsys, "replay", DEMO, "--tools", tmp_path / "none.toml")
    assert (code, out) == (2, "") and err.count("\n") == 1
