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
