"""What if: each policy against the recording, session by session and over all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bench.statistics import estimate

if TYPE_CHECKING:
    from bench.replays.plan import Finished

__all__ = ["OWN", "SAVED", "SAYS", "pooled", "what_if"]

OWN = "own"
"""Stands for the price of a line over sessions that were replayed each at its own."""

SAVED: Mapping[str, str] = {
    "tokens": "input_tokens",
    "usd": "total_cost_usd",
    "seconds": "total_seconds",
}
"""What is saved → the metric it is saved of."""

SAYS: Mapping[str, tuple[str, str, str | None]] = {
    "saved_tokens": ("integer", "input of the recording less that of the policy", "tokens"),
    "recorded_tokens": ("integer", "input of the recording, simulated at the price", "tokens"),
    "saved_usd": ("number", "total cost of the recording less that of the policy", "USD"),
    "recorded_usd": ("number", "total cost of the recording, simulated at the price", "USD"),
    "saved_seconds": ("number", "length of the recording less that under the policy", "s"),
    "recorded_seconds": ("number", "length of the recording, simulated", "s"),
    "wrong": ("integer", "questions answered with an older or an invented value", "count"),
    "gone_count": ("integer", "asked for and not whole and current at the call", "count"),
    "asked_count": ("integer", "questions and explicit requests", "count"),
    "broke_count": ("integer", "calls before which the policy broke the prefix", "count"),
    "broke_usd": ("number", "what computing again at those calls cost, gross", "USD"),
    "pins_lost": ("integer", "pins that were removed or cut", "count"),
}
"""Figures of a row that no metric is, each with its type, meaning and unit."""


def what_if(finished: Finished) -> list[dict[str, Any]]:
    """Return a row for each session, price and policy: what it saved against the recording.

    ``saved_tokens``, ``saved_usd`` and ``saved_seconds`` are the recording's, simulated at the same
    price, less the policy's: negative where the policy loses, None where its run did not end.
    Beside them stand how many questions there were and how many were answered *wrong* (stale or
    made up), the policy's bugs and the pins it lost, and what `bench.replays.facts` says.
    """
    return [
        _row(row, seen, finished.references.get(row["scenario"]))
        for row, seen in zip(finished.rows, finished.seen, strict=True)
    ]


def _row(
    row: Mapping[str, Any], seen: Mapping[str, Any] | None, told: Mapping[str, Any] | None
) -> dict[str, Any]:
    out: dict[str, Any] = {key: row[key] for key in ("scenario", "price", "policy")}
    done = row["status"] == "completed" and told is not None
    for name, metric in SAVED.items():
        before = told["simulated"][row["price"]][metric] if told is not None and done else None
        out[f"saved_{name}"] = None if before is None else before - row[metric]
        out[f"recorded_{name}"] = before
    ended = row["queries"] is not None
    out["queries"] = row["queries"]
    out["wrong"] = row["stale"] + row["confabulated"] if ended else None
    out["policy_bugs"] = row["policy_bugs"]
    return {**out, **(seen or {}), "pins_lost": row["pins_lost"]}


def pooled(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return a line for each price, policy and thing saved, over the sessions of *rows*.

    Where sessions have prices of their own that are not the same, they are pooled all the same: the
    price of a line is :data:`OWN`, and its dollars are sums of what each came to at its price.
    ``total`` is the sum, ``share`` it over the same sum of the recording; ``mean`` is a session's,
    with a 95 % interval over the ``n`` sessions that the policy played to their end; ``better`` and
    ``worse`` count the sessions in which it saved and lost.
    """
    import numpy as np

    prices: dict[str, dict[str, None]] = {}
    for row in rows:
        prices.setdefault(row["scenario"], {}).setdefault(row["price"])
    own = len({tuple(each) for each in prices.values()}) > 1
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault((OWN if own else row["price"], row["policy"]), []).append(row)
    lines = []
    for (price, policy), mine in groups.items():
        for name in SAVED:
            both = [
                (row[f"saved_{name}"], row[f"recorded_{name}"])
                for row in mine
                if row[f"saved_{name}"] is not None
            ]
            saved = [each for each, _ in both]
            found = estimate(np.array(saved, dtype=float))
            whole = sum(before for _, before in both)
            lines.append(
                {
                    "price": price,
                    "policy": policy,
                    "saved": name,
                    "total": sum(saved),
                    "share": sum(saved) / whole if whole else None,
                    "mean": found.mean,
                    "ci_low": found.low,
                    "ci_high": found.high,
                    "n": found.n,
                    "sessions": len(mine),
                    "better": sum(each > 0 for each in saved),
                    "worse": sum(each < 0 for each in saved),
                }
            )
    return lines
