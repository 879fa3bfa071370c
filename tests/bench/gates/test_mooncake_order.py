"""Gate `mooncake-order`: small traces by hand, and the recorded one against what was published."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bench.gates.block_trace import blocks_read, read_blocks
from bench.gates.gate import Inputs
from bench.gates.mooncake_order import GATE
from sim.errors import InputError
from sim.prices import EVICTIONS

ROOT = Path(__file__).resolve().parents[3]
SHARED = ROOT.parent / "shared" / "data"
TRACE = "serving_traces/mooncake/conversation_trace.jsonl"
HERE = pytest.mark.skipif(not (SHARED / TRACE).is_file(), reason="the recordings are not here")

OFTEN = [[0, 1], [0, 1], [2], [3], [0, 1], [2]]
"""For 3 blocks. The second request reads 2 blocks, and 2 comes in beside them. For 3, lru frees 1,
the tail of what was used before 2, and then for 1 again frees 2: 2 + 1 + 0. The others free 2, used
once, for 3, so that 0 and 1 are read a second time: 2 + 2 + 0."""

LATE = [[9], [0, 1], [3], [0, 1], [9]]
"""For 3 blocks, each used once when 3 comes. lru and lfu free 9, the oldest: 0 and 1 are read.
length-aware frees 1, the only one that has a block before it: 0 is read, and 1 puts 9 out."""


@pytest.mark.parametrize(
    ("trace", "order", "read"),
    [
        (OFTEN, "lru", 3),
        (OFTEN, "lfu", 4),
        (OFTEN, "length-aware", 4),
        (LATE, "lru", 2),
        (LATE, "lfu", 2),
        (LATE, "length-aware", 1),
    ],
)
def test_blocks_that_are_read_by_hand(trace: list[list[int]], order: str, read: int) -> None:
    assert blocks_read(trace, order, 3) == read


@pytest.mark.parametrize("order", EVICTIONS)
def test_without_a_limit_all_is_read_that_was_there(order: str) -> None:
    # 0 1 and 0 1; 2.
    assert blocks_read(OFTEN, order, None) == 5
    # 0 1; 9. A block counts only with all before it: 1 behind 9 is another block.
    assert blocks_read([*LATE, [9, 1]], order, None) == 4


def folder(root: Path, *lines: Any) -> Path:
    file = root / TRACE
    file.parent.mkdir(parents=True)
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return root


def request(blocks: Sequence[int]) -> str:
    sizes = {"input_length": 512 * len(blocks), "output_length": 1}
    return json.dumps({"timestamp": 0, **sizes, "hash_ids": list(blocks)})


def test_a_small_file_is_judged(tmp_path: Path) -> None:
    # 5 of 9 blocks are read whatever the order, as all sizes hold all: nothing rises.
    data = folder(tmp_path, *map(request, OFTEN), "")
    done: list[tuple[int, int]] = []
    verdict = GATE.run(Inputs(data, report=lambda *step: done.append(step)))
    assert set(verdict.simulated) == set(GATE.published)
    told = dict(verdict.simulated)
    assert told.pop("order, 30,000 blocks") == "lru = lfu = length-aware"
    assert set(told.values()) == {100 * 5 / 9}
    assert [criterion.figure for criterion in verdict.criteria] == [0, 0, 0, 0, 100 * 5 / 9]
    assert [criterion.passed for criterion in verdict.criteria] == [False] * 3 + [True, False]
    assert verdict.agrees is False
    assert done == [(n, 18) for n in range(1, 19)]
    assert verdict.context == {
        f"conversation, {order}": {"3,000 blocks, %": 100 * 5 / 9} for order in sorted(EVICTIONS)
    }


def test_any_number_of_jobs_makes_the_same_verdict(tmp_path: Path) -> None:
    data = folder(tmp_path, *map(request, [*OFTEN, *LATE]))
    beside = data / TRACE.replace("conversation", "synthetic")
    beside.write_text(request([4, 5]) + "\n" + request([4, 6]), encoding="utf-8")
    one, two = (GATE.run(Inputs(data, jobs)) for jobs in (1, 2))
    assert one == two and list(one.context) == list(two.context)
    assert one.context["synthetic, lfu"]["1,000 blocks, %"] == 25


def test_without_the_recordings_nothing_is_judged(tmp_path: Path) -> None:
    for data in (None, tmp_path):
        verdict = GATE.run(Inputs(data))
        assert verdict.agrees is None and TRACE in verdict.reason


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ([request([1]), "{"], ":2: not one JSON value"),
        (["[1]"], ":1: a request must be an object"),
        (["", '{"timestamp": 0}'], ":2: a request needs hash_ids"),
        (['{"hash_ids": 3}'], ":1: hash_ids must be a list of whole numbers"),
        (['{"hash_ids": [1, true]}'], ":1: hash_ids must be a list of whole numbers"),
        (['{"hash_ids": []}'], "there is no block in it"),
        ([], "there is no block in it"),
        (["[" * 100_000], ":1: not one JSON value"),
    ],
)
def test_what_is_no_trace(tmp_path: Path, lines: list[str], says: str) -> None:
    file = folder(tmp_path, *lines) / TRACE
    with pytest.raises(InputError) as error:
        read_blocks(file)
    assert str(file) in str(error.value) and says in str(error.value)


def test_what_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read it"):
        read_blocks(tmp_path)
    (tmp_path / "latin").write_bytes(b"\xe9")
    with pytest.raises(InputError, match="not UTF-8"):
        read_blocks(tmp_path / "latin")


@pytest.mark.slow
@HERE
def test_the_recorded_trace_and_the_page() -> None:
    verdict = GATE.run(Inputs(SHARED, 2))
    assert verdict.agrees is True
    # Counted apart from the cache: ids that were there before, up to the first that was not.
    met: set[int] = set()
    asked = found = 0
    for blocks in read_blocks(SHARED / TRACE):
        new = next((n for n, block in enumerate(blocks) if block not in met), len(blocks))
        asked, found = asked + len(blocks), found + new
        met.update(blocks)
    assert verdict.simulated["lru, no limit, %"] == pytest.approx(100 * found / asked)
    page = (ROOT / "docs" / "validation.md").read_text(encoding="utf-8")
    for size in ("1,000", "10,000", "30,000", "50,000"):
        row = next(line for line in page.splitlines() if line.startswith(f"| {size} |"))
        cells = [cell.strip().split(" / ") for cell in row.strip("|").split("|")][1:]
        for (published, simulated), order in zip(
            cells, ("lru", "lfu", "length-aware"), strict=True
        ):
            name = f"{order}, {size} blocks, %"
            assert float(published) == GATE.published[name]
            assert float(simulated) == pytest.approx(verdict.simulated[name], abs=0.05)
