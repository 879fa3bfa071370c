"""Nouns in the number of their count."""

import pytest

from policies.reducers.findings import plural, singular

PAIRS = [
    ("error", "errors"), ("file", "files"), ("entry", "entries"), ("match", "matches"),
    ("box", "boxes"), ("class", "classes"), ("key", "keys"),
    ("distinct failure", "distinct failures"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "many"), PAIRS)
def test_one_and_many(one, many):
    assert plural(one, 1) == one
    assert plural(one, 2) == plural(one, 0) == many
    assert singular(many) == one


@pytest.mark.parametrize("word", ["passed", "skipped", "failed", "added", ""])
def test_what_is_no_plural_stays(word):
    assert singular(word) == word


def test_figures_of_two_tools_are_not_added():
    from policies.reducers.reduction import Output

    mypy = "a.py:1: error: no  [misc]\nFound 1 error in 1 file (checked 2 source files)\n"
    ruff = "b.py:1:1: F401 [*] `os` imported but unused\nFound 1 error.\n"
    assert Output(mypy + "\n\n\n" + ruff).found().counts == {
        "mypy errors": 1,
        "mypy files": 1,
        "ruff errors": 1,
        "ruff files": 1,
    }
    assert Output(mypy).found().counts == {"errors": 1, "files": 1}
