"""ruff and flake8: their layouts by hand, and which of the two a line is."""

import pytest

from policies.reducers.formats.flake8 import REDUCER as FLAKE8
from policies.reducers.formats.ruff import REDUCER as RUFF
from policies.reducers.log import Log, Span
from policies.reducers.reduction import Output
from policies.reducers.room import Room
from sim.tokens import tokenizer

CONCISE = """\
warning: `one-blank-line` (D203) and `no-blank-line` (D211) are incompatible.
app/main.py:1:8: F401 [*] `os` imported but unused
app/main.py:9:80: E501 Line too long (93 > 79)
app/util.py:2:7: invalid-syntax: Expected `)`, found newline
nb/plot.ipynb:cell 2:1:1: I001 [*] Import block is un-sorted or un-formatted
Found 4 errors.
[*] 2 fixable with the `--fix` option.
"""

FULL = """\
F401 [*] `os` imported but unused
 --> app/main.py:1:8
  |
1 | import os
  |        ^^
2 | import sys
  |
help: Remove unused import: `os`
  |
  - import os
1 | import sys
  |

invalid-syntax: Expected `)`, found newline
 --> app/util.py:2:7
  |
2 | f(
  |   ^
  |

Found 2 errors.
"""

OLDER = """\
app/main.py:1:8: F401 [*] `os` imported but unused
  |
1 | import os
  |        ^^ F401
  |
  = help: Remove unused import: `os`

app/main.py:7:1: E402 Module level import not at top of file
  |
7 | import sys
  | ^^^^^^^^^^ E402
  |

Found 2 error(s).
1 potentially fixable with the --fix option.
"""

GROUPED = """\
app/main.py:
  1:8  F401 [*] `os` imported but unused
  9:80 E501 Line too long (93 > 79)

app/util.py:
  2:7 invalid-syntax: Expected `)`, found newline

Found 3 errors.
"""

DEFAULT = """\
./app/main.py:1:1: F401 'os' imported but unused
./app/main.py:12:80: E501 line too long (93 > 79 characters)
./app/util.py:3:1: W293 blank line contains whitespace
./app/broken.py:2:8: E999 SyntaxError: invalid syntax
"""

SOURCE = '''\
app/main.py:1:80: E501 line too long (88 > 79 characters)
    """Say what is done.

    And then, over many lines,
    how it is done.
    """
                                                                               ^
app/util.py:3:4: W291 trailing whitespace
x = 1;;
     ^
1     E501 line too long (88 > 79 characters)
1     W291 trailing whitespace
2
'''


def find(reducer, text):
    return list(reducer.find(Log.of(text)))


def counts(reducer, text):
    return reducer.read(Log.of(text)).found().counts


def laid(reducer, text, limit=4000):
    return reducer.read(Log.of(text)).lay(Room(limit, tokenizer())).text


@pytest.mark.parametrize(
    ("text", "errors", "files"),
    [
        (CONCISE, 4, ("app/main.py", "app/util.py", "nb/plot.ipynb:cell 2")),
        (FULL, 2, ("app/main.py", "app/util.py")),
        (OLDER, 2, ("app/main.py",)),
        (GROUPED, 3, ("app/main.py", "app/util.py")),
    ],
)
def test_each_layout_of_ruff_is_one_run_and_agrees_with_its_summary(text, errors, files):
    output = Output(text)
    assert output.tool == "ruff"
    assert find(RUFF, text) == [Span(0, len(text.splitlines()))]
    assert find(FLAKE8, text) == []
    assert output.found().files == files
    assert output.found().counts == {"errors": errors, "files": len(files)}


def test_every_layout_of_ruff_shows_place_code_and_words():
    for text in (CONCISE, FULL, OLDER, GROUPED):
        shown = laid(RUFF, text)
        assert "app/main.py:1:8: F401 [*] `os` imported but unused" in shown
        assert "Found " in shown
    assert "help: Remove unused import" in laid(RUFF, FULL)


def test_annotations_and_the_pylint_layout_of_ruff():
    annotation = (
        "::error title=Ruff (F401),file=/w/app/main.py,line=1,col=8,endLine=1,endColumn=10"
        "::app/main.py:1:8: F401 `os` imported but unused\n"
    )
    assert Output(annotation).tool == "ruff"
    assert laid(RUFF, annotation).startswith("app/main.py:1:8: F401 `os`")
    assert Output("app/main.py:1: [F401] `os` imported but unused\n").tool == "ruff"


def test_formatting_alone_success_and_a_list_cut_short():
    text = "Would reformat: app/main.py\nWould reformat: b.py\n2 files would be reformatted\n"
    assert counts(RUFF, text) == {"errors": 2, "files": 2}
    assert find(RUFF, "All checks passed!\n") == [Span(0, 1)]
    cut = "\n".join(CONCISE.splitlines()[1:4])
    assert Output(cut).tool == "ruff"


def test_flake8_default_pylint_source_and_statistics():
    assert Output(DEFAULT).tool == "flake8"
    assert Output(DEFAULT).found().counts == {"errors": 4, "files": 3}
    pylint = "app/main.py:1: [F401] 'os' imported but unused\napp/b.py:4: [E302] expected 2 lines\n"
    assert Output(pylint).tool == "flake8"
    assert find(FLAKE8, SOURCE) == [Span(0, len(SOURCE.splitlines()))]
    assert counts(FLAKE8, SOURCE) == {"errors": 2, "files": 2}
    shown = laid(FLAKE8, SOURCE)
    assert "1     W291 trailing whitespace" in shown and shown.endswith("\n2")


def test_pycodestyle_is_read_as_flake8():
    text = "optparse.py:69:11: E401 multiple imports on one line\n"
    assert Output(text).tool == "flake8"


def test_the_two_in_one_log_are_told_apart():
    text = CONCISE + DEFAULT
    tools = [(section.tool, len(section.log)) for section in Output(text).sections]
    assert tools == [("ruff", 7), ("flake8", 4)]
    assert Output(DEFAULT + "$ ruff check app\n" * 9 + CONCISE).tool == "flake8+ruff"


@pytest.mark.parametrize(
    "text",
    [
        "12:30:01: E501 is the rule for long lines\n",
        "see app.py: E501 is ignored here\n",
        "Found 3 errors.\n",
        "error[E0308]: mismatched types\n --> src/main.rs:3:5\n  |\n",
        "  1:8  F401 [*] a row without its file\n",
        "src/x.c:3:4: error: E123 is undeclared\n",
        "2     E501 line too long\n",
        "Dockerfile:3 DL3008 warning: Pin versions in apt get install\n",
    ],
)
def test_lines_of_others_are_not_claimed(text):
    assert find(RUFF, text) == []
    assert find(FLAKE8, text) == []
