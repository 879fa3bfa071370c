"""Random draws keyed by name, so that nothing depends on the order of use.

Exogenous draws, made when a script is made, come from a generator per (seed, scenario, replicate,
stream). Draws that depend on what a policy did come from a keyed hash of (seed, stream, event key):
two policies that meet the same event draw the same number. A replicate, one agent of several with
one seed, draws all of its own by a seed that is made of the two.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

__all__ = ["generator", "replicate_seed", "uniform"]


def _digest(*parts: object) -> bytes:
    text = "\x1f".join(str(part) for part in parts)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def uniform(seed: int, stream: str, *event: object) -> float:
    """Return the uniform draw in [0, 1) that belongs to this event of this stream."""
    return (int.from_bytes(_digest(seed, stream, *event)[:8], "big") >> 11) * 2.0**-53


def replicate_seed(seed: int, replicate: int) -> int:
    """Return the seed by which a *replicate* of *seed* draws: that of replicate 0 is *seed* itself.

    Raises ValueError for a replicate below 0.
    """
    if replicate < 0:
        raise ValueError(f"a replicate is numbered from 0, not {replicate}")
    if not replicate:
        return seed
    return int.from_bytes(_digest(seed, "replicate", replicate)[:8], "big") >> 11


def generator(seed: int, scenario: str, stream: str, *key: object) -> np.random.Generator:
    """Return a fresh NumPy generator for *stream*; equal arguments give equal draws.

    Give the turn as part of *key* where a longer run must begin with a shorter run's script.
    """
    import numpy as np

    entropy = int.from_bytes(_digest(seed, scenario, stream, *key), "big")
    return np.random.Generator(np.random.PCG64(entropy))
