"""Node's own test runner, in its reporter for people."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.reducers.formats.node_test import REDUCER
from policies.reducers.log import Log, Span
from policies.reducers.reduction import Output
from policies.reducers.room import Room
from sim.tokens import tokenizer

ERROR = """\
  AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:

  1 !== 2

      at check (/srv/src/help.js:2:34)
      at TestContext.<anonymous> (/srv/test/cart.test.js:3:20)
      at Test.runInAsyncScope (node:async_hooks:206:9) {
    code: 'ERR_ASSERTION',
    actual: 1
  }
"""
TREE = (
    "✔ opens (0.8ms)\n✖ sums (0.9ms)\n" + ERROR + "\n▶ taxes\n  ✖ rounds (1.2ms)\n"
    "  ﹣ later (0.1ms) # SKIP\n✖ taxes (1.9ms)\n✖ todo (0.1ms) # TODO\n\n"
)
FIGURES = """\
ℹ tests 5
ℹ suites 1
ℹ pass 1
ℹ fail 2
ℹ cancelled 0
ℹ skipped 1
ℹ todo 1
ℹ duration_ms 145.632972
"""
LIST = (
    "\n✖ failing tests:\n\ntest at test/cart.test.js:3:1\n✖ sums (0.9ms)\n" + ERROR
    + "\ntest at test/cart.test.js:4:50\n✖ rounds (1.2ms)\n" + ERROR
    + "\ntest at test/cart.test.js:5:1\n✖ todo (0.1ms) # TODO\n  Error: x\n"
)  # fmt: skip
RUN = TREE + FIGURES + LIST


def form(text):
    return REDUCER.read(Log.of(text))


def found(text):
    return form(text).found()


def test_the_list_of_failures_is_what_counts():
    assert found(RUN).failures == (("sums", "rounds"),)
    assert found(RUN).counts == {"tests": 5, "passed": 1, "failed": 2, "skipped": 1}
    text = form(RUN).lay(Room(2000, tokenizer())).text
    assert text.startswith("sums: AssertionError [ERR_ASSERTION]: Expected values")
    assert "(/srv/src/help.js:2) (+1 more)" in text
    assert "node:async_hooks" not in text


def test_the_span_is_the_whole_run_and_a_second_run_is_another():
    text = "$ node --test\n" + RUN + "\ndone\n"
    lines = Log.of(text).lines
    (span,) = REDUCER.find(Log.of(text))
    assert span.start == 1
    assert lines[span.stop - 1] == "  Error: x"
    assert Output(text).tool == "node-test"
    assert len(list(REDUCER.find(Log.of(text + TREE + FIGURES)))) == 2


def test_a_run_that_passes():
    text = "✔ opens (0.8ms)\nℹ tests 1\nℹ pass 1\nℹ fail 0\n"
    assert list(REDUCER.find(Log.of(text))) == [Span(0, 4)]
    assert found(text).counts == {"tests": 1, "passed": 1}


@pytest.mark.parametrize("text", ["✔ built (3ms)\n", "✖ 3 problems\n", "test at noon\n", ""])
def test_what_others_print_is_not_claimed(text):
    assert list(REDUCER.find(Log.of(text))) == []
    assert form(text) is None


@given(st.lists(st.sampled_from([*RUN.splitlines(), "x"]), max_size=40))
def test_any_order_of_its_lines_can_be_read(lines):
    log = Log.of("\n".join(lines))
    assert all(0 <= span.start < span.stop <= len(log) for span in REDUCER.find(log))
    read = REDUCER.read(log)
    if read is not None:
        assert tokenizer().count(read.lay(Room(100, tokenizer())).text) <= 100
