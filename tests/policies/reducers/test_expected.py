"""The reducers on real logs: format, files, failures and counts as a committed table has them.

The logs are not in this repository; without them the tests are skipped.
"""

from __future__ import annotations

import csv
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import pytest

from policies.reducers.reduction import FALLBACK, PLAIN, Output, reduced
from policies.reducers.room import Room
from sim.tokens import tokenizer

HERE = Path(__file__).resolve()
TABLE = HERE.with_name("expected.tsv")
DATA = HERE.parents[4] / "shared" / "data"
FOLDERS = ("tool_outputs", "tool_outputs_generated")
LIMITS = (24_000, 8_000, 2_000)

ROWS = list(csv.DictReader(TABLE.open(encoding="utf-8"), delimiter="\t"))
NAMES = [row["file"] for row in ROWS]

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the recorded logs are not here")


@lru_cache(maxsize=4)
def output(name: str) -> Output:
    return Output((DATA / name).read_bytes())


def room(limit: int) -> Room:
    return Room(limit, tokenizer())


def test_every_log_has_a_row_and_every_row_a_log():
    files = {
        path.relative_to(DATA).as_posix()
        for folder in FOLDERS
        for path in (DATA / folder).rglob("*")
        if path.is_file()
    }
    assert sorted(NAMES) == sorted(set(NAMES))
    assert files <= set(NAMES), "logs without a row"


def present(names):
    return [pytest.param(name, id=name) for name in names if (DATA / name).is_file()]


@pytest.mark.parametrize("name", present(NAMES))
def test_it_is_read_as_what_it_is(name):
    row = next(row for row in ROWS if row["file"] == name)
    found = output(name).found()
    assert output(name).tool == row["format"]
    assert len(found.files) == int(row["files"])
    assert len(found.failures) == int(row["failures"])
    expected = dict(pair.split("=") for pair in row["counts"].split(";") if pair)
    assert {noun: found.counts.get(noun) for noun in expected} == {
        noun: int(count) for noun, count in expected.items()
    }
    if row["fallback"] != "yes":
        assert output(name).tool not in (PLAIN, FALLBACK)


def shown(text, names):
    """Count, naively, the *names* of which one is in *text* and not part of a longer one."""
    ends = "_/\\-"

    def whole(name):
        pieces = text.split(name)
        return any(
            not (before[-1:].isalnum() or (before[-1:] in ends and before))
            and not (after[:1].isalnum() or (after[:1] in ends and after))
            for before, after in pairwise(pieces)
        )

    return sum(any(whole(name) for name in known_as) for known_as in names)


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("name", present(NAMES))
def test_it_fits_and_keeps_no_less_than_head_and_tail(name, limit):
    whole = output(name)
    found = whole.found()
    kept = reduced(whole, room(limit))
    blind = reduced(Output(whole.text, FALLBACK), room(limit))
    for result in (kept, blind):
        assert tokenizer().count(result.text) == result.tokens_after <= limit
        assert (result.text == whole.text) == (result.tokens_before <= limit)
    files = [(file,) for file in found.files]
    assert shown(kept.text, files) >= shown(blind.text, files)
    assert shown(kept.text, found.failures) >= shown(blind.text, found.failures)
