"""What every family is fitted in: the head, the messages, waits, calls and questions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import fmean, median

from scenarios.fitting.distributions import Lags, quantile, seconds, sigma_of, sizes
from scenarios.fitting.distributions import lags as fitted_lags
from scenarios.fitting.measure import LONG_WAIT, Figures
from scenarios.fitting.setting import Part, Setting, figure

__all__ = ["Note", "common", "length", "over"]

_NEAREST = 2
"""Turns from which a question goes back; what is nearer counts as fresh, as in the families."""
_MOST_ASKED = 4.0
_MOST_CALLS = 8.0

Note = Callable[[str], object]


def common(figures: Figures, missed: Note) -> Iterator[Part]:
    """Yield the settings that every family has, fitted to *figures*.

    *missed* is told what could not be fitted.
    """
    yield from _head(figures)
    yield from _user(figures, missed)
    yield from _words(figures, missed)
    yield from _calls(figures, missed)
    yield from _questions(figures, missed)


def _share(part: float, whole: float) -> float:
    return float(f"{part / whole:.4g}") if whole else 0.0


def over(values: Sequence[int]) -> str:
    """Say what the median of *values* is taken over."""
    if len(values) == 1:
        return "the session's own"
    return f"median of {len(values)} sessions, {min(values):,} to {max(values):,}"


def length(figures: Figures) -> int:
    """Return the turns that a fitted scenario has: the median of the sessions."""
    return max(1, round(median(figures.turns)))


def _head(figures: Figures) -> Iterator[Part]:
    turns = length(figures)
    head, task = (max(1, round(median(values))) for values in (figures.heads, figures.tasks))
    budget = max(round(median(figures.budgets)), head + task)
    yield Part(f"Calls of the model: {over(figures.turns)}.", (Setting("turns", turns),))
    yield Part(
        f"The budget that `replay` takes for it: {over(figures.budgets)}.",
        (Setting("budget", budget),),
    )
    yield Part(
        f"Pinned tokens of the first request: system prompt and tools ({over(figures.heads)}), "
        f"task ({over(figures.tasks)}); at least 1 each.",
        (Setting("system.tokens", head), Setting("task.tokens", task)),
    )


def _user(figures: Figures, missed: Note) -> Iterator[Part]:
    called = sum(figures.calls)
    fewer = called < len(figures.calls)
    started = figures.later - called if fewer else len(figures.users)
    why = (
        f"Turns that the user starts: {len(figures.users):,} of {figures.later:,} behind the first."
    )
    if fewer:
        why += (
            f" With {figures.quiet} more that bring no call: a turn of the model's own has at "
            "least one here."
        )
    elif figures.quiet:
        missed(
            f"{figures.quiet} turns bring neither a call nor a message of the user; here every "
            "turn brings one of them."
        )
    yield Part(why, (Setting("user.share", min(1.0, _share(started, figures.later))),))
    if figures.users:
        yield sizes("user", figures.users, "Message of the user, tokens a turn")
    else:
        missed("user.*: the user started no turn, the default stays.")
    if figures.user_waits:
        what = "Seconds before a turn of the user"
        yield seconds("wait", figures.user_waits, what, LONG_WAIT)
    else:
        why = "the record has no times" if not figures.timed else "there is none"
        missed(f"wait.*, what the user waits: {why}, the default stays.")
    yield from _pauses(figures)


def _pauses(figures: Figures) -> Iterator[Part]:
    waits, own = figures.own_waits, len(figures.calls)
    if waits:
        yield Part(
            f"Pauses before the model's own turns: {len(waits)} of {own}, median seconds.",
            (
                Setting("pause.share", _share(len(waits), own)),
                Setting("pause.seconds", round(quantile(waits, 0.5), 3)),
            ),
        )


def _words(figures: Figures, missed: Note) -> Iterator[Part]:
    spoken = [words for words in figures.words if words]
    why = f"Turns in which the model wrote more than calls: {len(spoken):,} of {figures.later:,}."
    yield Part(why, (Setting("message.share", _share(len(spoken), figures.later)),))
    if not spoken:
        missed("call.output_tokens, message.*: the model wrote nothing but calls, defaults stay.")
        return
    middle, tail = quantile(spoken, 0.5), quantile(spoken, 0.9)
    why = (
        f"Tokens it then wrote, thinking included: n = {len(spoken):,}, median {figure(middle)}, "
        f"p90 {figure(tail)}, largest {max(spoken):,}; sigma from median and p90."
    )
    yield Part(
        why,
        (
            Setting("call.output_tokens", max(1, round(middle))),
            Setting("message.sigma", min(10.0, float(f"{sigma_of(spoken):.3g}"))),
            Setting("message.cap", max(spoken)),
        ),
    )


def _calls(figures: Figures, missed: Note) -> Iterator[Part]:
    called, turns = sum(figures.calls), len(figures.calls)
    if not called:
        missed("calls.mean, latency.*, call.tokens: the model called no tool, defaults stay.")
        return
    mean = min(_MOST_CALLS, max(1.0, float(f"{called / turns:.4g}")))
    largest = max(figures.calls)
    yield Part(
        f"Calls in a turn that the user does not start: {called:,} in {turns:,}, at most {largest} "
        "at once; geometric by its mean, 1 to 8.",
        (Setting("calls.mean", mean),),
    )
    if figures.latencies:
        yield seconds("latency", figures.latencies, "Seconds from a call to its result")
    else:
        missed("latency.*: the record has no times, the default stays.")
    if figures.call_tokens:
        tokens = figures.call_tokens
        yield Part(
            f"Tokens of a call that writes no file, the mean of {len(tokens):,}, so that the sum "
            f"is right (median {figure(quantile(tokens, 0.5))}, p90 "
            f"{figure(quantile(tokens, 0.9))}): here all are of one size.",
            (Setting("call.tokens", max(1, round(fmean(tokens)))),),
        )
    yield _scores(figures)


def _scores(figures: Figures) -> Part:
    scores = figures.scores or [1.0]
    said = figures.message_scores or [1.0]
    return Part(
        "Salience on arrival as `replay` gives it: messages and calls in the median, results from "
        "the least to the most.",
        (
            Setting("score.message", float(f"{median(said):.3g}")),
            Setting("score.low", float(f"{min(scores):.3g}")),
            Setting("score.high", float(f"{max(scores):.3g}")),
        ),
    )


def _questions(figures: Figures, missed: Note) -> Iterator[Part]:
    asked = [lag for lag in figures.lags if lag >= _NEAREST]
    fresh = min(_MOST_ASKED, _share(len(figures.lags) - len(asked), figures.later))
    yield Part(
        f"Questions found in the record, where the model writes of what had come: {len(asked)} go "
        f"back {_NEAREST} turns or more, {len(figures.lags) - len(asked)} less.",
        (Setting("fresh.rate", fresh),),
    )
    yield _returns(figures, asked, missed)
    yield Part(
        "Each asks for one segment and touches no other.",
        (Setting("returns.mates", 0),),
    )
    if figures.relevances:
        yield Part(
            "Relevance of a question as `replay` gives it, from the least to the most.",
            (
                Setting("query.low", float(f"{min(figures.relevances):.3g}")),
                Setting("query.high", float(f"{max(figures.relevances):.3g}")),
            ),
        )
    count = round(fmean(figures.facts)) if figures.facts else 1
    yield Part(
        f"Facts of a segment that is asked about, mean of {len(figures.facts)}; others state as "
        "many here.",
        (Setting("facts.count", min(100, max(1, count))),),
    )


def _returns(figures: Figures, asked: list[int], missed: Note) -> Part:
    """Return how often questions go back, and how far."""
    if not asked:
        missed("returns.alpha: no question goes back, the default stays.")
        return Part("No question goes back.", (Setting("returns.rate", 0.0),))
    turns = length(figures)
    wanted = len(asked) / figures.later * (turns - 1)
    nearest = range(_NEAREST, int(quantile(asked, 0.5)) + 1)
    found = fitted_lags(asked, turns, wanted, nearest, _MOST_ASKED)
    if found is None:
        missed("returns.*: the lags of the questions are too few or too equal, 0.5 as by default.")
        rate = wanted / max(1, turns - _NEAREST)
        found = Lags(_NEAREST, 0.5, min(_MOST_ASKED, rate), 1.0)
    why = (
        f"{len(asked)} questions, turns they go back: median {figure(quantile(asked, 0.5))}, p90 "
        f"{figure(quantile(asked, 0.9))}, largest {max(asked)}; Pareto lags by least "
        f"Kolmogorov-Smirnov distance ({found.distance:.2f}). The rate makes good for lags that "
        "lead behind the first turn and ask nothing."
    )
    return Part(
        why,
        (
            Setting("returns.min_lag", found.nearest),
            Setting("returns.alpha", found.power),
            Setting("returns.rate", float(f"{found.rate:.4g}")),
        ),
    )
