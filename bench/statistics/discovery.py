"""False-discovery control: what p-values of many comparisons are worth together."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["q_values"]


def q_values(p_values: Sequence[float]) -> list[float]:
    """Return the q-value of each of the *p_values* of one family, in their order.

    Of all differences claimed at q ≤ 5 %, at most 5 % are expected to be none. Source: Y. Benjamini
    and Y. Hochberg, Controlling the False Discovery Rate, J. R. Stat. Soc. B 57 (1995), 289–300.
    """
    if not p_values:
        return []
    from scipy.stats import false_discovery_control

    return [float(q) for q in false_discovery_control(p_values)]
