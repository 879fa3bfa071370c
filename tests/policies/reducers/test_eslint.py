"""ESLint's layouts by hand, other tools' rows of the same kind, and stylelint."""

import pytest

from policies.reducers.formats.eslint import REDUCER
from policies.reducers.formats.stylelint import REDUCER as STYLELINT
from policies.reducers.log import Log, Span
from policies.reducers.reduction import Output
from policies.reducers.room import Room
from sim.tokens import tokenizer

STYLISH = """\

/repo/shop/src/cart.ts
   3:10  warning  'tax' is assigned a value but never used         no-unused-vars
  12:5   error    Expected '===' and instead saw '=='              eqeqeq
  40:1   error    Delete `··`                                      prettier/prettier

/repo/shop/app/(shop)/page.tsx
  1:1  error  Parsing error: Unexpected token
  | <<<
  2:1  error  Another one  no-undef

/repo/shop/src/only.js
  0:0  warning  File ignored because of a matching ignore pattern

✖ 6 problems (4 errors, 2 warnings)
  1 error and 0 warnings potentially fixable with the `--fix` option.
"""

NEXT = """\
./pages/index.tsx
3:7  Error: 'x' is assigned a value but never used.  @typescript-eslint/no-unused-vars
9:1  Warning: Assign object to a variable before exporting.  import/no-anonymous-default-export

./pages/about.tsx
1:1  Warning: Using `<img>` could result in slower LCP.  @next/next/no-img-element

info  - Need to disable some ESLint rules? Learn more here: https://example.org
"""

STYLELINT_TEXT = """\

css/site.css
  1:5  ✖  Unknown property "colr"          property-no-unknown
  2:9  ⚠  Expected "#FFFFFF" to be "#FFF"  color-hex-length

✖ 2 problems (1 error, 1 warning)
"""


def find(text):
    return list(REDUCER.find(Log.of(text)))


def found(text):
    return REDUCER.read(Log.of(text)).found()


def laid(text, limit=4000):
    return REDUCER.read(Log.of(text)).lay(Room(limit, tokenizer())).text


def test_stylish_rows_stand_under_their_file_and_agree_with_the_summary():
    assert found(STYLISH).counts == {"errors": 4, "warnings": 2, "files": 3}
    assert found(STYLISH).files == (
        "/repo/shop/src/cart.ts",
        "/repo/shop/app/(shop)/page.tsx",
        "/repo/shop/src/only.js",
    )
    assert find(STYLISH) == [Span(1, 16)]


def test_the_first_error_stands_before_an_earlier_warning():
    text = laid(STYLISH)
    assert text.startswith("/repo/shop/src/cart.ts:12:5  error  Expected '==='")
    assert "only.js:0:0  warning  File ignored" in text
    assert "✖ 6 problems (4 errors, 2 warnings)" in text


def test_a_message_of_several_lines_does_not_start_another_file():
    text = """\
/repo/shop/src/types.ts
  236:18  error  An empty interface allows any value
- If that's what you want, say so in the options.
- If not,
- think
- again.
- Else you probably want `unknown` instead  @typescript-eslint/no-empty-object-type
  252:15  error  Unexpected any  @typescript-eslint/no-explicit-any
/repo/shop/src/next.ts
  1:1  error  No blank line above  quotes

✖ 3 problems (3 errors, 0 warnings)
"""
    assert found(text).files == ("/repo/shop/src/types.ts", "/repo/shop/src/next.ts")
    assert found(text).counts == {"errors": 3, "files": 2}
    assert find(text) == [Span(0, 12)]
    assert "you probably want `unknown`" in laid(text)


def test_next_lint_and_rows_behind_a_script_runner():
    assert found(NEXT).counts == {"errors": 1, "warnings": 2, "files": 2}
    assert found(NEXT).files == ("./pages/index.tsx", "./pages/about.tsx")
    lines = [*STYLISH.splitlines()[1:5], "✖ 3 problems (2 errors, 1 warning)"]
    runner = "".join(f"web:lint: {line}\n" for line in lines)
    assert found(runner).files == ("/repo/shop/src/cart.ts",)
    assert found(runner).counts == {"errors": 2, "warnings": 1, "files": 1}


def test_rows_marked_by_a_runner_and_a_summary_in_the_wrong_code_page():
    text = """\
C:\\Work Dir\\src\\cart.ts
##[error]  12:5  error  Expected '===' and instead saw '=='  eqeqeq
##[warning]  14:5  warning  Unexpected console statement  no-console

Γ£û 2 problems (1 error, 1 warning)
"""
    assert found(text).files == ("C:\\Work Dir\\src\\cart.ts",)
    assert found(text).counts == {"errors": 1, "warnings": 1, "files": 1}
    assert laid(text).endswith("2 problems (1 error, 1 warning)")


@pytest.mark.parametrize(
    ("line", "file", "errors"),
    [
        ("/a/b.js: line 3, col 10, Error - 'x' is not defined. (no-undef)", "/a/b.js", 1),
        ("/a/b.js: line 3, col 10, Warning - Odd. (quotes)", "/a/b.js", 0),
        ("/a/b.js:3:10: 'x' is not defined. [Error/no-undef]", "/a/b.js", 1),
        ("/a/b.js:3:10: Parsing error: Unexpected token [Error]", "/a/b.js", 1),
        ("/a/(b)/c.js(3,10): error no-undef : 'x' is not defined.", "/a/(b)/c.js", 1),
        ("D:\\a b\\c.ts(3,10): warning quotes : Odd.", "D:\\a b\\c.ts", 0),
    ],
)
def test_one_line_of_each_older_layout(line, file, errors):
    assert Output(line).tool == "eslint"
    assert found(line).files == (file,)
    assert found(line).counts["errors"] == errors


@pytest.mark.parametrize(
    "text",
    [
        "  12:5  error  a row without a file  eqeqeq\n",
        "Times:\n  12:05  error  in the queue\n",
        "src/a.ts(3,10): error TS2304: Cannot find name 'x'.\n",
        "Program.cs(3,10): error CS1002: ; expected [/a/b.csproj]\n",
        "✖ 6 problems (4 errors, 2 warnings)\n",
        "3 problems\n",
    ],
)
def test_lines_of_others_are_not_claimed(text):
    assert find(text) == []


def test_stylelint_is_its_own():
    output = Output(STYLELINT_TEXT)
    assert output.tool == "stylelint"
    assert output.found().counts == {"errors": 1, "warnings": 1, "files": 1}
    assert list(STYLELINT.find(Log.of(STYLISH))) == []
