"""Gates judged one after the other, each with its own report of progress."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from bench import progress
from bench.gates.gate import Gate, Inputs, Verdict

__all__ = ["judge"]


def judge(gates: Iterable[Gate], data: Path | None, jobs: int) -> Iterator[tuple[Gate, Verdict]]:
    """Yield each of *gates* with its verdict; *data* is the folder of recordings, if there is one.

    How far a gate has come is shown on a terminal.
    """
    for gate in gates:
        with progress.shown(gate.name) as report:
            yield gate, gate.run(Inputs(data, jobs, report))
