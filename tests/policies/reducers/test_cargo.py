"""cargo: compiler errors with their crate, failed tests, errors of cargo itself, and JSON."""

# ruff: noqa: E501 (the tools write long lines)

import json

import pytest

from policies.reducers.formats.cargo import REDUCER
from policies.reducers.formats.cargo_json import REDUCER as JSON
from policies.reducers.log import Log, Span
from policies.reducers.reduction import Output
from policies.reducers.room import Room
from sim.tokens import tokenizer

BUILD = """\
   Compiling serde v1.0.0
   Compiling ledger v0.2.0 (/w/ledger)
warning: unused variable: `n`
 --> src/lib.rs:4:9
  |
4 |     let n = 1;
  |         ^ help: prefix it with an underscore: `_n`
  |
  = note: `#[warn(unused_variables)]` on by default

error[E0308]: mismatched types
  --> src/book.rs:31:20
   |
31 |     let total: u32 = "x";
   |                ---   ^^^ expected `u32`, found `&str`
   |                |
   |                expected due to this

error[E0425]: cannot find value `rate` in this scope
  --> src/book.rs:40:5
   |
40 |     rate
   |     ^^^^ not found in this scope

error[E0432]: unresolved import `crate::money`
 --> src/main.rs:1:5
  |
1 | use crate::money;
  |     ^^^^^^^^^^^^ no `money` in the root

Some errors have detailed explanations: E0308, E0425, E0432.
For more information about an error, try `rustc --explain E0308`.
warning: `ledger` (bin "ledger") generated 1 warning
error: could not compile `ledger` (bin "ledger") due to 3 previous errors; 1 warning emitted
"""

TESTS = """\
    Finished `test` profile [unoptimized + debuginfo] target(s) in 0.52s
     Running unittests src/lib.rs (target/debug/deps/ledger-0a1b2c)

running 4 tests
test book::adds ... ok
test book::splits ... FAILED
test book::rounds ... FAILED
test book::merges ... FAILED

failures:

---- book::splits stdout ----
thread 'book::splits' panicked at src/book.rs:90:9:
assertion `left == right` failed: shares
  left: 3
 right: 4
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace

---- book::rounds stdout ----
thread 'book::rounds' panicked at src/book.rs:90:9:
assertion `left == right` failed: shares
  left: 1
 right: 2

---- book::merges stdout ----
thread 'book::merges' panicked at 'index out of bounds: the len is 0', src/page.rs:12:5

failures:
    book::merges
    book::rounds
    book::splits

test result: FAILED. 1 passed; 3 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

error: test failed, to rerun pass `--lib`
"""

REGISTRY = """\
    Updating crates.io index
warning: spurious network error (3 tries remaining): [6] Couldn't resolve host name
warning: spurious network error (2 tries remaining): [6] Couldn't resolve host name
error: failed to get `rand` as a dependency of package `ledger v0.2.0 (/w/ledger)`

Caused by:
  failed to query replaced source registry `crates-io`

Caused by:
  download of config.json failed
"""


def laid(text, limit=4000, reducer=REDUCER):
    return reducer.read(Log.of(text)).lay(Room(limit, tokenizer())).text


def found(text, reducer=REDUCER):
    return reducer.read(Log.of(text)).found()


def test_the_crate_stands_above_the_first_error_of_each_file():
    assert Output(BUILD).tool == "cargo"
    lines = laid(BUILD).splitlines()
    assert lines[0].startswith('error: could not compile `ledger` (bin "ledger") due to 3 previous')
    assert lines[1] == "error[E0308]: mismatched types --> src/book.rs:31:20 (+1 more)"
    assert any(line.startswith("error[E0432]: unresolved import") for line in lines)
    assert found(BUILD).files == ("src/book.rs", "src/main.rs")
    assert found(BUILD).counts == {"errors": 3, "warnings": 1, "files": 2}


def test_a_build_is_one_span():
    log = Log.of(f"$ cargo build\n{BUILD}$ echo\n")
    assert list(REDUCER.find(log)) == [Span(1, 1 + BUILD.count("\n"))]


