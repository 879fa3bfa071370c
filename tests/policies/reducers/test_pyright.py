"""pyright and basedpyright, by hand."""

import pytest

from policies.reducers.formats.pyright import REDUCER
from policies.reducers.log import Log, Span
from policies.reducers.room import Room
from sim.tokens import tokenizer

TEXT = """\
No configuration file found.
/w/shop/cart.py
  /w/shop/cart.py:1:8 - warning: Import "os" is not accessed (reportUnusedImport)
  /w/shop/cart.py:4:12 - error: Type "str" is not assignable to "int"
    "str" is not assignable to "int" (reportReturnType)
  /w/shop/cart.py:9:1 - information: Analysis stopped
/w/shop/order.py
  /w/shop/order.py: error: Cycle detected in import chain
    /w/shop/cart.py
  /w/shop/order.py:2:1 - error: "pay" is not defined (reportUndefinedVariable)
3 errors, 1 warning, 1 information
"""


def find(text):
    return list(REDUCER.find(Log.of(text)))


def read(text):
    return REDUCER.read(Log.of(text))


def test_errors_warnings_and_the_summary():
    found = read(TEXT).found()
    assert found.files == ("/w/shop/cart.py", "/w/shop/order.py")
    assert found.counts == {"errors": 3, "warnings": 1, "files": 2}
    assert find(TEXT) == [Span(0, 11)]
    text = read(TEXT).lay(Room(4000, tokenizer())).text
    assert text.startswith("/w/shop/cart.py:4:12 - error:")
    assert "(reportReturnType)" in text
    assert text.endswith("3 errors, 1 warning, 1 information")


def test_a_clean_run_and_one_of_basedpyright():
    assert read("0 errors, 0 warnings, 0 informations \n").found().counts == {
        "errors": 0,
        "files": 0,
    }
    assert find("0 errors, 0 warnings, 0 notes\n") == [Span(0, 1)]


@pytest.mark.parametrize(
    "text",
    [
        "shop/cart.py:4: error: mypy's own line\n",
        "src/a.ts:3:5 - error TS2322: No.\n",
        "  /w/order.py: error: nothing of pyright around\n",
        "there were 3 errors, 1 warning\n",
    ],
)
def test_lines_of_others_are_not_claimed(text):
    assert find(text) == []
