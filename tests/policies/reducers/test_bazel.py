"""Bazel: the action's target above the compiler's error, failed tests."""

# ruff: noqa: E501 (the tools write long lines)

import pytest

from policies.reducers.formats.bazel import REDUCER
from policies.reducers.log import Log, Span
from policies.reducers.reduction import Output
from policies.reducers.room import Room
from sim.tokens import tokenizer

BUILD = """\
INFO: Analyzed target //till:till (3 packages loaded, 9 targets configured).
ERROR: /w/till/BUILD:4:11: Compiling till/till.cc failed: (Exit 1): gcc failed: error executing command
till/till.cc:12:9: error: 'Basket' was not declared in this scope
   12 |         Basket b;
      |         ^~~~~~
Target //till:till failed to build
Use --verbose_failures to see the command lines of failed build steps.
INFO: Elapsed time: 1.2s, Critical Path: 0.9s
FAILED: Build did NOT complete successfully
"""

TESTS = """\
INFO: Analyzed 2 targets (0 packages loaded, 0 targets configured).
//till:till_test                                                  FAILED in 0.1s
  /w/bazel-out/testlogs/till/till_test/test.log
//web:web_test                                           (cached) PASSED in 0.2s
Executed 1 out of 2 tests: 1 test passes and 1 fails locally.
INFO: Build completed, 1 test FAILED, 3 total actions
"""


def laid(text, limit=4000):
    return REDUCER.read(Log.of(text)).lay(Room(limit, tokenizer())).text


def found(text):
    return REDUCER.read(Log.of(text)).found()


def test_the_target_stands_above_the_compilers_error():
    assert Output(BUILD).tool == "bazel"
    assert found(BUILD).files == ("till/till.cc",)
    assert found(BUILD).counts == {"errors": 1, "files": 1}
    lines = laid(BUILD).splitlines()
    assert lines[0].startswith("ERROR: /w/till/BUILD:4:11: Compiling till/till.cc failed")
    assert lines[1].startswith("till/till.cc:12:9: error: 'Basket'")
    assert lines[-1] == "FAILED: Build did NOT complete successfully"
    assert list(REDUCER.find(Log.of(BUILD))) == [Span(0, BUILD.count("\n"))]


def test_failed_tests():
    assert Output(TESTS).tool == "bazel"
    assert found(TESTS).failures == (("//till:till_test",),)
    assert found(TESTS).counts == {"failed": 1}
    assert laid(TESTS).endswith("INFO: Build completed, 1 test FAILED, 3 total actions")


def test_bazels_own_error():
    text = (
        "ERROR: /w/till/BUILD:7:10: no such target '//lib:gone': target 'gone' not declared in package\n"
        "ERROR: Analysis of target '//till:till' failed; build aborted\nINFO: Elapsed time: 0.1s\n"
    )
    assert found(text).files == ("/w/till/BUILD",)
    assert "no such target '//lib:gone'" in laid(text)


@pytest.mark.parametrize(
    "text", ["INFO: ready\nERROR: lost\n", "// comment FAILED\n", "WARNING: x\n"]
)
def test_it_claims_nothing_of_others(text):
    assert list(REDUCER.find(Log.of(text))) == []
