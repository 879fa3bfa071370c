"""The figures of docs/economics.md: ``python -m bench.economics`` measures them and writes them in.

Each figure stands in the page between two comments that name it; the words around them stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from bench.break_even import collect, summarise, workload
from bench.cells import price_of, run_one
from bench.costs import by_cause
from bench.executors import available_jobs, local, scatter
from bench.loading import load
from bench.output import markdown
from bench.pages import put_figures
from bench.results import write_text
from bench.statistics import Estimate, difference
from bench.tables.break_even import break_even_tables
from bench.tables.parts import Column, Line, Table, dollars, tokens
from sim.actions import Evict

if TYPE_CHECKING:
    from sim.view import View

__all__ = [
    "FIGURES",
    "PAGE",
    "Effort",
    "Outcome",
    "cuts",
    "known_end",
    "main",
    "paired",
]

PAGE = Path(__file__).resolve().parent.parent / "docs" / "economics.md"

PRICES = ("gpt-5.5", "claude-sonnet-5", "deepseek-v4-flash")
"""R = 9, 11.5 and 49; the first finds any common prefix, the others what ends at a breakpoint."""

BOOKS: Mapping[str, Mapping[str, str]] = {
    "gpt-5.5": {"price": "gpt-5.5"},
    "claude-sonnet-5": {"price": "claude-sonnet-5"},
    "claude-sonnet-5, rule auto": {"price": "claude-sonnet-5", "cache.rule": "auto"},
    "deepseek-v4-flash": {"price": "deepseek-v4-flash"},
}
"""Settings for the order rule, which hangs on what the cache finds: one price under both rules."""

FAMILIES = ("doc-analysis", "support-agent", "coding-agent")

ORDERED = ("doc-analysis", "coding-agent")
"""Families on which the order rule is measured: those with bulk files."""

SEEDS = 30
"""Of a figure, where no other number is said."""

OTHER_SEEDS: Mapping[str, int] = {
    "trace-passes": 300,
    "ablation-doc-analysis": 10,
    "ablation-support-agent": 10,
}
"""Few passes a run ask for more; many policies on long runs, paired by seed, do with fewer."""

ROUNDS = 8
"""Runs that a fixed point of the calls of a run may take."""


class Effort(NamedTuple):
    """How much is computed."""

    seeds: int
    jobs: int


class Outcome(NamedTuple):
    """What a run came to, as far as it is compared here."""

    end: tuple[str, int]
    """Status and turns: only runs that ended alike have costs that can be compared."""
    values: Mapping[str, Any]


def paired(runs: Sequence[Outcome], others: Sequence[Outcome], metric: str) -> Estimate:
    """Return the difference of *metric*, *runs* − *others* by seed, where both ended alike."""
    import numpy as np

    alike = [one.end == other.end for one, other in zip(runs, others, strict=True)]
    one, other = (
        np.array([run.values[metric] for run in side], dtype=float) for side in (runs, others)
    )
    return difference(np.where(alike, one, np.nan), other)


def _outcome(row: Mapping[str, Any]) -> Outcome:
    return Outcome((row["status"], row["turns"]), row)


def _compared(
    scenario: str, policies: Sequence[str], settings: Mapping[str, str], effort: Effort
) -> dict[str, list[Outcome]]:
    """Return the outcomes of each policy by seed, in the order of *policies*."""
    work = [(scenario, settings, seed, tuple(policies)) for seed in range(effort.seeds)]
    with local(effort.jobs) as workers:
        found = dict(scatter(workers, _outcomes, work))
    return {
        policy: [found[seed][at] for seed in range(effort.seeds)]
        for at, policy in enumerate(policies)
    }


def _outcomes(
    task: tuple[str, Mapping[str, str], int, tuple[str, ...]],
) -> tuple[int, list[Outcome]]:
    scenario, settings, seed, policies = task
    script = load(scenario, settings).script(seed)
    return seed, [_outcome(run_one(script, policy)[0]) for policy in policies]


def _mean(runs: Sequence[Outcome], metric: str) -> float:
    return sum(run.values[metric] for run in runs) / len(runs)


def _completed(runs: Sequence[Outcome]) -> str:
    return f"{sum(run.end[0] == 'completed' for run in runs)}/{len(runs)}"


def _interval(found: Estimate, form: Callable[[float], str]) -> str:
    if found.mean is None:
        return "–"
    text = _signed(found.mean, form)
    if found.low is None or found.high is None or found.low == found.high:
        return text
    return f"{text} [{_signed(found.low, form)}, {_signed(found.high, form)}]"


def _signed(value: float, form: Callable[[float], str]) -> str:
    text = form(value)
    return f"+{text}" if value > 0 and any(digit in text for digit in "123456789") else text


def _one(value: float) -> str:
    return f"{value:,.1f}".replace("-", "−").replace("−0.0", "0.0")


def _cents(value: float) -> str:
    return dollars(value, 2)


def _relative(found: Estimate, others: Sequence[Outcome], metric: str) -> str:
    """Return a difference in percent of the mean of *others*."""
    mean = _mean(others, metric)
    if found.mean is None or not mean:
        return "–"
    low, high = (None if at is None else 100.0 * at / mean for at in (found.low, found.high))
    return _interval(Estimate(100.0 * found.mean / mean, low, high, found.n), _one)


def _table(headers: Iterable[str], rows: Iterable[Iterable[str]], *notes: str) -> Table:
    columns = tuple(Column(header, right=place > 0) for place, header in enumerate(headers))
    return Table("", columns, tuple(Line(tuple(row)) for row in rows), notes)


# -- what the money goes to ---------------------------------------------------------------------


def _causes(effort: Effort) -> list[Table]:
    """What one run costs by cause, under three policies."""
    policies = ("no-op", "tiered", "pays-back")
    script = load("doc-analysis").script(0)
    found: dict[str, dict[str, float]] = {}
    for policy in policies:
        _, records = run_one(script, policy)
        for line in by_cause(records):
            usd = line["usd"] + line["maintenance_usd"]
            found.setdefault(line["cause"], {})[policy] = usd
    rows = [[c, *(dollars(usd.get(p, 0.0)) for p in policies)] for c, usd in found.items()]
    total = [sum(usd.get(p, 0.0) for usd in found.values()) for p in policies]
    return [_table(("cause, $", *policies), [*rows, ["in all", *map(dollars, total)]])]


# -- the passes of a workload -------------------------------------------------------------------


def _passes(effort: Effort) -> list[Table]:
    """The distributions beside the published ones, for the seeds' policies and two of the field."""
    from policies.registry import seed_names

    chosen = workload(["coding-agent"], [*seed_names(), "lease", "pays-back"], seeds=effort.seeds)
    return break_even_tables(summarise(collect(chosen, effort.jobs)))