def test_the_same_assertion_at_the_same_place_counts_once():
    assert Output(TESTS).tool == "cargo"
    result = found(TESTS)
    assert result.files == ()
    assert result.failures == (("book::splits", "book::rounds"), ("book::merges",))
    assert result.counts == {"failed": 3}
    text = laid(TESTS)
    assert "book::splits: panicked at src/book.rs:90:9: assertion `left == right` failed" in text
    assert "(+1 more)" in text
    assert "book::merges: panicked at src/page.rs:12:5: 'index out of bounds" in text
    assert "  left: 3" in text
    assert "test result: FAILED. 1 passed; 3 failed" in text
    assert text.endswith("error: test failed, to rerun pass `--lib`")


ENDINGS = """\
running 5 tests
test book::closes - should panic ... FAILED
test book::opens - should panic ... FAILED
test book::reads ... FAILED
test book::sums ... FAILED
test src/lib.rs - book (line 3) - compile fail ... FAILED

failures:

---- book::closes stdout ----
note: test did not panic as expected at src/book.rs:70:8
---- book::opens stdout ----

thread 'book::opens' (812) panicked at src/book.rs:75:9:
the shelf is empty
note: panic did not contain expected string
      panic message: `"the shelf is empty"`,
 expected substring: `"locked"`

---- book::reads stdout ----
Error: Os { code: 2, kind: NotFound, message: "No such file or directory" }

---- book::sums stdout ----

thread 'book::sums' (813) panicked at src/book.rs:90:9:
assertion `left == right` failed
  left: 3
 right: 4
stack backtrace:
   0: __rustc::rust_begin_unwind
             at /rustc/0123abc/library/std/src/panicking.rs:689:5
   1: ledger::book::total
             at ./src/book.rs:90:9
   2: ledger::tests::sums
             at ./src/tests.rs:12:20
note: Some details are omitted, run with `RUST_BACKTRACE=full` for a verbose backtrace.

---- src/lib.rs - book (line 3) stdout ----
Test compiled successfully, but it's marked `compile_fail`.

failures:
    book::closes
    book::opens
    book::reads
    book::sums
    src/lib.rs - book (line 3)

test result: FAILED. 0 passed; 5 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
"""


def test_a_test_is_one_failure_however_it_was_meant_to_end():
    result = found(ENDINGS)
    assert result.counts["failed"] == 5
    assert sorted(result.failures) == [
        ("book::closes",),
        ("book::opens",),
        ("book::reads",),
        ("book::sums",),
        ("src/lib.rs - book (line 3)",),
    ]


def test_what_a_test_failed_by_without_a_panic_is_said():
    text = laid(ENDINGS)
    assert "book::closes: note: test did not panic as expected at src/book.rs:70:8" in text
    assert "book::reads: Error: Os { code: 2, kind: NotFound" in text
    assert "book::opens: panicked at src/book.rs:75:9: the shelf is empty" in text
    assert ' expected substring: `"locked"`' in text


def test_the_last_frames_in_the_project_are_kept():
    text = laid(ENDINGS)
    assert "  at ./src/book.rs:90:9 in ledger::book::total" in text
    assert "  at ./src/tests.rs:12:20 in ledger::tests::sums" in text
    assert "panicking.rs" not in text


def test_cargos_own_error_with_its_causes():
    assert Output(REGISTRY).tool == "cargo"
    result = found(REGISTRY)
    assert result.files == ()
    assert result.counts == {"errors": 1, "warnings": 2}
    text = laid(REGISTRY)
    assert "error: failed to get `rand` as a dependency" in text
    assert "download of config.json failed" in text
    assert list(REDUCER.find(Log.of(REGISTRY))) == [Span(0, REGISTRY.count("\n"))]


def test_success():
    text = "    Checking ledger v0.2.0 (/w)\n    Finished `dev` profile [unoptimized] target(s) in 1.1s\n"
    assert Output(text).tool == "cargo"
    assert found(text).counts == {}
    assert laid(text).endswith("Finished `dev` profile [unoptimized] target(s) in 1.1s")


