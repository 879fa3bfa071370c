"""Gate triage-length: what managing the context saves on a short and on a long run."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from bench.gates import arms
from bench.gates.gate import INFERRED, Criterion, Figures, Gate, Inputs, Verdict

__all__ = ["GATE", "gate"]

_PRICE = "claude-sonnet-5"
_RUNS = {"long": "triage-long", "short": "triage-short"}
_NOTHING = "no-op"
_EDITING = "context-editing:trigger=30000,compact=off"
_POLICIES = {
    "boundary prune": "boundary-prune:compact=off",
    "compaction": "compaction",
    "context editing": _EDITING,
}
"""The source's three; of compaction the trigger is the scenario's."""

_OTHERS = {
    "editing from the first turn": "context-editing:trigger=0,compact=off",
    "editing in batches of 20,000": "context-editing:trigger=30000,at_least=20000,compact=off",
    "masking": "masking:compact=off",
    "rolling summary": "rolling-summary:compact=off",
}
_UNMARKED = "boundary-prune:compact=off,breakpoint=off"


def _saved(run: str, policies: Mapping[str, str], rule: str = "auto") -> dict[str, float]:
    """Return by how many per cent each policy changes the cost of a run, by its label."""
    settings = {"price": _PRICE, "cache.rule": rule}
    script = arms.script(_RUNS[run], settings)
    none = arms.cost(script, _NOTHING)
    return {
        label: 100 * (arms.cost(script, policy) / none - 1) for label, policy in policies.items()
    }


def _named(run: str, rule: str, changes: dict[str, float]) -> Figures:
    return {f"{run}, {rule}, {label}, %": change for label, change in changes.items()}


def _judge(policies: Mapping[str, str], more: tuple[str, ...], inputs: Inputs) -> Verdict:
    found: dict[str, dict[str, float]] = {}
    context: dict[str, float] = {}
    for number, run in enumerate(_RUNS):
        inputs.report(number, len(_RUNS))
        found[run] = _saved(run, policies)
        context |= _named(run, "auto", _saved(run, _OTHERS))
        marks = {"boundary prune without its breakpoint": _UNMARKED}
        context |= _named(run, "breakpoints", _saved(run, {**policies, **marks}, "breakpoints"))
    inputs.report(len(_RUNS), len(_RUNS))
    (prune, compaction, editing), short = found["long"].values(), found["short"]
    return Verdict(
        simulated={
            f"{run}, {label}, %": change
            for run, of in found.items()
            for label, change in of.items()
        },
        criteria=(
            Criterion("long, prune", prune, high=-15.0, unit="%"),
            Criterion("long, compaction", compaction, high=-15.0, unit="%"),
            Criterion("long, compaction less prune", compaction - prune, low=0.0, unit="points"),
            Criterion(
                "long, editing above both",
                editing - max(prune, compaction),
                0.0,
                None,
                "points",
                True,
            ),
            Criterion("short, prune", short["boundary prune"], -5.0, 5.0, "%"),
            Criterion("short, compaction", short["compaction"], -5.0, 5.0, "%"),
            Criterion("short, editing", short["context editing"], low=5.0, unit="%"),
        ),
        context=context,
        notes=(
            "Change of the cost of a run at Sonnet 5, with any common prefix read (rule auto).",
            "The order is judged and the sizes are not: how large the results are is inferred, and "
            "trigger, results kept and least amount cleared of the source's editing are not "
            "published. Here it keeps 3 and begins at 30,000 tokens, the example of the provider's "
            "page; at its default of 100,000 it would not begin on the short run at all.",
            "With explicit breakpoints a prune reads what comes before the cut only where an entry "
            "ends there: boundary-prune keeps one in front of the next cut.",
            *more,
        ),
    )


_ABOUT = "pruning at task boundaries and compaction pay on a long run alone, rolling edits never"


def gate(name: str, policies: Mapping[str, str], notes: tuple[str, ...] = ()) -> Gate:
    """Return the gate with these *policies* for the source's three, and *notes* about them."""
    return Gate(
        name=name,
        about=_ABOUT,
        published={
            "long, boundary prune, %": -39.0,
            "long, compaction, %": -32.0,
            "long, context editing, %": 0.0,
            "short, boundary prune, %": 0.0,
            "short, compaction, %": 0.0,
            "short, context editing, %": 74.0,
        },
        grade="P",
        setting=INFERRED,
        source="platform.claude.com, Optimizing for cost and intelligence: context lifecycle",
        judge=partial(_judge, policies, notes),
        headline="long, boundary prune, %",
    )


GATE = gate("triage-length", _POLICIES)
