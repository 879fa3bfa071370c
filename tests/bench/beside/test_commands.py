"""Every comparison has every measure as an option, on recorded sessions too."""

import json

import pytest

from bench import api
from bench.beside.registry import measures
from bench.cli import main
from sim.errors import InputError

SESSION = "examples/demo-session.jsonl"
POLICIES = ["no-op", "tiered", "sliding-window"]


def printed(capsys, *words):
    with pytest.raises(SystemExit) as left:
        main([*words, "--jobs", "1"])
    assert left.value.code == 0
    return capsys.readouterr().out


def test_a_replay_has_them_and_its_rows_are_else_the_same():
    names = list(measures())
    plain = api.replay([SESSION], POLICIES, budget=18_000)
    found = api.replay([SESSION], POLICIES, budget=18_000, beside=reversed(names))
    assert list(found.beside) == names and plain.beside == {}
    added = [column for measure in measures().values() for column in measure.columns]
    assert found.columns == [*plain.columns, *added]
    bare = [{k: v for k, v in row.items() if k not in added} for row in found.rows]
    assert bare == plain.rows and found.what_if == plain.what_if
    ended = [row for row in found.rows if row["bound_tokens"] is not None]
    assert ended and all(row["missed_tokens"] >= row["bound_tokens"] for row in ended)


def test_the_commands_take_the_flags(capsys):
    shown = printed(capsys, "replay", SESSION, "-p", "tiered", "--bound", "--reversals")
    for measure in measures().values():
        assert measure.title in shown
    small = ["--seeds", "2", "--set", "turns=30", "--set", "budget=20000"]
    words = ["ablate", "doc-analysis", "-p", "tiered", *small, "--bound"]
    assert measures()["bound"].title in printed(capsys, *words)
    document = json.loads(printed(capsys, *words, "--format", "json"))
    arms = {row["policy"] for row in document["rows"]}
    assert {line["policy"] for line in document["bound"]} == arms


def test_an_unknown_measure_is_named_with_the_nearest():
    with pytest.raises(InputError, match="reversals"):
        api.compare(["stale-file"], POLICIES, beside=["reversal"])
