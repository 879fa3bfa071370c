"""Maven: goal and module, diagnostics printed twice, Surefire's failures, the reactor."""

# ruff: noqa: E501 (the tools write long lines)

import pytest

from policies.reducers.formats.maven import REDUCER
from policies.reducers.log import Log, Span
from policies.reducers.reduction import Output
from policies.reducers.room import Room
from sim.tokens import tokenizer

COMPILE = """\
[INFO] Scanning for projects...
[INFO] -------------------------< org.shop:till >--------------------------
[INFO] --- maven-compiler-plugin:3.11.0:compile (default-compile) @ till ---
[INFO] Compiling 3 source files to /w/till/target/classes
[WARNING] /w/till/src/main/java/Old.java:[7,3] [deprecation] stop() in Thread has been deprecated
[INFO] -------------------------------------------------------------
[ERROR] COMPILATION ERROR :
[INFO] -------------------------------------------------------------
[ERROR] /w/till/src/main/java/Till.java:[12,9] cannot find symbol
  symbol:   class Basket
  location: class org.shop.Till
[ERROR] /w/till/src/main/java/Till.java:[20,1] ';' expected
[ERROR] /w/till/src/main/java/Coin.java:[3,8] class Coins is public
[INFO] 3 errors
[INFO] -------------------------------------------------------------
[INFO] Reactor Summary for shop 1.0:
[INFO]
[INFO] shop ............................................... SUCCESS [  0.1 s]
[INFO] till ............................................... FAILURE [  1.2 s]
[INFO] web ................................................ SKIPPED
[INFO] ------------------------------------------------------------------------
[INFO] BUILD FAILURE
[INFO] ------------------------------------------------------------------------
[INFO] Total time:  1.834 s
[ERROR] Failed to execute goal org.apache.maven.plugins:maven-compiler-plugin:3.11.0:compile (default-compile) on project till: Compilation failure: Compilation failure:
[ERROR] /w/till/src/main/java/Till.java:[12,9] cannot find symbol
[ERROR]   symbol:   class Basket
[ERROR]   location: class org.shop.Till
[ERROR] /w/till/src/main/java/Till.java:[20,1] ';' expected
[ERROR] /w/till/src/main/java/Coin.java:[3,8] class Coins is public
[ERROR] -> [Help 1]
[ERROR]
[ERROR] For more information about the errors and possible solutions, please read the following articles:
"""

TESTS = """\
[INFO] --- maven-surefire-plugin:3.1.2:test (default-test) @ till ---
[INFO]  T E S T S
[INFO] Running org.shop.TillTest
[ERROR] Tests run: 4, Failures: 2, Errors: 1, Skipped: 0, Time elapsed: 0.05 s <<< FAILURE! -- in org.shop.TillTest
[ERROR] org.shop.TillTest.addsUp -- Time elapsed: 0.01 s <<< FAILURE!
org.opentest4j.AssertionFailedError: expected: <3> but was: <4>
\tat org.junit.jupiter.api.AssertEquals.fail(AssertEquals.java:55)
\tat org.shop.TillTest.check(TillTest.java:40)
\tat org.shop.TillTest.addsUp(TillTest.java:12)

[ERROR] org.shop.TillTest.rounds -- Time elapsed: 0 s <<< FAILURE!
org.opentest4j.AssertionFailedError: expected: <1> but was: <0>
\tat org.junit.jupiter.api.AssertEquals.fail(AssertEquals.java:55)
\tat org.shop.TillTest.check(TillTest.java:40)
\tat org.shop.TillTest.rounds(TillTest.java:19)

[ERROR] org.shop.TillTest.opens -- Time elapsed: 0 s <<< ERROR!
java.lang.NullPointerException: drawer
\tat org.shop.Till.open(Till.java:8)

[INFO] Results:
[ERROR] Failures:
[ERROR]   TillTest.addsUp:12->check:40 expected: <3> but was: <4>
[ERROR]   TillTest.rounds:19->check:40 expected: <1> but was: <0>
[ERROR] Errors:
[ERROR]   TillTest.opens:25 NullPointer drawer
[INFO]
[ERROR] Tests run: 4, Failures: 2, Errors: 1, Skipped: 0
[INFO] BUILD FAILURE
[ERROR] Failed to execute goal org.apache.maven.plugins:maven-surefire-plugin:3.1.2:test (default-test) on project till: There are test failures.
"""

OLD = """\
[INFO] [surefire:test]
Running org.shop.TillTest
Tests run: 2, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.1 sec <<< FAILURE!
addsUp(org.shop.TillTest)  Time elapsed: 0.01 sec  <<< FAILURE!
junit.framework.AssertionFailedError: expected:<3> but was:<4>
\tat org.shop.TillTest.addsUp(TillTest.java:12)

Results :

Failed tests:   addsUp(org.shop.TillTest): expected:<3> but was:<4>

Tests run: 2, Failures: 1, Errors: 0, Skipped: 0

[INFO] BUILD FAILURE
"""


