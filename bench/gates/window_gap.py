"""Gate window-gap: what managing the context is worth, by the size of the window."""

from __future__ import annotations

from itertools import pairwise

from bench.gates import arms
from bench.gates.gate import INFERRED, Criterion, Gate, Inputs, Verdict

__all__ = ["GATE"]

_SCENARIO = "swe"
_BUDGETS = {"32k": 32_000, "64k": 64_000, "96k": 96_000, "128k": 128_000}
_UNMANAGED = "no-op"
_MANAGED = "hybrid"
"""The source has masking before summaries as the most efficient of its five."""

_SEEDS = 200
_CLOSED = "128k of 32k, %"


def _label(window: str, policy: str) -> str:
    return f"{window}, {policy}"


def _completed(rows: arms.Rows) -> float:
    """Return the share of runs that were completed, in per cent."""
    return 100 * sum(row["status"] == "completed" for row in rows) / len(rows)


def _judge(inputs: Inputs) -> Verdict:
    wanted = {
        _label(window, policy): arms.Arm(policy, {"budget": budget, "overflow": "fail"})
        for window, budget in _BUDGETS.items()
        for policy in (_UNMANAGED, _MANAGED)
    }
    found = arms.play(_SCENARIO, wanted, _SEEDS, inputs)
    done = {label: _completed(rows) for label, rows in found.items()}
    gaps = {w: done[_label(w, _MANAGED)] - done[_label(w, _UNMANAGED)] for w in _BUDGETS}
    first, *_, last = gaps.values()
    smallest = min(before - after for before, after in pairwise(gaps.values()))
    return Verdict(
        simulated={
            **{f"{window}, points": gap for window, gap in gaps.items()},
            _CLOSED: 100 * last / first if first else None,
        },
        criteria=(
            Criterion(" > ".join(gaps), smallest, 0.0, None, "points", True),
            Criterion("last less half the first", last - first / 2, high=0.0, unit="points"),
        ),
        context={f"completed, {label}, %": share for label, share in done.items()},
        notes=(
            f"Of {_SEEDS} runs, how many more are completed under {_MANAGED}; a request over the "
            "budget is refused and ends the run.",
            "Only that the gap closes as the window grows is judged: the source counts solved "
            "tasks, and here a run that fits is completed, so that the gap is larger.",
            "It is the weakest of the gates: wherever the median run needs less than about the "
            "largest window, the gap falls.",
        ),
    )


GATE = Gate(
    name="window-gap",
    about="the smaller the window, the more managing the context is worth",
    published={
        "32k, points": 35.7,
        "64k, points": 15.9,
        "96k, points": 5.5,
        "128k, points": 2.7,
        _CLOSED: 100 * 2.7 / 35.7,
    },
    grade="S",
    setting=INFERRED,
    source="arXiv 2609.20804: solved tasks, managed less unmanaged, by budget",
    judge=_judge,
    headline=_CLOSED,
)
