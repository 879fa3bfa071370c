"""Gate `mooncake-order`: which order of eviction finds most of a recorded trace's blocks again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.gates.block_trace import Trace, blocks_read, read_blocks
from bench.gates.gate import RECORDED, Criterion, Gate, Inputs, Verdict, rising

__all__ = ["GATE"]

_FOLDER = "serving_traces/mooncake"
_FILE = f"{_FOLDER}/conversation_trace.jsonl"
_BESIDE = f"{_FOLDER}/synthetic_trace.jsonl"
"""Shown where it is there, and not judged."""
_TRACES = {_FILE: "conversation", _BESIDE: "synthetic"}

_ORDERS = ("length-aware", "lfu", "lru")
"""From the one that finds the least."""
_JUDGED = (10_000, 30_000, 50_000)
_SMALL = 1_000
"""Where the published orders tie."""
_SIZES = (_SMALL, 3_000, *_JUDGED)

_PUBLISHED: Mapping[str, Mapping[int | None, float]] = {
    "lru": {1_000: 30, 10_000: 40, 30_000: 48, 50_000: 50, None: 51},
    "lfu": {1_000: 30, 10_000: 35, 30_000: 43, 50_000: 49, None: 51},
    "length-aware": {1_000: 30, 10_000: 35, 30_000: 42, 50_000: 48, None: 51},
}
"""Per cent of the blocks of another trace that were found, by the order and the blocks kept."""

_Arm = tuple[str, str, int | None]
"""The file of a trace, an order, and how many blocks are kept."""
_Hits = Mapping[_Arm, float]


def _name(order: str, capacity: int | None) -> str:
    return f"{order}, {_size(capacity)}"


def _size(capacity: int | None) -> str:
    return "no limit, %" if capacity is None else f"{capacity:,} blocks, %"


def _arms(file: str) -> Iterator[_Arm]:
    for order in _ORDERS:
        for capacity in (*_SIZES, None):
            yield file, order, capacity


def _hit(task: tuple[_Arm, Trace]) -> tuple[_Arm, float]:
    """Return the per cent of its blocks that an arm finds."""
    (file, order, capacity), trace = task
    asked = sum(map(len, trace))
    return (file, order, capacity), 100 * blocks_read(trace, order, capacity) / asked


def _played(inputs: Inputs, folder: Path, files: Sequence[str]) -> _Hits:
    from bench.executors import local, scatter

    traces = {file: read_blocks(folder / file) for file in files}
    tasks = [(arm, traces[file]) for file in files for arm in _arms(file)]
    hits: dict[_Arm, float] = {}
    with local(inputs.jobs) as workers:
        for arm, hit in scatter(workers, _hit, tasks):
            hits[arm] = hit
            inputs.report(len(hits), len(tasks))
    return {arm: hits[arm] for arm, _ in tasks}


def _judge(inputs: Inputs) -> Verdict:
    assert inputs.data is not None
    files = [file for file in (_FILE, _BESIDE) if (inputs.data / file).is_file()]
    hits = _played(inputs, inputs.data, files)
    judged = {(order, size): hits[_FILE, order, size] for _, order, size in _arms(_FILE)}
    return Verdict(
        simulated={_ORDER: _order(judged)}
        | {
            _name(order, size): judged[order, size]
            for order, row in _PUBLISHED.items()
            for size in row
        },
        criteria=_criteria(judged),
        context=_context(hits),
        notes=(
            "The published figures are of another trace, of 23,608 requests: which order finds "
            "more is claimed, how much each finds is not.",
            "Of LengthAwareCache the source says only that it is like LFU and prioritises blocks "
            "that occur later in requests; that is read as: they are evicted first.",
            "36.6 % is counted from the trace: the ids that an earlier request had, with all that "
            "stood before them.",
        ),
    )


def _context(hits: _Hits) -> dict[str, Mapping[str, float]]:
    """Return the hits that are not judged, by the trace and the order."""
    groups: dict[str, dict[str, float]] = {}
    for (file, order, size), hit in hits.items():
        trace = _TRACES[file]
        if file != _FILE or size not in _PUBLISHED[order]:
            groups.setdefault(f"{trace}, {order}", {})[_size(size)] = hit
    return {name: groups[name] for name in sorted(groups)}


def _criteria(hits: Mapping[tuple[str, int | None], float]) -> tuple[Criterion, ...]:
    steps = []
    for size in _JUDGED:
        first, *others = _ORDERS
        named = {f"{size:,} blocks: {first}": hits[first, size]}
        steps.append(rising(named | {order: hits[order, size] for order in others}, "points"))
    small = [hits[order, _SMALL] for order in _ORDERS]
    return (
        *steps,
        Criterion(
            f"{_SMALL:,} blocks: spread of the three",
            max(small) - min(small),
            high=1.0,
            unit="points",
        ),
        Criterion("no limit: hit", hits["lru", None], 36.5, 36.7, "%"),
    )


_ORDER = "order, 30,000 blocks"


def _published() -> dict[str, Any]:
    rows = _PUBLISHED.items()
    hits = {(order, size): float(hit) for order, row in rows for size, hit in row.items()}
    return {_ORDER: _order(hits), **{_name(*arm): hit for arm, hit in hits.items()}}


def _order(hits: Mapping[tuple[str, int | None], float]) -> str:
    """Return the orders by how much they find again in a cache of 30,000 blocks, most first."""
    found = {order: hits[order, 30_000] for order in _PUBLISHED}
    before, *others = sorted(found, key=lambda order: -found[order])
    said = before
    for order in others:
        said += f" {'>' if found[order] < found[before] else '='} {order}"
        before = order
    return said


GATE = Gate(
    name="mooncake-order",
    about="least recently used finds more blocks again than least frequently used, and that more "
    "than length-aware, but where hardly any are kept",
    published=_published(),
    grade="X",
    setting=RECORDED,
    source="Mooncake, arXiv 2407.00079, section 4.2, table 1; trace: kvcache-ai/Mooncake, "
    "FAST25-release, conversation (12,031 requests, Apache-2.0)",
    judge=_judge,
    headline=_ORDER,
    needs=(_FILE,),
)
