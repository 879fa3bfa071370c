"""Gate masking-uncached: masking against summaries against raw history, where nothing is cached."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from bench.gates import arms
from bench.gates.gate import INFERRED, Criterion, Gate, Inputs, Verdict

__all__ = ["GATE", "gate"]

_SCENARIO = "swe"
_PRICE = "claude-sonnet-5"
_LENGTH = "length.median"
_LONGER = {"summary": 1.18, "hybrid": 1.09}
"""How much longer the runs are, an input: the source has 18 % under summaries, and the hybrid is
given half of it."""

_RAW = "raw"
_POLICIES = {
    _RAW: "no-op",
    "mask": "masking",
    "summary": "rolling-summary",
    "hybrid": "hybrid",
}
_RULES = {"uncached": "none", "auto": "auto", "breakpoints": "breakpoints"}
_MARKED = "mask, marked"
_SEEDS = 60


def _arms(policies: Mapping[str, str]) -> Mapping[str, arms.Arm]:
    """Return every policy under every rule, the longer runs also at the length of the others."""
    length = arms.setting(_SCENARIO, _LENGTH)
    found: dict[str, arms.Arm] = {}
    for named, rule in _RULES.items():
        marked = {} if rule == "none" else {_MARKED: "masking:breakpoint=on"}
        for label, policy in {**policies, **marked}.items():
            settings = {"price": _PRICE, "cache.rule": rule}
            longer = length * _LONGER.get(label, 1.0)
            found[f"{named}, {label}"] = arms.Arm(policy, {**settings, _LENGTH: longer})
            if label in _LONGER:
                found[f"{named}, {label}, no longer"] = arms.Arm(policy, settings)
    return found


def _judge(policies: Mapping[str, str], more: tuple[str, ...], inputs: Inputs) -> Verdict:
    rows = arms.play(_SCENARIO, _arms(policies), _SEEDS, inputs)
    usd = {label: sum(arms.usd(of)) for label, of in rows.items()}
    change = {}
    for label, cost in usd.items():
        raw = usd[f"{label.split(', ')[0]}, {_RAW}"]
        change[label] = 100 * (cost / raw - 1)
    mask, summary, hybrid = (change[f"uncached, {name}"] for name in ("mask", "summary", "hybrid"))
    judged = {"mask, %": mask, "summary, %": summary, "hybrid, %": hybrid}
    return Verdict(
        simulated=judged,
        criteria=(
            Criterion("dearest of the three", max(judged.values()), high=0.0, unit="%", open=True),
            Criterion("mask", mask, -65.0, -35.0, "%"),
            Criterion("summary less mask", summary - mask, low=0.0, unit="points"),
            Criterion("hybrid less mask", hybrid - mask, high=5.0, unit="points"),
        ),
        context={
            f"{label}, %": each
            for label, each in change.items()
            if label not in ("uncached, mask", "uncached, summary", "uncached, hybrid")
            and not label.endswith(_RAW)
        },
        notes=(
            f"Change of the total cost of {_SEEDS} sessions against the raw history of the same.",
            "That runs under summaries are 18 % longer is the source's measurement and an input "
            "here, as is half of it for the hybrid; beside them stand the figures without it.",
            "Uncached only: how the study billed cached input is not verified. With a cache, masks "
            "that move every turn break the prefix every turn and cost more than they save; marked "
            "means that a breakpoint stands in front of the next cut.",
            "The size of a summary is the simulator's own, as is the size of an observation.",
            *more,
        ),
    )


_ABOUT = "masking old observations halves the cost of an uncached run, and summaries save less"


def gate(name: str, policies: Mapping[str, str], notes: tuple[str, ...] = ()) -> Gate:
    """Return the gate with these *policies* for raw history, mask, summary and hybrid.

    *notes* are about them.
    """
    return Gate(
        name=name,
        about=_ABOUT,
        published={"mask, %": -52.7, "summary, %": -50.4, "hybrid, %": -55.8},
        grade="S",
        setting=INFERRED,
        source="arXiv 2508.21433, The Complexity Trap: dollars an instance, Qwen3-Coder 480B",
        judge=partial(_judge, policies, notes),
        headline="mask, %",
    )


GATE = gate("masking-uncached", _POLICIES)
