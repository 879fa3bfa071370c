"""gcc's diagnostics in JSON: lists beside other lines, cut short, of odd shapes, and others'."""

import json

import pytest

from policies.reducers.formats.gcc_json import REDUCER
from policies.reducers.log import Log, Span
from policies.reducers.reduction import Output
from policies.reducers.room import Room
from sim.tokens import tokenizer


def one(kind, file, line, message, column=4, **more):
    caret = {"file": file, "line": line, "column": column, "display-column": column + 7}
    return {"kind": kind, "message": message, "locations": [{"caret": caret}], **more}


NOTE = one("note", "pump.h", 2, "declared here")
PUMP = [
    one("warning", "pump.c", 3, "unused variable 'q'", option="-Wunused-variable", children=[]),
    one("error", "pump.c", 8, "'flow' undeclared", children=[NOTE]),
    one("error", "pump.c", 9, "expected ';'", children=[]),
    one("fatal error", "valve.h", 1, "nozzle.h: No such file or directory", children=[]),
]
TEXT = json.dumps(PUMP)


def laid(text, limit=4000):
    return REDUCER.read(Log.of(text)).lay(Room(limit, tokenizer())).text


def test_the_first_error_of_each_file_as_the_compiler_prints_it():
    assert Output(TEXT).tool == "gcc-json"
    found = Output(TEXT).found()
    assert found.files == ("pump.c", "valve.h")
    assert found.counts == {"errors": 3, "warnings": 1, "files": 2}
    lines = laid(TEXT).splitlines()
    assert lines[0] == "pump.c:8:4: error: 'flow' undeclared (+1 more)"
    assert lines[1] == "pump.h:2:4: note: declared here"
    assert lines[2] == "valve.h:1:4: fatal error: nozzle.h: No such file or directory"
    assert "also 1 warning;" in laid(TEXT)


def test_warnings_where_there_is_no_error():
    text = json.dumps(PUMP[:1])
    assert "pump.c:3:4: warning: unused variable 'q' [-Wunused-variable]" in laid(text)
    assert Output(text).found().counts == {"warnings": 1, "files": 1}


def test_lists_of_several_compilations_and_of_later_versions_over_many_lines():
    log = Log.of(f"gcc -c pump.c\n{TEXT}\n{json.dumps(PUMP[1:2], indent=2)}\ndone\n")
    stop = 2 + json.dumps(PUMP[1:2], indent=2).count("\n") + 1
    assert list(REDUCER.find(log)) == [Span(1, stop)]
    assert Output(log.text).found().counts["errors"] == 4


def test_a_list_that_is_cut_short_gives_what_it_holds_and_says_so():
    text = TEXT[:-60]
    assert "[the JSON of line 1 is cut short]" in laid(text)
    assert "pump.c:8:4: error" in laid(text)


@pytest.mark.parametrize(
    "record",
    [
        {"kind": "error", "message": "m", "locations": []},
        {"kind": "error", "message": None, "locations": None, "children": 3},
        {"kind": "error", "message": "m", "locations": [{"caret": {"file": 3, "line": "x"}}]},
        {"kind": ["error"], "message": "m", "locations": [4], "children": [4]},
    ],
)
def test_records_of_odd_shapes_are_no_exception(record):
    form = REDUCER.read(Log.of(json.dumps([record])))
    assert form is not None
    assert form.lay(Room(200, tokenizer())).text


@pytest.mark.parametrize(
    "text", ['[{"kind": "pod", "name": "x"}]', '{"kind": "List", "items": []}', "[]", "", "["]
)
def test_other_documents_are_not_claimed(text):
    assert list(REDUCER.find(Log.of(text))) == []
    assert REDUCER.read(Log.of(text)) is None
