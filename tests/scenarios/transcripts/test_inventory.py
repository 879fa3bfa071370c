"""Every recording that is at hand: what it is, how many sessions it holds, and that they replay.

``recordings.tsv`` is the table of files, by path, kind, format and number of sessions;
``python -m bench.recordings DIR --tsv FILE`` writes it. No text of a recording is in it.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from bench.cells import run_one
from bench.recordings import BROKEN, NONE, SESSION, SEVERAL, inventory, tsv
from policies import registry
from scenarios.transcripts.loading import Reading, scenarios_of
from scenarios.transcripts.sources import find
from sim.tokens import BYTES

DATA = Path(__file__).parents[4] / "shared" / "data" / "transcripts"
TABLE = Path(__file__).with_name("recordings.tsv")
here = pytest.mark.skipif(not DATA.is_dir(), reason="the recordings are not here")


def rows() -> list[dict[str, str]]:
    with TABLE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def test_the_table_has_a_kind_for_each_file() -> None:
    kinds = {SESSION, SEVERAL, NONE, BROKEN, "part of a session"}
    assert {row["kind"] for row in rows()} == kinds
    for row in rows():
        sessions = int(row["sessions"])
        assert (sessions == 1) == (row["kind"] == SESSION)
        assert (sessions > 1) == (row["kind"] == SEVERAL)


@here
def test_every_file_is_what_the_table_says() -> None:
    assert tsv(inventory(DATA, fitted=False)) == TABLE.read_text(encoding="utf-8")


def firsts() -> list[tuple[str, Path]]:
    """Return a file of each format that holds sessions, and every file of few of them."""
    if not TABLE.is_file() or not DATA.is_dir():
        return []
    of: dict[str, list[Path]] = {}
    for row in rows():
        if int(row["sessions"]):
            of.setdefault(row["format"], []).append(DATA / row["file"])
    return [(name, path) for name, paths in sorted(of.items()) for path in paths[:2]]


@here
@pytest.mark.parametrize(("name", "path"), firsts(), ids=lambda each: str(each)[-24:])
def test_its_sessions_replay_under_every_policy(name: str, path: Path) -> None:
    """A run recounts its own window, books and whys; here, calls and results leave together.

    A stub stands for its result. What has come back stands alone, for only what was asked for is
    fetched; and so does the call of a result that was refused at the door.
    """
    (source,) = find([path], False, lambda warning: None)
    assert source.format == name
    played = 0
    for scenario in scenarios_of(source, Reading.of(tokenizer=BYTES)):
        script = scenario.script(0)
        for policy in registry.names():
            metrics, records = run_one(script, policy)
            assert metrics["status"] in ("completed", "failed", "not-applicable")
            if metrics["status"] == "failed":
                assert "pinned" in metrics["reason"] or "pins" in metrics["reason"]
            pairs = {r[3]: r[10] for r in records if r[0] == "arrive"}
            back = {pairs.get(r[3]) for r in records if r[0] in ("fetch", "refuse")}
            window = set(records[-1][5]) if records else set()
            for made, sources in reversed([r[3:5] for r in records if r[0] == "rewrite"]):
                window.update(sources if made in window else ())
            whole: dict[str, set[bool]] = {}
            for segment, pair in pairs.items():
                if pair is not None and pair not in back:
                    whole.setdefault(pair, set()).add(segment in window)
            assert all(len(inside) == 1 for inside in whole.values())
        played += 1
        if played == 2:
            break
    assert played
