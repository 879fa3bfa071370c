"""The rule `auto` with step and minimum 1, by comparing whole requests."""

from __future__ import annotations

__all__ = ["NaiveCache"]

Request = list[tuple[str, int]]
"""Content with its tokens, from front to back."""


class NaiveCache:
    """Every request ever sent, with the time until which it can be read."""

    def __init__(self, ttl: float) -> None:
        self._ttl = ttl
        self._until: list[float] = []
        self._sent: list[Request] = []

    def send(self, now: float, request: Request) -> int:
        """Store *request* and return how many of its tokens were read."""
        shared = [
            _common(request, old) if until > now else 0
            for until, old in zip(self._until, self._sent, strict=True)
        ]
        read = max(shared, default=0)
        if read:
            self._until[shared.index(read)] = now + self._ttl
        self._sent.append(request)
        self._until.append(now + self._ttl)
        return read


def _common(one: Request, other: Request) -> int:
    total = 0
    for (name, tokens), twin in zip(one, other, strict=False):
        if (name, tokens) != twin:
            break
        total += tokens
    return total
