"""The Test Anything Protocol: diagnostics of several writers, subtests, directives."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.reducers.formats.tap import REDUCER
from policies.reducers.log import Log, Span
from policies.reducers.room import Room
from sim.tokens import tokenizer

NODE = """\
TAP version 13
# Subtest: opens
ok 1 - opens
  ---
  duration_ms: 0.4
  ...
# Subtest: taxes
    # Subtest: rounds
    not ok 1 - rounds
      ---
      duration_ms: 1.1
      location: '/srv/test/cart.test.js:4:1'
      failureType: 'testCodeFailure'
      error: |-
        Expected values to be strictly equal:

        1 !== 2

      code: 'ERR_ASSERTION'
      name: 'AssertionError'
      expected: 2
      actual: 1
      stack: |-
        check (/srv/src/help.js:2:34)
        TestContext.<anonymous> (/srv/test/cart.test.js:4:20)
        Test.runInAsyncScope (node:async_hooks:206:9)
      ...
    1..1
not ok 2 - taxes
  ---
  failureType: 'subtestsFailed'
  error: '1 subtest failed'
  ...
not ok 3 - someday # TODO not yet
ok 4 - later # SKIP
1..4
# tests 4
# pass 1
# fail 1
# skipped 1
# todo 1
# duration_ms 60.5
"""
TAPE = """\
TAP version 13
# cart
ok 1 opens
not ok 2 should be equal
  ---
    operator: equal
    expected: 3
    actual:   2
    at: Test.<anonymous> (/srv/a.js:5:5)
    stack: |-
      Error: should be equal
          at Test.assert (/srv/node_modules/tape/lib/test.js:314:54)
          at Test.<anonymous> (/srv/a.js:5:5)
  ...

1..2
# tests 2
# pass  1
# fail  1
"""
PERL = """\
1..3
ok 1 - opens
not ok 2 - sums
#   Failed test 'sums'
#   at t/cart.t line 7.
#          got: '2'
#     expected: '3'
ok 3
# Looks like you failed 1 test of 3.
"""
BATS = """\
1..2
ok 1 opens
not ok 2 sums
# (in test file cart.bats, line 9)
#   `[ "$total" = 3 ]' failed
"""


def form(text):
    return REDUCER.read(Log.of(text))


def found(text):
    return form(text).found()


def laid(text):
    return form(text).lay(Room(2000, tokenizer())).text


def test_nodes_subtests_and_directives():
    assert found(NODE).failures == (("rounds",),)
    assert found(NODE).counts == {
        "tests": 4,
        "passed": 1,
        "failed": 1,
        "skipped": 1,
        "todo": 1,
    }
    text = laid(NODE)
    assert text.startswith(
        "rounds: AssertionError: Expected values to be strictly equal: (/srv/src/help.js:2)"
    )
    assert "    1 !== 2\n    expected: 2\n    actual: 1" in text


@pytest.mark.parametrize(
    ("text", "name", "place"),
    [
        (TAPE, "should be equal", "(/srv/a.js:5)"),
        (PERL, "sums", "(t/cart.t:7)"),
        (BATS, "sums", "(cart.bats:9)"),
    ],
)
def test_other_writers(text, name, place):
    assert found(text).failures == ((name,),)
    assert found(text).counts["failed"] == 1
    assert name in laid(text) and place in laid(text)


def test_tests_in_braces_are_told_apart_from_their_parent():
    text = (
        "TAP version 13\n1..1\nnot ok 1 - a.test.js # time=3.1ms {\n    1..2\n"
        "    not ok 1 - sums # time=1.2ms\n        ---\n        error:\n"
        '            name: "AssertionError"\n            message: "no"\n'
        '        at: "/srv/a.test.js:3:7"\n        ...\n    ok 2 - opens # time=0.1ms\n}\n'
    )
    assert found(text).failures == (("sums",),)
    assert found(text).counts == {"tests": 2, "passed": 1, "failed": 1}
    assert laid(text).startswith("sums: AssertionError: no (/srv/a.test.js:3)")


def test_runs_follow_one_another():
    text = "$ tape\n" + TAPE + "$ perl\n" + PERL + "end\n"
    assert list(REDUCER.find(Log.of(text))) == [Span(1, 20), Span(21, 30)]
    assert found(text).counts["failed"] == 2


def test_bailing_out_is_the_last_word():
    text = "1..3\nok 1\nBail out! no database\n"
    assert "Bail out! no database" in laid(text)


@pytest.mark.parametrize(
    "text",
    [
        "ok\n",
        "ok  \tshop/till\t0.004s\n",
        "test a ... ok\n",
        "not ok\n",
        "ok 1 of 3 files\n",
        "1..3\n",
        "",
    ],
)
def test_what_others_print_is_not_claimed(text):
    assert list(REDUCER.find(Log.of(text))) == []
    assert form(text) is None


@given(st.lists(st.sampled_from([*(NODE + TAPE + PERL).splitlines(), "x"]), max_size=40))
def test_any_order_of_its_lines_can_be_read(lines):
    log = Log.of("\n".join(lines))
    assert all(0 <= span.start < span.stop <= len(log) for span in REDUCER.find(log))
    read = REDUCER.read(log)
    if read is not None:
        assert tokenizer().count(read.lay(Room(100, tokenizer())).text) <= 100