def _long_passes(effort: Effort) -> list[Table]:
    """The same of a workload that does not end at the first attempt that succeeds."""
    chosen = workload(["doc-analysis"], ["tiered", "lease", "pays-back"], seeds=effort.seeds)
    return break_even_tables(summarise(collect(chosen, effort.jobs)))


def _trace_passes(effort: Effort) -> list[Table]:
    """The published rule on the pinned scenario that has the published mix of parts."""
    chosen = workload(["trace"], ["lease"], seeds=effort.seeds)
    return break_even_tables(summarise(collect(chosen, effort.jobs)))


# -- the order rule -----------------------------------------------------------------------------


class _Cut:
    """Evicts one segment in the last turn, and nothing else."""

    declares: frozenset[str] = frozenset()
    needs: frozenset[str] = frozenset()

    def __init__(self, segment: str | None) -> None:
        self.label = "cut"
        self._segment = segment

    def before_call(self, view: View) -> Iterator[Evict]:
        if view.last_turn and self._segment is not None:
            yield Evict(self._segment, "cut")


def cuts(settings: Mapping[str, str]) -> dict[str, tuple[int, float]]:
    """Return for each of ranks 5 to 8 of `eviction-cost/tail-cached` what its eviction costs.

    The tokens behind the cut, and the dollars of input of the call that it makes dearer.
    """
    from sim.engine import run

    script = load("eviction-cost/tail-cached", settings).script(0)
    found: dict[str, tuple[int, float]] = {}
    usd: dict[str | None, float] = {}
    for name in (None, "rank-5", "rank-6", "rank-7", "rank-8"):
        records = run(script, _Cut(name), price_of(script.settings)).records
        usd[name] = [record[8] for record in records if record[0] == "call"][-1]
        if name is not None:
            behind = next(record[4] for record in records if record[0] == "pass")
            found[name] = behind, usd[name] - usd[None]
    return found


