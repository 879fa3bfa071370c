"""Prefix caches as lists, and what a request costs."""

from __future__ import annotations

from dataclasses import asdict

from bench.cells import price_of


def price_row(settings):
    """Return the price row in use as one flat dictionary, its speed and overrides folded in."""
    row = asdict(price_of(settings))
    return {**row, **row.pop("rules"), **row.pop("speed")}


def cost(row, tokens, read, written, plain, output, long=0):
    """Return the dollars for the input and for the output of one request."""
    over = False
    if row.get("cliff_tokens"):
        over = tokens > row["cliff_tokens"] or (
            row.get("cliff_inclusive", False) and tokens == row["cliff_tokens"]
        )
    dear = long * row["long_write"] if long else 0
    usd = (read * row["read"] + (written - long) * row["write"] + dear + plain * row["input"]) / 1e6
    out = output * row["output"] / 1e6
    if over:
        usd, out = usd * row["cliff_input"], out * row["cliff_output"]
    return usd, out


def prefill(row, tokens, read):
    """Return the seconds until the first token."""
    return (tokens - read) / row["prefill_rate"] + read / row["cached_rate"] + row["overhead"]


class Cache:
    """One of the rules; `call(at, request, after, long)` returns tokens read, written and plain.

    A request is a list of (content key, version, tokens, kind); *after* names the keys after which
    a breakpoint stands besides the one at the end; the first *long* of all breakpoints ask for the
    longer life. What was written for that, of the last call, is in `long_written`.
    """

    def __init__(self, row):
        self.row = row
        self.entries = []  # auto: [content, tokens, expiry]; breakpoints: and its life; latest last
        self.blocks = []  # blocks: hashes of the blocks present, least recently used first

    def call(self, at, request, after=(), long=0):
        self.long = long
        self.long_written = 0
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
        if read and found and row["renews"]:
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
        if request and (after or row["marks"] == "head-end"):
            ends.append(len(request))
        ends = sorted(set(ends))
        # position number of every segment: a run of calls, or of results, is one position
        position, here = [], 0
        for i, s in enumerate(request):
            run = i and s[3] in ("tool_call", "tool_result") and request[i - 1][3] == s[3]
            here += 0 if run else 1
            position.append(here)
        live = [e for e in self.entries if e[2] > at]
        matched = live[-row["matched"] :] if row["matched"] else live
        found = None
        for end in ends:
            for length in range(end, 0, -1):
                back = position[end - 1] - position[length - 1]
                if row["lookback"] is not None and back > row["lookback"]:
                    break
                inside = length < len(request) and position[length] == position[length - 1]
                if inside and length != end:
                    continue
                for entry in matched:
                    same = entry[0] == content[:length]
                    if same and (found is None or entry[1] > found[1]):
                        found = entry
        read = found[1] if found else 0
        if found:
            self.used(found, at)
        last = sum(s[2] for s in request[: ends[-1]]) if ends else 0
        written = max(0, last - read) if last >= row["minimum"] else 0
        for n, end in enumerate(ends):
            tokens = sum(s[2] for s in request[:end])
            if tokens < row["minimum"]:
                continue
            life = row["long_ttl"] if n < self.long and row["long_ttl"] else row["ttl"]
            if n < self.long and row["long_ttl"]:
                self.long_written = max(self.long_written, tokens - read if written else 0)
            for entry in self.entries:
                if entry[0] == content[:end] and entry[2] > at:
                    self.used(entry, at)
                    break
            else:
                self.entries = [e for e in self.entries if e[0] != content[:end]]
                self.entries.append([content[:end], tokens, at + life, life])
        return read, written, total - read - written

    def used(self, entry, at):
        """Renew *entry*, which then counts as the latest."""
        if self.row["renews"]:
            entry[2] = at + entry[3]
            self.entries.remove(entry)
            self.entries.append(entry)

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
