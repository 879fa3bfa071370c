"""What moves the price of tag-or-drop against naive-rewrite: ``python -m bench.sensitivity``.

Prints, as Markdown, the mean paired ratio of their peaks on doc-analysis under one change at a
time, and what the difference of their windows is made of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import click

from bench.anatomy import difference, peak_turn, window_at
from bench.api import compare
from bench.cells import run_one
from bench.executors import available_jobs
from bench.loading import load
from bench.statistics import Estimate, estimate

__all__ = ["CHANGES", "Change", "main"]

NAIVE, CAREFUL = "naive-rewrite", "tag-or-drop"


class Change(NamedTuple):
    """One line of the table: settings laid over the default, and an option of tag-or-drop."""

    says: str
    settings: Mapping[str, str] = MappingProxyType({})
    option: str = ""


CHANGES = (
    Change("default"),
    Change("every surrogate taggable", {"surrogate.taggable": "1"}),
    Change("three in four taggable", {"surrogate.taggable": "0.75"}),
    Change("one in four taggable", {"surrogate.taggable": "0.25"}),
    Change("none taggable: all dropped", {"surrogate.taggable": "0"}),
    Change("no tag tokens", {"surrogate.tag_tokens": "0"}),
    Change("tags of 16 tokens", {"surrogate.tag_tokens": "16"}),
    Change("no reversals", {"returns.rate": "0"}),
    Change("twice the returns", {"returns.rate": "0.6"}),
    Change("copies of nothing", {"copies.file": "0"}),
    Change("copies of everything", {"copies.tool_result": "1", "copies.note": "1"}),
    Change("no deferral", {}, "defer=off"),
    Change("three in ten turns quiescent", {"user.share": "0.3"}),
    Change("a budget that binds: 56,000", {"budget": "56000"}),
    Change("a budget that binds: 48,000", {"budget": "48000"}),
    Change("the measured reader", {"reader": "measured"}),
)


class Line(NamedTuple):
    """What a change leads to."""

    ratio: Estimate
    naive: float
    careful: float
    first: float | None
    seeds: int


def measure(change: Change, seeds: int, jobs: int) -> Line:
    """Compare the two policies under *change* on *seeds* seeds."""
    import numpy as np

    careful = f"{CAREFUL}:{change.option}" if change.option else CAREFUL
    found = compare(
        ["doc-analysis"], [NAIVE, careful], seeds=seeds, settings=change.settings, jobs=jobs
    )
    frame = found.frame.set_index(["policy", "seed"])
    naive, tagged = frame.loc[NAIVE], frame.loc[careful]
    ratio = (tagged["peak_tokens"] / naive["peak_tokens"]).to_numpy(dtype=float)
    first = naive["first_confabulation_turn"].dropna()
    return Line(
        estimate(ratio),
        float(naive["confabulated"].mean()),
        float(tagged["confabulated"].mean()),
        float(np.median(first)) if len(first) else None,
        int((naive["confabulated"] > 0).sum()),
    )


def anatomy(seeds: int) -> dict[str, Estimate]:
    """Return what tag-or-drop's window holds more than naive-rewrite's in the turn of its peak.

    In shares of naive-rewrite's window in that turn, by how the tokens came to be there.
    """
    import numpy as np

    scenario = load("doc-analysis")
    rows: list[dict[str, float]] = []
    for seed in range(seeds):
        script = scenario.script(seed)
        _, naive = run_one(script, NAIVE)
        _, careful = run_one(script, CAREFUL)
        turn = peak_turn(careful)
        mine, other = window_at(careful, turn), window_at(naive, turn)
        parts = difference(mine, other)
        rows.append({name: tokens / other.total for name, tokens in parts.items()})
    return {name: estimate(np.array([row[name] for row in rows])) for name in rows[0]}


def table(lines: Sequence[tuple[Change, Line]], seeds: int) -> str:
    """Return the Markdown table of *lines*."""
    rows = [
        "| change | ratio of peaks | 95 % | confabulated: naive-rewrite | tag-or-drop | "
        "seeds with any | median first turn |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for change, line in lines:
        low, high = line.ratio.low, line.ratio.high
        interval = "" if low is None or high is None else f"{low:.3f}–{high:.3f}"
        first = "–" if line.first is None else f"{line.first:g}"
        rows.append(
            f"| {change.says} | {line.ratio.mean:.3f} | {interval} | {line.naive:.1f} | "
            f"{line.careful:.1f} | {line.seeds}/{seeds} | {first} |"
        )
    return "\n".join(rows)


def parts_table(parts: dict[str, Any]) -> str:
    """Return the Markdown table of the anatomy of the difference."""
    rows = ["| tokens | points of naive-rewrite's window | 95 % |", "|---|--:|--:|"]
    for name, part in parts.items():
        interval = "" if part.low is None else f"{100 * part.low:+.1f} to {100 * part.high:+.1f}"
        rows.append(f"| {name} | {100 * part.mean:+.1f} | {interval} |")
    total = sum(part.mean for part in parts.values())
    rows.append(f"| together | {100 * total:+.1f} | |")
    return "\n".join(rows)


@click.command()
@click.option("--seeds", default=30, show_default=True, type=click.IntRange(2))
@click.option("--jobs", default=available_jobs(), type=click.IntRange(1))
def main(seeds: int, jobs: int) -> None:
    """Print the sensitivity of tag-or-drop's price as Markdown."""
    lines = []
    for change in CHANGES:
        lines.append((change, measure(change, seeds, jobs)))
        click.echo(f"{len(lines)} of {len(CHANGES)}: {change.says}", err=True)
    click.echo(table(lines, seeds))
    click.echo()
    click.echo(parts_table(anatomy(seeds)))


if __name__ == "__main__":
    main()
