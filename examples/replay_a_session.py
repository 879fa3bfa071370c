"""What another policy would have done with a session of your own: a replay, and its pictures.

    python examples/replay_a_session.py [FOLDER] [SESSION...]

The pictures go to FOLDER, by default docs/pictures; without a SESSION the demo's is replayed.
"""

from __future__ import annotations

import sys
from pathlib import Path

from bench.api import replay

DEMO = Path(__file__).parent / "demo-session.jsonl"


def main(folder: Path, sessions: list[str]) -> None:
    found = replay(sessions or [DEMO], ["compaction", "tiered", "disciplined"])
    for line in found.what_if:
        print(f"{line['scenario']} under {line['policy']}: {line['saved_usd']:.3f} dollars saved")

    folder.mkdir(parents=True, exist_ok=True)
    for policy in ("compaction", "disciplined"):
        picture = found.plot.occupancy(policy=policy)
        picture.save(folder / f"session-{policy}.png")
        print(picture)
    cost = found.plot.cause()
    cost.save(folder / "session-cause.png")
    print(cost)


if __name__ == "__main__":
    given = sys.argv[1:]
    main(Path(given[0] if given else "docs/pictures"), given[1:])
