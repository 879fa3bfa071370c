"""Silence: the solver's library writes to standard output itself, whatever it is asked."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["silenced"]

_OUT = 1
"""File descriptor of standard output."""


@contextmanager
def silenced() -> Iterator[None]:
    """Lead what libraries write to standard output nowhere while the block runs."""
    if sys.stdout is not None:
        sys.stdout.flush()
    flush = getattr(ctypes.CDLL(None), "fflush", None) if os.name == "posix" else None
    try:
        kept = os.dup(_OUT)
    except OSError:
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, _OUT)
        yield
    finally:
        if flush is not None:
            flush(None)
        os.dup2(kept, _OUT)
        os.close(nowhere)
        os.close(kept)
