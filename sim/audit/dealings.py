"""How each record that moves no tokens is counted, and what it must agree with."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from sim.audit.state import Item, Particulars, State, TurnState
from sim.errors import (
    AuditError,
    CompressThenSpend,
    GrowthWithoutCopy,
    PinRemoved,
    UntaggedRewrite,
)

__all__ = ["DEALINGS", "OUTCOMES"]

OUTCOMES = ("correct", "stale", "confabulated", "abstained", "deferred")

_MOST_BREAKPOINTS = 4
"""Breakpoints that one request may place."""

_DECLARED_AS = MappingProxyType(
    {
        PinRemoved.rule: "ignores_pins",
        UntaggedRewrite.rule: "untagged",
        GrowthWithoutCopy.rule: "grows",
        CompressThenSpend.rule: "spends",
    }
)
"""The rule that is broken → what a policy that may break it declares."""


def _whole(value: Any, what: str) -> int:
    if value.__class__ is not int or value < 0:
        raise AuditError(f"{what} is a whole number from 0 on, not {value!r}")
    return int(value)


def _amount(value: Any, what: str) -> float:
    if value.__class__ not in (int, float) or not math.isfinite(value) or value < 0:
        raise AuditError(f"{what} is a number from 0 on, not {value!r}")
    return float(value)


def _close_turn(s: State) -> None:
    """Check what must be settled by the time a turn is over."""
    if s.now.granted:
        raise AuditError(f"{min(s.now.granted)!r} was granted and never fetched")
    if s.now.queued:
        raise AuditError("the request that waited was never sent")
    missing = +s.now.unexplained
    if missing:
        raise AuditError(f"the backstop cut {min(missing)!r} and no policy bug names it")


def _once(s: State, what: str, name: str) -> None:
    """Check that a stimulus is met for the first time."""
    if (what, name) in s.met:
        raise AuditError(f"{what} {name!r} was met before")
    s.met.add((what, name))


def _all_decided(s: State) -> None:
    """Check that every arrival has been let in or kept out."""
    if s.at_door:
        raise AuditError(f"{min(s.at_door)!r} arrived and was neither admitted nor refused")


def run(
    s: State,
    scenario: str,
    policy: str,
    seed: int,
    budget: int,
    price: str,
    rates: Sequence[float],
    declares: Sequence[str],
    digest: str,
) -> None:
    s.scenario, s.policy = scenario, policy
    s.budget = _whole(budget, "a budget")
    s.declares = frozenset(declares)
    s.passes.rates = [_amount(rate, "a price") for rate in rates]


def turn(s: State, attempt: int | None, branch: str | None, missing: Sequence[str] | None) -> None:
    if s.counts["turns"] and not s.now.calls:
        raise AuditError("the turn before sent no request")
    if s.completed_attempt:
        raise AuditError("an attempt was ok, which ends the run, yet another turn begins")
    _close_turn(s)
    s.now = TurnState()
    s.counts["turns"] += 1


def attempt(s: State, attempt: int, branch: str, repeated: bool | int) -> None:
    if branch not in ("ok", "failed", "script"):
        raise AuditError(f"an attempt ends ok, failed or script, not {branch!r}")
    if attempt <= s.attempt:
        raise AuditError(f"attempt {s.attempt} is followed by attempt {attempt}")
    s.attempt = attempt
    s.counts["attempts"] += 1
    s.counts["repeated"] += int(repeated)
    s.completed_attempt = branch == "ok"


def demand(s: State, tokens: int, pinned: int) -> None:
    if s.now.demanded:
        raise AuditError("the demand of this turn was noted before")
    s.now.demanded = True
    least = s.window.total + s.now.freed
    most = least + s.now.refused
    if not least <= _whole(tokens, "a demand") <= most:
        bounds = f"{least}" if least == most else f"between {least} and {most}"
        raise AuditError(f"the turn demands {bounds} tokens, the record says {tokens}")
    if not 0 <= pinned <= max(tokens, s.window.total):
        raise AuditError(f"{pinned} pinned tokens do not fit into a demand of {tokens}")
    s.peak_demand_tokens = max(s.peak_demand_tokens or 0, tokens)


def queue(s: State, seconds: float) -> None:
    if not 0 < _amount(seconds, "a wait") <= s.time:
        raise AuditError(f"no request can have waited {seconds} s at {s.time} s")
    if s.now.queued:
        raise AuditError("the request that waited before was never sent")
    s.now.queued = True
    s.costs.queue_seconds += seconds


def call(
    s: State,
    tokens: int,
    read: int,
    written: int,
    plain: int,
    output: int,
    usd: float,
    output_usd: float,
    prefill_seconds: float,
    decode_seconds: float,
    extra: bool,
    causes: Sequence[tuple[str, int, float]],
) -> None:
    _all_decided(s)
    if tokens != s.window.total:
        raise AuditError(f"the window holds {s.window.total} tokens, the request {tokens}")
    if tokens > s.budget:
        raise AuditError(f"the request of {tokens} tokens is over the budget of {s.budget}")
    if s.pairs.split:
        raise AuditError(f"a call and its result are split: pair {min(s.pairs.split)!r}")
    parts = [_whole(part, "a part of a request") for part in (read, written, plain)]
    if sum(parts) != tokens:
        raise AuditError(f"{read} read, {written} written and {plain} plain are not {tokens}")
    if bool(extra) != (s.now.calls > 0) or (s.now.calls > 1 and not s.now.pages):
        raise AuditError("a turn sends one request, and one extra one after it or after each page")
    s.now.calls += 1
    s.now.queued = False
    s.now.pages = 0
    s.counts["calls"] += 1
    s.peak_tokens = max(s.peak_tokens or 0, tokens)
    costs = s.costs
    costs.input_tokens += tokens
    costs.cached_tokens += read
    costs.written_tokens += written
    costs.plain_tokens += plain
    costs.output_tokens += _whole(output, "an output")
    costs.prefill_usd += _amount(usd, "a price")
    costs.output_usd += _amount(output_usd, "a price")
    costs.prefill_seconds += _amount(prefill_seconds, "a time")
    _amount(decode_seconds, "a time")
    _explained(causes, tokens, usd)
    for cause, _, part in causes:
        costs.by_cause[cause] = costs.by_cause.get(cause, 0.0) + part
    _passed(s)
    s.passes.add("call", read, output_usd, extra)


def _explained(causes: Sequence[tuple[str, int, float]], tokens: int, usd: float) -> None:
    """Check that the causes of a request make up all of it."""
    found, priced = 0, 0.0
    for _, count, part in causes:
        found += _whole(count, "what is due to a cause")
        priced += _amount(part, "a price")
    if found != tokens:
        raise AuditError(f"the causes explain {found} of {tokens} tokens")
    if not math.isclose(priced, usd, rel_tol=1e-9, abs_tol=1e-15):
        raise AuditError(f"the causes explain {priced} of {usd} dollars")


def _passed(s: State) -> None:
    """Check that what left since the request before was noted as a pass."""
    if s.books.left() != s.left:
        raise AuditError("something left before this request, and no pass says so")


def change(s: State, what: str, value: str) -> None:
    if not what or not value:
        raise AuditError(f"nothing changes: {what!r} is {value!r}")


def ping(
    s: State,
    tokens: int,
    read: int,
    written: int,
    plain: int,
    output: int,
    usd: float,
    causes: Sequence[tuple[str, int, float]],
) -> None:
    parts = [_whole(part, "a part of a request") for part in (read, written, plain)]
    if sum(parts) != tokens:
        raise AuditError(f"{read} read, {written} written and {plain} plain are not {tokens}")
    _explained(causes, tokens, usd)
    s.costs.output_tokens += _whole(output, "an output")
    s.costs.maintenance_usd += usd
    s.counts["pings"] += 1


def breakpoints(s: State, after: Sequence[str], long: int) -> None:
    if len(after) > _MOST_BREAKPOINTS:
        raise AuditError(f"{len(after)} breakpoints are placed")
    if _whole(long, "a number of breakpoints") > len(after) + 1:
        raise AuditError(f"{long} of {len(after)} breakpoints ask for the longer life")


def pass_(
    s: State,
    removed: int,
    behind: int,
    broken: int,
    live: int,
    truncated: int,
    write: float,
) -> None:
    books = s.books
    left, put = books.left(), books.surrogate + books.fabricated + books.revealed
    if left == s.left:
        raise AuditError("nothing has left since the request before")
    expected = (left - put) - (s.left - s.put)
    if removed != expected:
        raise AuditError(f"the pass removed {expected} tokens, the record says {removed}")
    if truncated != books.truncated - s.truncated:
        raise AuditError(f"the backstop cut {books.truncated - s.truncated}, not {truncated}")
    if not 0 <= behind <= broken or behind > s.window.total:
        raise AuditError(f"{behind} tokens behind the cut, {broken} broken")
    _whole(live, "what is live")
    s.left, s.put, s.truncated = left, put, books.truncated
    s.counts["passes"] += 1
    s.passes.add("pass", removed, behind, _amount(write, "a price"))


def _sent(input: int, read: int, calls: int, prefix: bool) -> None:
    """Check what calls for a surrogate were sent, all together."""
    if _whole(read, "what is read") > _whole(input, "an input"):
        raise AuditError(f"{read} tokens are read of a request of {input}")
    if (input > 0) > (_whole(calls, "a number of calls") > 0):
        raise AuditError(f"{input} tokens are sent in no call")
    if read and not prefix:
        raise AuditError(f"{read} tokens are read by a request that the cache has not seen")


def maintain(
    s: State,
    surrogate: str,
    input: int,
    read: int,
    output: int,
    usd: float,
    calls: int,
    prefix: bool,
    causes: Sequence[tuple[str, int, float]],
) -> None:
    _explained(causes, input, usd)
    _sent(input, read, calls, prefix)
    if surrogate in s.items:
        raise AuditError(f"{surrogate!r} is there already; the model is asked for it too late")
    if surrogate in s.promised:
        raise AuditError(f"the model is asked for {surrogate!r} twice")
    s.promised[surrogate] = (input, output)
    s.costs.output_tokens += _whole(output, "an output")
    s.costs.maintenance_usd += _amount(usd, "a price")


def summary(
    s: State,
    surrogate: str,
    input: int | None,
    made_up: Sequence[str],
    unseen: Sequence[str],
    saved: bool,
    last: bool,
) -> None:
    if surrogate in s.items or surrogate in s.summaries:
        raise AuditError(f"what is particular about {surrogate!r} is said too late, or twice")
    sent = None if input is None else _whole(input, "an input")
    s.summaries[surrogate] = Particulars(
        True, sent, frozenset(made_up), frozenset(unseen), bool(saved), bool(last)
    )


def wasted(
    s: State,
    why: str,
    sources: Sequence[str],
    input: int,
    read: int,
    output: int,
    usd: float,
    calls: int,
    prefix: bool,
    causes: Sequence[tuple[str, int, float]],
) -> None:
    _explained(causes, input, usd)
    if why not in ("failed", "overflow"):
        raise AuditError(f"a request for a summary fails or overflows, not {why!r}")
    if why == "overflow" and (input or output or usd or calls):
        raise AuditError("a request that was refused is counted or paid for")
    _sent(input, read, calls, prefix)
    if why == "failed" and not input:
        raise AuditError("a request that failed was sent nothing")
    if not sources:
        raise AuditError("a summary of nothing is asked for")
    for source in sources:
        s.window.held(source)
    s.costs.output_tokens += _whole(output, "an output")
    s.costs.maintenance_usd += _amount(usd, "a price")


def score(s: State, segment: str, before: float, after: float, crossed: bool) -> None:
    item = s.item(segment)
    if not (math.isfinite(before) and math.isfinite(after)) or after < before:
        raise AuditError(f"a query scores {segment!r} from {before} to {after}, which is less")
    if crossed:
        if segment in s.window and (item.kind is not None or item.invented):
            raise AuditError(f"{segment!r} is in the window; it has no threshold to cross")
        s.counts["reversals"] += 1


def missed(s: State, segment: str, tokens: int, by: str) -> None:
    item = s.arrived(segment)
    whole = s.window.sizes.get(segment, 0) >= tokens
    if s.now.calls and s.resident_at_call(segment) and whole and s.current(item):
        raise AuditError(f"{segment!r} was resident, full and current at the call")
    s.counts["missed"] += _whole(tokens, "a size")


def _check_source(s: State, query: str, key: str, source: Item, outcome: str, cause: str) -> None:
    """Check that an answer can come of what the reader is said to have looked at."""
    original = source.kind is not None
    seen = source.id in s.window or s.resident_at_call(source.id) or source.stand_ins > 0
    if outcome in ("correct", "stale") and not seen:
        raise AuditError(f"query {query!r} is answered from {source.id!r}, which was not resident")
    if outcome == "stale" and original and s.current(source):
        raise AuditError(f"query {query!r} is answered stale, but {source.id!r} is current")
    if outcome == "stale" and not original and key not in source.facts:
        raise AuditError(f"query {query!r} is answered stale, but {source.id!r} did not keep it")
    if outcome == "correct":
        if original and not s.current(source):
            raise AuditError(f"query {query!r} is answered from an old version of {source.id!r}")
        if not original and key not in source.facts and not s.now.entered:
            raise AuditError(f"query {query!r} is answered, but {source.id!r} did not keep {key!r}")


def answer(
    s: State,
    query: str,
    key: str,
    segment: str | None,
    outcome: str,
    cause: str,
    value: str | None,
) -> None:
    _once(s, "query", query)
    if outcome not in OUTCOMES:
        raise AuditError(f"an answer is one of {', '.join(OUTCOMES)}, not {outcome!r}")
    if segment is not None:
        _check_source(s, query, key, s.item(segment), outcome, cause)
    elif outcome in ("correct", "stale"):
        raise AuditError(f"query {query!r} is answered {outcome} from no segment")
    s.counts["queries"] += 1
    s.outcomes[outcome] += 1
    if outcome == "confabulated" and s.first_confabulation_turn is None:
        s.first_confabulation_turn = s.turn


def _stood_for(s: State, item: Item | None) -> bool:
    """Return whether a stand-in at the call can have kept all that *item* states.

    What a newer version states is not in the records.
    """
    if item is None or not (item.facts or item.version):
        return False
    return item.stand_ins > 0 or s.now.stand_in_left


def page(s: State, segment: str, page: str, number: int, pages: int, how: str, query: str) -> None:
    item = s.arrived(segment)
    if how not in ("cursor", "pointer"):
        raise AuditError(f"a page is asked for with a cursor or a pointer, not {how!r}")
    if not item.admitted:
        raise AuditError(f"a page of {segment!r} is asked for, which never entered")
    if not 1 <= number <= pages:
        raise AuditError(f"{segment!r} has {pages} pages and no page {number}")
    if page in s.items and s.items[page].admitted:
        raise AuditError(f"page {number} of {segment!r} came before")
    if not s.now.calls:
        raise AuditError(f"page {number} of {segment!r} is asked for before the turn's request")
    s.pages.add(page)
    s.now.pages += 1
    s.counts["pages"] += 1


def act(s: State, act: str, requires: Sequence[str], missing: Sequence[str]) -> None:
    _once(s, "act", act)
    strangers = set(missing).difference(requires)
    if strangers:
        raise AuditError(f"act {act!r} misses {min(strangers)!r}, which it does not require")
    for segment in requires:
        item, lacks = s.items.get(segment), segment in missing
        resident = item is not None and s.resident_at_call(segment)
        if lacks and resident:
            raise AuditError(f"{segment!r} was readable at the call, yet act {act!r} misses it")
        if not lacks and not resident and not _stood_for(s, item):
            raise AuditError(f"{segment!r} was not readable at the call of act {act!r}")
    s.counts["acts"] += 1
    s.counts["violations"] += bool(missing)


def operator(s: State, operator: str, segment: str, how: str) -> None:
    _once(s, "operator", operator)
    if how not in ("resident", "admitted", "fetched", "unavailable"):
        raise AuditError(
            f"a request is served as resident, admitted, fetched or unavailable, not {how!r}"
        )
    if how in ("admitted", "fetched") and segment not in s.now.entered:
        raise AuditError(f"{segment!r} did not enter in this turn, yet it was {how}")


def breach(s: State, rule: str, segment: str) -> None:
    declared = _DECLARED_AS.get(rule)
    if declared is None:
        raise AuditError(f"no policy can declare that it breaks {rule!r}")
    if declared not in s.declares:
        raise AuditError(f"the policy breaks {rule!r} and does not declare {declared}")
    if rule == CompressThenSpend.rule and s.now.spent is None:
        raise AuditError("nothing that bars a rewrite has come in this turn")
    s.counts["breaches"] += 1
    s.counts["pins_lost"] += rule == PinRemoved.rule


def bug(s: State, rule: str, segment: str | None, tokens: int | None, says: str) -> None:
    if segment is not None:
        s.now.unexplained[segment] -= 1
    s.counts["bugs"] += 1


def end(s: State, status: str, reason: str | None, window: Sequence[str], seconds: float) -> None:
    _all_decided(s)
    _close_turn(s)
    if s.promised:
        raise AuditError(f"the model was asked for {min(s.promised)!r}, which never came")
    if s.summaries:
        raise AuditError(f"{min(s.summaries)!r} is described and never came")
    if status not in ("completed", "failed"):
        raise AuditError(f"a run ends completed or failed, not {status!r}")
    order = s.window.order()
    if tuple(window) != order:
        raise AuditError(_first_difference(order, tuple(window)))
    s.status, s.reason, s.seconds = status, reason, _amount(seconds, "a time")
    s.ended = True


def _first_difference(rebuilt: tuple[str, ...], said: tuple[str, ...]) -> str:
    for at, (expected, found) in enumerate(zip(rebuilt, said, strict=False)):
        if expected != found:
            return f"position {at} of the window holds {expected!r}, the record says {found!r}"
    return f"the window holds {len(rebuilt)} segments, the record says {len(said)}"


DEALINGS: Mapping[str, Callable[..., None]] = MappingProxyType(
    {
        "pass": pass_,
    }
    | {
        function.__name__: function
        for function in (
            act,
            answer,
            attempt,
            breach,
            breakpoints,
            bug,
            call,
            change,
            demand,
            end,
            maintain,
            wasted,
            missed,
            operator,
            page,
            ping,
            queue,
            run,
            score,
            summary,
            turn,
        )
    }
)
"""Record type → what it does to the state; each takes the state and the record's values."""
