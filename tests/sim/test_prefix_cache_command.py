"""``python -m sim.prefix_cache``: the golden cases, and input that cannot be used."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sim.prefix_cache.__main__ import main

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT.parent / "shared" / "golden" / "prefix_cache.json"

CALL = {"at": 0, "request": [["s", 0, 2000, "system"], ["u", 0, 100, "user"]]}
CASE = {
    "name": "mine",
    "rules": {"rule": "breakpoints", "minimum": 1024, "step": 1, "ttl": 300, "lookback": 20},
    "price": {"input": 2.0, "write": 2.5, "read": 0.2},
    "calls": [CALL, {**CALL, "at": 1}],
}


@pytest.mark.skipif(not GOLDEN.exists(), reason="the golden cases are not here")
def test_golden_cases(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(GOLDEN)]) == 0
    worked, cases = json.loads(capsys.readouterr().out), json.loads(GOLDEN.read_text())
    assert len(worked["cases"]) == len(cases["cases"]) >= 21
    for case, given_case in zip(worked["cases"], cases["cases"], strict=True):
        got = case.pop("got")
        assert case == given_case
        for result, expected in zip(got, case["expect"], strict=True):
            assert result.pop("usd") == pytest.approx(expected.pop("usd"), abs=1e-9)
            assert result == expected, case["name"]


def work_out(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str) -> tuple[int, Any]:
    file = tmp_path / "cases.json"
    file.write_text(text)
    code = main([str(file)])
    out, err = capsys.readouterr()
    if code:
        assert out == ""
        assert err.startswith(str(file)) and err.count("\n") == 1
        return code, err
    return code, json.loads(out)["cases"]


@pytest.mark.parametrize(
    ("marks", "written", "plain"), [(None, 2100, 0), ([1], 2000, 100), ([[1], None], 2000, 100)]
)
def test_a_case_may_place_breakpoints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], marks: Any, written: int, plain: int
) -> None:
    text = json.dumps({"cases": [{**CASE, "breakpoints": marks}]})
    code, cases = work_out(tmp_path, capsys, text)
    usd = (written * 2.5 + plain * 2.0) / 1e6
    first = {"tokens": 2100, "read": 0, "written": written, "plain": plain, "usd": usd}
    assert (code, cases[0]["got"][0]) == (0, first)
    assert [g["read"] for g in cases[0]["got"]] == [0, 2000 if marks else 2100]


BAD_CASES = [
    ({"rules": {"rule": "breakpoint"}}, "unknown rule 'breakpoint'; did you mean 'breakpoints'?"),
    ({"rules": {"rule": "auto", "tll": 3}}, "unknown key 'tll'; did you mean 'ttl'?"),
    ({"rules": {"rule": "auto", "step": 0}}, "step must be at least 1, not 0"),
    ({"rules": {"rule": "auto", "ttl": "long"}}, 'ttl must be a finite number, not "long"'),
    ({"price": {"input": 1, "read": 1}}, "lacks 'write'"),
    ({"price": {"input": 1, "read": -1, "write": 1}}, "read must be a finite number"),
    ({"call": []}, "unknown key 'call'; did you mean 'calls'?"),
    ({"calls": {}}, "calls must be a list"),
    ({"calls": [{"at": 0}]}, "call 1 lacks 'request'"),
    ({"calls": [{"at": True, "request": []}]}, "at must be a finite number, not true"),
    ({"calls": [{"at": 0, "request": [["s", 0, -5, "user"]]}]}, "tokens must be a whole number"),
    ({"calls": [{"at": 0, "request": [["s", 0, 1.5, "user"]]}]}, "tokens must be a whole number"),
    ({"calls": [{"at": 0, "request": [["s", 0, 1, "usr"]]}]}, "did you mean 'user'?"),
    ({"calls": [{"at": 0, "request": [["s", 0, 1]]}]}, "expected [segment id, version"),
    ({"calls": [{"at": 0, "request": [[1, 0, 1, "user"]]}]}, "segment id must be text"),
    ({"calls": [CALL, {**CALL, "at": -1}]}, "call 2: a call at -1.0 s cannot follow"),
    ({"breakpoints": [3]}, "call 1: no breakpoint can stand after segment 3 of 2"),
    ({"breakpoints": [[1]]}, "1 lists of breakpoints for 2 calls"),
    ({"breakpoints": [1.5]}, "breakpoints must be a whole number"),
]


@pytest.mark.parametrize(("change", "message"), BAD_CASES)
def test_bad_cases(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: dict[str, Any], message: str
) -> None:
    code, err = work_out(tmp_path, capsys, json.dumps({"cases": [CASE, {**CASE, **change}]}))
    assert code == 2
    assert "case 2 (mine)" in err and message in err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"cases":\n [', ":2: not valid JSON"),
        ('{"units": "NaN",\n"cases": [{"at":\n NaN}]}', ":3: NaN is not a number"),
        ('{"cases": [],\n"units": 1e999}', ":2: 1e999 is not a number"),
        ("[]", "the document must be an object, not []"),
        ("{}", "lacks 'cases'"),
        ('{"case": []}', "unknown key 'case'; did you mean 'cases'?"),
        ('{"cases": [7]}', "case 1 must be an object, not 7"),
        ("[" * 100_000, "nested too deep"),
    ],
)
def test_bad_documents(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    code, err = work_out(tmp_path, capsys, text)
    assert code == 2
    assert message in err


def test_files_that_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "latin").write_bytes(b'{"units": "\xe9"}')
    for name, message in (("none", "No such file"), (".", "directory"), ("latin", "not UTF-8")):
        assert main([str(tmp_path / name)]) == 2
        assert message in capsys.readouterr().err
    assert main([]) == 2
    assert capsys.readouterr().err == "usage: python -m sim.prefix_cache FILE\n"


def test_the_command_itself(tmp_path: Path) -> None:
    for text, code in (('{"cases": []}', 0), ("{", 2)):
        file = tmp_path / "cases.json"
        file.write_text(text)
        command = [sys.executable, "-m", "sim.prefix_cache", str(file)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert (done.returncode, bool(done.stdout), bool(done.stderr)) == (
            code,
            not code,
            bool(code),
        )
        assert "Traceback" not in done.stderr
