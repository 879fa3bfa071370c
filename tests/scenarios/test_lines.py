import json
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios import reference, stories
from scenarios.lines import json_lines, line_of, toml_lines

TOML = '''\
# a comment with [brackets] = "and quotes
title = "x" # more
"b.c".d = [1,
  2, # not an item ]
  { x = 1, "y z" = [ { k = "}" }, { k = 2 } ] },
]
text = """
[[no]]
x = "1" """
[t.u]
when = 1979-05-27 07:32:00
[[arr]]
id = 'a # b'
[[arr.sub]]
q = 1
[[arr.sub]]
q = 2
[arr.tab]
w = { a.b = 3, c = """
y""", d = \'\'\'it's\'\'\' }
[[arr]]
id = "b" # ]]
[[arr.sub]]
"q\\u0041" = 3
'''

TOML_LINES = {
    ("title",): 2,
    ("b.c",): 3,
    ("b.c", "d"): 3,
    ("b.c", "d", 0): 3,
    ("b.c", "d", 1): 4,
    ("b.c", "d", 2): 5,
    ("b.c", "d", 2, "y z", 1, "k"): 5,
    ("text",): 7,
    ("t", "u"): 10,
    ("t", "u", "when"): 11,
    ("arr",): 12,
    ("arr", 0): 12,
    ("arr", 0, "id"): 13,
    ("arr", 0, "sub", 0): 14,
    ("arr", 0, "sub", 0, "q"): 15,
    ("arr", 0, "sub", 1, "q"): 17,
    ("arr", 0, "tab"): 18,
    ("arr", 0, "tab", "w", "a", "b"): 19,
    ("arr", 0, "tab", "w", "c"): 19,
    ("arr", 0, "tab", "w", "d"): 20,
    ("arr", 1): 21,
    ("arr", 1, "id"): 22,
    ("arr", 1, "sub", 0): 23,
    ("arr", 1, "sub", 0, "qA"): 24,
}


@pytest.mark.parametrize(("path", "line"), TOML_LINES.items(), ids=str)
def test_line_of_each_key(path, line):
    assert toml_lines(TOML)[path] == line


def test_windows_line_ends_do_not_matter():
    assert toml_lines(TOML.replace("\n", "\r\n")) == toml_lines(TOML)


def paths(data, path=()):
    """Every path of a parsed document, found by walking it."""
    if path:
        yield path
    if isinstance(data, dict):
        for key, value in data.items():
            yield from paths(value, (*path, key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from paths(value, (*path, index))


@pytest.mark.parametrize(
    "file", [reference.FILE, *map(stories.file, stories.NAMES)], ids=lambda f: f.name
)
def test_every_key_of_the_shipped_files_is_found_on_a_line_that_names_it(file: Path):
    text = file.read_text()
    rows = text.split("\n")
    found = toml_lines(text)
    for path in paths(tomllib.loads(text)):
        if isinstance(path[-1], str):
            assert path[-1] in rows[found[path] - 1]
        else:
            assert path in found


def test_an_unknown_path_has_the_line_of_what_is_around_it():
    lines = {("a",): 3, ("a", 0): 4}
    assert line_of(lines, ("a", 0, "x", "y")) == 4
    assert line_of(lines, ("a", 1)) == 3
    assert line_of(lines, ("b",)) is None
    assert line_of(lines, ()) is None


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def indented_lines(data, path, line, found):
    """Walk *data* as ``json.dumps(indent=1)`` lays it out; return the line it ends on."""
    found[path] = line
    if not isinstance(data, (dict, list)) or not data:
        return line
    parts = data.items() if isinstance(data, dict) else enumerate(data)
    for key, value in parts:
        line = indented_lines(value, (*path, key), line + 1, found)
    return line + 1


@given(VALUES)
def test_json_lines_agree_with_the_layout_of_an_indented_document(data):
    expected: dict = {}
    indented_lines(data, (), 1, expected)
    found, repeated = json_lines(json.dumps(data, indent=1))
    assert found == expected
    assert not repeated


def test_json_keys_given_twice_are_found():
    found, repeated = json_lines('{"a": 1,\n "b": {"c": [], "c": {}},\n "a": [2,\n 3]}')
    assert repeated == [(("b", "c"), 2), (("a",), 3)]
    assert found["a", 1] == 4
