"""Gradle: the task of the first error, what went wrong, failed tests, Kotlin and Android."""

# ruff: noqa: E501 (the tools write long lines)

import pytest

from policies.reducers.formats.gradle import REDUCER
from policies.reducers.log import Log, Span
from policies.reducers.reduction import Output
from policies.reducers.room import Room
from sim.tokens import tokenizer

JAVA = """\
> Task :core:compileJava UP-TO-DATE
> Task :till:compileJava FAILED
/w/till/src/main/java/Till.java:12: error: cannot find symbol
        Basket b;
        ^
  symbol:   class Basket
  location: class Till
/w/till/src/main/java/Coin.java:3: error: ';' expected
        int x
             ^
2 errors

FAILURE: Build failed with an exception.

* What went wrong:
Execution failed for task ':till:compileJava'.
> Compilation failed; see the compiler output below.
  /w/till/src/main/java/Till.java:12: error: cannot find symbol
          Basket b;
          ^
    symbol:   class Basket
    location: class Till
  /w/till/src/main/java/Coin.java:3: error: ';' expected
          int x
               ^
  2 errors

* Try:
> Run with --info option to get more log output.

BUILD FAILED in 3s
2 actionable tasks: 1 executed, 1 up-to-date
"""

TESTS = """\
> Task :till:test FAILED

TillTest > addsUp() FAILED
    org.opentest4j.AssertionFailedError: expected: <3> but was: <4>
        at app//org.junit.jupiter.api.AssertionUtils.fail(AssertionUtils.java:55)
        at app//org.shop.TillTest.addsUp(TillTest.java:12)

TillTest > opens() FAILED
    java.lang.NullPointerException at TillTest.java:25

5 tests completed, 2 failed

FAILURE: Build failed with an exception.

* What went wrong:
Execution failed for task ':till:test'.
> There were failing tests. See the report at: file:///w/till/build/reports/tests/test/index.html

BUILD FAILED in 4s
"""


def laid(text, limit=4000):
    return REDUCER.read(Log.of(text)).lay(Room(limit, tokenizer())).text


def found(text):
    return REDUCER.read(Log.of(text)).found()


def test_the_task_stands_above_and_what_is_printed_twice_counts_once():
    assert Output(JAVA).tool == "gradle"
    assert found(JAVA).files == (
        "/w/till/src/main/java/Till.java",
        "/w/till/src/main/java/Coin.java",
    )
    assert found(JAVA).counts == {"errors": 2, "files": 2}
    lines = laid(JAVA).splitlines()
    assert lines[0] == "> Task :till:compileJava FAILED"
    assert lines[1] == "/w/till/src/main/java/Till.java:12: error: cannot find symbol"
    assert lines[-2:] == ["BUILD FAILED in 3s", "2 actionable tasks: 1 executed, 1 up-to-date"]


def test_a_build_is_one_span():
    log = Log.of(f"$ ./gradlew build\n{JAVA}$ echo\n")
    assert list(REDUCER.find(log)) == [Span(1, 1 + JAVA.count("\n"))]


def test_failed_tests():
    assert Output(TESTS).tool == "gradle"
    result = found(TESTS)
    assert result.failures == (("TillTest > addsUp()",), ("TillTest > opens()",))
    assert result.counts == {"failed": 2}
    text = laid(TESTS)
    assert text.splitlines()[0] == "> Task :till:test FAILED"
    assert (
        "addsUp() FAILED: org.opentest4j.AssertionFailedError: expected: <3> but was: <4>" in text
    )
    assert "5 tests completed, 2 failed" in text


@pytest.mark.parametrize(
    ("line", "file"),
    [
        ("e: file:///w/app/Main.kt:12:5 Unresolved reference: x", "/w/app/Main.kt"),
        ("e: /w/app/Main.kt: (12, 5): Unresolved reference: x", "/w/app/Main.kt"),
        ("e: C:\\w\\Main.kt: (12, 5): Unresolved reference: x", "C:\\w\\Main.kt"),
        ("/w/app/build.gradle.kts:3:1: error: bad", "/w/app/build.gradle.kts"),
        ("ERROR:/w/res/values/s.xml:7:5: AAPT: error: not found.", "/w/res/values/s.xml"),
        ("/w/jni/core.cpp:7:5: error: use of undeclared identifier 'q'", "/w/jni/core.cpp"),
    ],
)
def test_compilers_inside(line, file):
    text = f"> Task :app:compile FAILED\n{line}\n\nBUILD FAILED in 1s\n"
    assert found(text).files == (file,)
    assert found(text).counts == {"errors": 1, "files": 1}
    assert line in laid(text)


def test_what_went_wrong_stands_in_where_no_compiler_speaks():
    text = (
        "FAILURE: Build failed with an exception.\n\n* Where:\nBuild file '/w/build.gradle' line: 7\n\n"
        "* What went wrong:\nA problem occurred evaluating root project 'shop'.\n"
        "> Could not find method implementatoin() for arguments [x]\n\n* Try:\n"
        "> Run with --stacktrace option to get the stack trace.\n\nBUILD FAILED in 1s\n"
    )
    assert Output(text).tool == "gradle"
    assert found(text).counts == {"errors": 1}
    shown = laid(text)
    assert "A problem occurred evaluating root project 'shop'." in shown
    assert "line: 7" in shown
    assert "Could not find method implementatoin()" in shown


def test_success_with_warnings():
    text = "> Task :a:compileKotlin\nw: file:///w/A.kt:1:1 Unused\n\nBUILD SUCCESSFUL in 2s\n1 actionable task: 1 executed\n"
    assert found(text).counts == {"warnings": 1, "files": 1}
    assert "BUILD SUCCESSFUL in 2s" in laid(text)


@pytest.mark.parametrize(
    "text",
    [
        "FAILED tests/a.py - x\n",
        "suite > case FAILED\n    at x\n",
        "> quoted mail\n",
        "BUILD FAILED\n",
    ],
)
def test_it_claims_nothing_of_others(text):
    assert list(REDUCER.find(Log.of(text))) == []