def _ranks(effort: Effort) -> list[Table]:
    """What the eviction of each file of the story costs."""
    found = {book: cuts(settings) for book, settings in BOOKS.items()}
    rows = [
        [
            name,
            tokens(found["claude-sonnet-5"][name][0]),
            *(f"+{dollars(found[book][name][1])}" for book in BOOKS),
        ]
        for name in found["claude-sonnet-5"]
    ]
    return [_table(("evicted", "tokens behind", *(f"$, {book}" for book in BOOKS)), rows)]


def _orders(effort: Effort, scenario: str) -> list[Table]:
    """`tiered` from the end against from the front, and without the rule of the last turn."""
    variants = ("tiered", "tiered:order=first", "tiered:endgame=off")
    rows = []
    for book, settings in BOOKS.items():
        runs = _compared(scenario, variants, settings, effort)
        base = runs["tiered"]
        for variant in variants[1:]:
            mine = runs[variant]
            cost = paired(mine, base, "total_cost_usd")
            rows.append(
                [
                    f"{book}: {variant.partition(':')[2]}",
                    _interval(paired(mine, base, "eviction_cost_usd"), _cents),
                    _interval(paired(mine, base, "prefill_cost_usd"), _cents),
                    _interval(cost, _cents),
                    _relative(cost, base, "total_cost_usd"),
                    _interval(paired(mine, base, "fetches"), _one),
                    _interval(paired(mine, base, "abstained"), _one),
                    _interval(paired(mine, base, "confabulated"), _one),
                    f"{cost.n}",
                    f"{_completed(mine)}, {_completed(base)}",
                ]
            )
    costs = ("eviction, $", "input, $", "total, $", "total, %")
    counts = ("fetches", "abstained", "confabulated")
    return [_table(("", *costs, *counts, "n", "completed"), rows)]


# -- the regret of pays-back --------------------------------------------------------------------


class _End(NamedTuple):
    """One seed with its end unknown, the turns known, and the calls known."""

    runs: tuple[Outcome, Outcome, Outcome]
    converged: bool


def known_end(calls: int, play: Callable[[int], Outcome]) -> tuple[Outcome, bool]:
    """Return the run that knows how many calls it makes, and whether there is one.

    *play* makes the run that believes in a number of calls; *calls* is the first belief. Without
    a number that comes true within :data:`ROUNDS` runs, it is the last of them.
    """
    for _ in range(ROUNDS):
        found = play(calls)
        if found.values["calls"] == calls:
            return found, True
        calls = found.values["calls"]
    return found, False


def _ends(task: tuple[str, str, int, str]) -> tuple[int, _End]:
    scenario, price, seed, options = task
    script = load(scenario, {"price": price}).script(seed)

    def play(horizon: object) -> Outcome:
        spec = f"pays-back:horizon={horizon}{options}"
        return _outcome(run_one(script, spec)[0])

    blind = play("so-far")
    told, converged = known_end(blind.values["calls"], play)
    return seed, _End((blind, play("known"), told), converged)


def _regret(effort: Effort) -> list[Table]:
    """The estimate of L against the turns to go and against the calls that there will be."""
    rows = []
    with local(effort.jobs) as workers:
        for patience, options in (("waits", ""), ("patience=0", ",patience=0")):
            for scenario in FAMILIES:
                for price in PRICES:
                    work = [(scenario, price, seed, options) for seed in range(effort.seeds)]
                    found = dict(scatter(workers, _ends, work))
                    ends = [found[seed] for seed in range(effort.seeds)]
                    rows.append([f"{scenario}, {price}, {patience}", *_regret_row(ends)])
    headers = ("", "total, $", "turns known, %", "calls known, %", "abstained", "n", "converged")
    return [_table(headers, rows)]


