"""tsc: plain, pretty, building and watching, by hand."""

import pytest

from policies.reducers.formats.tsc import REDUCER
from policies.reducers.log import Log, Span
from policies.reducers.reduction import Output
from policies.reducers.room import Room
from sim.tokens import tokenizer

PLAIN = """\
src/cart.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'.
src/cart.ts(9,1): error TS2345: Argument of type '{ a: string; }' is not assignable.
  Types of property 'a' are incompatible.
    Type 'string' is not assignable to type 'number'.
app/(shop)/page.tsx(1,20): error TS2307: Cannot find module './x'.
"""

PRETTY = """\
src/cart.ts:3:5 - error TS2322: Type 'string' is not assignable to type 'number'.

3 let n: number = 'a';
      ~

  src/types.ts:4:15
    4   amount: number;
        ~~~~~~
    The expected type comes from property 'amount'.

src/order.ts:120:7 - error TS2304: Cannot find name 'Order'.

120 const o: Order = pay();
             ~~~~~


Found 2 errors in 2 files.

Errors  Files
     1  src/cart.ts:3
     1  src/order.ts:120
"""


def find(text):
    return list(REDUCER.find(Log.of(text)))


def found(text):
    return REDUCER.read(Log.of(text)).found()


def laid(text, limit=4000):
    return REDUCER.read(Log.of(text)).lay(Room(limit, tokenizer())).text


def test_plain_errors_with_their_continuations():
    assert find(PLAIN) == [Span(0, 5)]
    assert found(PLAIN).files == ("src/cart.ts", "app/(shop)/page.tsx")
    assert found(PLAIN).counts == {"errors": 3, "files": 2}
    only = "\n".join(PLAIN.splitlines()[1:])
    assert "Types of property 'a' are incompatible." in laid(only)


def test_a_pretty_report_is_one_run_with_its_table():
    assert find(PRETTY) == [Span(0, len(PRETTY.splitlines()))]
    assert found(PRETTY).counts == {"errors": 2, "files": 2}
    text = laid(PRETTY)
    assert "src/cart.ts:3:5 - error TS2322" in text and "let n: number" in text
    assert text.endswith("Found 2 errors in 2 files.")


def test_utf_16_and_windows_line_ends():
    raw = PLAIN.replace("\n", "\r\n").encode("utf-16")
    assert Output(raw).tool == "tsc"
    assert Output(raw).found().counts == {"errors": 3, "files": 2}


@pytest.mark.parametrize(
    ("line", "file"),
    [
        ("web:build: src/a.ts(3,5): error TS2322: No.", "src/a.ts"),
        ("packages/web build: src/a.ts(3,5): error TS2322: No.", "src/a.ts"),
        ("[tsc] src/a.ts(3,5): error TS2322: No.", "src/a.ts"),
        ("Error: src/a.ts:3:5 - error TS2322: No.", "src/a.ts"),
        ("##[error]src/a.ts(3,5): error TS2322: No.", "src/a.ts"),
        ("C:/My Work/a.ts(3,5): error TS2322: No.", "C:/My Work/a.ts"),
        ("D:\\w\\a.ts:3:5 - error TS2322: No.", "D:\\w\\a.ts"),
    ],
)
def test_places_behind_what_a_runner_prints(line, file):
    assert found(line).files == (file,)
    assert found(line).counts == {"errors": 1, "files": 1}


def test_an_error_of_no_file_counts_and_names_none():
    text = "error TS18003: No inputs were found in config file 'tsconfig.json'.\n"
    assert Output(text).tool == "tsc"
    assert found(text).counts == {"errors": 1, "files": 0}
    assert "TS18003" in laid(text)


def test_building_and_watching():
    build = "8:05:21 AM - Building project '/w/tsconfig.json'...\n\n" + PLAIN
    assert find(build) == [Span(0, 7)]
    watch = f"[8:05:23 AM] Starting compilation in watch mode...\n\n{PLAIN}\n"
    watch += "[8:05:25 AM] Found 3 errors. Watching for file changes.\n"
    assert find(watch) == [Span(0, 9)]
    assert "Found 3 errors" in laid(watch)
    clean = "8:05:25 AM - Found 0 errors. Watching for file changes.\n"
    assert found(clean).counts == {"errors": 0, "files": 0}


def test_noise_around_a_report_is_not_its_own():
    text = f"> shop@1.0.0 build\n> tsc -p .\n\n{PLAIN}npm error Lifecycle script `build` failed\n"
    assert find(text) == [Span(3, 8)]


@pytest.mark.parametrize(
    "text",
    [
        "Program.cs(3,10): error CS1002: ; expected\n",
        "the code is error TS2322: see the docs\n",
        "Found 2 errors in 2 files.\n",
        "8:05:21 AM - Building project 'x'...\n",
    ],
)
def test_lines_of_others_are_not_claimed(text):
    assert find(text) == []
