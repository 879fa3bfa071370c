"""Event records: the one source of truth of a run, as plain tuples.

A record is ``(type, time, turn, *values)``; the names of the values stand in :data:`FIELDS`.
Window, books, costs, answers and every ``why`` can be rebuilt from the records alone. Sizes are
whole tokens, times seconds, money US dollars. Positions count resident segments from 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

__all__ = ["FIELDS", "Record", "to_dict", "to_dicts"]

Record = tuple[Any, ...]

FIELDS: Mapping[str, tuple[str, ...]] = {
    # A run begins: what it ran, at what prices (US dollars per million tokens: plain, written,
    # read, output), and the rules its policy declares it breaks.
    "run": ("scenario", "policy", "seed", "budget", "price", "rates", "declares", "digest"),
    # A turn begins.
    "turn": ("attempt", "branch", "missing"),
    # An attempt ends its guard: branch is ok, failed or, unguarded, script.
    "attempt": ("attempt", "branch", "repeated"),
    # A segment comes to the door and enters the log.
    "arrive": ("segment", "kind", "raw_tokens", "score", "copy", "pinned", "path", "pair", "facts"),
    # It enters the window at the end; never is what was left out by a reduction or a page.
    "admit": ("segment", "tokens", "how", "never", "displaced", "score", "floor"),
    # The model asks for a page of a result for a query: with a cursor for the next, or with
    # the pointer to a file for the one that holds the fact. The page arrives, and is decided on.
    "page": ("segment", "page", "number", "pages", "how", "query"),
    # It is kept out: all of it is never-admitted (booked once: tokens is 0 when it was before).
    "refuse": ("segment", "tokens", "reason", "displaced", "score", "floor"),
    # A file is written, or changed by the world; stale are the resident copies left behind.
    "write": ("path", "version", "stale"),
    # A copy is replaced in place, by the policy or by the world.
    "refresh": ("segment", "before", "after", "version", "by"),
    # A query re-scores a segment; crossed: absent or a surrogate, and over the threshold now.
    "score": ("segment", "before", "after", "crossed"),
    # What a turn asks of the window before anything is freed for it.
    "demand": ("tokens", "pinned"),
    # A segment leaves; book is copy or dispensable; by is pass, door, gate, reader, operator,
    # restore or the name of a hook.
    "evict": ("segment", "tokens", "book", "reason", "by"),
    # Segments become one surrogate where the first of them stood; asked: a model wrote it.
    "rewrite": (
        "surrogate",
        "sources",
        "before",
        "after",
        "tagged",
        "kept",
        "reason",
        "by",
        "asked",
    ),
    # What is particular about the surrogate of the rewrite that follows: input is what a summariser
    # was sent for it, None where none was; made_up are those of its facts that it states although
    # nobody said so, unseen those that it could not keep, since the summariser was not given them;
    # saved: the harness keeps the sources where they can be fetched again; last: it stands where
    # the last of them stood.
    "summary": ("surrogate", "input", "made_up", "unseen", "saved", "last"),
    # The text that a stub hid stands in its place again.
    "reveal": ("stub", "segment", "before", "after"),
    # A surrogate is replaced by invented text.
    "restore": ("surrogate", "segment", "before", "after", "key"),
    # The backstop cuts; cause is the last action that grew the window.
    "truncate": ("segment", "tokens", "pinned", "surrogate", "cause"),
    # A rehydration is decided: how is granted, slack, swap or blocked; by is threshold, reader,
    # operator or policy.
    "rehydrate": ("segment", "tokens", "how", "by", "reason", "displaced", "score", "floor"),
    # What was granted, or by itself the harness read anew, comes back, at the end of the window.
    "fetch": ("segment", "tokens", "version", "by"),
    # The policy puts cache breakpoints after these segments, from the next request on; the first
    # long of them ask for the longer life.
    "breakpoints": ("after", "long"),
    # Something about the requests changes that is kept apart from the messages.
    "change": ("what", "value"),
    # The last request is sent again to keep its prefix alive.
    "ping": ("tokens", "read", "written", "plain", "output", "usd", "causes"),
    # What left the window since the last request, as one cut of the prefix: removed is b, less
    # what stands in its place; behind is S, the tokens that stayed behind the first cut, were
    # computed again and would have been read but for it (0 if a refresh or a change broke the
    # prefix in front of what left); broken counts those lost in front of it, too; live is what the
    # last request would have read, truncated the backstop's part of b, and write is w, the price
    # of what was written (US dollars per million tokens).
    "pass": ("removed", "behind", "broken", "live", "truncated", "write"),
    # The request that follows has waited so many seconds for a prefill slot of the server that
    # several agents share.
    "queue": ("seconds",),
    # A request is sent; causes say of each token what it is due to: (cause, tokens, dollars).
    "call": (
        "tokens",
        "read",
        "written",
        "plain",
        "output",
        "usd",
        "output_usd",
        "prefill_seconds",
        "decode_seconds",
        "extra",
        "causes",
    ),
    # The model is asked for a surrogate, in so many calls; prefix says whether each stands at the
    # end of the current request, which it sends on: the cache sees no other.
    "maintain": ("surrogate", "input", "read", "output", "usd", "calls", "prefix", "causes"),
    # A summariser is asked for a summary of these sources and nothing comes of it: why is failed
    # or, where they were more than it takes, overflow.
    "wasted": ("why", "sources", "input", "read", "output", "usd", "calls", "prefix", "causes"),
    # An asked segment that was not resident, full and current at the call.
    "missed": ("segment", "tokens", "by"),
    # A query is answered: outcome is correct, stale, confabulated, abstained or deferred.
    "answer": ("query", "key", "segment", "outcome", "cause", "value"),
    "act": ("act", "requires", "missing"),
    # An explicit request is served: how is resident, admitted, fetched or unavailable.
    "operator": ("operator", "segment", "how"),
    # A rule that the policy declares it breaks is broken.
    "breach": ("rule", "segment"),
    # A policy bug: a backstop cut, or an undeclared inadmissible action that was not applied.
    "bug": ("rule", "segment", "tokens", "says"),
    # The run ends; window is what is resident, in order.
    "end": ("status", "reason", "window", "seconds"),
}


def to_dict(record: Record) -> dict[str, Any]:
    """Return *record* as a dict with its type, time and turn in front."""
    kind, time, turn, *values = record
    return {
        "type": kind,
        "time": time,
        "turn": turn,
        **dict(zip(FIELDS[kind], values, strict=True)),
    }


def to_dicts(records: Iterable[Record]) -> Iterator[dict[str, Any]]:
    """Yield every record as :func:`to_dict` makes it."""
    return map(to_dict, records)
