"""Runs of two results in pairs, and what only one of them has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from bench.results import Results
from sim.errors import InputError

__all__ = ["SESSIONS", "Group", "Pair", "groups", "only_in", "pair_values"]

SESSIONS = "recorded sessions"
"""Stands for the scenario of recorded sessions, which are pairs of one group."""

Row = Mapping[str, Any]
Key = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """A run of each result: *a* and *b* met the same. *unit* is their seed, or their session."""

    unit: str
    a: Row
    b: Row


@dataclass(frozen=True, slots=True)
class Group:
    """The pairs of one scenario, price and policy; *key* names them, behind varied settings."""

    key: Mapping[str, Any]
    pairs: list[Pair] = field(default_factory=list)


def groups(a: Results, b: Results) -> list[Group]:
    """Return the pairs of *a* and *b* in groups, in the order of *a*.

    A recorded session is one run, so that all sessions are one group. Raises InputError if the two
    have no run in common.
    """
    theirs = _index(b)
    found: dict[Key, Group] = {}
    for key, row in _index(a).items():
        if key in theirs:
            named = dict(zip(a.key, key, strict=True))
            seed = named.pop("seed")
            unit = f"seed {seed}"
            if _is_session(a, row["scenario"]):
                unit, named["scenario"] = row["scenario"], SESSIONS
            group = found.setdefault(tuple(named.values()), Group(named))
            group.pairs.append(Pair(unit, row, theirs[key]))
    if not found:
        raise InputError(f"the two have no run in common: {_apart(a, b)}")
    return list(found.values())


def only_in(mine: Results, other: Results) -> list[dict[str, Any]]:
    """Return what *mine* has and *other* has not: `what` it is, its `name`, and how many `runs`.

    A run is told by the first of its scenario, policy, price and varied settings that *other* has
    nowhere; by its seed, where *other* has more runs of all these; else by all of them.
    """
    theirs = set(_index(other))
    order = ("scenario", "policy", "price", *mine.key[:-4])
    known = {name: {row[name] for row in other.rows} for name in order}
    near = {_without_seed(mine, row) for row in other.rows}
    counted: Counter[tuple[str, str]] = Counter()
    seeds: list[int] = []
    for key, row in _index(mine).items():
        strange = next((name for name in order if row[name] not in known[name]), None)
        if key in theirs:
            continue
        if strange is not None:
            counted[strange, str(row[strange])] += 1
        elif _without_seed(mine, row) in near:
            seeds.append(row["seed"])
        else:
            counted["run", f"{row['policy']} on {row['scenario']} at {row['price']}"] += 1
    if seeds:
        first, last = min(seeds), max(seeds)
        counted["seed", str(first) if first == last else f"{first} to {last}"] = len(seeds)
    return [{"what": what, "name": name, "runs": runs} for (what, name), runs in counted.items()]


def _without_seed(results: Results, row: Row) -> Key:
    return tuple(row[name] for name in results.key if name != "seed")


def _index(results: Results) -> dict[Key, Row]:
    return {tuple(row[name] for name in results.key): row for row in results.rows}


def _is_session(results: Results, scenario: str) -> bool:
    facts = results.manifest["scenarios"].get(scenario)
    return isinstance(facts, Mapping) and facts.get("kind") == "replay"


def _apart(a: Results, b: Results) -> str:
    """Return in words what of the runs of *a* and *b* is never the same."""
    for name in a.key:
        one, other = ({row[name] for row in each.rows} for each in (a, b))
        if not one & other:
            return f"{name} {_few(one)} in the one, {_few(other)} in the other"
    return f"no {', '.join(a.key[:-1])} and seed of the one is in the other"


def _few(values: set[Any]) -> str:
    names = sorted(map(str, values))
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return (", ".join(names[:3]) or "none") + more


def pair_values(
    group: Group, metric: str, completed_only: bool
) -> Iterator[tuple[str, float, float]]:
    """Yield the unit and both values of *metric* for each pair that may be compared in it."""
    for pair in group.pairs:
        one, other = pair.a.get(metric), pair.b.get(metric)
        ended = pair.a["status"] == pair.b["status"] == "completed"
        if one is not None and other is not None and (ended or not completed_only):
            yield pair.unit, one, other
