"""Which policy to ship for a reader of documents: a comparison, and what it looks like.

    python examples/compare_policies.py [FOLDER]

The pictures go to FOLDER, by default docs/pictures.
"""

from __future__ import annotations

import sys
from pathlib import Path

from bench.api import compare

POLICIES = ["naive-rewrite", "tag-or-drop", "slack-swap-refuse", "tiered", "disciplined"]


def main(folder: Path) -> None:
    found = compare(
        ["doc-analysis"],
        POLICIES,
        seeds=10,
        settings={"turns": 100},
        beside=["bound"],
        require=["confabulation_rate=0"],
        minimise="total_cost_usd",
    )
    (won,) = found.winners
    print(f"{won['goal']}: {won['winner']}")

    # One row a run, and one line a policy and metric with its interval: ordinary data frames.
    print(found.frame.groupby("policy")["peak_tokens"].max())
    print(found.summary("total_cost_usd")[["policy", "mean", "ci_low", "ci_high"]])

    folder.mkdir(parents=True, exist_ok=True)
    for picture in (found.plot.pareto(), found.plot.cause(), found.plot.distance()):
        picture.save(folder / f"{picture.chart.name}.png")
        print(picture)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/pictures"))
