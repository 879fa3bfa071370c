"""vitest: runs, reporters, errors of tests, of files and of nobody."""

# ruff: noqa: E501 (the tool writes long lines)

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.reducers.formats.vitest import REDUCER
from policies.reducers.log import Log, Span
from policies.reducers.reduction import Output
from policies.reducers.room import Room
from sim.tokens import tokenizer

HEADER = " RUN  v3.1.4 /srv/shop\n\n"
FIGURES = """
 Test Files  1 failed | 2 passed (3)
      Tests  2 failed | 7 passed | 1 skipped | 1 todo (11)
   Start at  09:12:01
   Duration  1.20s (transform 30ms, setup 0ms, collect 50ms, tests 20ms)
"""
FAILED = """\
 ✓ src/till.test.ts (4 tests) 3ms
 ❯ src/cart.test.ts (6 tests | 2 failed) 12ms
   ✓ cart > empties 1ms
   × cart > adds up 4ms
     → expected 20 to be 30 // Object.is equality
   × cart > rounds 2ms
     → expected 20 to be 30 // Object.is equality

⎯⎯⎯⎯⎯⎯⎯ Failed Tests 2 ⎯⎯⎯⎯⎯⎯⎯

 FAIL  src/cart.test.ts > cart > adds up
AssertionError: expected 20 to be 30 // Object.is equality

- Expected
+ Received

- 30
+ 20

 ❯ same node_modules/chai/lib/chai.js:12:1
 ❯ check src/help.ts:8:22
      7| function check(cart) {
      8|   expect(cart.total).toBe(30)
       |                      ^
      9| }
 ❯ src/cart.test.ts:14:3

⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯[1/2]⎯

 FAIL  src/cart.test.ts > cart > rounds
AssertionError: expected 20 to be 30 // Object.is equality
 ❯ check src/help.ts:8:22
 ❯ src/cart.test.ts:21:3

⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯[2/2]⎯

"""
RUN = HEADER + FAILED + FIGURES


def form(text):
    return REDUCER.read(Log.of(text))


def found(text):
    return form(text).found()


def laid(text, limit=4000):
    return form(text).lay(Room(limit, tokenizer())).text


def spans(text):
    return list(REDUCER.find(Log.of(text)))


def test_one_assertion_in_a_shared_helper_is_one_failure_of_two_tests():
    assert found(RUN).failures == (
        ("src/cart.test.ts > cart > adds up", "src/cart.test.ts > cart > rounds"),
    )
    assert found(RUN).counts == {
        "failed": 2,
        "passed": 7,
        "skipped": 1,
        "todo": 1,
        "failed files": 1,
    }
    lines = laid(RUN).splitlines()
    assert lines[0] == (
        "src/cart.test.ts > cart > adds up: AssertionError: expected 20 to be 30 "
        "// Object.is equality (src/help.ts:8) (+1 more)"
    )
    assert "  at src/help.ts:8 in check: expect(cart.total).toBe(30)" in lines
    assert "  also: src/cart.test.ts > cart > rounds" in lines
    assert "Tests  2 failed | 7 passed | 1 skipped | 1 todo (11)" in lines


def test_the_span_goes_from_the_header_to_the_figures():
    text = "$ vitest run\n\n" + RUN + "\nnpm error code 1\n"
    lines = Log.of(text).lines
    (span,) = spans(text)
    assert lines[span.start] == " RUN  v3.1.4 /srv/shop"
    assert lines[span.stop - 1].startswith("   Duration")


def test_a_table_of_coverage_belongs_to_the_run():
    table = " % Coverage report from v8\n-----|----|\nFile | % |\n-----|----|\n a.ts | 9 |\n-----|----|\n"
    text = RUN + "\n" + table + "done\n"
    (span,) = spans(text)
    assert span == Span(0, len(Log.of(text)) - 1)


def test_the_runs_of_several_packages_add_up_and_keep_their_failures_apart():
    text = RUN + "\n> web@1.0.0 test\n> vitest run\n\n" + RUN
    assert len(spans(text)) == 2
    output = Output(text)
    assert output.tool.split("+")[-1] == "vitest"
    assert output.found().counts["failed"] == 4
    assert len(found(text).failures) == 2


def test_what_is_listed_together_is_one_error_and_a_retry_no_test_of_its_own():
    text = (
        HEADER
        + """\
⎯⎯⎯⎯⎯⎯⎯ Failed Tests 2 ⎯⎯⎯⎯⎯⎯⎯

 FAIL  src/a.test.ts > one
 FAIL  src/a.test.ts > one
 FAIL  src/a.test.ts > two
Error: exit 1:
no key

 ❯ src/run.ts:3:9
 ❯ src/a.test.ts:4:1

⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯[1/3]⎯

 Test Files  1 failed (1)
      Tests  2 failed (2)
   Duration  1s
"""
    )
    assert found(text).failures == (("src/a.test.ts > one", "src/a.test.ts > two"),)
    assert "(+1 more)" in laid(text)


