"""A second, naive reading of the changes that a page holds: the window of a run in one turn."""

from __future__ import annotations

from typing import Any


def window_in(told: dict[str, Any], policy: str, turn: int) -> dict[str, Any]:
    """Return the window under *policy* in *turn*, and the absent segments with their answers."""
    run = next(run for run in told["runs"] if run["policy"] == policy)
    order: list[int] = []
    sizes: dict[int, int] = {}
    scores: dict[int, tuple[float, int]] = {}
    why: dict[int, int] = {}
    for each in run["turns"]:
        if each["turn"] > turn:
            break
        order = [number for number in order if number not in each.get("out", [])]
        for number, text in each.get("why", []):
            why[number] = text
        for at, number in each.get("in", []):
            order.insert(at, number)
            why.pop(number, None)
        for number, tokens in each.get("size", []):
            sizes[number] = tokens
        for number, score, of in each.get("score", []):
            scores[number] = score, of

    def salience(number: int) -> float:
        score, of = scores[number]
        for _ in range(turn - of):
            score *= run["decay"]
        return score

    names = [segment[0] for segment in told["segments"]]
    return {
        "window": [(names[number], sizes[number], salience(number)) for number in order],
        "absent": {names[at]: (salience(at), told["texts"][text]) for at, text in why.items()},
    }