def test_tests_that_pass():
    text = (
        "running 2 tests\ntest a ... ok\ntest b ... ok\n\ntest result: ok. 2 passed; 0 failed; "
        "0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n"
    )
    assert laid(text).splitlines()[-1].startswith("test result: ok. 2 passed")


def test_nextest():
    text = (
        "    Finished `test` profile [unoptimized] target(s) in 0.1s\n"
        "     Running tests\n"
        "        PASS [   0.004s] ledger book::adds\n"
        "        FAIL [   0.005s] ledger book::splits\n"
        "--- STDOUT:              ledger book::splits ---\n"
        "thread 'book::splits' panicked at src/book.rs:90:9:\nboom\n"
        "     Summary [   0.009s] 2 tests run: 1 passed, 1 failed, 0 skipped\n"
    )
    assert len(found(text).failures) == 1
    assert "panicked at src/book.rs:90:9: boom" in laid(text)
    assert "2 tests run: 1 passed, 1 failed" in laid(text)


@pytest.mark.parametrize(
    "text",
    [
        "F401 [*] `os` imported but unused\n --> app.py:1:8\n  |\n1 | import os\n",
        "error: something\n --> src/app.ts:3:1\n",
        "running 3 tests in a loop\n",
        "test results are in\n",
        "error: pathspec 'x' did not match any file\n",
        "---- a heading ----\nfailures:\n",
        "See src/main.rs:3:1 for more\n",
    ],
)
def test_it_claims_nothing_of_others(text):
    assert list(REDUCER.find(Log.of(text))) == []


def message(level, text, file="", code=None, line=1):
    spans = [{"file_name": file, "line_start": line, "column_start": 5, "is_primary": True}]
    return json.dumps(
        {
            "reason": "compiler-message",
            "package_id": "path+file:///w/ledger#0.2.0",
            "target": {"kind": ["lib"], "name": "ledger"},
            "message": {
                "level": level,
                "message": text,
                "code": {"code": code} if code else None,
                "spans": spans if file else [],
                "rendered": f"{level}: {text}\n --> {file}\n  |\n1 | excerpt\n",
            },
        },
        separators=(",", ":"),
    )


def test_json_messages():
    text = "\n".join(
        [
            message("warning", "unused import", "src/lib.rs", "unused_imports"),
            message("error", "mismatched types", "src/lib.rs", "E0308", 7),
            message("error", "mismatched types", "src/lib.rs", "E0308", 9),
            message("error", "cannot find value", "src/b.rs", "E0425"),
            message("error", "aborting due to 3 previous errors"),
            message("warning", "1 warning emitted"),
            '{"reason":"build-finished","success":false}',
        ]
    )
    assert Output(text).tool == "cargo-json"
    result = found(text, JSON)
    assert result.files == ("src/lib.rs", "src/b.rs")
    assert result.counts == {"errors": 3, "warnings": 1, "files": 2}
    shown = laid(text, reducer=JSON)
    assert "target ledger (lib)" in shown.splitlines()[0]
    assert "error[E0308]: mismatched types --> src/lib.rs:7:5 (+1 more)" in shown
    assert '"success":false' in shown.splitlines()[-1]


@pytest.mark.parametrize(
    "line",
    [
        '{"reason":"compiler-message"',
        '{"reason":"compiler-message","message":null}',
        '{"reason":"compiler-message","message":{"level":null,"spans":7,"code":[]}}',
        '{"reason":"compiler-message","message":{"level":"error","message":"x","spans":[3]}}',
        "[" * 100_000 + '"reason":"compiler-message"',
        '{"reason":"compiler-message","target":[],"message":{"level":"error","message":"x"}}',
    ],
)
def test_broken_json_is_no_exception(line):
    form = JSON.read(Log.of(line))
    if form is not None:
        form.lay(Room(200, tokenizer()))