def test_a_file_that_cannot_be_loaded_is_a_failure():
    text = (
        HEADER
        + """\
⎯⎯⎯⎯⎯⎯ Failed Suites 1 ⎯⎯⎯⎯⎯⎯⎯

 FAIL  src/gone.test.ts [ src/gone.test.ts ]
Error: Failed to resolve import "./gone" from "src/gone.test.ts". Does the file exist?
  Plugin: vite:import-analysis
 ❯ TransformPluginContext._formatError node_modules/vite/dist/node/chunks/dep.js:42:41

⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯[1/1]⎯

 Test Files  1 failed (1)
      Tests  no tests
   Duration  300ms
"""
    )
    assert found(text).failures == (("src/gone.test.ts [ src/gone.test.ts ]",),)
    assert found(text).counts == {"failed files": 1}
    assert "Failed to resolve import" in laid(text, 200)


def test_an_error_that_no_test_caused_is_a_failure():
    text = (
        HEADER
        + """\
 ✓ src/a.test.ts (1 test) 2ms

⎯⎯⎯⎯⎯⎯ Unhandled Errors ⎯⎯⎯⎯⎯⎯

Vitest caught 1 unhandled error during the test run.
This might cause false positive tests. Resolve unhandled errors to make sure your tests are not affected.

⎯⎯⎯⎯ Unhandled Rejection ⎯⎯⎯⎯⎯
TypeError: cart is not a function
 ❯ src/cart.ts:5:3

This error originated in "src/a.test.ts" test file. It doesn't mean the error was thrown inside the file itself, but while it was running.
⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯

 Test Files  1 passed (1)
      Tests  1 passed (1)
     Errors  1 error
   Duration  300ms
"""
    )
    assert found(text).failures == (("Unhandled Rejection", "TypeError: cart is not a function"),)
    assert found(text).counts == {"passed": 1, "errors": 1}
    assert 'originated in "src/a.test.ts"' in laid(text)


def test_a_run_that_breaks_off_is_told_from_its_marks():
    marks = HEADER + FAILED[: FAILED.index("⎯⎯⎯⎯⎯⎯⎯ Failed")] + "Killed\n"
    assert found(marks).failures == (("cart > adds up",), ("cart > rounds",))
    assert found(marks).counts == {"failed": 2}
    whole = HEADER + FAILED[: FAILED.index("\n- Expected")]
    assert found(whole).failures == (
        ("src/cart.test.ts > cart > adds up",),
        ("cart > rounds",),
    )


def test_marks_stand_in_where_no_errors_are_printed():
    text = (
        HEADER
        + " × src/a.test.ts > sums 4ms\n   → expected 1 to be 2\n ✓ src/a.test.ts > adds 1ms\n"
    )
    text += "\n Test Files  1 failed (1)\n      Tests  1 failed | 1 passed (2)\n   Duration  1s\n"
    assert found(text).failures == (("src/a.test.ts > sums",),)
    assert "src/a.test.ts > sums: expected 1 to be 2" in laid(text)


def test_escape_codes_and_windows_line_ends_change_nothing():
    coloured = RUN.replace(" FAIL ", "\x1b[41m\x1b[1m FAIL \x1b[22m\x1b[49m").replace("\n", "\r\n")
    assert found(coloured) == found(RUN)


@pytest.mark.parametrize(
    "text",
    [
        "FAIL src/a.test.ts\n  ● cart\n\nTest Suites: 1 failed, 1 total\nTests: 1 failed, 1 total\n",
        "--- FAIL: TestX (0.00s)\nFAIL\nFAIL\tshop/till\t0.1s\n",
        "      Tests  3\n   Duration  4\n",
        " ✓ built in 3s\n × no\n",
        "⎯⎯⎯⎯⎯⎯⎯⎯\n",
        "",
    ],
)
def test_what_others_print_is_not_claimed(text):
    assert spans(text) == []
    assert form(text) is None


@given(st.lists(st.sampled_from([*RUN.splitlines(), "⎯⎯", " FAIL  ", "x", ""]), max_size=40))
def test_any_order_of_its_lines_can_be_read(lines):
    text = "\n".join(lines)
    log = Log.of(text)
    for span in REDUCER.find(log):
        assert 0 <= span.start < span.stop <= len(log)
    read = REDUCER.read(log)
    if read is not None:
        for limit in (40, 100, 1000):
            assert tokenizer().count(read.lay(Room(limit, tokenizer())).text) <= limit
