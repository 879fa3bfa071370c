"""Prefix caches as lists, and what a request costs."""

from __future__ import annotations

import tomllib
from pathlib import Path

BOOK = Path(__file__).parents[2] / "bench" / "prices.toml"


def price_row(name, settings):
    """Return the price row in use as one flat dictionary, its speed and overrides folded in."""
    book = tomllib.loads(BOOK.read_text("utf-8"))
    row = dict(book["prices"][name])
    row.update(book["speeds"][row["speed"]])
    for key in ("rule", "minimum", "step", "ttl", "lookback", "capacity"):
        if settings.get(f"cache.{key}") is not None:
            row[key] = settings[f"cache.{key}"]
    return row


def cost(row, tokens, read, written, plain, output):
    """Return the dollars for the input and for the output of one request."""
    over = False
    if row.get("cliff_tokens"):
        over = tokens > row["cliff_tokens"] or (
            row.get("cliff_inclusive", False) and tokens == row["cliff_tokens"]
        )
    usd = (read * row["read"] + written * row["write"] + plain * row["input"]) / 1e6
    out = output * row["output"] / 1e6
    if over:
        usd, out = usd * row["cliff_input"], out * row["cliff_output"]
    return usd, out


def prefill(row, tokens, read):
    """Return the seconds until the first token."""
    return (tokens - read) / row["prefill_rate"] + read / row["cached_rate"] + row["overhead"]


class Cache:
    """One of the rules; `call(at, request, after)` returns tokens read, written and plain.

    A request is a list of (content key, version, tokens, kind); *after* names the keys after which
    a breakpoint stands besides the one at the end.
    """

    def __init__(self, row):
        self.row = row
        self.entries = []  # auto, breakpoints: [content, tokens, expiry]
        self.blocks = []  # blocks: hashes of the blocks present, least recently used first

    def call(self, at, request, after=()):
        return getattr(self, f"_{self.row['rule']}")(at, request, after)

    def _none(self, at, request, after):
        total = sum(s[2] for s in request)
        return 0, 0, total

    def _auto(self, at, request, after):
        row, total = self.row, sum(s[2] for s in request)
        content = [tuple(s[:3]) for s in request]
        best, found = 0, None
        for entry in self.entries:
            if entry[2] <= at:
                continue
            common = 0
            for mine, theirs in zip(content, entry[0], strict=False):
                if mine != theirs:
                    break
                common += mine[2]
            common = min(common, entry[1])
            if common > best:
                best, found = common, entry
        read = best // row["step"] * row["step"]
        if read < row["minimum"]:
            read = 0
        if read and found:
            found[2] = at + row["ttl"]
        stored = total // row["step"] * row["step"]
        if stored < row["minimum"]:
            stored = 0
        if stored:
            self.entries.append([content, stored, at + row["ttl"]])
        written = max(0, stored - read)
        return read, written, total - read - written

    def _breakpoints(self, at, request, after):
        row, total = self.row, sum(s[2] for s in request)
        content = [tuple(s[:3]) for s in request]
        ends = []  # the prefix lengths (in segments) at which a breakpoint stands
        if after:
            ends = [i + 1 for i, s in enumerate(request) if s[0] in after]
        else:
            ends = [i + 1 for i, s in enumerate(request) if s[3] in ("tools", "system")][-1:]
        if request:
            ends.append(len(request))
        ends = sorted(set(ends))
        # position number of every segment: a run of calls, or of results, is one position
        position, here = [], 0
        for i, s in enumerate(request):
            run = i and s[3] in ("tool_call", "tool_result") and request[i - 1][3] == s[3]
            here += 0 if run else 1
            position.append(here)
        found = None
        for end in ends:
            for length in range(end, 0, -1):
                back = position[end - 1] - position[length - 1]
                if back > row["lookback"]:
                    break
                inside = length < len(request) and position[length] == position[length - 1]
                if inside and length != end:
                    continue
                for entry in self.entries:
                    live = entry[2] > at and entry[0] == content[:length]
                    if live and (found is None or entry[1] > found[1]):
                        found = entry
        read = found[1] if found else 0
        if found:
            found[2] = at + row["ttl"]
        last = sum(s[2] for s in request[: ends[-1]]) if ends else 0
        written = max(0, last - read) if last >= row["minimum"] else 0
        for end in ends:
            tokens = sum(s[2] for s in request[:end])
            if tokens < row["minimum"]:
                continue
            for entry in self.entries:
                if entry[0] == content[:end]:
                    entry[2] = at + row["ttl"]
                    break
            else:
                self.entries.append([content[:end], tokens, at + row["ttl"]])
        return read, written, total - read - written

    def _blocks(self, at, request, after):
        row, total = self.row, sum(s[2] for s in request)
        step, capacity = row["step"], row["capacity"]
        tokens = [(s[0], s[1], s[2], i) for s in request for i in range(s[2])]
        full = [tuple(tokens[: (n + 1) * step]) for n in range(total // step)]
        hashes = [hash(block) for block in full]
        lead = 0
        while lead < len(hashes) and hashes[lead] in self.blocks:
            lead += 1
        read = min(lead * step, (total - 1) // step * step if total else 0)
        kept = hashes[:capacity]
        free = [b for b in self.blocks if b not in kept]
        free = free[max(0, len(free) + len(kept) - capacity) :]
        self.blocks = free + list(reversed(kept))
        return read, 0, total - read
