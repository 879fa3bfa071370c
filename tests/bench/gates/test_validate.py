"""``evictbench validate``: what it prints, and its exit codes."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest

from bench.cli import main
from bench.gates import registry
from bench.gates.gate import GRADES, INFERRED, Criterion, Gate, Inputs, Verdict, rising
from bench.gates.unclaimed import UNCLAIMED
from bench.tables.validation import COLUMNS, document, rows, validation_tables

ROOT = Path(__file__).resolve().parents[3]
Cli = Callable[..., tuple[int, str, str]]


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(["validate", *arguments])
        printed = capsys.readouterr()
        return int(str(ended.value.code)), printed.out, printed.err

    return run


def gate(name: str, verdict: Verdict) -> Gate:
    return Gate(
        name, "a claim", {"figure": 2.0}, "S", INFERRED, "a note", lambda _: verdict, "figure"
    )


GOOD = gate(
    "good",
    Verdict(
        {"figure": 2.25, "more": 1},
        (Criterion("near", 2.25, 1.0, 3.0, "$"), rising({"a": 1.0, "b": 2.0})),
        {"beside": 7, "group": {"share, %": 12.5, "calls": 3}},
        ("A note.",),
    ),
)
BAD = gate("bad", Verdict({"figure": 9.0}, (Criterion("near", 9.0, high=3.0),)))
MUTE = gate("mute", Verdict(reason="there is nothing to replay"))


@pytest.fixture
def invented(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {one.name: one for one in (GOOD, BAD, MUTE)}
    monkeypatch.setattr(registry, "gates", lambda: known)


@pytest.mark.usefixtures("invented")
@pytest.mark.parametrize(
    ("names", "strict", "code"),
    [
        ((), False, 0),
        ((), True, 1),
        (("good",), True, 0),
        (("bad",), False, 0),
        (("bad",), True, 1),
        (("mute",), False, 0),
        (("good", "mute"), True, 1),
    ],
)
def test_a_gate_that_disagrees_is_an_error_only_under_strict(
    cli: Cli, names: tuple[str, ...], strict: bool, code: int
) -> None:
    assert cli(*names, *["--strict"] * strict)[0] == code


@pytest.mark.usefixtures("invented")
def test_the_json_keeps_to_the_contract(cli: Cli) -> None:
    code, out, err = cli("--format", "json")
    assert (code, err) == (0, "")
    good, bad, mute = json.loads(out)["gates"]
    assert good["name"] == "good"
    assert good["published"] == {"figure": 2.0}
    assert good["simulated"] == {"figure": 2.25, "more": 1}
    assert (good["agrees"], good["grade"], good["setting"]) == (True, "S", "inferred composition")
    assert good["criteria"][0] == {
        "name": "near",
        "figure": 2.25,
        "low": 1.0,
        "high": 3.0,
        "open": False,
        "unit": "$",
        "pass": True,
    }
    assert good["context"] == {"beside": 7, "group": {"share, %": 12.5, "calls": 3}}
    assert (bad["agrees"], bad["reason"]) == (False, None)
    assert (mute["agrees"], mute["reason"]) == (None, "there is nothing to replay")
    assert mute["criteria"] == []


def test_the_csv_has_a_row_for_everything() -> None:
    found = rows([(GOOD, GOOD.run(Inputs())), (MUTE, MUTE.run(Inputs()))])
    parts = [(row["gate"], row["part"], row["name"]) for row in found]
    assert parts == [
        ("good", "gate", "a claim"),
        ("good", "figure", "figure"),
        ("good", "figure", "more"),
        ("good", "criterion", "near"),
        ("good", "criterion", "a < b"),
        ("good", "context", "beside"),
        ("good", "context", "group: share, %"),
        ("good", "context", "group: calls"),
        ("mute", "gate", "a claim"),
        ("mute", "figure", "figure"),
    ]
    assert all(set(row) <= set(COLUMNS) for row in found)


@pytest.mark.usefixtures("invented")
def test_csv_and_markdown_come_whole(cli: Cli) -> None:
    _, out, _ = cli("--format", "csv")
    read = list(csv.DictReader(io.StringIO(out)))
    assert read[0]["agrees"] == "True"
    assert {row["gate"] for row in read} == {"good", "bad", "mute", ""}
    unclaimed = [row for row in read if row["part"] == "unclaimed"]
    assert [row["name"] for row in unclaimed] == [result.name for result in UNCLAIMED]
    assert all(row["reason"] and row["grade"] in GRADES for row in unclaimed)
    _, out, _ = cli("good", "--format", "csv")
    assert {row["gate"] for row in csv.DictReader(io.StringIO(out))} == {"good"}
    _, out, _ = cli("--format", "md")
    assert "### good: agrees" in out
    assert "### bad: does not agree" in out
    assert "### mute: not judged" in out
    assert "| near, $ | 1 to 3 | 2.25 | yes |" in out
    assert "| a < b | above 0 | 1 | yes |" in out
    assert "| near | at most 3 | 9 | no |" in out
    assert "| group | share: 12.5 %; calls: 3 |" in out
    assert "Not judged: there is nothing to replay." in out


@pytest.mark.parametrize("name", ["break-even-shares", "ttl-replay"])
def test_tables_fit_80_columns(cli: Cli, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = cli(name)
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80
    assert name in out


def test_the_summary_names_every_gate_once() -> None:
    judged = [(one, one.run(Inputs())) for one in (GOOD, BAD, MUTE)]
    summary = validation_tables(judged)[-1]
    assert [line.cells[0] for line in summary.rows] == ["good", "bad", "mute"]
    assert [line.cells[-2:] for line in summary.rows] == [
        ("2 of 2", "yes"),
        ("0 of 1", "no"),
        ("–", "–"),
    ]
    assert len(document(judged)["gates"]) == 3


def test_without_recordings_a_replay_is_null_and_never_true(cli: Cli, tmp_path: Path) -> None:
    for more in ((), ("--data", str(tmp_path))):
        code, out, _ = cli("ttl-replay", "--format", "json", *more)
        (found,) = json.loads(out)["gates"]
        assert (code, found["agrees"], found["criteria"]) == (0, None, [])
        assert "derived/claude_code_calls.csv" in found["reason"]
        assert found["published"]["hit of all calls, %"] == 95.85
        assert found["simulated"] == {}


def broken(folder: Path, text: bytes) -> Path:
    (folder / "derived").mkdir()
    (folder / "derived" / "claude_code_calls.csv").write_bytes(text)
    return folder


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"session,call\n", "claude_code_calls.csv:1: the column 'ts' is missing"),
        (b"\xff\xfe\x00", "not UTF-8 text"),
        (b'{"type": "user"}\n', "claude_code_calls.csv:1: the column 'session' is missing"),
    ],
)
def test_a_wrong_file_is_one_sentence_and_2(
    cli: Cli, tmp_path: Path, text: bytes, words: str
) -> None:
    code, out, err = cli("ttl-replay", "--data", str(broken(tmp_path, text)))
    assert (code, out) == (2, "")
    assert words in err
    assert len(err.splitlines()) == 1


def test_wrong_arguments_are_one_sentence_and_2(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    for arguments, words in (
        (("ttl-repaly",), "unknown gate 'ttl-repaly'; did you mean 'ttl-replay'?"),
        (("--data", str(tmp_path / "absent")), "there is no such folder"),
        (("--data", str(file)), "it is a file, not a folder"),
        (("--format", "xml"), "xml"),
    ):
        code, out, err = cli(*arguments)
        assert (code, out) == (2, "")
        assert words in err
        assert len(err.splitlines()) == 1


def test_an_interrupt_keeps_what_was_finished(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(inputs: Inputs) -> NoReturn:
        raise KeyboardInterrupt

    late = Gate("late", "a claim", {"x": 1}, "P", INFERRED, "a note", interrupted, "x")
    monkeypatch.setattr(registry, "gates", lambda: {"good": GOOD, "late": late})
    code, out, err = cli("--format", "json")
    assert code == 130
    assert [item["name"] for item in json.loads(out)["gates"]] == ["good"]
    assert "interrupted; 1 of 2 gates were finished" in err
    code, out, _ = cli("late", "--format", "json")
    assert (code, out) == (130, "")


def test_the_steps_of_a_gate_are_reported(tmp_path: Path) -> None:
    text = "session,call,ts,input_tokens,cache_creation,cache_creation_1h,cache_read,gap_s\n"
    folder = broken(tmp_path, text.encode() + b"a,0,0,1,2,0,3,\n")
    told: list[Any] = []
    known = registry.choose(("ttl-replay",))[0]
    known.run(Inputs(folder, 1, lambda done, planned: told.append((done, planned))))
    assert told == [(step, len(told)) for step in range(1, len(told) + 1)]


def test_commands_of_the_page_work(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    page = (ROOT / "docs" / "validation.md").read_text(encoding="utf-8")
    commands = re.findall(r"^    evictbench validate(.*)$", page, re.M)
    assert len(commands) >= 3
    monkeypatch.setattr(
        registry, "gates", lambda: dict.fromkeys(("ttl-replay", "break-even-shares"), GOOD)
    )
    (tmp_path / "recordings").mkdir()
    monkeypatch.chdir(tmp_path)
    for command in commands:
        assert cli(*shlex.split(command.split("#")[0]))[0] == 0


def test_the_page_names_every_gate_and_its_setting() -> None:
    page = (ROOT / "docs" / "validation.md").read_text(encoding="utf-8")
    for name in registry.gates():
        assert re.search(rf"^\| `{name}` \|", page, re.M), name
