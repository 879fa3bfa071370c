"""The question that a comparison was made for, and its answer: who wins, with which figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bench.api.replayed import Replay
from bench.tables.parts import dollars, interval, percent, tokens

if TYPE_CHECKING:
    from bench.api import Comparison

__all__ = ["Answer", "Figure", "answers", "question", "subtitle"]

_NAMED = 3
"""Names that are spelt out; of more the others are counted."""

RANKED = (
    "first by share of runs completed, then confabulation rate, violations, policy bugs and total "
    "cost"
)


@dataclass(frozen=True, slots=True)
class Figure:
    """A value of the winner by its name, with its interval where it has one."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer about one thing: its *winner*, empty if none wins, why it is that, its figures.

    *alike* are policies that cannot be told from it.
    """

    about: str
    winner: str
    why: str
    figures: tuple[Figure, ...] = ()
    alike: tuple[str, ...] = ()


def question(found: Comparison) -> str:
    """Return the question that *found* answers, in one sentence."""
    names = list(dict.fromkeys(row["scenario"] for row in found.rows))
    kinds = {name: found.manifest["scenarios"][name]["kind"] for name in names}
    if "vary" in found.manifest:
        keys = _listed([axis["key"] for axis in found.manifest["vary"]])
        return f"What does it change for {names[0]} to vary {keys}?"
    if isinstance(found, Replay):
        of = names[0] if len(names) == 1 else f"{len(names):,} recorded sessions"
        return f"What would another policy have done with {of}?"
    main = [name for name in names if kinds[name] != "story"] or names
    return f"Which policy for {_listed(main)}?"


def subtitle(found: Comparison) -> str:
    """Return what was run to answer it: policies, scenarios, seeds, prices, and the goal."""
    manifest, rows = found.manifest, found.rows
    names = list(dict.fromkeys(row["scenario"] for row in rows))
    stories = sum(manifest["scenarios"][name]["kind"] == "story" for name in names)
    policies = list(dict.fromkeys(row["policy"] for row in rows))
    parts = [_count(len(policies), "policy", "policies")]
    if "vary" in manifest:
        parts.append(_count(manifest["points"], "setting", "settings"))
    elif not isinstance(found, Replay):
        among = f" ({_count(stories, 'story', 'stories')} among them)" if stories else ""
        parts.append(_count(len(names), "scenario", "scenarios") + among)
    seeds = len({row["seed"] for row in rows})
    if seeds > 1:
        parts.append(_count(seeds, "seed", "seeds"))
    prices = list(dict.fromkeys(row["price"] for row in rows))
    parts.append(_listed(prices, "prices"))
    asked = f" Asked for: {found.goal}." if found.goal is not None else ""
    return f"{', '.join(parts)}; {_count(len(rows), 'run', 'runs')}.{asked}"


def answers(found: Comparison) -> list[Answer]:
    """Return an answer for each scenario and price that has one, or for each policy of a sweep."""
    if "vary" in found.manifest:
        return [_swept(line) for line in found.winners]
    if isinstance(found, Replay):
        return list(_replayed(found))
    if found.goal is not None:
        return [_won(found, line) for line in found.winners if _runs(found, line)]
    return list(_ranked(found))


def _runs(found: Comparison, line: Mapping[str, Any]) -> bool:
    """Whether the scenario of *line* was run on several seeds, or is all there is."""
    seeded = {row["scenario"] for row in found.rows if row["seed"]}
    return not seeded or line["scenario"] in seeded


def _won(found: Comparison, line: Mapping[str, Any]) -> Answer:
    winner = line["winner"]
    about = _about(found, line["scenario"], line["price"])
    if winner is None:
        return Answer(about, "", f"no policy meets it: {line['goal']}")
    mine = _lines(found, line["scenario"], line["price"], winner)
    why = f"{line['goal']}; over {_count(line['n'], 'seed', 'seeds')}"
    return Answer(about, winner, why, tuple(_figures(mine)), tuple(line["alike"]))


def _ranked(found: Comparison) -> Iterator[Answer]:
    from bench.verdict import places

    for scenario, price in dict.fromkeys((r["scenario"], r["price"]) for r in found.rows):
        key = scenario, price
        rows = [row for row in found.rows if (row["scenario"], row["price"]) == key]
        lines = [line for line in found.lines if (line["scenario"], line["price"]) == key]
        ended = {row["policy"] for row in rows if row["status"] == "completed"}
        placed = places(rows, lines)
        first = [policy for policy, at in placed.items() if at.place == 1 and policy in ended]
        about = _about(found, scenario, price)
        if first:
            mine = _lines(found, scenario, price, first[0])
            yield Answer(about, first[0], RANKED, tuple(_figures(mine)), tuple(first[1:]))
        elif placed:
            yield Answer(about, "", "no policy completed a run")


def _lines(
    found: Comparison, scenario: str, price: str, policy: str
) -> dict[str, Mapping[str, Any]]:
    key = scenario, price, policy
    mine = [l for l in found.lines if (l["scenario"], l["price"], l["policy"]) == key]  # noqa: E741
    return {line["metric"]: line for line in mine}


def _figures(mine: Mapping[str, Mapping[str, Any]]) -> Iterator[Figure]:
    """Yield what a winner came to."""
    rate = mine["confabulation_rate"]
    if rate["zero_limit"] is not None:
        yield Figure("made-up answers", f"0 % (at most {percent(rate['zero_limit'])} %)")
    elif rate["mean"] is not None:
        yield Figure("made-up answers", f"{_mean(rate, percent)} %")
    for name, metric, form in (
        ("peak, tokens", "peak_tokens", tokens),
        ("cost a run, $", "total_cost_usd", dollars),
        ("cache hits, %", "cache_hit_rate", percent),
    ):
        if mine[metric]["mean"] is not None:
            yield Figure(name, _mean(mine[metric], form))
    yield Figure("runs completed", f"{rate['completed']:,} of {rate['attempted']:,}")


def _mean(line: Mapping[str, Any], form: Any) -> str:
    return interval(form, line["mean"], line["ci_low"], line["ci_high"], True)


def _swept(line: Mapping[str, Any]) -> Answer:
    settings = _count(line["settings"], "setting", "settings")
    known = {"winner", "settings", "share"}
    figures = tuple(Figure(key, _span(value)) for key, value in line.items() if key not in known)
    share = percent(line["share"])
    return Answer(f"best in {settings}, {share} % of them", line["winner"], "", figures)


def _span(value: Any) -> str:
    values = value if isinstance(value, list | tuple) else [value]
    words = [f"{each:.4g}" if isinstance(each, float) else str(each) for each in values]
    numbers = all(isinstance(each, int | float) for each in values)
    if numbers and len(words) == 2:
        return words[0] if words[0] == words[1] else f"{words[0]} to {words[1]}"
    return _listed(words)


def _replayed(found: Replay) -> Iterator[Answer]:
    from bench.tables.replay import FEW, verdict
    from bench.tables.what_if import best_of

    keys = list(dict.fromkeys((row["scenario"], row["price"]) for row in found.what_if))
    for scenario, price in keys if len({name for name, _ in keys}) <= FEW else ():
        rows = [r for r in found.what_if if (r["scenario"], r["price"]) == (scenario, price)]
        best = best_of(rows)
        winner = "" if best is None else str(best["policy"])
        yield Answer(_about(found, scenario, price), winner, verdict(rows))


def _about(found: Comparison, scenario: str, price: str) -> str:
    several = len({row["price"] for row in found.rows if row["scenario"] == scenario}) > 1
    return f"{scenario} at {price}" if several else scenario


def _listed(names: Sequence[str], what: str = "") -> str:
    """Return *names* in words; where there are many, the first and how many more."""
    if len(names) > _NAMED:
        if what:
            return f"{len(names):,} {what}"
        return f"{', '.join(names[: _NAMED - 1])} and {len(names) - _NAMED + 1} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _count(n: int, one: str, many: str) -> str:
    return f"{n:,} {one if n == 1 else many}"
