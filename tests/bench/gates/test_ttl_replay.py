"""Gate `ttl-replay`: a small table by hand, and the recorded one reckoned a second time."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from bench.gates.calls import Call
from bench.gates.gate import Inputs
from bench.gates.replaying import Outcome
from bench.gates.ttl_replay import GATE, by_class

ROOT = Path(__file__).resolve().parents[3]
SHARED = ROOT.parent / "shared" / "data"
RECORDED = SHARED / "derived" / "claude_code_calls.csv"
HEADER = "session,call,ts,input_tokens,cache_creation,cache_creation_1h,cache_read,gap_s"

SMALL = f"""{HEADER}
short,0,0,0,20000,0,0,
short,1,10,0,1000,0,20000,10
short,2,610,0,22000,0,0,600
hour,0,0,0,20000,20000,0,
hour,1,600,0,5000,5000,20000,600
hour,2,4300,0,26000,26000,0,3700
hour,3,4400,0,4000,4000,16000,100
"""


def folder(root: Path, text: str) -> Path:
    (root / "derived").mkdir()
    (root / "derived" / "claude_code_calls.csv").write_text(text, encoding="utf-8")
    return root


@pytest.mark.parametrize(
    ("gap", "name"),
    [
        (0.0, "under 60 s"),
        (59.9, "under 60 s"),
        (60.0, "60 to 300 s"),
        (299.9, "60 to 300 s"),
        (300.0, "300 to 3,600 s"),
        (3_599.9, "300 to 3,600 s"),
        (3_600.0, "over 1 h"),
        (1e6, "over 1 h"),
    ],
)
def test_a_bound_belongs_to_the_class_above(gap: float, name: str) -> None:
    found = by_class([Outcome(Call(1_000, 0, gap, 0.0), 0)])
    assert [key for key, group in found.items() if group.calls] == [name]


def test_a_small_table_by_hand(tmp_path: Path) -> None:
    verdict = GATE.run(Inputs(folder(tmp_path, SMALL)))
    hits = list(verdict.simulated.values())
    # Under 60 s: 20,000 of 21,000. 100 s: the prompt shrinks to 20,000 and keeps 18,000.
    # 600 s: 0 of 22,000 in the short session, 20,000 of 25,000 in the other. 3,700 s: nothing.
    # In all 58,000 of 154,000.
    assert hits == pytest.approx([2_000 / 21, 90.0, 100 * 20 / 47, 0.0, 100 * 58 / 154], rel=1e-12)
    figures = {criterion.name: criterion.figure for criterion in verdict.criteria}
    assert figures["60 to 300 s: predicted − recorded hit"] == pytest.approx(10.0)
    assert figures["absolute error of all calls"] == pytest.approx(100 * 2 / 154)
    assert figures["one life of 5 min misses 300 to 3,600 s by"] == pytest.approx(100 * 20 / 47)
    assert figures["one life of 1 h misses 300 to 3,600 s by"] == pytest.approx(100 * 21 / 47)
    assert verdict.context["first calls"]["calls"] == 2
    assert verdict.agrees is False


def test_a_class_without_a_call_is_not_judged(tmp_path: Path) -> None:
    few = "\n".join(SMALL.splitlines()[:3]) + "\n"
    verdict = GATE.run(Inputs(folder(tmp_path, few)))
    assert verdict.simulated["hit after over 1 h, %"] is None
    assert verdict.agrees is None


def naive(rows: list[dict[str, str]], one_life: float | None) -> dict[str, list[float]]:
    """Return [prompt tokens, read, predicted, absolute error] by class, straight from the rows."""
    sessions: dict[str, list[dict[str, str]]] = {}
    for row in rows:
        sessions.setdefault(row["session"], []).append(row)
    sums = {name: [0.0] * 4 for name in ("<60", "<300", "<3600", ">", "first")}
    for calls in sessions.values():
        hour = sum(int(row["cache_creation_1h"]) for row in calls)
        life = 3600 if hour * 2 > sum(int(row["cache_creation"]) for row in calls) else 300
        life = life if one_life is None else one_life
        before = None
        for row in calls:
            read = int(row["cache_read"])
            tokens = int(row["input_tokens"]) + int(row["cache_creation"]) + read
            said, name = 0, "first"
            if before is not None:
                gap = float(row["gap_s"])
                name = "<60" if gap < 60 else "<300" if gap < 300 else "<3600"
                name = ">" if gap >= 3600 else name
                if gap < life:
                    said = before if tokens >= before else min(18_000, tokens)
            for place, part in enumerate((tokens, read, said, abs(said - read))):
                sums[name][place] += part
            before = tokens
    return sums


@pytest.mark.skipif(not RECORDED.is_file(), reason="the recordings are not here")
def test_the_recorded_calls() -> None:
    verdict = GATE.run(Inputs(SHARED))
    with open(RECORDED, encoding="utf-8", newline="") as text:
        rows = list(csv.DictReader(text))
    sums = naive(rows, None)
    hits = [100 * said / tokens for tokens, _, said, _ in list(sums.values())[:4]]
    # The naive reckoning lets a shrink below 18,000 tokens be read whole; the cache finds no entry
    # there.
    assert list(verdict.simulated.values())[:4] == pytest.approx(hits, abs=0.02)
    total = [sum(column) for column in zip(*sums.values(), strict=True)]
    figures = {criterion.name: criterion.figure for criterion in verdict.criteria}
    assert figures["absolute error of all calls"] == pytest.approx(
        100 * total[3] / total[0], abs=0.01
    )
    for name, life in (("5 min", 300.0), ("8 min", 480.0), ("1 h", 3600.0)):
        tokens, read, said, _ = naive(rows, life)["<3600"]
        assert figures[f"one life of {name} misses 300 to 3,600 s by"] == pytest.approx(
            100 * abs(said - read) / tokens, abs=0.02
        )
    assert verdict.agrees is True


@pytest.mark.skipif(not RECORDED.is_file(), reason="the recordings are not here")
def test_the_page_has_the_figures_of_the_recorded_calls() -> None:
    page = (ROOT / "docs" / "validation.md").read_text(encoding="utf-8")
    context = GATE.run(Inputs(SHARED)).context
    for name in ("under 60 s", "60 to 300 s", "300 to 3,600 s", "over 1 h", "first calls"):
        figures = context[name]
        row = next(line for line in page.splitlines() if line.startswith(f"| {name} |"))
        cells = [cell.strip().split(" ")[0] for cell in row.strip("|").split("|")]
        assert cells[1] == f"{figures['calls']:,}"
        assert cells[2] == f"{figures['recorded hit, %']:.1f}"
        assert cells[5] == f"{figures['absolute error, %']:.1f}"
        assert cells[6] == f"{figures['miss flags wrong, %']:.1f}"