def laid(text, limit=4000):
    return REDUCER.read(Log.of(text)).lay(Room(limit, tokenizer())).text


def found(text):
    return REDUCER.read(Log.of(text)).found()


def test_the_goal_stands_above_and_what_is_printed_twice_counts_once():
    assert Output(COMPILE).tool == "maven"
    result = found(COMPILE)
    assert result.files == ("/w/till/src/main/java/Till.java", "/w/till/src/main/java/Coin.java")
    assert result.counts == {"errors": 3, "warnings": 1, "files": 2}
    text = laid(COMPILE)
    assert text.splitlines()[0].startswith("Failed to execute goal org.apache.maven.plugins")
    assert "on project till" in text.splitlines()[0]
    assert "Till.java:[12,9] cannot find symbol (+1 more)" in text
    assert "symbol:   class Basket" in text
    assert "till ............................................... FAILURE [  1.2 s]" in text
    assert "BUILD FAILURE" in text


def test_a_build_is_one_span():
    log = Log.of(f"$ mvn verify\n{COMPILE}$ echo\n")
    assert list(REDUCER.find(log)) == [Span(1, 1 + COMPILE.count("\n"))]


def test_a_distinct_failure_is_an_exception_at_a_place():
    assert Output(TESTS).tool == "maven"
    result = found(TESTS)
    assert result.failures == (
        ("org.shop.TillTest.addsUp", "org.shop.TillTest.rounds"),
        ("org.shop.TillTest.opens",),
    )
    assert result.counts == {"failed": 3}
    text = laid(TESTS)
    assert "org.shop.TillTest.addsUp: org.opentest4j.AssertionFailedError: expected: <3>" in text
    assert "at org.shop.TillTest.check(TillTest.java:40)" in text
    assert "Tests run: 4, Failures: 2, Errors: 1, Skipped: 0" in text


def test_old_surefire():
    assert found(OLD).failures == (("addsUp(org.shop.TillTest)",),)
    assert found(OLD).counts == {"failed": 1}


def test_a_summary_alone_still_names_the_tests():
    text = TESTS[TESTS.index("[INFO] Results:") :]
    assert found(text).counts == {"failed": 3}
    assert len(found(text).failures) == 3
    assert "TillTest.opens:25 NullPointer drawer" in laid(text)


def test_a_goal_that_fails_by_no_file():
    text = (
        "[INFO] Scanning for projects...\n[INFO] BUILD FAILURE\n"
        "[ERROR] Failed to execute goal on project till: Could not resolve dependencies for project "
        "org.shop:till:jar:1.0: org.zed:zed:jar:9 was not found\n[ERROR] -> [Help 1]\n"
    )
    assert found(text).files == ()
    assert found(text).counts == {"errors": 1}
    assert "org.zed:zed:jar:9 was not found" in laid(text)


def test_success():
    text = "[INFO] Scanning for projects...\n[INFO] BUILD SUCCESS\n[INFO] Total time:  0.9 s\n"
    assert laid(text).endswith("BUILD SUCCESS")
    assert found(text).counts == {}


def test_kotlin_and_windows_paths():
    text = (
        "[INFO] Scanning for projects...\n"
        "[ERROR] /w/src/A.kt: (3, 5) Unresolved reference: x\n"
        "[ERROR] C:\\w\\src\\B.java:[4,1] not a statement\n[INFO] BUILD FAILURE\n"
    )
    assert "C:\\w\\src\\B.java" in found(text).files


def test_checkstyle():
    text = (
        "[INFO] Scanning for projects...\n"
        "[ERROR] src/main/java/A.java:[12,5] (indentation) Indentation: wrong level\n"
        "[WARN] /w/src/B.java:7:5: Missing a Javadoc comment. [MissingJavadocMethod]\n"
        "[ERROR] repo.example.org:8080: refused\n[INFO] BUILD FAILURE\n"
    )
    assert found(text).files == ("src/main/java/A.java",)
    assert found(text).counts == {"errors": 1, "warnings": 1, "files": 1}


@pytest.mark.parametrize(
    "text",
    [
        "[INFO] Website will be built\n[ERROR] Docs failed\n[SUCCESS] Done\n",
        "[error] src/A.scala:3: bad\n",
        "[WARNING] page.html: old\n",
        "2024-01-01 [ERROR] server: lost\n",
    ],
)
def test_it_claims_nothing_of_others(text):
    assert list(REDUCER.find(Log.of(text))) == []
