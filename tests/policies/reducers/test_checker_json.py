"""Checkers' JSON: whole, in a log, on one line, cut short, and hostile."""

import json

import pytest

from policies.reducers.formats import eslint_json, mypy_json, pylint_json, pyright_json, ruff_json
from policies.reducers.log import Log, Span
from policies.reducers.reduction import Output
from policies.reducers.room import Room
from sim.tokens import tokenizer

PLACE = {"row": 4, "column": 8}
RUFF = [
    {
        "code": "F401",
        "filename": "/w/a.py",
        "location": PLACE,
        "end_location": PLACE,
        "message": "m1",
    },
    {
        "code": "E501",
        "filename": "/w/a.py",
        "location": PLACE,
        "end_location": PLACE,
        "message": "m2",
    },
    {"code": None, "filename": "b.py", "location": PLACE, "end_location": PLACE, "message": "m3"},
]
ESLINT = [
    {
        "filePath": "C:\\w\\a.js",
        "messages": [
            {"ruleId": "quotes", "severity": 1, "message": "Odd.", "line": 3, "column": 5},
            {"ruleId": None, "severity": 2, "message": "Parsing error", "line": 9, "column": 1},
            {"message": "no severity"},
            {"severity": [2]},
            "no message",
        ],
        "errorCount": 1,
        "warningCount": 1,
    },
    {"filePath": "/w/clean.js", "messages": [], "errorCount": 0, "warningCount": 0},
]
PYLINT = [
    {
        "type": "convention",
        "path": "a.py",
        "line": 1,
        "column": 0,
        "symbol": "s",
        "message": "m1",
        "message-id": "C0114",
    },
    {
        "type": "error",
        "path": "a.py",
        "line": 7,
        "column": 2,
        "symbol": "t",
        "message": "m2",
        "message-id": "E1101",
    },
]
PYRIGHT = {
    "version": "1.1",
    "generalDiagnostics": [
        {
            "file": "/w/a.py",
            "severity": "error",
            "message": "bad\ntype",
            "rule": "reportX",
            "range": {"start": {"line": 3, "character": 11}},
        },
        {"file": "/w/a.py", "severity": "information", "message": "told"},
        {"file": "/w/b.py", "severity": "warning", "message": "odd"},
    ],
    "summary": {"errorCount": 1, "warningCount": 1},
}
MYPY = [
    {
        "file": "a.py",
        "line": 2,
        "column": 9,
        "message": "m1",
        "hint": None,
        "code": "assignment",
        "severity": "error",
    },
    {
        "file": "a.py",
        "line": 3,
        "column": 0,
        "message": "see",
        "hint": None,
        "code": None,
        "severity": "note",
    },
]
DOCUMENTS = {
    "ruff-json": (ruff_json, RUFF, {"errors": 3, "files": 2}),
    "eslint-json": (eslint_json, ESLINT, {"errors": 1, "warnings": 1, "files": 1}),
    "pylint-json": (pylint_json, PYLINT, {"errors": 1, "warnings": 1, "files": 1}),
    "pyright-json": (pyright_json, PYRIGHT, {"errors": 1, "warnings": 1, "files": 2}),
}


def laid(module, text, limit=4000):
    return module.REDUCER.read(Log.of(text)).lay(Room(limit, tokenizer())).text


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("name", sorted(DOCUMENTS))
def test_a_document_is_its_tool_s_alone_and_in_a_log(name, indent):
    _, document, counts = DOCUMENTS[name]
    text = json.dumps(document, indent=indent)
    assert Output(text).tool == name
    assert Output(text).found().counts == counts
    inside = f"$ check --json\nwarning: [odd] thing\n{text}\nexit code 1\n"
    output = Output(inside)
    assert output.tool == name
    assert [len(section.log) for section in output.sections] == [2, len(text.splitlines()), 1]


def test_what_is_shown_of_each():
    assert laid(ruff_json, json.dumps(RUFF)).startswith("/w/a.py:4:8: F401 m1 (+1 more)")
    text = laid(eslint_json, json.dumps(ESLINT))
    assert text.startswith("C:\\w\\a.js:9:1  error  Parsing error (+1 more)")
    assert laid(pylint_json, json.dumps(PYLINT)).startswith("a.py:7:2: E1101: m2 (t)")
    text = laid(pyright_json, json.dumps(PYRIGHT))
    assert text.startswith("/w/a.py:4:12 - error: bad type (reportX)")
    assert text.endswith("errorCount 1, warningCount 1")


def test_objects_that_hold_the_list():
    metadata = json.dumps({"results": ESLINT, "metadata": {"rulesMeta": {}}})
    assert Output(metadata).found().counts == {"errors": 1, "warnings": 1, "files": 1}
    second = [{**each, "messageId": each["message-id"]} for each in PYLINT]
    text = json.dumps({"messages": second, "statistics": {"score": 7.5}}, indent=4)
    assert Output(text).tool == "pylint-json"
    assert laid(pylint_json, text).endswith("score: 7.5")
    clean = json.dumps({**PYRIGHT, "generalDiagnostics": [], "summary": {"errorCount": 0}})
    assert Output(clean).tool == "pyright-json"


def test_json_lines_are_one_run():
    lines = "".join(json.dumps(each) + "\n" for each in MYPY * 3)
    assert list(mypy_json.REDUCER.find(Log.of(lines))) == [Span(0, 6)]
    assert Output(lines).found().counts == {"errors": 3, "files": 1}
    assert laid(mypy_json, lines).startswith("a.py:2: error: m1  [assignment] (+2 more)")
    assert Output("".join(json.dumps(each) + "\n" for each in RUFF)).tool == "ruff-json"


def test_a_document_that_is_cut_short_gives_what_is_whole_and_says_so():
    text = json.dumps(RUFF, indent=1)
    cut = text[: text.index('"m3"')]
    found = Output(cut)
    assert found.tool == "ruff-json"
    assert found.found().counts == {"errors": 2, "files": 1}
    assert "the JSON of line 1 is cut short" in laid(ruff_json, cut)
    held = json.dumps({"results": ESLINT, "metadata": {"big": "x" * 99}}, indent=1)
    assert Output(held[:-40]).found().counts["errors"] == 1


@pytest.mark.parametrize(
    "text",
    [
        '{"filePath": "a.js"}',
        '[{"filePath": "a.js", "messages": 3}]',
        '[{"end_location": null, "filename": 3}]',
        '[{"symbol": "AAPL", "price": 3}]',
        '{"severity": "error", "message": "disk full"}',
        "[" * 5000 + '"filePath":',
        '\n{"generalDiagnostics": ' * 200,
        '{"filePath": ' + "9" * 5000,
        "[]",
    ],
)
def test_other_json_is_not_theirs_and_nothing_escapes(text):
    for module in (eslint_json, mypy_json, pylint_json, pyright_json, ruff_json):
        log = Log.of(text)
        for span in module.REDUCER.find(log):
            module.REDUCER.read(log.part(span)).lay(Room(400, tokenizer()))
    assert Output(text).found().counts.get("errors", 0) == 0
