"""go build, vet and test."""

# ruff: noqa: E501 (the tools write long lines)

import pytest

from policies.reducers.formats.go import REDUCER
from policies.reducers.log import Log, Span
from policies.reducers.reduction import Output
from policies.reducers.room import Room
from sim.tokens import tokenizer

BUILD = """\
# shop/till
till/till.go:12:9: undefined: Basket
till/till.go:20:1: missing return
till/coin.go:3:8: cannot use "x" (untyped string constant) as int value in assignment
# shop/web
web/main.go:7:2: "os" imported and not used
"""

TESTS = """\
--- FAIL: TestAddsUp (0.00s)
    till_test.go:14: got 4, want 3
--- FAIL: TestRounds (0.00s)
    --- FAIL: TestRounds/down (0.00s)
        till_test.go:30: got 1, want 0
    --- FAIL: TestRounds/up (0.00s)
        till_test.go:30: got 1, want 0
FAIL
FAIL\tshop/till\t0.012s
ok  \tshop/web\t0.004s
?   \tshop/cmd\t[no test files]
FAIL
"""

VERBOSE = """\
=== RUN   TestOpens
    till_test.go:40: drawer is stuck
--- FAIL: TestOpens (0.00s)
=== RUN   TestCloses
--- PASS: TestCloses (0.00s)
FAIL
FAIL\tshop/till\t0.003s
"""


def laid(text, limit=4000):
    return REDUCER.read(Log.of(text)).lay(Room(limit, tokenizer())).text


def found(text):
    return REDUCER.read(Log.of(text)).found()


def test_the_package_stands_above_the_first_error_of_each_file():
    assert Output(BUILD).tool == "go"
    assert found(BUILD).files == ("till/till.go", "till/coin.go", "web/main.go")
    assert found(BUILD).counts == {"errors": 4, "files": 3}
    lines = laid(BUILD).splitlines()
    assert lines[0] == "# shop/till"
    assert lines[1] == "till/till.go:12:9: undefined: Basket (+1 more)"
    assert list(REDUCER.find(Log.of(BUILD))) == [Span(0, 6)]


def test_failed_tests_with_one_message_at_one_place_are_one():
    assert Output(TESTS).tool == "go"
    result = found(TESTS)
    assert result.failures == (("TestAddsUp",), ("TestRounds/down", "TestRounds/up"))
    assert result.counts == {"failed": 3}
    text = laid(TESTS)
    assert "--- FAIL: TestAddsUp: till_test.go:14: got 4, want 3" in text
    assert "FAIL\tshop/till\t0.012s" in text
    assert "[1 packages failed, 1 passed]" not in text
    assert "1 package failed, 1 passed" in text
    assert list(REDUCER.find(Log.of(TESTS))) == [Span(0, TESTS.count("\n"))]


def test_verbose_prints_the_message_before_the_result():
    assert found(VERBOSE).failures == (("TestOpens",),)
    assert "till_test.go:40: drawer is stuck" in laid(VERBOSE)


def test_a_panic():
    text = (
        "--- FAIL: TestOpens (0.00s)\npanic: runtime error: index out of range [3] with length 2 [recovered]\n"
        "\ngoroutine 7 [running]:\nshop/till.Open(...)\n\t/w/till/till.go:9 +0x1d\nFAIL\tshop/till\t0.01s\nFAIL\n"
    )
    assert found(text).failures == (("TestOpens",),)
    assert "panic: runtime error: index out of range [3]" in laid(text)


def test_success():
    text = "ok  \tshop/till\t0.012s\nok  \tshop/web\t(cached)\n"
    assert Output(text).tool == "go"
    assert found(text).counts == {}
    assert laid(text).endswith("ok  \tshop/web\t(cached)")


@pytest.mark.parametrize(
    "text",
    [
        "# A heading\n\ntext\n",
        "main.go:3: fmt.Println()\n",
        "PASS\n",
        "FAIL\n",
        "panic: not now\n",
        "go: a game\n",
    ],
)
def test_it_claims_nothing_of_others(text):
    assert list(REDUCER.find(Log.of(text))) == []
