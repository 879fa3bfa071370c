"""mypy: plain and pretty reports by hand, and lines that only look like mypy's."""

import pytest

from policies.reducers.formats.mypy import REDUCER
from policies.reducers.log import Log, Span
from policies.reducers.reduction import Output
from policies.reducers.room import Room
from sim.tokens import tokenizer

PLAIN = """\
shop/cart.py: note: In member "total" of class "Cart":
shop/cart.py:14: error: Unsupported operand types for + ("int" and "str")  [operator]
shop/cart.py:20: error: "Cart" has no attribute "taxes"  [attr-defined]
shop/cart.py:20: note: Did you mean "tax"?
shop/models/order.pyi:3: error: Name "Decimal" is not defined  [name-defined]
tests/conftest.py: error: Source file found twice: "conftest" and "tests.conftest"
Found 4 errors in 3 files (checked 12 source files)
"""

PRETTY = """\
shop/cart.py: note: In member "total" of class "Cart":
shop/cart.py:14:16: error: Unsupported operand types for + ("int" and
"str")  [operator]
            return self.base + "kr"
                   ^~~~~~~~~~~~~~~~
shop/cart.py:14:16: note: Left operand is of type "int"
shop/a_long_package_name/that_leaves_no_room/for_words.py:7:1: error:
Function is missing a type annotation for one or more arguments and its return
 [no-untyped-def]
    def discount(
    ^
shop/cart.py:40:9: error: Argument 1 to "pay" of "Bank" has incompatible type
"list[tuple[int, str, str, str, str, str, str, str]]"; expected
"dict[str, int]"  [arg-type]
            bank.pay(rows)
                     ^~~~
Found 3 errors in 2 files (checked 5 source files)
"""


def find(text):
    return list(REDUCER.find(Log.of(text)))


def read(text):
    return REDUCER.read(Log.of(text))


def laid(text, limit=4000):
    return read(text).lay(Room(limit, tokenizer())).text


def test_plain_errors_are_counted_by_file_and_notes_are_none():
    found = read(PLAIN).found()
    assert found.files == ("shop/cart.py", "shop/models/order.pyi", "tests/conftest.py")
    assert found.counts == {"errors": 4, "files": 3}
    text = laid(PLAIN)
    assert "cart.py:14: error: Unsupported operand types" in text
    assert "(+1 more)" in text and "taxes" not in text
    assert text.endswith("Found 4 errors in 3 files (checked 12 source files)")


def test_a_pretty_report_is_one_run_and_wrapped_messages_are_one_line_each():
    assert find(PRETTY) == [Span(0, len(PRETTY.splitlines()))]
    found = read(PRETTY).found()
    assert found.counts == {"errors": 3, "files": 2}
    text = laid(PRETTY)
    assert 'types for + ("int" and "str")  [operator]' in text
    assert "for one or more arguments and its return [no-untyped-def]" in text
    assert 'return self.base + "kr"' in text, "the source is the detail"


def test_a_pretty_report_without_codes_ends_a_message_at_its_source_line():
    text = """\
a.py:1: error: Incompatible types in assignment (expression has type "str",
variable has type "int")
    x: int = ""
             ^~
b.py:9: error: Missing return statement
    def f() -> int:
    ^
"""
    assert read(text).found().counts == {"errors": 2, "files": 2}
    assert 'has type "str", variable has type "int") ' not in laid(text)
    assert 'has type "str", variable has type "int")' in laid(text)


def test_what_follows_an_unfinished_plain_message_is_not_part_of_it():
    text = "a.py:1: error: Missing return statement\nmake: *** [lint] Error 1\n"
    assert find(text) == [Span(0, 1)]
    assert "make" not in laid(text)


@pytest.mark.parametrize(
    "line",
    [
        'a.py:2:10:2:12: error: Name "x" is not defined  [name-defined]',
        "<string>:1: error: Missing return statement",
        "bin/tool:2: error: Missing return statement  [return]",
        "C:\\work\\a.py:3: error: Missing return statement  [return]",
        "notes.ipynb:cell_4:3: error: Missing return statement  [return]",
        "dir with spaces/a.py:3:1: error: Missing return statement",
    ],
)
def test_the_places_mypy_prints(line):
    found = read(line).found()
    assert found.counts == {"errors": 1, "files": 1}
    assert line.startswith(found.files[0])


@pytest.mark.parametrize(
    "text",
    [
        "usage: train.py [-h]\ntrain.py: error: unrecognized arguments: --fast\n",
        "train.py: error: no such option: -x\n",
        "src/a.c:3:4: error: expected ';' before '}' token\n",
        "src/a.cpp:4:10: error: 'x.h' file not found [clang-diagnostic-error]\n",
        "    a.py:3: error: quoted in a docstring\n",
        "a.py:3: note: See the docs\n",
        "Found 3 errors in the configuration\n",
        "",
    ],
)
def test_lines_of_others_are_not_claimed(text):
    assert find(text) == []


def test_a_command_s_complaint_beside_a_report_is_not_an_error_of_it():
    text = PLAIN + "usage: cli.py [-h]\ncli.py: error: the following arguments are required: x\n"
    assert read(text).found().counts["errors"] == 4


def test_success_the_daemon_and_a_report_cut_short():
    assert find("Success: no issues found in 3 source files\n") == [Span(0, 1)]
    assert read("Success: no issues found in 1 source file\n").found().counts["errors"] == 0
    daemon = "Daemon started\n" + PLAIN + "Daemon stopped\n"
    assert find(daemon) == [Span(0, 9)]
    cut = "\n".join(PLAIN.splitlines()[:4])
    assert read(cut).found().counts == {"errors": 2, "files": 1}


def test_two_runs_in_one_log_keep_both_summaries():
    text = PLAIN + "$ echo and now the other project\n" * 9 + PRETTY
    assert [section.tool for section in Output(text).sections] == ["mypy", "log", "mypy"]
    joined = laid(PLAIN + PRETTY)
    assert "Found 4 errors in 3 files" in joined and "Found 3 errors in 2 files" in joined
