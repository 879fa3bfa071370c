from __future__ import annotations

import math
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import pytest

from bench import __main__ as _main  # noqa: F401  (importing it must not run it)
from bench.api import Comparison, compare, replay
from bench.summary import COLUMNS
from scenarios.catalogue import load
from sim.errors import InputError
from sim.metrics import NAMES
from tests.scenarios.transcripts.made import short

SMALL = {"turns": 12}


@pytest.fixture(scope="module")
def small() -> Comparison:
    return compare(
        ["doc-analysis", load("stale-file")], ["tiered", "no-op"], seeds=2, settings=None
    )


def test_rows_summary_and_frame(small: Comparison) -> None:
    assert len(small.rows) == 2 * (1 + 2)
    assert len(small.lines) == 2 * 2 * len(NAMES)
    assert tuple(small.lines[0]) == COLUMNS
    frame = small.frame
    assert list(frame.columns) == small.columns
    assert len(frame) == len(small.rows)
    mean = frame[(frame.policy == "tiered") & (frame.scenario == "doc-analysis")].peak_tokens.mean()
    (line,) = [
        s
        for s in small.lines
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
    for name in ("evictbench", "python", "libraries", "machine", "effort"):
        assert manifest[name]
    assert set(manifest["effort"]) == {"command", "started", "seconds", "executor", "jobs"}
    assert list(facts["stimuli"]) == ["0", "1"]
    for seed, met in facts["stimuli"].items():
        assert load("doc-analysis").script(int(seed)).digest() == met


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
    assert {s["baseline"] for s in found.lines} == {"tiered"}
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


class Backwards(Executor):
    """Carries out so many tasks, the last one first."""

    def __init__(self, tasks: int) -> None:
        self._tasks = tasks
        self._waiting: list[tuple[Future[Any], Callable[[], Any]]] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self._waiting.append((future, lambda: fn(*args, **kwargs)))
        if len(self._waiting) == self._tasks:
            threading.Thread(target=self._run).start()
        return future

    def _run(self) -> None:
        for future, work in reversed(self._waiting):
            future.set_result(work())


def test_warnings_of_a_replay_stand_in_the_order_of_its_sources(tmp_path: Path) -> None:
    (tmp_path / "0.txt").write_text("x")
    for name in "abc":
        short().raw("{").raw("[]").write(tmp_path / f"{name}.jsonl")
    told: list[str] = []
    one = replay([tmp_path], ["no-op"], warn=told.append)
    assert [text.startswith(f"{tmp_path}/") for text in told] == [True, *[True, False] * 3]
    assert one.manifest["warnings"] == told
    other = replay([tmp_path], ["no-op"], jobs=2, executor=Backwards(3))
    for name in ("warnings", "notes", "scenarios"):
        assert other.manifest[name] == one.manifest[name]
    assert other.rows == one.rows
