"""MSBuild's diagnostics, printed again in the summary, and the tests of dotnet."""

# ruff: noqa: E501 (the tools write long lines)

import pytest

from policies.reducers.formats.msbuild import REDUCER
from policies.reducers.log import Log, Span
from policies.reducers.reduction import Output
from policies.reducers.room import Room
from sim.tokens import tokenizer

BUILD = r"""
/w/Till/Till.cs(12,9): error CS0246: The type or namespace name 'Basket' could not be found [/w/Till/Till.csproj]
/w/Till/Coin.cs(3,8): warning CS0168: The variable 'n' is declared but never used [/w/Till/Till.csproj]
/w/Till/Coin.cs(9,1): error CS1002: ; expected [/w/Till/Till.csproj]

Build FAILED.

/w/Till/Coin.cs(3,8): warning CS0168: The variable 'n' is declared but never used [/w/Till/Till.csproj]
/w/Till/Till.cs(12,9): error CS0246: The type or namespace name 'Basket' could not be found [/w/Till/Till.csproj]
/w/Till/Coin.cs(9,1): error CS1002: ; expected [/w/Till/Till.csproj]
    1 Warning(s)
    2 Error(s)

Time Elapsed 00:00:02.31
"""

TESTS = """\
  Failed Shop.TillTests.AddsUp [12 ms]
  Error Message:
   Assert.Equal() Failure: Values differ
Expected: 3
Actual:   4
  Stack Trace:
     at Shop.TillTests.AddsUp() in /w/Tests/TillTests.cs:line 14

Failed!  - Failed:     1, Passed:     3, Skipped:     0, Total:     4, Duration: 20 ms - Tests.dll (net8.0)
"""


def laid(text, limit=4000):
    return REDUCER.read(Log.of(text)).lay(Room(limit, tokenizer())).text


def found(text):
    return REDUCER.read(Log.of(text)).found()


def test_each_diagnostic_counts_once_and_the_project_stands_above():
    assert Output(BUILD).tool == "msbuild"
    assert found(BUILD).files == ("/w/Till/Till.cs", "/w/Till/Coin.cs")
    assert found(BUILD).counts == {"errors": 2, "warnings": 1, "files": 2}
    lines = laid(BUILD).splitlines()
    assert lines[0] == "project /w/Till/Till.csproj"
    assert "error CS0246" in lines[1]
    assert lines[-3:] == ["Build FAILED.", "1 Warning(s)", "2 Error(s)"]


def test_failed_tests():
    assert found(TESTS).failures == (("Shop.TillTests.AddsUp",),)
    assert found(TESTS).counts == {"failed": 1}
    text = laid(TESTS)
    assert "Shop.TillTests.AddsUp: Assert.Equal() Failure: Values differ" in text
    assert "Failed:     1, Passed:     3" in text


@pytest.mark.parametrize(
    ("line", "file", "errors"),
    [
        (r"1>C:\w\main.cpp(10): error C2065: 'x': undeclared identifier", r"C:\w\main.cpp", 1),
        (
            r"  C:\w (x86)\main.cpp(10,3): error C2065: no [C:\w\a.vcxproj]",
            r"C:\w (x86)\main.cpp",
            1,
        ),
        ("main.cpp(3) : fatal error C1083: Cannot open include file: 'a.h'", "main.cpp", 1),
        ("main.obj : error LNK2019: unresolved external symbol f", "main.obj", 1),
        ("LINK : fatal error LNK1181: cannot open input file 'z.lib'", "", 1),
        ("MSBUILD : error MSB1009: Project file does not exist.", "", 1),
        ("/w/a.csproj : error NU1101: Unable to find package Zed.", "/w/a.csproj", 1),
        ("Page.xaml(4,2): warning XLS0413: no property [a.csproj]", "Page.xaml", 0),
    ],
)
def test_layouts(line, file, errors):
    result = found(line)
    assert result.files == ((file,) if file else ())
    assert result.counts.get("errors", 0) == errors
    assert list(REDUCER.find(Log.of(line))) == [Span(0, 1)]


@pytest.mark.parametrize(
    "text",
    [
        "src/app.ts(3,1): error TS2304: Cannot find name 'x'.\n",
        "kernel.cu(12): error: identifier undefined\n",
        "call(3): error in the line\n",
        "Total tests: 4\n",
        "the build : error was here\n",
        "  Failed to connect [12 ms]\n",
    ],
)
def test_it_claims_nothing_of_others(text):
    assert list(REDUCER.find(Log.of(text))) == []
