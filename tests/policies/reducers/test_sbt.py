"""sbt: Scala 2 and 3 diagnostics, the failed task, ScalaTest."""

# ruff: noqa: E501 (the tools write long lines)

import pytest

from policies.reducers.formats.sbt import REDUCER
from policies.reducers.log import Log, Span
from policies.reducers.reduction import Output
from policies.reducers.room import Room
from sim.tokens import tokenizer

SCALA2 = """\
[info] compiling 2 Scala sources to /w/target/scala-2.13/classes ...
[warn] /w/src/Old.scala:3:5: method stop is deprecated
[error] /w/src/Till.scala:12:9: not found: type Basket
[error]   val b: Basket = null
[error]          ^
[error] /w/src/Till.scala:20:1: ')' expected
[error] two errors found
[error] (Compile / compileIncremental) Compilation failed
[error] Total time: 3 s, completed Jan 1, 2024
"""

SCALA3 = """\
[info] compiling 1 Scala source to /w/target/scala-3/classes ...
[error] -- [E006] Not Found Error: /w/src/Till.scala:12:9 -----------------
[error] 12 |  val b: Basket = null
[error]    |         ^^^^^^
[error]    |         Not found: type Basket
[error] one error found
"""


def laid(text, limit=4000):
    return REDUCER.read(Log.of(text)).lay(Room(limit, tokenizer())).text


def found(text):
    return REDUCER.read(Log.of(text)).found()


def test_the_task_stands_above_the_first_error_of_each_file():
    assert Output(SCALA2).tool == "sbt"
    assert found(SCALA2).files == ("/w/src/Till.scala",)
    assert found(SCALA2).counts == {"errors": 2, "warnings": 1, "files": 1}
    lines = laid(SCALA2).splitlines()
    assert lines[0] == "(Compile / compileIncremental) Compilation failed"
    assert lines[1] == "[error] /w/src/Till.scala:12:9: not found: type Basket (+1 more)"
    assert lines[-1].startswith("Total time: 3 s")
    assert list(REDUCER.find(Log.of(SCALA2))) == [Span(0, SCALA2.count("\n"))]


def test_scala_3():
    assert Output(SCALA3).tool == "sbt"
    assert found(SCALA3).files == ("/w/src/Till.scala",)
    assert found(SCALA3).counts == {"errors": 1, "files": 1}
    assert "Not found: type Basket" in laid(SCALA3)


def test_failed_tests():
    text = (
        "[info] TillSpec:\n[info] - adds up *** FAILED ***\n[info]   3 did not equal 4 (TillSpec.scala:12)\n"
        "[info] - rounds\n[error] Failed: Total 2, Failed 1, Errors 0, Passed 1\n[error] Failed tests:\n"
        "[error] \tshop.TillSpec\n[error] (Test / test) sbt.TestsFailedException: Tests unsuccessful\n"
    )
    assert found(text).failures == (("adds up",),)
    assert found(text).counts == {"failed": 1}
    assert "3 did not equal 4 (TillSpec.scala:12)" in laid(text)


def test_an_error_without_a_file():
    text = "[info] loading settings for project root\n[error] Error downloading org.zed:zed:9\n[error]   Not found\n"
    assert found(text).counts == {"errors": 1}
    assert "Error downloading org.zed:zed:9" in laid(text)


@pytest.mark.parametrize(
    "text", ["[info] ready\n[error] lost\n", "[warn] slow\n", "[success] saved\n"]
)
def test_it_claims_nothing_of_others(text):
    assert list(REDUCER.find(Log.of(text))) == []
