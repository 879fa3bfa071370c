from __future__ import annotations

import math
from pathlib import Path

import pytest

from bench import __main__ as _main  # noqa: F401  (importing it must not run it)
from bench.api import Comparison, compare
from bench.summary import COLUMNS
from scenarios.catalogue import load
from sim.errors import InputError
from sim.metrics import NAMES

SMALL = {"turns": 12}


@pytest.fixture(scope="module")
def small() -> Comparison:
    return compare(
        ["doc-analysis", load("stale-file")], ["tiered", "no-op"], seeds=2, settings=None
    )


def test_rows_summary_and_frame(small: Comparison) -> None:
    assert len(small.rows) == 2 * (1 + 2)
    assert len(small.summary) == 2 * 2 * len(NAMES)
    assert tuple(small.summary[0]) == COLUMNS
    frame = small.frame
    assert list(frame.columns) == small.columns
    assert len(frame) == len(small.rows)
    mean = frame[(frame.policy == "tiered") & (frame.scenario == "doc-analysis")].peak_tokens.mean()
    (line,) = [
        s
        for s in small.summary
        if (s["scenario"], s["policy"], s["metric"]) == ("doc-analysis", "tiered", "peak_tokens")
    ]
    assert math.isclose(line["mean"], mean)


def test_the_manifest_says_how_to_do_it_again(small: Comparison) -> None:
    manifest = small.manifest
    assert manifest["policies"] == ["tiered", "no-op"]
    assert manifest["planned"] == manifest["finished"] == 6
    facts = manifest["scenarios"]["doc-analysis"]
    assert (facts["kind"], facts["seeds"], facts["tokens_from"]) == ("family", 2, "script")
    assert facts["settings"]["salience.decay"] == 0.85
    assert facts["price"]["name"] == facts["settings"]["price"]
    for name in ("evictbench", "python", "libraries", "command", "started", "seconds"):
        assert manifest[name]


def test_the_words_are_those_of_the_command_line() -> None:
    found = compare(
        ["doc-analysis"],
        ["no-op", "tiered"],
        seeds=2,
        settings=SMALL,
        price="gpt-5.5",
        baseline="tiered",
        jobs=2,
    )
    assert {s["baseline"] for s in found.summary} == {"tiered"}
    assert found.manifest["scenarios"]["doc-analysis"]["settings"]["turns"] == 12
    assert found.manifest["scenarios"]["doc-analysis"]["price"]["name"] == "gpt-5.5"


@pytest.mark.parametrize("wrong", [{"seeds": 0}, {"jobs": 0}, {"baseline": "compaction"}])
def test_bad_input(wrong: dict[str, object]) -> None:
    with pytest.raises(InputError):
        compare(["stale-file"], ["no-op"], **wrong)  # type: ignore[arg-type]


def test_an_interrupt_is_raised_unless_what_was_finished_is_wanted() -> None:
    def interrupt(done: int, planned: int) -> None:
        if done:
            raise KeyboardInterrupt

    wanted = {"policies": ["no-op"], "seeds": 40, "settings": SMALL, "report": interrupt}
    with pytest.raises(KeyboardInterrupt):
        compare(["doc-analysis"], **wanted)  # type: ignore[arg-type]
    found = compare(["doc-analysis"], partial=True, **wanted)  # type: ignore[arg-type]
    assert isinstance(found.stopped, KeyboardInterrupt)
    assert 0 < len(found.rows) == found.manifest["finished"] < found.manifest["planned"] == 40


def test_a_policy_of_a_users_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("class Mine:\n    def before_call(self, view):\n        return ()\n")
    found = compare(["stale-file"], [f"{path}:Mine", "no-op"])
    mine, idle = sorted(found.rows, key=lambda row: row["policy"] == "no-op")
    assert mine["policy"].endswith(":Mine")
    assert {name: mine[name] for name in NAMES} == {name: idle[name] for name in NAMES}
