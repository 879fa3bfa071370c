"""Mocha: the tree, the figures, the list of failures."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.reducers.formats.mocha import REDUCER
from policies.reducers.log import Log, Span
from policies.reducers.room import Room
from sim.tokens import tokenizer

RUN = """

  cart
    ✔ opens
    - later
    1) sums
    taxes
      2) rounds
      3) shouts


  1 passing (31ms)
  1 pending
  3 failing

  1) cart
       sums:

      AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:

1 !== 2

      + expected - actual

      -1
      +2

      at check (src/help.js:2:34)
      at Context.<anonymous> (test/cart.js:6:22)
      at process.processImmediate (node:internal/timers:483:21)

  2) cart
       taxes
         rounds:

      AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:

3 !== 2

      at check (src/help.js:2:34)
      at Context.<anonymous> (test/cart.js:7:22)

  3) cart
       taxes
         shouts:
     TypeError: first line
second line

fourth
      at Context.<anonymous> (test/cart.js:8:31)
"""


def form(text):
    return REDUCER.read(Log.of(text))


def found(text):
    return form(text).found()


def spans(text):
    return list(REDUCER.find(Log.of(text)))


def test_one_place_is_one_failure_with_its_tests():
    assert found(RUN).failures == (
        ("cart sums", "cart taxes rounds", "sums", "rounds"),
        ("cart taxes shouts", "shouts"),
    )
    assert found(RUN).counts == {"passed": 1, "skipped": 1, "failed": 3}
    text = form(RUN).lay(Room(2000, tokenizer())).text
    assert text.startswith(
        "cart sums: AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:"
        " (src/help.js:2) (+1 more)"
    )
    assert "cart taxes shouts: TypeError: first line (test/cart.js:8)" in text
    assert "    second line\n    fourth" in text
    assert "node:internal" not in text
    assert text.endswith("1 passing (31ms)\n1 pending\n3 failing")


def test_the_span_is_from_the_tree_to_the_last_frame():
    text = "> mocha\n" + RUN + "\nnpm ERR! code 3\n"
    lines = Log.of(text).lines
    (span,) = spans(text)
    assert lines[span.start] == "  cart"
    assert lines[span.stop - 1].endswith("test/cart.js:8:31)")


def test_a_run_that_passes_and_one_after_it():
    passing = "\n  cart\n    ✔ opens\n\n  1 passing (2ms)\n\ndone\n"
    assert spans(passing) == [Span(1, 5)]
    assert found(passing + RUN).counts == {"passed": 2, "skipped": 1, "failed": 3}
    assert len(spans(passing + RUN)) == 2


@pytest.mark.parametrize(
    "text", ["3 passing\n", "  1) first\n  2) second\n", "tests passing (3)\n", ""]
)
def test_what_others_print_is_not_claimed(text):
    assert spans(text) == []
    assert form(text) is None


@given(st.lists(st.sampled_from([*RUN.splitlines(), "x"]), max_size=40))
def test_any_order_of_its_lines_can_be_read(lines):
    log = Log.of("\n".join(lines))
    assert all(0 <= span.start < span.stop <= len(log) for span in REDUCER.find(log))
    read = REDUCER.read(log)
    if read is not None:
        assert tokenizer().count(read.lay(Room(100, tokenizer())).text) <= 100
