"""The metrics, added up as they happen."""

from __future__ import annotations

NAMES = """
queries correct stale confabulated abstained deferred acts violations repeated_attempts attempts
calls input_tokens cached_tokens written_tokens plain_tokens output_tokens prefill_cost_usd
maintenance_cost_usd prefill_seconds total_seconds admitted_tokens surrogate_tokens
fabricated_tokens refreshed_in_tokens refreshed_out_tokens rehydrated_tokens resident_tokens
evicted_copy_tokens evicted_dispensable_tokens rewritten_tokens truncated_tokens
never_admitted_tokens missed_tokens evictions rewrites refreshes fetches pages rehydrated_slack
rehydrated_swap rehydrated_refused edit_turns reversals policy_bugs breaches pins_lost turns pings
"""
COUNTS = NAMES.split()


class Metrics:
    """Sums and maxima; a rate with no denominator is None."""

    def __init__(self, budget):
        self.budget = budget
        self.values = dict.fromkeys(COUNTS, 0)
        for name in ("first_confabulation_turn", "peak_tokens", "peak_demand_tokens"):
            self.values[name] = None
        self.answer_usd = 0.0

    def add(self, name, amount=1):
        self.values[name] += amount

    def highest(self, name, value):
        old = self.values[name]
        self.values[name] = value if old is None else max(old, value)

    def call(self, total, read, written, plain, output, usd, out, seconds):
        self.add("calls")
        self.add("input_tokens", total)
        self.add("cached_tokens", read)
        self.add("written_tokens", written)
        self.add("plain_tokens", plain)
        self.add("output_tokens", output)
        self.add("prefill_cost_usd", usd)
        self.add("prefill_seconds", seconds)
        self.answer_usd += out
        self.highest("peak_tokens", total)

    def answer(self, outcome, turn):
        self.add("queries")
        self.add(outcome)
        if outcome == "confabulated" and self.values["first_confabulation_turn"] is None:
            self.values["first_confabulation_turn"] = turn

    def finish(self):
        v = self.values
        entered = ("admitted", "surrogate", "fabricated", "refreshed_in", "rehydrated")
        left = ("evicted_copy", "evicted_dispensable", "rewritten", "refreshed_out", "truncated")
        balance = sum(v[f"{n}_tokens"] for n in entered) - sum(v[f"{n}_tokens"] for n in left)
        assert balance == v["resident_tokens"], (balance, v["resident_tokens"])
        v["total_cost_usd"] = v["prefill_cost_usd"] + self.answer_usd + v["maintenance_cost_usd"]
        v["confabulation_rate"] = v["confabulated"] / v["queries"] if v["queries"] else None
        v["mean_tokens"] = v["input_tokens"] / v["calls"] if v["calls"] else None
        v["cache_hit_rate"] = v["cached_tokens"] / v["input_tokens"] if v["input_tokens"] else None
        peak = v["peak_tokens"]
        v["peak_share"] = None if peak is None else peak / self.budget
        return v
