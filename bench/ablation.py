"""Ablation: what each rule of a policy is worth, switched off among all, and on alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.statistics import estimate
from sim.errors import InputError

__all__ = ["MEASURED", "Ablation", "Arm", "ablation", "worth"]

MEASURED = ("confabulation_rate", "violations", "peak_tokens", "total_cost_usd")
"""Metrics by which a rule's worth is told: all are better when they are less."""


@dataclass(frozen=True, slots=True)
class Arm:
    """A policy with and without one *rule*: *without* and *with_it* are labels of policies.

    *alone* says that every other rule is off in both; else every other is as it was asked for.
    """

    rule: str
    alone: bool
    without: str
    with_it: str


@dataclass(frozen=True, slots=True)
class Ablation:
    """What is to be run: *policies*, by label the spec, and the *arms* to be told from them.

    *whole* is the label of the policy as asked for, *bare* of the one whose rules are all off.
    """

    policies: Mapping[str, str]
    arms: tuple[Arm, ...]
    whole: str
    bare: str


def ablation(spec: str) -> Ablation:
    """Return the arms of the policy *spec*, ``NAME[:OPTION=VALUE,…]``.

    A rule is an option that can be `off` and, in *spec*, is not. Raises InputError for an unknown
    policy or option, for a policy of one's own file, and where there is no rule to switch.
    """
    from policies import registry
    from policies.options import split

    name, _, rest = spec.partition(":")
    if name not in registry.names():
        registry.make(spec)  # says what is wrong with it, if it is not one of a user's own
        raise InputError(f"{spec!r} is not a policy of evictbench, whose rules have switches")
    given = split(rest, name) if rest else {}
    known = {o.alias: o.name for o in registry.options(name) if o.alias}
    given = {known.get(option, option): value for option, value in given.items()}
    registry.make(spec)
    rules = {
        option.name: given.get(option.name, option.default)
        for option in registry.options(name)
        if "off" in option.takes.split("|")
    }
    rules = {rule: value for rule, value in rules.items() if value not in (None, "off")}
    if not rules:
        raise InputError(f"{name} has no rule that can be switched off")
    policies: dict[str, str] = {}

    def label(options: Mapping[str, str | None]) -> str:
        text = ",".join(f"{option}={value}" for option, value in options.items())
        made = f"{name}:{text}" if text else name
        found = registry.make(made).label
        policies.setdefault(found, made)
        return found

    none = {**given, **dict.fromkeys(rules, "off")}
    whole, bare = label(given), label(none)
    off = [Arm(rule, False, label({**given, rule: "off"}), whole) for rule in rules]
    on = [Arm(rule, True, bare, label({**none, rule: rules[rule]})) for rule in rules]
    return Ablation(policies, (*off, *on), whole, bare)


def worth(made: Ablation, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return a line for each scenario, price, arm and metric of :data:`MEASURED`.

    ``worth`` is the mean of without less with over the `n` seeds that have both, so that more is
    better, with a 95 % interval; costs and peaks are compared on the seeds both completed.
    ``without`` and ``with`` are the means on those seeds, ``completed_without`` and
    ``completed_with`` count the runs that did, of `runs`.
    """
    cells: dict[tuple[str, str], dict[str, dict[int, Mapping[str, Any]]]] = {}
    for row in rows:
        policies = cells.setdefault((row["scenario"], row["price"]), {})
        policies.setdefault(row["policy"], {})[row["seed"]] = row
    lines = []
    for (scenario, price), policies in cells.items():
        for arm in made.arms:
            without, with_it = policies.get(arm.without, {}), policies.get(arm.with_it, {})
            common = {
                "scenario": scenario,
                "price": price,
                "rule": arm.rule,
                "alone": arm.alone,
                "runs": len(without.keys() & with_it.keys()),
                "completed_without": _completed(without.values()),
                "completed_with": _completed(with_it.values()),
            }
            for metric in MEASURED:
                pairs = list(_pairs(without, with_it, metric))
                lines.append({**common, "metric": metric, **_line(pairs)})
    return lines


def _completed(rows: Iterable[Mapping[str, Any]]) -> int:
    return sum(row["status"] == "completed" for row in rows)


def _pairs(
    without: Mapping[int, Mapping[str, Any]], with_it: Mapping[int, Mapping[str, Any]], metric: str
) -> Iterator[tuple[float, float]]:
    """Yield the values of the seeds that both have, of a cost or peak those that both completed."""
    from sim.metrics import METRICS

    completed_only = next(m for m in METRICS if m.name == metric).completed_only
    for seed in sorted(without.keys() & with_it.keys()):
        one, other = without[seed], with_it[seed]
        if completed_only and not one["status"] == other["status"] == "completed":
            continue
        if one[metric] is not None and other[metric] is not None:
            yield one[metric], other[metric]


def _line(pairs: Sequence[tuple[float, float]]) -> dict[str, Any]:
    import numpy as np

    found = estimate(np.array([one - other for one, other in pairs], dtype=float))
    n = len(pairs)
    return {
        "n": n,
        "without": sum(one for one, _ in pairs) / n if n else None,
        "with": sum(other for _, other in pairs) / n if n else None,
        "worth": found.mean,
        "ci_low": found.low,
        "ci_high": found.high,
    }
