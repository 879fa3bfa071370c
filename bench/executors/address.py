"""What a user writes for an executor: a word, or the address of a Dask scheduler."""

from __future__ import annotations

from urllib.parse import urlsplit

from sim.errors import InputError

__all__ = ["DASK", "PROCESSES", "scheduler"]

PROCESSES = "processes"
"""Processes of this machine; what is meant where nothing is said."""

DASK = "dask"
"""A Dask cluster on this machine, for as long as the work takes."""

PORT = 8786
"""Where a Dask scheduler listens unless it is told otherwise."""

_PROTOCOLS = {"dask": "tcp", "tcp": "tcp", "tls": "tls"}


def scheduler(text: str) -> str | None:
    """Return the address of the scheduler that *text* names, as Dask writes it.

    None is returned for the words, which name none. Raises InputError for all else.
    """
    if text in (PROCESSES, DASK):
        return None
    protocol, mark, _ = text.partition("://")
    if not mark or protocol not in _PROTOCOLS:
        raise InputError(
            f"unknown executor {text!r}; it is {PROCESSES}, {DASK} or {DASK}://HOST:PORT"
        )
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, PORT if parts.port is None else parts.port
    except ValueError:
        host = None
    if not host or parts.path not in ("", "/") or parts.username or parts.query or parts.fragment:
        raise InputError(f"{text!r} is no address of a scheduler; write {protocol}://HOST:PORT")
    return f"{_PROTOCOLS[protocol]}://{f'[{host}]' if ':' in host else host}:{port}"
