"""Biome, Prettier, ShellCheck, golangci-lint and oxlint: a report of each by hand."""

import pytest

from policies.reducers.log import Log, Span
from policies.reducers.reduction import Output
from policies.reducers.registry import make
from policies.reducers.room import Room
from sim.tokens import tokenizer

RULE = "━" * 30
BLANK = "  "
"""What Biome prints for an empty line of a report."""
REPORTS = {
    "biome": f"""\
src/cart.ts:3:7 lint/style/useConst  FIXABLE  {RULE}

  ! This let declares a variable that is only assigned once.
{BLANK}
  > 3 │ let a = 1;
      │ ^^^
{BLANK}

src/cart.ts:9:1 lint/suspicious/noDebugger {RULE}

  × This is an unexpected use of the debugger statement.
{BLANK}
src/order.ts format {RULE}

  × Formatter would have printed the following content:
{BLANK}
    1   │ - a
      1 │ + b
{BLANK}

Checked 2 files in 5ms. No fixes applied.
Found 2 errors.
Found 1 warning.
""",
    "prettier": """\
Checking formatting...
[warn] src/cart.ts
[error] src/broken.js: SyntaxError: Unexpected token (1:10)
[error] > 1 | function ( {
[error]     |          ^
[warn] docs/My Notes.md
[warn] Code style issues found in 3 files. Run Prettier with --write to fix.
""",
    "shellcheck": """\
In run.sh line 2:
echo $x
     ^-- SC2154 (warning): x is referenced but not assigned.
     ^-- SC2086 (info): Double quote to prevent globbing.

Did you mean:
echo "$x"


In lib/a b.sh line 4:
for i in $(ls); do :; done
         ^---^ SC2045 (error): Iterating over ls output is fragile. Use globs.

For more information:
  https://www.shellcheck.net/wiki/SC2045 -- Iterating over ls output is fragi...
""",
    "golangci-lint": """\
cmd/main.go:12:5: Error return value of `f.Close` is not checked (errcheck)
\tf.Close()
\t       ^
cmd/main.go:20:2: ineffectual assignment to err (ineffassign)
pkg/a.go:3: should not use dot imports (ST1001)
3 issues:
* errcheck: 1
* ineffassign: 1
""",
    "oxlint": """\

  × eslint(no-debugger): `debugger` statement is not allowed
   ╭─[src/cart.ts:1:12]
 1 │ var a = 1; debugger
   ·            ────────
   ╰────
  help: Remove the debugger statement

  ! eslint(no-unused-vars): Variable 'a' is declared but never used.
   ,-[src/order.ts:1:5]
 1 | let a = 1
   `----

Found 1 warning and 1 error.
Finished in 28ms on 4 files with 96 rules using 2 threads.
""",
}
COUNTS = {
    "biome": {"errors": 2, "warnings": 1, "files": 2},
    "prettier": {"errors": 1, "warnings": 2, "files": 3},
    "shellcheck": {"errors": 1, "warnings": 2, "files": 2},
    "golangci-lint": {"errors": 3, "files": 2},
    "oxlint": {"errors": 1, "warnings": 1, "files": 2},
}
SHOWN = {
    "biome": ("src/cart.ts:9:1 lint/suspicious/noDebugger: This is", "Found 2 errors."),
    "prettier": ("[error] src/broken.js: SyntaxError", "Code style issues found in 3 files"),
    "shellcheck": ("lib/a b.sh:4: SC2045 (error): Iterating", "run.sh:2: SC2154 (warning): x is"),
    "golangci-lint": ("pkg/a.go:3: should not use dot imports", "3 issues:", "* errcheck: 1"),
    "oxlint": ("src/cart.ts:1:12: eslint(no-debugger):", "Found 1 warning and 1 error."),
}


@pytest.mark.parametrize("name", sorted(REPORTS))
def test_a_report_is_one_run_of_its_tool(name):
    text = REPORTS[name]
    output = Output(text)
    assert output.tool == name
    assert output.found().counts == COUNTS[name]
    spans = list(make(name).find(Log.of(text)))
    assert len(spans) == 1
    assert len(text.splitlines()) - (spans[0].stop - spans[0].start) <= 2


@pytest.mark.parametrize("name", sorted(REPORTS))
def test_first_errors_and_last_words_are_shown(name):
    text = make(name).read(Log.of(REPORTS[name])).lay(Room(4000, tokenizer())).text
    for part in SHOWN[name]:
        assert part in text


def test_the_gcc_format_of_shellcheck_is_not_gcc_s():
    text = "run.sh:2:6: error: Quote this. [SC2154]\nrun.sh:3:6: note: Quote that. [SC2086]\n"
    assert Output(text).tool == "shellcheck"
    assert Output(text).found().counts == {"errors": 1, "warnings": 1, "files": 1}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("prettier", "[warn] disk nearly full\n[error] disk full\n"),
        ("shellcheck", "In chapter 3 line 2:\nnothing\n"),
        ("shellcheck", "run.sh:2:6: error: no such file [SCSI]\n"),
        ("golangci-lint", "cmd/main.go:12:5: undefined: x\n"),
        ("golangci-lint", "\tcmd/main.go:12 +0x1d (deferred)\n"),
        ("oxlint", "  x an error\n  and no place\n"),
        ("biome", f"src/cart.ts {RULE}\n"),
        ("stylelint", "  1:5  ✖  a row without its file\n"),
    ],
)
def test_lines_of_others_are_not_claimed(name, text):
    assert list(make(name).find(Log.of(text))) == []


def test_prettier_that_finds_nothing():
    text = "Checking formatting...\nAll matched files use Prettier code style!\n"
    assert list(make("prettier").find(Log.of(text))) == [Span(0, 2)]
