"""Tracebacks: frames, what was raised, and which frame is the project's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.reducers.tracebacks import (
    Frame,
    Link,
    in_project,
    innermost,
    pytest_frames,
    raised_type,
    read,
)

PLAIN = """Traceback (most recent call last):
  File "/srv/shop/run.py", line 4, in <module>
    main()
  File "/srv/shop/cart.py", line 31, in main
    total = add(prices)
            ^^^^^^^^^^^
  File "/usr/lib/python3.12/statistics.py", line 90, in add
    raise StatisticsError("no data")
statistics.StatisticsError: no data
and a second line
"""


def test_a_plain_traceback():
    found = read(PLAIN)
    assert [frame.place for frame in found.frames] == [
        "/srv/shop/run.py:4",
        "/srv/shop/cart.py:31",
        "/usr/lib/python3.12/statistics.py:90",
    ]
    assert found.innermost == Frame("/srv/shop/cart.py", 31, "main", "total = add(prices)")
    assert found.type == "statistics.StatisticsError"
    assert found.message == ("statistics.StatisticsError: no data", "and a second line")


def test_of_a_chain_the_last_counts():
    first = PLAIN.replace("no data", "first")
    for said in (
        "The above exception was the direct cause of the following exception:",
        "During handling of the above exception, another exception occurred:",
    ):
        second = (
            'Traceback (most recent call last):\n  File "/srv/shop/run.py", line 9, in wrap\n'
            "    raise ShopError from error\nshop.ShopError\n"
        )
        found = read(f"{first}\n{said}\n\n{second}")
        assert (found.innermost.place, found.type) == ("/srv/shop/run.py:9", "shop.ShopError")
        how = "caused by" if "direct" in said else "while handling"
        cause = read(first)
        assert found.links == (Link(how, cause.message[0], cause.innermost.place),)


def test_a_chain_that_is_cut_leaves_what_came_before():
    found = read(PLAIN + "\nDuring handling of the above exception, another exception occurred:\n")
    assert found.type == "statistics.StatisticsError"


def test_a_repeated_frame_and_a_frame_without_source():
    found = read(
        'Traceback (most recent call last):\n  File "a.py", line 1, in f\n'
        '  File "a.py", line 2, in g\n    return g()\n  [Previous line repeated 996 more times]\n'
        "RecursionError: maximum recursion depth exceeded\n"
    )
    assert [(f.line, f.source) for f in found.frames] == [(1, ""), (2, "return g()")]
    assert found.type == "RecursionError"


def test_a_syntax_error_is_where_its_file_says():
    found = read(
        'Traceback (most recent call last):\n  File "/srv/run.py", line 1, in <module>\n'
        '    import cart\n  File "/srv/cart.py", line 7\n    def add(:\n            ^\n'
        "SyntaxError: invalid syntax\n"
    )
    assert found.innermost.place == "/srv/cart.py:7"
    assert found.type == "SyntaxError"


def test_of_a_group_the_group_is_read():
    found = read(
        "  + Exception Group Traceback (most recent call last):\n"
        '  |   File "/srv/jobs.py", line 5, in run\n'
        "  |     raise ExceptionGroup('jobs', failed)\n"
        "  | ExceptionGroup: jobs (2 sub-exceptions)\n"
        "  +-+---------------- 1 ----------------\n"
        '    | Traceback (most recent call last):\n    |   File "/srv/one.py", line 8, in one\n'
        "    |     raise ValueError\n    | ValueError\n"
        "    +---------------- 2 ----------------\n    | KeyError: 'x'\n"
        "    +------------------------------------\n"
    )
    assert (found.innermost.place, found.type) == ("/srv/jobs.py:5", "ExceptionGroup")
    assert found.message == ("ExceptionGroup: jobs (2 sub-exceptions)",)
    assert found.links == (
        Link("with", "ValueError", "/srv/one.py:8"),
        Link("with", "KeyError: 'x'"),
    )


def test_a_chain_in_a_member_is_no_chain_of_the_group():
    during = "During handling of the above exception, another exception occurred:"
    group = (
        "  + Exception Group Traceback (most recent call last):\n"
        '  |   File "/srv/jobs.py", line 5, in run\n'
        "  |     raise ExceptionGroup('jobs', failed)\n"
        "  | ExceptionGroup: jobs (1 sub-exception)\n"
        "  +-+---------------- 1 ----------------\n"
        '    | Traceback (most recent call last):\n    |   File "/srv/one.py", line 8, in one\n'
        "    |     raise ValueError\n    | ValueError\n    | \n"
        f"    | {during}\n    | \n"
        '    | Traceback (most recent call last):\n    |   File "/srv/one.py", line 10, in one\n'
        "    |     raise KeyError('x')\n    | KeyError: 'x'\n"
        "    +------------------------------------\n"
    )
    found = read(group)
    assert (found.innermost.place, found.type) == ("/srv/jobs.py:5", "ExceptionGroup")
    assert found.links == (Link("with", "KeyError: 'x'", "/srv/one.py:10"),)
    last = read(f"{group}\n{during}\n\n{PLAIN}")
    assert last.type == "statistics.StatisticsError"
    assert last.links == (
        Link("while handling", "ExceptionGroup: jobs (1 sub-exception)", "/srv/jobs.py:5"),
    )


@pytest.mark.parametrize(
    "path",
    [
        "/srv/shop/cart.py",
        "tests/test_cart.py",
        "src/lib/cart.py",
        "lib/mpl/tests/test_axes.py",
        r"C:\work\shop\lib\cart.py",
        "conftest.py",
        "python_tools/run.py",
    ],
)
def test_paths_of_a_project(path):
    assert in_project(path)


@pytest.mark.parametrize(
    "path",
    [
        "../venv/lib/python3.11/site-packages/django/db.py",
        "/usr/lib/python3/dist-packages/apt.py",
        "/usr/lib/python3.12/unittest/case.py",
        "/usr/lib64/python3.9/json/decoder.py",
        "/opt/pypy/lib/pypy3.10/json/decoder.py",
        r"C:\Python312\Lib\unittest\case.py",
        r"C:\Users\me\miniconda3\Lib\typing.py",
        r"C:\work\venv\Lib\site-packages\django\db.py",
        "<frozen importlib._bootstrap>",
        "<string>",
    ],
)
def test_paths_outside_a_project(path):
    assert not in_project(path)


def test_without_a_frame_in_the_project_the_last_is_innermost():
    frames = [Frame("/usr/lib/python3.12/a.py", 1), Frame("<string>", 2)]
    assert innermost(frames) == frames[1]
    assert innermost([]) is None


def test_frames_as_pytest_prints_them():
    frames, kind = pytest_frames(
        "tests/test_cart.py:9: in test_total\n    assert total(cart) == 3\n"
        "shop/cart.py:31: in total\n    return sum(prices)\n<frozen abc>:7: in inner\n    ???\n"
        "E   TypeError: unsupported\n"
    )
    assert [(f.place, f.name, f.source) for f in frames] == [
        ("tests/test_cart.py:9", "test_total", "assert total(cart) == 3"),
        ("shop/cart.py:31", "total", "return sum(prices)"),
        ("<frozen abc>:7", "inner", "???"),
    ]
    assert kind == ""


def test_long_frames_have_their_source_above():
    frames, kind = pytest_frames(
        "    def test_total():\n>       assert total([1]) == 3\n\ntests/test_cart.py:9: \n"
        "_ _ _ _\n\n    def total(prices):\n>       return sum(prices)\nE       TypeError: no\n\n"
        r"C:\work\shop\cart.py:31: TypeError" + "\n"
    )
    assert [(f.place, f.source) for f in frames] == [
        ("tests/test_cart.py:9", "assert total([1]) == 3"),
        (r"C:\work\shop\cart.py:31", "return sum(prices)"),
    ]
    assert kind == "TypeError"


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        (["ValueError: no"], "ValueError"),
        (["shop.cart.Empty"], "shop.cart.Empty"),
        (["assert 1 == 2", " +  where 1 = f()"], "AssertionError"),
        (["Failed: DID NOT RAISE ValueError"], "Failed"),
        (['  File "a.py", line 3', "    x =", "SyntaxError: invalid syntax"], "SyntaxError"),
        (["fixture 'db' not found"], ""),
        (["some words: and more"], ""),
        ([], ""),
    ],
)
def test_the_type_of_what_was_raised(message, kind):
    assert raised_type(message) == kind


@given(st.text(alphabet='File "a.py", line 1\n |+-in:>E Traceback'))
def test_any_text_can_be_read(text):
    read(text)
    pytest_frames(text)
    raised_type(text.split("\n"))
