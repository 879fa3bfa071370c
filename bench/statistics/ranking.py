"""Ranks of samples, ties kept, and the samples that cannot be told from the best."""

from __future__ import annotations

from collections.abc import Sequence

from bench.statistics.intervals import Sample, difference, mean

__all__ = ["best", "ranks"]


def ranks(samples: Sequence[Sample], better: str | None) -> list[int | None]:
    """Return the place of each sample, from 1; *better* is ``less``, ``more`` or None.

    The samples stand in the order of their means; each shares the leader's place while its paired
    interval to the leader holds zero, the first that does not is the next leader, and its place is
    one more than the number of samples in front of it. Where values are missing, the order is that
    of the means over the seeds two samples have in common: the leader loses to the fewest others.
    A sample of fewer than two values has no place, and nothing has one if *better* is None.
    """
    places: list[int | None] = [None] * len(samples)
    if better is None:
        return places
    losses = _losses(samples, better)
    leader = None
    for position, index in enumerate(_order(losses)):
        if leader is None or not _shares(losses[index], losses[leader]):
            leader, place = index, position + 1
        places[index] = place
    return places


def best(samples: Sequence[Sample], better: str) -> list[int]:
    """Return the best sample's index, then those of all that cannot be told from it, in order.

    *better* is ``less`` or ``more``. A sample cannot be told from the best while its paired
    interval to it holds zero, however many clear differences stand between them: the set may be
    larger than the first place of :func:`ranks`. Empty where no sample has two values.
    """
    losses = _losses(samples, better)
    order = _order(losses)
    return [
        index for index in order if index == order[0] or _shares(losses[index], losses[order[0]])
    ]


def _losses(samples: Sequence[Sample], better: str) -> list[Sample]:
    return [sample if better == "less" else -sample for sample in samples]


def _order(losses: Sequence[Sample]) -> list[int]:
    import numpy as np

    values = [loss[~np.isnan(loss)] for loss in losses]
    able = [index for index, kept in enumerate(values) if len(kept) > 1]
    whole = all(len(values[index]) == len(losses[index]) for index in able)
    means = {index: mean(values[index]) for index in able}

    def beaten(index: int) -> int:
        if whole:
            return 0
        apart = (losses[index] - losses[other] for other in able if other != index)
        return sum(np.nansum(gap) > 0.0 for gap in apart)

    return sorted(able, key=lambda index: (beaten(index), means[index], index))


def _shares(loss: Sample, leader: Sample) -> bool:
    low = difference(loss, leader).low
    return low is None or low <= 0.0
