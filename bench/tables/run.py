"""The tables of one run: its metrics by group, its wrong answers with their causes, its bugs."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from bench.tables.parts import Column, Line, Table, dollars, number, tokens

if TYPE_CHECKING:
    from sim.script import Script

__all__ = ["run_tables"]

LIMIT = 20
"""Wrong answers, violations or bugs shown one by one; the rest is counted."""


SERVER = {
    "requests": ("count", "requests served"),
    "seconds": ("s", "until the last agent ended"),
    "slots": ("count", "requests prefilled at once"),
    "utilisation": ("share", "time in which a slot was held, over all slots"),
    "mean_queue": ("count", "requests waiting, over time"),
    "longest_queue": ("count", "most requests waiting at once"),
    "mean_wait": ("s", "wait for a slot, over requests"),
    "p50_wait": ("s", "median wait"),
    "p95_wait": ("s", "wait that 95 % of the requests do not exceed"),
    "longest_wait": ("s", "longest wait"),
    "hit_rate": ("share", "tokens read from the cache ÷ tokens"),
}
"""Unit and meaning of each figure of a server."""


def run_tables(
    script: Script,
    policy: str,
    metrics: Mapping[str, Any],
    events: Sequence[Mapping[str, Any]],
    server: Mapping[str, Any] | None = None,
    asked_as: Sequence[str] = (),
) -> list[Table]:
    """Return the tables of a run: its *metrics* and its event records, as dicts.

    Of several agents, *server* says how busy the one was that they shared. *asked_as* are the words
    that make the run: scenario, options and all but the command; without them those that the
    *script* knows of.
    """
    tables = [_head(script, policy, metrics), *_metrics(metrics)]
    if server:
        tables.append(_server(server))
    answers = [r for r in events if r["type"] == "answer" and r["outcome"] != "correct"]
    acts = [r for r in events if r["type"] == "act" and r["missing"]]
    wrong = [_of(r, _wrong(r)) for r in answers]
    violated = [_of(r, _violation(r)) for r in acts]
    bugs = [_of(r, _bug(r)) for r in events if r["type"] == "bug"]
    breaches = [_of(r, _breach(r)) for r in events if r["type"] == "breach"]
    columns = ("turn", "query", "fact", "answer", "why")
    tables += _list("answers that were not correct", columns, wrong)
    tables += _list("violations", ("turn", "act", "not readable"), violated)
    if not server:
        tables += _explained(script, policy, asked_as, [*answers, *acts])
    tables += _list("policy bugs", ("turn", "rule", "segment", "tokens", "what happened"), bugs)
    tables += _list("declared rules broken", ("turn", "rule", "segment"), breaches)
    return tables


def _explained(
    script: Script, policy: str, asked_as: Sequence[str], asked: Sequence[Mapping[str, Any]]
) -> Iterator[Table]:
    """Yield the command that takes the first of what was *asked* apart, wrong ones before put off.

    A run of several agents has none: one agent is explained.
    """
    if not asked:
        return
    first = min(asked, key=lambda record: record.get("outcome") == "deferred")
    seed = ["--seed", str(script.seed)] if script.seed else []
    words = asked_as or [script.scenario, "-p", policy, *seed]
    about = first["query"] if first["type"] == "answer" else first["act"]
    command = shlex.join(["evictbench", "explain", *words, "--query", str(about)])
    same = "" if asked_as else " (with the same --set and --price)"
    yield Table("why, from admission to answer", notes=(f"{command}{same}",))


def _head(script: Script, policy: str, metrics: Mapping[str, Any]) -> Table:
    settings = script.settings
    counted = script.tokens_from
    ended = str(metrics["status"]) + (f": {metrics['reason']}" if metrics["reason"] else "")
    notes = (
        f"budget {tokens(settings['budget'])} tokens, price {settings['price']}",
        f"tokens: {'as the scenario declares them' if counted == 'script' else counted}",
        ended,
    )
    return Table(f"{script.scenario} under {policy}, seed {script.seed}", notes=notes)


def _metrics(metrics: Mapping[str, Any]) -> Iterator[Table]:
    from sim.metrics import METRICS

    columns = (Column("metric"), Column("value", right=True), Column("unit"), Column("meaning"))
    for group, members in groupby(METRICS, key=lambda metric: metric.group):
        rows = tuple(
            Line((m.name, _value(metrics[m.name], m.unit), m.unit, m.meaning)) for m in members
        )
        yield Table(group, columns, rows)


def _value(value: float | None, unit: str) -> str:
    if value is None:
        return "–"
    if unit == "USD":
        return dollars(value)
    if unit == "share":
        return f"{value:.3f}"
    return tokens(value) if value == round(value) else number(value)


def _server(server: Mapping[str, Any]) -> Table:
    columns = (Column("figure"), Column("value", right=True), Column("unit"), Column("meaning"))
    rows = tuple(
        Line((name, _value(server[name], unit), unit, meaning))
        for name, (unit, meaning) in SERVER.items()
    )
    return Table(f"the server that {tokens(server['agents'])} agents shared", columns, rows)


def _of(record: Mapping[str, Any], cells: tuple[str, ...]) -> tuple[str, ...]:
    """Return the *cells* of a line, with the agent in front where there are several."""
    return (str(record["agent"]), *cells) if "agent" in record else cells


def _wrong(record: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        str(record["turn"]),
        str(record["query"]),
        str(record["key"]),
        str(record["outcome"]),
        str(record["cause"]),
    )


def _violation(record: Mapping[str, Any]) -> tuple[str, ...]:
    return str(record["turn"]), str(record["act"]), ", ".join(map(str, record["missing"]))


def _bug(record: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        str(record["turn"]),
        str(record["rule"]),
        str(record["segment"]),
        "–" if record["tokens"] is None else tokens(record["tokens"]),
        str(record["says"]),
    )


def _breach(record: Mapping[str, Any]) -> tuple[str, ...]:
    return str(record["turn"]), str(record["rule"]), str(record["segment"])


def _list(title: str, headers: Iterable[str], found: list[tuple[str, ...]]) -> Iterator[Table]:
    """Yield the table of what was *found*, if anything was; numbers stand to the right."""
    if not found:
        return
    headers = tuple(headers)
    if len(found[0]) > len(headers):
        headers = ("agent", *headers)
    right = ("agent", "turn", "tokens")
    columns = tuple(Column(header, right=header in right) for header in headers)
    more = len(found) - LIMIT
    notes = (f"… and {tokens(more)} more; --events FILE.jsonl writes all of them",)
    rows = tuple(Line(cells) for cells in found[:LIMIT])
    yield Table(f"{title}: {tokens(len(found))}", columns, rows, notes if more > 0 else ())
