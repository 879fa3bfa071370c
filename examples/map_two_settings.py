"""Where slack, swap and refusal lead: a sweep over the decay and the threshold of salience.

    python examples/map_two_settings.py [FOLDER] [STEPS]

The pictures go to FOLDER, by default docs/pictures; STEPS a side, by default 8.
"""

from __future__ import annotations

import sys
from pathlib import Path

from bench.api import sweep


def main(folder: Path, steps: int) -> None:
    found = sweep(
        "doc-analysis",
        ["slack-swap-refuse", "tiered"],
        [f"salience.decay=0.6:0.98:{steps}", f"rehydrate.threshold=0.1:0.95:{steps}"],
        seeds=2,
        settings={"turns": 40, "budget": 20_000},
    )
    for effect in found.effects:
        if effect["share"] is not None and effect["metric"] == "total_cost_usd":
            print(f"{effect['policy']}: {effect['key']} explains {effect['share']:.0%} of the cost")

    folder.mkdir(parents=True, exist_ok=True)
    for picture in (found.plot.map(), found.plot.sensitivity()):
        picture.save(folder / f"{picture.chart.name}.png")
        print(picture)


if __name__ == "__main__":
    given = sys.argv[1:]
    main(Path(given[0] if given else "docs/pictures"), int(given[1]) if len(given) > 1 else 8)