def _regret_row(ends: Sequence[_End]) -> list[str]:
    blind, turns, calls = ([end.runs[place] for end in ends] for place in range(3))
    cost = paired(calls, blind, "total_cost_usd")
    return [
        dollars(_mean(blind, "total_cost_usd")),
        _relative(paired(turns, blind, "total_cost_usd"), blind, "total_cost_usd"),
        _relative(cost, blind, "total_cost_usd"),
        _interval(paired(calls, blind, "abstained"), _one),
        str(cost.n),
        f"{sum(end.converged for end in ends)}/{len(ends)}",
    ]


ABLATIONS = (
    "pays-back",
    "pays-back:patience=0",
    "pays-back:patience=0.5",
    "pays-back:patience=2",
    "pays-back:batch=off",
    "pays-back:order=first",
    "pays-back:batch=off,order=first",
    "pays-back:when=cold",
    "pays-back:refetch=0",
    "pays-back:refetch=0.6",
    "pays-back:economy=off",
    "lease",
    "tiered",
    "no-op",
)
"""The policy, each of its rules switched, and what else there is."""


COUNTED = ("passes", "abstained", "deferred", "confabulated")


def _ablation(effort: Effort, scenario: str) -> list[Table]:
    """What each rule of `pays-back` is worth on one family."""
    by_price = {price: _compared(scenario, ABLATIONS, {"price": price}, effort) for price in PRICES}
    shown = by_price[PRICES[1]]
    rows = []
    for policy in ABLATIONS:
        cells = []
        for price in PRICES:
            runs = by_price[price]
            base = runs["pays-back"]
            cost = paired(runs[policy], base, "total_cost_usd")
            same = policy == "pays-back"
            usd = f"${dollars(_mean(base, 'total_cost_usd'))}"
            cells.append(usd if same else _relative(cost, base, "total_cost_usd"))
        n = paired(shown[policy], shown["pays-back"], "total_cost_usd").n
        counts = (_one(_mean(shown[policy], name)) for name in COUNTED)
        done = (_completed(shown[policy]), _per_completed(shown[policy]))
        rows.append([policy, *cells, str(n), *counts, *done])
    priced = (f"total at {price}" for price in PRICES)
    return [_table(("", *priced, "n", *COUNTED, "completed", "$ each"), rows)]


def _per_completed(runs: Sequence[Outcome]) -> str:
    """Return what all *runs* cost for each that was completed."""
    completed = sum(run.end[0] == "completed" for run in runs)
    if not completed:
        return "–"
    return dollars(sum(run.values["total_cost_usd"] for run in runs) / completed)


# -- the page -----------------------------------------------------------------------------------

Figure = Callable[[Effort], list[Table]]

FIGURES: Mapping[str, Figure] = {
    "causes": _causes,
    "passes": _passes,
    "trace-passes": _trace_passes,
    "long-passes": _long_passes,
    "ranks": _ranks,
    **{f"orders-{name}": partial(_orders, scenario=name) for name in ORDERED},
    "regret": _regret,
    **{f"ablation-{name}": partial(_ablation, scenario=name) for name in FAMILIES},
}
"""Every figure of the page by the name that its comments have."""

ONE_RUN = ("causes", "ranks")
"""What is one run, or none that is drawn."""


@click.command()
@click.option(
    "--seeds",
    type=click.IntRange(2),
    help=f"Of every figure. [default: {SEEDS}, some other numbers]",
)
@click.option("--jobs", default=available_jobs(), type=click.IntRange(1))
@click.option(
    "--only", multiple=True, type=click.Choice(list(FIGURES)), help="Measure this one only."
)
@click.option("--page", default=PAGE, type=click.Path(exists=True, dir_okay=False, path_type=Path))
def main(seeds: int | None, jobs: int, only: tuple[str, ...], page: Path) -> None:
    """Measure the figures of docs/economics.md and write them into it."""
    for name in only or FIGURES:
        effort = Effort(seeds or OTHER_SEEDS.get(name, SEEDS), jobs)
        text = markdown(FIGURES[name](effort))
        note = "" if name in ONE_RUN else f"{effort.seeds} seeds.\n"
        figure = f"{text}\n{note}"
        write_text(page, put_figures(page.read_text(encoding="utf-8"), {name: figure}))
        click.echo(name, err=True)


if __name__ == "__main__":
    main()
