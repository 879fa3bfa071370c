"""What one run did to its window and to its cached prefix, and why an answer was wrong.

    python examples/look_into_a_run.py [FOLDER]

The pictures go to FOLDER, by default docs/pictures.
"""

from __future__ import annotations

import sys
from pathlib import Path

from bench.api import compare


def main(folder: Path) -> None:
    found = compare(["support-agent"], ["naive-rewrite", "tiered"], seeds=2, settings={"turns": 80})

    # A run is made again with its event records, and must come out as its row says.
    again = found.repeats.run("support-agent", "naive-rewrite", seed=1)
    wrong = [
        record for record in again.records if record[0] == "answer" and record[6] == "confabulated"
    ]
    print(f"{again.title}: {len(wrong)} answers made up, {again.row['calls']} calls")

    folder.mkdir(parents=True, exist_ok=True)
    for policy in ("naive-rewrite", "tiered"):
        for chart in ("occupancy", "cache", "salience"):
            picture = getattr(found.plot, chart)(policy=policy, seed=1)
            picture.save(folder / f"{chart}-{policy}.png")
            print(picture)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/pictures"))
