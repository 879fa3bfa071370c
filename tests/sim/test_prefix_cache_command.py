"""``python -m sim.prefix_cache``: the golden cases, and input that cannot be used."""

from __future__ import annotations

import json
import subprocess
import sys
from math import isfinite
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

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


def test_two_lives(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = {
        **CASE,
        "rules": {**CASE["rules"], "long_ttl": 3600},
        "price": {**CASE["price"], "long_write": 4.0},
        "long": 1,
        "calls": [CALL, {**CALL, "at": 300}, {**CALL, "at": 3900, "long": 2}],
    }
    code, cases = work_out(tmp_path, capsys, json.dumps({"cases": [case]}))
    assert code == 0
    assert cases[0]["got"] == [
        # The head for the longer life, the rest of the request for the other.
        {
            "tokens": 2100, "read": 0, "written": 2100, "plain": 0, "written_long": 2000,
            "usd": (2000 * 4.0 + 100 * 2.5) / 1e6,
        },
        # The head is still there and renewed.
        {"tokens": 2100, "read": 2000, "written": 100, "plain": 0, "usd": 650 / 1e6},
        # At 3,900 s it has just ended; now all of it lives longer.
        {
            "tokens": 2100, "read": 0, "written": 2100, "plain": 0, "written_long": 2100,
            "usd": 2100 * 4.0 / 1e6,
        },
    ]  # fmt: skip


def test_a_named_object_whose_storage_is_billed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = {
        **CASE,
        "rules": {
            "rule": "breakpoints", "minimum": 1024, "ttl": 1800, "lookback": None, "matched": 80,
            "renews": False, "marks": "head", "long_ttl": None, "capacity": None,
        },
        "price": {
            "input": 2.0, "write": 2.0, "read": 0.2, "storage": 4.5, "long_write": None,
            "cliff_tokens": None,
        },
        "calls": [CALL, {**CALL, "at": 1799}, {**CALL, "at": 1800}],
    }  # fmt: skip
    code, cases = work_out(tmp_path, capsys, json.dumps({"cases": [case]}))
    # 2,000 tokens for half an hour at $4.50 per million and hour, beside $2 per million of input.
    first = {"tokens": 2100, "read": 0, "written": 2000, "plain": 100, "stored": 2000}
    first["usd"] = (4200 + 4500) / 1e6
    again = {"tokens": 2100, "read": 2000, "written": 0, "plain": 100, "usd": 600 / 1e6}
    assert (code, cases[0]["got"]) == (0, [first, again, first])


def test_any_distance(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    far = [[f"{i}", 0, 10, "user"] for i in range(21)]
    start = CALL["request"]
    calls = [CALL, {"at": 1, "request": [*start, *far], "breakpoints": [23]}]
    for lookback, read in ((20, 0), (None, 2100)):
        case = {**CASE, "rules": {**CASE["rules"], "lookback": lookback}, "calls": calls}
        code, cases = work_out(tmp_path, capsys, json.dumps({"cases": [case]}))
        assert (code, cases[0]["got"][1]["read"]) == (0, read)


LIVES = {"rules": {**CASE["rules"], "long_ttl": 3600}}
LIVES_PRICE = {"price": {**CASE["price"], "long_write": 4}}

BAD_CASES = [
    (LIVES, "price: long_write and long_ttl go together"),
    (LIVES_PRICE, "price: long_write and long_ttl go together"),
    ({**LIVES, **LIVES_PRICE, "long": 3}, "call 1: long is 3, but the request has 2 breakpoints"),
    ({**LIVES, **LIVES_PRICE, "long": -1}, "long must be a whole number from 0 on, not -1"),
    ({**LIVES, **LIVES_PRICE, "long": None}, "long must be a whole number from 0 on, not null"),
    ({"calls": [{**CALL, "long": 1}]}, "call 1: no breakpoint can ask for a longer life"),
    ({"calls": [{**CALL, "long": "1"}]}, "call 1: long must be a whole number from 0 on"),
    (
        {"rules": {**CASE["rules"], "long_ttl": 299}},
        "long_ttl must be at least ttl, 300.0, not 299",
    ),
    ({"rules": {**CASE["rules"], "marks": "haed"}}, "did you mean 'head'?"),
    ({"rules": {**CASE["rules"], "marks": ["head"]}}, "unknown placement"),
    ({"rules": {**CASE["rules"], "evict": "lfuu"}}, "unknown order 'lfuu'; did you mean 'lfu'?"),
    ({"rules": {**CASE["rules"], "evict": 1}}, "unknown order"),
    ({"rules": {**CASE["rules"], "renews": 0}}, "renews must be true or false, not 0"),
    ({"rules": {**CASE["rules"], "matched": 0}}, "matched must be at least 1, not 0"),
    ({"rules": {**CASE["rules"], "minimum": None}}, "minimum must be a whole number"),
    ({"rules": {**CASE["rules"], "lookback": 1.5}}, "lookback must be a whole number"),
    ({"price": {**CASE["price"], "storage": -1}}, "storage must be a finite number of at least 0"),
    (
        {"rules": {"rule": "auto"}, "price": {**CASE["price"], "storage": 1}},
        "storage is billed for a life that ends",
    ),
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


# Fuzzing: whatever stands in a document, it is worked out or named in one line.

JUNK = st.sampled_from(
    [None, True, False, 0, 1, 2, -1, 3, 2**53, 10**400, 0.5, -2.5, 1e300, "", "s", "head", "a\nb",
     "\ud800", "auto", "blocks", "none", [], [1], [[1], None], {}, {"rule": "auto"}, {"at": 1},
     ["s", 0, 5, "user"], [["s", 0, 5, "user"]]]
)  # fmt: skip
KEYS = st.sampled_from(
    ["at", "breakpoints", "calls", "capacity", "cases", "cliff_tokens", "evict", "expect", "got",
     "long",
     "long_ttl", "long_write", "lookback", "marks", "matched", "minimum", "name", "price", "read",
     "renews", "rule", "rules", "step", "storage", "ttl", "x\ny", "\ud800"]
)  # fmt: skip
FULL = {
    "units": "",
    "cases": [
        CASE,
        {
            "name": "all",
            "rules": {
                "rule": "breakpoints", "minimum": 4, "ttl": 5, "lookback": None, "long_ttl": 9,
                "renews": False, "matched": 3, "marks": "head", "step": 1, "capacity": 7,
                "evict": "lfu",
            },
            "price": {
                "input": 2, "write": 2.5, "read": 0.2, "long_write": 4, "storage": 1,
                "cliff_tokens": 10, "cliff_input": 2, "cliff_inclusive": True,
            },
            "breakpoints": [None, [1]],
            "long": 1,
            "calls": [CALL, {**CALL, "at": 2, "long": 0, "breakpoints": [1, 2]}],
        },
    ],
}  # fmt: skip


def altered(data: st.DataObject, value: Any) -> Any:
    """Return *value* with junk somewhere in it."""
    if not isinstance(value, (dict, list)) or not value or data.draw(st.integers(0, 5)) == 0:
        return data.draw(JUNK)
    if isinstance(value, list):
        at = data.draw(st.integers(0, len(value) - 1))
        return [*value[:at], altered(data, value[at]), *value[at + 1 :]]
    if data.draw(st.integers(0, 5)) == 0:
        return {**value, data.draw(KEYS): data.draw(JUNK)}
    key = data.draw(st.sampled_from(sorted(value)))
    if data.draw(st.integers(0, 5)) == 0:
        return {name: item for name, item in value.items() if name != key}
    return {**value, key: altered(data, value[key])}


@settings(
    max_examples=400,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_any_document(tmp_path: Path, capsys: pytest.CaptureFixture[str], data: Any) -> None:
    document = FULL
    for _ in range(data.draw(st.integers(1, 3))):
        document = altered(data, document)
    code, cases = work_out(tmp_path, capsys, json.dumps(document))
    assert code in (0, 2)
    for case in cases if code == 0 else ():
        for got in case["got"]:
            assert isfinite(got["usd"]) and got["usd"] >= 0
            assert got["tokens"] == got["read"] + got["written"] + got["plain"]
