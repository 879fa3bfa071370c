"""javac in its languages and ages, ant around it, and Eclipse's compiler."""

import pytest

from policies.reducers.formats.javac import REDUCER
from policies.reducers.log import Log, Span
from policies.reducers.reduction import Output
from policies.reducers.room import Room
from sim.tokens import tokenizer

JAVAC = """\
src/shop/Cart.java:12: error: cannot find symbol
        Basket b = new Basket();
        ^
  symbol:   class Basket
  location: class Cart
src/shop/Cart.java:19: error: incompatible types: String cannot be converted to int
        int n = "1";
                ^
src/shop/Till.java:3: warning: [deprecation] open() in Drawer has been deprecated
        drawer.open();
              ^
src/shop/Till.java:8: error: ';' expected
        close()
               ^
Note: Some input files use unchecked or unsafe operations.
3 errors
1 warning
"""

ANT = """\
Buildfile: /w/build.xml

compile:
    [javac] Compiling 2 source files to /w/out
    [javac] /w/src/A.java:5: error: class B is public, should be declared in a file named B.java
    [javac] public class B {
    [javac]        ^
    [javac] 1 error

BUILD FAILED
/w/build.xml:9: Compile failed; see the compiler error output for details.

Total time: 1 second
"""

ECLIPSE = """\
----------
1. WARNING in /w/src/A.java (at line 4)
\tList all;
\t^^^^
List is a raw type. References to generic type List<E> should be parameterized
----------
2. ERROR in /w/src/B.java (at line 9)
\treturn wage;
\t       ^^^^
wage cannot be resolved to a variable
----------
3. ERROR in /w/src/B.java (at line 11)
\tfoo();
\t^^^
The method foo() is undefined for the type B
----------
3 problems (2 errors, 1 warning)
"""


def laid(text, limit=4000):
    return REDUCER.read(Log.of(text)).lay(Room(limit, tokenizer())).text


def found(text):
    return REDUCER.read(Log.of(text)).found()


def test_the_first_error_of_each_file_and_javacs_own_count():
    assert Output(JAVAC).tool == "javac"
    assert found(JAVAC).files == ("src/shop/Cart.java", "src/shop/Till.java")
    assert found(JAVAC).counts == {"errors": 3, "warnings": 1, "files": 2}
    text = laid(JAVAC)
    assert "Cart.java:12: error: cannot find symbol (+1 more)" in text
    assert "symbol:   class Basket" in text
    assert "Till.java:8: error: ';' expected" in text
    assert text.endswith("3 errors\n1 warning")


def test_it_is_one_span_with_its_counts():
    log = Log.of(f"$ javac *.java\n{JAVAC}$ ls\n")
    assert list(REDUCER.find(log)) == [Span(1, 1 + JAVAC.count("\n"))]


def test_ant_and_its_target():
    assert Output(ANT).tool == "javac"
    assert found(ANT).files == ("/w/src/A.java",)
    lines = laid(ANT).splitlines()
    assert lines[0] == "target compile:"
    assert "[javac] /w/src/A.java:5: error: class B is public" in lines[1]
    assert "BUILD FAILED" in lines[-1]


def test_eclipse():
    assert Output(ECLIPSE).tool == "javac"
    assert found(ECLIPSE).files == ("/w/src/B.java",)
    assert found(ECLIPSE).counts == {"errors": 2, "warnings": 1, "files": 1}
    text = laid(ECLIPSE)
    assert "2. ERROR in /w/src/B.java (at line 9): wage cannot be resolved to a variable" in text
    assert text.endswith("3 problems (2 errors, 1 warning)")


@pytest.mark.parametrize(
    ("text", "errors", "warnings"),
    [
        ("A.java:3: エラー: シンボルを見つけられません\n  x();\n  ^\nエラー1個\n", 1, 0),
        ("A.java:3: 警告: [unchecked] 無検査キャスト\n  x();\n  ^\n", 0, 1),
        ("A.java:3: 错误: 找不到符号\n  x();\n  ^\n", 1, 0),
        ("A.java:3: Fehler: Symbol nicht gefunden\n  x();\n  ^\n", 1, 0),
        ("A.java:3: avertissement: [cast] transtypage\n  x();\n  ^\n", 0, 1),
        ("A.java:3: cannot find symbol\nsymbol  : class X\n  X x;\n  ^\n", 1, 0),
        ("C:\\w\\A.java:3: error: no\n  x();\n  ^\n", 1, 0),
    ],
)
def test_languages_and_ages(text, errors, warnings):
    counts = found(text).counts
    assert counts.get("errors", 0) == errors
    assert counts.get("warnings", 0) == warnings
    assert counts["files"] == 1


@pytest.mark.parametrize(
    "text",
    [
        "src/A.java:12:    int x = 3;\n",
        "src/A.java:12: int x = 3;\nsrc/A.java:13: int y;\n",
        "\tat shop.Cart.add(Cart.java:12)\n",
        "see Cart.java:12: it is broken\n",
        "diff --git a/A.java b/A.java\n",
    ],
)
def test_it_claims_nothing_of_others(text):
    assert list(REDUCER.find(Log.of(text))) == []
