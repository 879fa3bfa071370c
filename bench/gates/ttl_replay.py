"""Gate `ttl-replay`: two lives, told apart by session, predict what was read after each pause."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bench.gates.calls import HOUR, MINUTES_5, read_calls
from bench.gates.gate import RECORDED, Criterion, Gate, Inputs, Verdict
from bench.gates.replaying import Outcome, Tally, replay, tally

__all__ = ["CLASSES", "GATE", "by_class"]

_FILE = "derived/claude_code_calls.csv"

CLASSES: Mapping[str, tuple[float, float]] = {
    "under 60 s": (0.0, 60.0),
    "60 to 300 s": (60.0, MINUTES_5),
    "300 to 3,600 s": (MINUTES_5, HOUR),
    "over 1 h": (HOUR, float("inf")),
}
"""The gap before a call, in seconds: from, and below."""

_DEAD = "300 to 3,600 s"
"""The class in which the two lives differ."""

_PUBLISHED = {
    "hit after under 60 s, %": 98.2,
    "hit after 60 to 300 s, %": 93.9,
    "hit after 300 to 3,600 s, %": 52.3,
    "hit after over 1 h, %": 4.4,
    "hit of all calls, %": 95.85,
}

_POINTS = {name: 6.0 if name == "over 1 h" else 3.0 for name in CLASSES}
_ONE_LIFE = {"5 min": MINUTES_5, "8 min": 480.0, "1 h": HOUR}
_TIMEOUTS = {"1 min": 60.0, "5 min": MINUTES_5, "1 h": HOUR}


def by_class(outcomes: Iterable[Outcome]) -> dict[str, Tally]:
    """Return the calls after each class of gap, added up; the first call of a session is in none.

    A gap that is a bound belongs to the class above it: an entry of so many seconds is dead.
    """
    grouped: dict[str, list[Outcome]] = {name: [] for name in CLASSES}
    for outcome in outcomes:
        gap = outcome.call.gap
        if gap is not None:
            name = next(name for name, (least, below) in CLASSES.items() if least <= gap < below)
            grouped[name].append(outcome)
    return {name: tally(group) for name, group in grouped.items()}


def _judge(inputs: Inputs) -> Verdict:
    assert inputs.data is not None
    threads = read_calls(inputs.data / _FILE)
    steps = 2 + len(_ONE_LIFE) + len(_TIMEOUTS)
    done = 0

    def replayed(life: float | None = None, starts: bool = False) -> list[Outcome]:
        nonlocal done
        outcomes = replay(threads, life, starts=starts)
        done += 1
        inputs.report(done, steps)
        return outcomes

    outcomes = replayed()
    one_life = {name: by_class(replayed(life))[_DEAD] for name, life in _ONE_LIFE.items()}
    timeouts = {name: tally(replayed(life)) for name, life in _TIMEOUTS.items()}
    classes, total = by_class(outcomes), tally(outcomes)
    return Verdict(
        simulated=_hits(classes, total),
        criteria=_criteria(classes, total, one_life),
        context={
            **_context(classes, total, outcomes),
            "clock from the start of each answer": {
                "absolute error, %": tally(replayed(starts=True)).absolute_error
            },
            "hit of all calls with one life": {
                f"{name}, %": found.predicted_hit for name, found in timeouts.items()
            },
        },
        notes=(
            "One cache a session: what a first call reads belongs to other sessions, so first "
            "calls are in the total and in no class.",
            "A shrink of the prompt leaves 18,000 tokens, the one fitted value.",
        ),
    )


def _hits(classes: Mapping[str, Tally], total: Tally) -> dict[str, float | None]:
    hits = {f"hit after {name}, %": found.predicted_hit for name, found in classes.items()}
    return {**hits, "hit of all calls, %": total.predicted_hit}


def _criteria(
    classes: Mapping[str, Tally], total: Tally, one_life: Mapping[str, Tally]
) -> tuple[Criterion, ...]:
    near = (
        Criterion(
            f"{name}: predicted − recorded hit",
            found.difference,
            -_POINTS[name],
            _POINTS[name],
            "points",
        )
        for name, found in classes.items()
    )
    far = (
        Criterion(f"one life of {name} misses {_DEAD} by", _size(found), low=15.0, unit="points")
        for name, found in one_life.items()
    )
    return (
        *near,
        Criterion("absolute error of all calls", total.absolute_error, high=1.5, unit="%"),
        Criterion(f"miss flags wrong, {_DEAD}", classes[_DEAD].wrong_flags, high=10.0, unit="%"),
        *far,
    )


def _size(found: Tally) -> float | None:
    return None if found.difference is None else abs(found.difference)


def _context(
    classes: Mapping[str, Tally], total: Tally, outcomes: Sequence[Outcome]
) -> dict[str, Mapping[str, float | None]]:
    first = tally(outcome for outcome in outcomes if outcome.call.gap is None)
    groups = {**classes, "first calls": first, "all calls": total}
    return {
        name: {
            "calls": found.calls,
            "recorded hit, %": found.recorded_hit,
            "absolute error, %": found.absolute_error,
            "miss flags wrong, %": found.wrong_flags,
        }
        for name, found in groups.items()
    }


GATE = Gate(
    name="ttl-replay",
    about="entries of 300 and 3,600 s, by session, predict recorded cache reads after every gap",
    published=_PUBLISHED,
    grade="P",
    setting=RECORDED,
    source="usage of 17,452 recorded Claude Code calls in 273 sessions (entireio/cli, MIT)",
    judge=_judge,
    headline="hit of all calls, %",
    needs=(_FILE,),
)
