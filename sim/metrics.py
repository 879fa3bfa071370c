"""The metrics: each declared once, and measured by one pass over the event records."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sim.attribution import CAUSES
from sim.break_even import Passes
from sim.errors import PinRemoved

if TYPE_CHECKING:
    from sim.records import Record

__all__ = ["METRICS", "NAMES", "Metric", "measure"]


@dataclass(frozen=True, slots=True)
class Metric:
    """One figure that a run yields.

    *better* is ``less``, ``more`` or None; *empty* what it is when nothing happened;
    *completed_only* marks costs and peaks, which two policies are compared on only where both
    completed, so that dying early is no win. *mean* marks one that is a mean, and no whole number
    though its unit is counted.
    """

    name: str
    unit: str
    better: str | None
    group: str
    meaning: str
    empty: int | float | None = 0
    completed_only: bool = False
    mean: bool = False

    @property
    def whole(self) -> bool:
        """Whether its values are whole numbers."""
        return self.unit in _COUNTED and not self.mean


_COUNTED = frozenset({"count", "tokens", "turn"})
"""Units that a run has a whole number of."""


def _window(name: str, unit: str, meaning: str, mean: bool = False) -> Metric:
    return Metric(name, unit, "less", "window", meaning, None, True, mean)


def _cost(name: str, unit: str, better: str | None, meaning: str) -> Metric:
    return Metric(name, unit, better, "cost", meaning, 0, True)


def _book(name: str, meaning: str) -> Metric:
    return Metric(f"{name}_tokens", "tokens", None, "books", meaning)


METRICS: tuple[Metric, ...] = (
    Metric("queries", "count", None, "answers", "facts asked for"),
    Metric("correct", "count", "more", "answers", "answered with the current value"),
    Metric("stale", "count", "less", "answers", "answered with an older value"),
    Metric("confabulated", "count", "less", "answers", "answered with an invented value"),
    Metric("abstained", "count", "less", "answers", "not answered, and said so"),
    Metric("deferred", "count", "less", "answers", "put off: what was asked for could not come"),
    Metric("acts", "count", None, "answers", "actions that need a standing constraint"),
    Metric("violations", "count", "less", "answers", "acts whose constraint was not readable"),
    Metric("confabulation_rate", "share", "less", "answers", "confabulated ÷ queries", None),
    Metric("first_confabulation_turn", "turn", "more", "answers", "turn of the first one", None),
    Metric(
        "repeated_attempts",
        "count",
        "less",
        "answers",
        "failed attempts of which nothing is resident when the next begins",
    ),
    Metric("attempts", "count", "less", "answers", "attempts begun"),
    _window("peak_tokens", "tokens", "largest request sent"),
    _window("peak_demand_tokens", "tokens", "largest window before a pass"),
    _window("mean_tokens", "tokens", "mean request", mean=True),
    _window("peak_share", "share", "largest request ÷ budget"),
    _cost("calls", "count", "less", "requests sent"),
    _cost("input_tokens", "tokens", "less", "input of all requests"),
    _cost("cached_tokens", "tokens", None, "input read from the prefix cache"),
    _cost("written_tokens", "tokens", "less", "input billed as written to the cache"),
    _cost("plain_tokens", "tokens", None, "input billed as plain"),
    _cost("output_tokens", "tokens", None, "output, that of rewriting calls included"),
    _cost("prefill_cost_usd", "USD", "less", "price of all input"),
    _cost("maintenance_cost_usd", "USD", "less", "price of the calls that rewrite or keep alive"),
    _cost("total_cost_usd", "USD", "less", "input, output and maintenance"),
    *(
        _cost(f"{cause.replace('-', '_')}_cost_usd", "USD", better, f"of the input: {meaning}")
        for cause, better, meaning in (
            ("read", None, "what was read from the cache"),
            ("append", None, "new in the request, let in at the door"),
            ("rehydration", "less", "new in the request, brought back"),
            ("refresh", "less", "refreshed in place, or computed again behind that"),
            ("rewrite", "less", "surrogates, or computed again behind them"),
            ("compaction", "less", "summaries, or computed again behind them"),
            ("eviction", "less", "computed again behind an eviction"),
            ("truncation", "less", "computed again behind a cut of the backstop"),
            ("change", "less", "computed again after a change of tools or effort"),
            ("expiry", "less", "computed again since its entry had expired"),
            ("rule", None, "computed again since the rule never stored it, or does not find it"),
            ("storage", "less", "keeping entries, where that is billed"),
        )
    ),
    _cost("passes", "count", None, "requests in front of which something had left"),
    _cost("paid_back", "count", "more", "passes that paid back by the end of the run"),
    _cost("pings", "count", None, "requests sent again to keep their prefix alive"),
    _cost("prefill_seconds", "s", "less", "time to first token, all requests, queues apart"),
    _cost("queue_seconds", "s", "less", "waits for a prefill slot of a shared server"),
    _cost("total_seconds", "s", "less", "length of the run"),
    Metric("cache_hit_rate", "share", "more", "cost", "cached ÷ input", None, True),
    _book("admitted", "entered through the door"),
    _book("surrogate", "entered as surrogates"),
    _book("fabricated", "entered as invented text"),
    _book("refreshed_in", "entered by a refresh in place"),
    _book("refreshed_out", "left by a refresh in place"),
    _book("rehydrated", "came back from a copy, or from behind a stub"),
    _book("resident", "in the window at the end"),
    _book("evicted_copy", "evicted, with an external copy"),
    _book("evicted_dispensable", "evicted, without a copy"),
    _book("rewritten", "replaced by surrogates or invented text"),
    _book("truncated", "cut by the backstop"),
    _book("never_admitted", "kept out at the door"),
    Metric(
        "missed_tokens",
        "tokens",
        "less",
        "counts",
        "smallest size of what was asked for and not resident, full and current",
    ),
    Metric("evictions", "count", None, "counts", "segments evicted"),
    Metric("rewrites", "count", None, "counts", "rewrites, of one segment or several"),
    Metric("refreshes", "count", None, "counts", "copies replaced in place"),
    Metric("fetches", "count", None, "counts", "segments brought back"),
    Metric("pages", "count", None, "counts", "further pages of a result asked for"),
    Metric("rehydrated_slack", "count", None, "counts", "granted by a gate, nothing displaced"),
    Metric("rehydrated_swap", "count", None, "counts", "granted by a gate against a displaced set"),
    Metric("rehydrated_refused", "count", None, "counts", "blocked by a gate"),
    Metric("edit_turns", "count", None, "counts", "turns in which something left by choice"),
    Metric("reversals", "count", None, "counts", "absent segments that rose over the threshold"),
    Metric("policy_bugs", "count", "less", "counts", "backstop cuts and undeclared breaches"),
    Metric("breaches", "count", "less", "counts", "declared rules broken"),
    Metric("pins_lost", "count", "less", "counts", "pins that were removed or cut"),
    Metric("turns", "count", None, "counts", "turns begun"),
)

_CAUSES = {cause: f"{cause.replace('-', '_')}_cost_usd" for cause in CAUSES}

NAMES: tuple[str, ...] = tuple(metric.name for metric in METRICS)


class _Measure:
    """Accumulates every metric, record by record."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {m.name: m.empty for m in METRICS}
        self.budget = 0
        self.status, self.reason = "completed", ""
        self._output_usd = 0.0
        self._edited = 0
        self._passes = Passes()

    def add(self, name: str, amount: float = 1) -> None:
        self.values[name] += amount

    def highest(self, name: str, value: float) -> None:
        best = self.values[name]
        if best is None or value > best:
            self.values[name] = value

    def edit(self, turn: int) -> None:
        if turn != self._edited:
            self._edited = turn
            self.add("edit_turns")

    def run(self, record: Record) -> None:
        self._passes.add(record)
        self.budget = record[6]

    def turn(self, record: Record) -> None:
        self.add("turns")

    def attempt(self, record: Record) -> None:
        self.add("attempts")
        self.add("repeated_attempts", int(record[5]))

    def admit(self, record: Record) -> None:
        self._passes.add(record)
        self.add("admitted_tokens", record[4])
        self.add("never_admitted_tokens", record[6])

    def page(self, record: Record) -> None:
        self.add("pages")

    def refuse(self, record: Record) -> None:
        self.add("never_admitted_tokens", record[4])

    def refresh(self, record: Record) -> None:
        before, after = record[4], record[5]
        if before or after:
            self.add("refreshes")
        self.add("refreshed_out_tokens", before)
        self.add("refreshed_in_tokens", after)

    def score(self, record: Record) -> None:
        self.add("reversals", int(record[6]))

    def demand(self, record: Record) -> None:
        self.highest("peak_demand_tokens", record[3])

    def evict(self, record: Record) -> None:
        self._passes.add(record)
        self.add("evictions")
        self.add(f"evicted_{record[5]}_tokens", record[4])
        self.edit(record[2])

    def rewrite(self, record: Record) -> None:
        self._passes.add(record)
        self.add("rewrites")
        self.add("rewritten_tokens", record[5])
        self.add("surrogate_tokens", record[6])
        self.edit(record[2])

    def reveal(self, record: Record) -> None:
        self.add("rewritten_tokens", record[5])
        self.add("rehydrated_tokens", record[6])
        self.edit(record[2])

    def restore(self, record: Record) -> None:
        self.add("rewritten_tokens", record[5])
        self.add("fabricated_tokens", record[6])

    def truncate(self, record: Record) -> None:
        self._passes.add(record)
        self.add("truncated_tokens", record[4])
        self.add("pins_lost", int(record[5]))

    def rehydrate(self, record: Record) -> None:
        how = {"slack": "slack", "swap": "swap", "blocked": "refused"}.get(record[5])
        if how is not None:
            self.add(f"rehydrated_{how}")

    def fetch(self, record: Record) -> None:
        self._passes.add(record)
        self.add("fetches")
        self.add("rehydrated_tokens", record[4])

    def queue(self, record: Record) -> None:
        self.add("queue_seconds", record[3])

    def call(self, record: Record) -> None:
        self._passes.add(record)
        tokens, read, written, plain, output, usd, output_usd, prefill, _, _, causes = record[3:]
        for cause, _, part in causes:
            self.add(_CAUSES[cause], part)
        self.add("calls")
        self.add("input_tokens", tokens)
        self.add("cached_tokens", read)
        self.add("written_tokens", written)
        self.add("plain_tokens", plain)
        self.add("output_tokens", output)
        self.add("prefill_cost_usd", usd)
        self.add("prefill_seconds", prefill)
        self._output_usd += output_usd
        self.highest("peak_tokens", tokens)

    def maintain(self, record: Record) -> None:
        self.add("output_tokens", record[6])
        self.add("maintenance_cost_usd", record[7])

    def wasted(self, record: Record) -> None:
        self.add("output_tokens", record[7])
        self.add("maintenance_cost_usd", record[8])

    def ping(self, record: Record) -> None:
        self.add("pings")
        self.add("output_tokens", record[7])
        self.add("maintenance_cost_usd", record[8])

    def pass_(self, record: Record) -> None:
        self._passes.add(record)
        self.add("passes")

    def missed(self, record: Record) -> None:
        self.add("missed_tokens", record[4])

    def answer(self, record: Record) -> None:
        outcome = record[6]
        self.add("queries")
        self.add(outcome)
        if outcome == "confabulated" and self.values["first_confabulation_turn"] is None:
            self.values["first_confabulation_turn"] = record[2]

    def act(self, record: Record) -> None:
        self.add("acts")
        self.add("violations", int(bool(record[5])))

    def breach(self, record: Record) -> None:
        self.add("breaches")
        self.add("pins_lost", int(record[3] == PinRemoved.rule))

    def bug(self, record: Record) -> None:
        self.add("policy_bugs")

    def end(self, record: Record) -> None:
        self.status, self.reason = record[3], record[4]
        self.values["total_seconds"] = record[6]

    def finish(self) -> dict[str, Any]:
        values = self.values
        values["resident_tokens"] = (
            values["admitted_tokens"]
            + values["surrogate_tokens"]
            + values["fabricated_tokens"]
            + values["refreshed_in_tokens"]
            + values["rehydrated_tokens"]
            - values["evicted_copy_tokens"]
            - values["evicted_dispensable_tokens"]
            - values["rewritten_tokens"]
            - values["refreshed_out_tokens"]
            - values["truncated_tokens"]
        )
        values["total_cost_usd"] = (
            values["prefill_cost_usd"] + self._output_usd + values["maintenance_cost_usd"]
        )
        paid = [each.paid_back for each in self._passes.close()]
        values["paid_back"] = None if None in paid else sum(map(bool, paid))
        values["confabulation_rate"] = _share(values["confabulated"], values["queries"])
        values["mean_tokens"] = _share(values["input_tokens"], values["calls"])
        values["cache_hit_rate"] = _share(values["cached_tokens"], values["input_tokens"])
        peak = values["peak_tokens"]
        values["peak_share"] = None if peak is None else peak / self.budget
        return {"status": self.status, "reason": self.reason, **values}


def _share(part: float, whole: float) -> float | None:
    """Return part ÷ whole, or None where there is no denominator."""
    return part / whole if whole else None


def measure(records: Iterable[Record]) -> dict[str, Any]:
    """Return every metric by name, with ``status`` and ``reason``, from the records alone."""
    total = _Measure()
    handlers = {
        name: getattr(total, name)
        for name in vars(_Measure)
        if not name.startswith("_") and name not in {"add", "highest", "edit", "finish"}
    }
    handlers["pass"] = handlers.pop("pass_")
    for record in records:
        handler = handlers.get(record[0])
        if handler is not None:
            handler(record)
    return total.finish()
