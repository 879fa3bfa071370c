"""What the values of event records are, as JSON Schema, with what each one says.

Names and their order stand in ``sim.records.FIELDS``; here is what they hold. A value that several
record types have is described once, under its name; one that differs stands under its type, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sim.attribution import CAUSES
from sim.policy import DECLARABLE
from sim.reduction import FORMS
from sim.segments import Kind

__all__ = ["COMMON", "OWN", "TYPES"]

Schema = dict[str, Any]


def _text(says: str) -> Schema:
    return {"type": "string", "description": says}


def _texts(says: str) -> Schema:
    return {"type": "array", "items": {"type": "string"}, "description": says}


def _maybe(schema: Schema) -> Schema:
    return {**schema, "type": [schema["type"], "null"]}


def _word(says: str, *words: str) -> Schema:
    return {"type": "string", "enum": list(words), "description": says}


def _flag(says: str) -> Schema:
    return {"type": "boolean", "description": says}


def _whole(says: str, least: int = 0) -> Schema:
    return {"type": "integer", "minimum": least, "description": says}


def _number(says: str, least: float = 0) -> Schema:
    return {"type": "number", "minimum": least, "description": says}


_CAUSE: Schema = {
    "type": "array",
    "prefixItems": [
        _word("What the tokens are due to", *CAUSES),
        _whole("Tokens"),
        _number("Their price, US dollars"),
    ],
    "items": False,
    "minItems": 3,
}

_WASTED = ("failed", "overflow")
_PREFIX = "Whether each stands at the end of the current request; the cache sees no other"

TYPES: Mapping[str, str] = {
    "run": "A run begins; always the first record, of turn 0.",
    "turn": "A turn begins.",
    "attempt": "An attempt ends its guard.",
    "arrive": "A segment comes to the door and enters the log.",
    "admit": "A segment enters the window, at its end.",
    "page": "The model asks for a page of a result for a query.",
    "refuse": "A segment is kept out.",
    "write": "A file is written, or changed by the world.",
    "refresh": "A copy is replaced in place.",
    "score": "A query re-scores a segment.",
    "demand": "What a turn asks of the window before anything is freed for it.",
    "evict": "A segment leaves by an eviction.",
    "rewrite": "Segments become one surrogate, where the first or the last of them stood.",
    "summary": "What is particular about the surrogate of the rewrite that follows.",
    "reveal": "The text that a stub hid stands in its place again.",
    "restore": "A surrogate is replaced by invented text.",
    "truncate": "The backstop cuts a segment.",
    "rehydrate": "A rehydration is decided.",
    "fetch": "What was granted, or read anew by itself, comes back, at the end of the window.",
    "breakpoints": "The policy puts cache breakpoints, from the next request on.",
    "change": "Something about the requests changes that is kept apart from the messages.",
    "ping": "The last request is sent again to keep its prefix alive.",
    "pass": "What left the window since the last request, as one cut of the prefix.",
    "queue": "The request that follows has waited for the server that several agents share.",
    "call": "A request is sent.",
    "maintain": "The model is asked for a surrogate.",
    "wasted": "A summariser is asked for a summary and nothing comes of it.",
    "missed": "An asked segment was not resident, full and current at the call.",
    "answer": "A query is answered.",
    "act": "The agent acts on standing constraints.",
    "operator": "An explicit request is served.",
    "breach": "A rule is broken that the policy declares it breaks.",
    "bug": "A policy bug: a backstop cut, or an inadmissible action that was not applied.",
    "end": "The run ends; always the last record.",
}
"""What a record of each type says."""

COMMON: Mapping[str, Schema] = {
    "act": _text("Id of the act"),
    "after": _whole("Tokens after it"),
    "attempt": _whole("Number of the attempt", 1),
    "before": _whole("Tokens before it"),
    "book": _word("Whether an external copy exists", "copy", "dispensable"),
    "by": _text(
        "What did it: pass, door, gate, reader, operator, policy, harness, restore, world or a "
        "hook's name"
    ),
    "causes": {
        "type": "array",
        "items": _CAUSE,
        "description": "What each token is due to: [cause, tokens, US dollars]",
    },
    "copy": _flag("Whether an external copy exists"),
    "displaced": _texts("Ids of what left, or would have had to leave, for it"),
    "floor": _maybe({"type": "number", "description": "The salience it had to exceed"}),
    "key": _text("Key of the fact"),
    "missing": _texts("What was needed and was not met"),
    "output": _whole("Output tokens"),
    "pair": _maybe(_text("What a call and its results share")),
    "path": _text("Path of the file"),
    "pinned": _flag("Whether it is pinned"),
    "plain": _whole("Input tokens neither read nor written"),
    "query": _text("Id of the query"),
    "read": _whole("Input tokens read from the cache"),
    "reason": _text("Why, in a word or two; empty where there is none"),
    "rule": _text("Name of the rule"),
    "score": _maybe({"type": "number", "description": "Salience of what comes"}),
    "segment": _text("Id of the segment"),
    "surrogate": _text("Id of the surrogate"),
    "tokens": _whole("Tokens"),
    "usd": _number("US dollars for its input"),
    "version": _whole("Version of the content"),
    "written": _whole("Input tokens written to the cache"),
}
"""Values that mean the same wherever they stand, by name."""

OWN: Mapping[tuple[str, str], Schema] = {
    ("run", "scenario"): _text("Name of the scenario"),
    ("run", "policy"): _text("Label of the policy"),
    ("run", "seed"): _whole("Seed of the script"),
    ("run", "budget"): _whole("The window's limit in tokens", 1),
    ("run", "price"): _text("Name of the price row"),
    ("run", "rates"): {
        "type": "array",
        "items": {"type": "number", "minimum": 0},
        "minItems": 4,
        "maxItems": 4,
        "description": "US dollars per million tokens: plain, written, read, output",
    },
    ("run", "declares"): {
        "type": "array",
        "items": {"enum": sorted(DECLARABLE)},
        "description": "Rules the policy declares it breaks",
    },
    ("run", "digest"): _text("Hash of the unguarded stimuli, the same for every policy"),
    ("turn", "attempt"): _maybe(_whole("Number of the attempt that it is, if it is one", 1)),
    ("turn", "branch"): _word("Branch of the attempt", "", "ok", "failed", "script"),
    ("attempt", "branch"): _word("How it ends", "ok", "failed", "script"),
    ("attempt", "repeated"): _flag("Whether nothing of the failed one before it is resident"),
    ("arrive", "kind"): _word("Kind of the segment", *(str(kind) for kind in Kind)),
    ("arrive", "raw_tokens"): _whole("Tokens before any reduction"),
    ("arrive", "score"): _number("Salience on arrival"),
    ("arrive", "path"): _maybe(_text("Path of the file that it is a read of")),
    ("arrive", "facts"): _texts("Keys of the facts it carries"),
    ("admit", "how"): _word("Form in which it enters", *FORMS),
    ("admit", "never"): _whole("Tokens left out by a reduction or a page, never admitted"),
    ("page", "page"): _text("Id of the page"),
    ("page", "number"): _whole("Which page it is", 1),
    ("page", "pages"): _whole("Pages of the whole result", 1),
    ("page", "how"): _word("By what it is asked for", "cursor", "pointer"),
    ("refuse", "tokens"): _whole("Tokens booked as never admitted; 0 if they were before"),
    ("write", "stale"): _texts("Ids of the resident copies left behind"),
    ("score", "before"): _number("Salience before"),
    ("score", "after"): _number("Salience after"),
    ("score", "crossed"): _flag("Whether it is absent, or a surrogate, and over the threshold now"),
    ("demand", "pinned"): _whole("Tokens that are pinned"),
    ("rewrite", "sources"): _texts("Ids of what it stands for"),
    ("rewrite", "tagged"): _flag("Whether it says what it stands for and how to fetch that"),
    ("rewrite", "kept"): _texts("Keys of the facts that it kept"),
    ("rewrite", "asked"): _flag("Whether the model wrote it"),
    ("summary", "input"): _maybe(
        _whole(
            "Tokens that a summariser was sent; 0 if nobody was asked, null if it was no summary"
        )
    ),
    ("summary", "made_up"): _texts("Keys of what it states although nobody said so"),
    ("summary", "unseen"): _texts(
        "Keys of what its sources state and the summariser was not given"
    ),
    ("summary", "saved"): _flag("Whether the sources are kept where they can be fetched again"),
    ("summary", "last"): _flag("Whether it stands where the last of its sources stood"),
    ("reveal", "stub"): _text("Id of the stub"),
    ("restore", "segment"): _text("Id of the invented text"),
    ("truncate", "surrogate"): _flag("Whether it is a surrogate"),
    ("truncate", "cause"): _text("The last action that grew the window"),
    ("rehydrate", "how"): _word("How it is decided", "granted", "slack", "swap", "blocked"),
    ("rehydrate", "by"): _word(
        "Who asks; the policy recalls, the harness reads anew of its own accord",
        *("threshold", "reader", "operator", "policy", "harness"),
    ),
    ("breakpoints", "after"): _texts("Ids of the segments behind which they stand"),
    ("breakpoints", "long"): _whole("How many of the first ask for the longer life"),
    ("change", "what"): _word("What", "tools", "system", "tool_choice", "images", "effort"),
    ("change", "value"): _text("What it is from now on"),
    ("ping", "usd"): _number("US dollars, output included"),
    ("pass", "removed"): {
        "type": "integer",
        "description": "Tokens that left, less what stands in their place",
    },
    ("pass", "behind"): _whole("Tokens behind the cut that would have been read but for it"),
    ("pass", "broken"): _whole("Those, and the ones lost in front of the cut"),
    ("pass", "live"): _whole("Tokens of the last request that could still be read"),
    ("pass", "truncated"): _whole("Tokens of it that the backstop cut"),
    ("pass", "write"): _number("Price of what was written, US dollars per million tokens"),
    ("queue", "seconds"): _number("Seconds it has waited"),
    ("call", "tokens"): _whole("Input tokens: read, written and plain"),
    ("call", "output_usd"): _number("US dollars for its output"),
    ("call", "prefill_seconds"): _number("Seconds of prefill"),
    ("call", "decode_seconds"): _number("Seconds of decoding"),
    ("call", "extra"): _flag("Whether it is a turn's further call, after a fetch"),
    ("maintain", "input"): _whole("Input tokens"),
    ("maintain", "usd"): _number("US dollars, output included"),
    ("maintain", "calls"): _whole("How many calls it takes; their sizes are added up"),
    ("maintain", "prefix"): _flag(_PREFIX),
    ("wasted", "why"): _word("Why: it failed, or it was asked for more than it takes", *_WASTED),
    ("wasted", "sources"): _texts("Ids of what it was to stand for"),
    ("wasted", "input"): _whole("Input tokens"),
    ("wasted", "usd"): _number("US dollars, output included"),
    ("wasted", "calls"): _whole("How many calls it took; their sizes are added up"),
    ("wasted", "prefix"): _flag(_PREFIX),
    ("missed", "tokens"): _whole("Its smallest possible size"),
    ("missed", "by"): _word("What asked for it", "query", "operator"),
    ("answer", "segment"): _maybe(_text("Id of what was answered from, or is missed")),
    ("answer", "outcome"): _word(
        "What came of it", "correct", "stale", "confabulated", "abstained", "deferred"
    ),
    ("answer", "cause"): _text("The row of the reader's table that applied"),
    ("answer", "value"): _text("What was asserted; empty where nothing was"),
    ("act", "requires"): _texts("Ids of what should be readable"),
    ("act", "missing"): _texts("Ids of those that were not"),
    ("operator", "operator"): _text("Id of the request"),
    ("operator", "how"): _word("How", "resident", "admitted", "fetched", "unavailable"),
    ("bug", "says"): _text("What happened, in a sentence"),
    ("end", "status"): _word("How the run ended", "completed", "failed"),
    ("end", "window"): _texts("Ids of what is resident, in order"),
    ("end", "seconds"): _number("Length of the run"),
}
"""Values of one record type alone, by type and name."""
