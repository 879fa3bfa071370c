"""Explanations as tables: the chain of an answer, a segment's life, a turn, the list of causes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bench.explain.steps import few, salience
from bench.tables.parts import Column, Line, Table, dollars, percent, tokens
from scenarios.transcripts.findings import counted

__all__ = ["answer_tables", "group_tables", "list_tables", "segment_tables", "turn_tables"]

Told = Mapping[str, Any]

LIMIT = 60
"""Segments of a window, wrong answers of a run, or runs, shown one by one; JSON has all."""

_IN_FULL = 3
"""Runs with wrong answers that have a table each; more have a line each."""

_CHAIN = (
    Column("turn", right=True),
    Column("event"),
    Column("tokens", right=True),
    Column("s", right=True),
    Column("what happened"),
)


def _head(told: Told) -> str:
    return f"{told['scenario']} under {told['policy']}, seed {told['seed']}"


def _ended(told: Told) -> tuple[str, ...]:
    return (f"the run failed: {told['reason']}",) if told["reason"] else ()


def _arrow(before: str, after: str) -> str:
    if before == after or "" in (before, after):
        return after or before
    return f"{before} → {after}"


def _sizes(step: Told) -> str:
    sizes = [step["tokens_before"], step["tokens_after"]]
    return _arrow(*("" if size is None else tokens(size) for size in sizes))


def _saliences(step: Told) -> str:
    values = step["salience_before"], step["salience_after"]
    return _arrow(*("" if value is None else salience(value) for value in values))


def _chain(steps: Sequence[Told]) -> tuple[Line, ...]:
    rows = []
    for step in steps:
        name = f"{step['segment']}: " if step["segment"] else ""
        mark = "  ← inevitable from here" if step["inevitable"] else ""
        cells = (str(step["turn"]), step["event"], _sizes(step), _saliences(step))
        rows.append(Line((*cells, f"{name}{step['says']}{mark}"), step["inevitable"]))
    return tuple(rows)


def answer_tables(told: Told) -> Iterator[Table]:
    """Yield the chain of a query or act, and what would have prevented it."""
    kind = "act" if told["what"] == "act" else f"query for {told['fact']}"
    title = f"{told['id']}, {kind}, turn {told['turn']}: {_outcome(told)}"
    yield Table(_head(told), notes=_ended(told))
    others = tuple(
        f"{each['source']} stated it, too; turn {each['turn']}: {each['segment']} {each['says']}"
        for each in told["others"]
    )
    yield Table(title, _CHAIN, _chain(told["chain"]), others)
    if told["decision"] is None:
        yield Table("nothing went wrong", notes=("the answer is not wrong; no rule is needed",))
        return
    yield Table("what made it inevitable", notes=tuple(_decision(told)))
    yield _rule(told)


def _outcome(told: Told) -> str:
    said = told["answer"] if told["answer"] != told["fact"] else ""
    answer = f' "{said}"' if said else ""
    return f"{told['outcome']}{answer}"


def _decision(told: Told) -> Iterator[str]:
    decision = told["decision"]
    about = f": {few(decision['segments'])}" if decision["segments"] else ""
    yield f"{decision['says']}{about}"
    if decision["breaks"]:
        yield f"the policy declares that it breaks this rule: {few(decision['breaks'])}"
    if decision["turn"] is None:
        yield "nothing that states it had come to the door by then"
    elif told["opened"] is not None:
        yield f"a draw of the reader decided it; what left it to a draw: {told['opened']['says']}"
    else:
        yield "after it no draw of the reader and nothing that happened could give a right answer"


def _rule(told: Told) -> Table:
    columns = (Column("rule"), Column("the same script under"), Column("what came of it"))
    rows = tuple(Line(_checked(check), check["helped"]) for check in told["checks"])
    rule, prevented = told["rule"], told["prevented_by"]
    notes = [f"{rule['name']}: {rule['says']}"]
    if prevented is None:
        notes.append(
            "no rule that was tried would have prevented it" if rows else "no rule was tried"
        )
    elif prevented["rule"] == rule["name"]:
        notes.append(f"checked: it would have prevented it, under {_under(prevented)}")
    else:
        notes.append(
            f"checked: it would not have prevented it; {prevented['rule']} would have, under "
            f"{_under(prevented)}"
        )
    return Table(f"the rule against it: {rule['name']}", columns, rows, tuple(notes))


def _under(check: Told) -> str:
    return f"{check['policy']} with {check['change']}" if check["change"] else check["policy"]


def _checked(check: Told) -> tuple[str, str, str]:
    why = f": {check['why']}" if check["why"] else ""
    return check["rule"], _under(check), f"{check['outcome']}{why}"


def segment_tables(told: Told) -> Iterator[Table]:
    """Yield where a segment was, what changed it, and the ledger's chain."""
    columns = (
        Column("turns", right=True),
        Column("where"),
        Column("position", right=True),
        Column("tokens", right=True),
        Column("s", right=True),
    )
    yield Table(_head(told), notes=_ended(told))
    rows = tuple(Line(_stay(stay)) for stay in told["stays"])
    yield Table(f"{told['segment']}: where it was at each turn's call", columns, rows)
    yield Table(f"{told['segment']}: what happened to it", _CHAIN, _chain(told["changes"]))
    why = " → ".join(entry["says"] for entry in told["why"])
    yield Table("the ledger", notes=(why or "the ledger has no entry",))


def _stay(stay: Told) -> tuple[str, ...]:
    first, last = stay["first_turn"], stay["last_turn"]
    where = f"as {stay['stand_in']}" if stay["stand_in"] else stay["where"]
    where += ", stale" if stay["stale"] else ""
    places = [place for place in stay["positions"] if place is not None]
    ends = [salience(stay["salience_first"]), salience(stay["salience_last"])]
    return (
        str(first) if first == last else f"{first}–{last}",
        where,
        _arrow(str(places[0]), str(places[-1])) if places else "–",
        "–" if stay["tokens"] is None else tokens(stay["tokens"]),
        _arrow(*ends),
    )


def turn_tables(told: Told) -> Iterator[Table]:
    """Yield what came in a turn, what was done about it, what the call held and cost."""
    demand = "" if told["demand"] is None else f"; {tokens(told['demand'])} asked for"
    budget = f"budget {tokens(told['budget'])}{demand}"
    yield Table(f"{_head(told)}, turn {told['turn']}", notes=(budget, *_ended(told)))
    if told["came"]:
        yield Table("what came", _CHAIN, _chain(told["came"]))
    if told["done"]:
        yield Table("what was done, in order", _CHAIN, _chain(told["done"]))
    yield from _window(told)
    yield from _calls(told)
    if told["answers"]:
        columns = (Column("asked"), Column("outcome"), Column("answer"))
        rows = tuple(
            Line((a["id"], a["outcome"], a["answer"] or ""), a["wrong"]) for a in told["answers"]
        )
        yield Table("what was asked", columns, rows)


def _window(told: Told) -> Iterator[Table]:
    columns = (
        Column("position", right=True),
        Column("segment"),
        Column("kind"),
        Column("tokens", right=True),
        Column("s", right=True),
        Column(""),
    )
    window = told["window"]
    rows = tuple(
        Line(
            (
                str(place["position"]),
                place["segment"],
                place["kind"],
                tokens(place["tokens"]),
                salience(place["salience"]),
                _remark(place),
            )
        )
        for place in window[:LIMIT]
    )
    more = len(window) - LIMIT
    notes = (f"… and {tokens(more)} more behind; --format json has all",) if more > 0 else ()
    total = sum(place["tokens"] for place in window)
    title = f"the window at the call: {tokens(len(window))} segments, {tokens(total)} tokens"
    yield Table(title, columns, rows, notes)


def _remark(place: Told) -> str:
    pinned = ["pinned"] if place["pinned"] else []
    stands = [f"for {few(place['stands_for'])}"] if place["stands_for"] else []
    return ", ".join(pinned + stands)


def _calls(told: Told) -> Iterator[Table]:
    columns = (
        Column("call"),
        Column("cause"),
        Column("tokens", right=True),
        Column("USD", right=True),
    )
    rows = []
    for call in told["calls"]:
        name = "extra" if call["extra"] else "own"
        rows += [
            Line((name, each["cause"], tokens(each["tokens"]), dollars(each["usd"])))
            for each in call["causes"]
        ]
        rows.append(Line((name, "output", tokens(call["output"]), dollars(call["output_usd"]))))
    if rows:
        notes = tuple(
            f"{'extra call' if c['extra'] else 'call'}: {tokens(c['tokens'])} tokens, "
            f"{tokens(c['read'])} read, {tokens(c['written'])} written, {tokens(c['plain'])} "
            f"plain; {dollars(c['usd'])} USD for input, prefill {c['prefill_seconds']:.2f} s"
            for c in told["calls"]
        )
        yield Table("what the call cost", columns, tuple(rows), notes)


def list_tables(runs: Sequence[Told]) -> Iterator[Table]:
    """Yield the wrong answers of *runs*, each with its cause, or of many runs a line each.

    Runs without any share a line.
    """
    wrong = [told for told in runs if told["wrong"]]
    if len(wrong) > _IN_FULL:
        yield _overview(wrong)
    else:
        for told in wrong:
            yield _wrong_of(told)
    clean = [told for told in runs if not told["wrong"]]
    if clean:
        yield _clean(clean)


def _asked(*runs: Told) -> str:
    queries, acts = (sum(told[name] for told in runs) for name in ("queries", "acts"))
    one, more = ("query" if queries == 1 else "queries"), ("act" if acts == 1 else "acts")
    return f"{tokens(queries)} {one}, {tokens(acts)} {more}"


def _wrong_of(told: Told) -> Table:
    columns = (
        Column("turn", right=True),
        Column("id"),
        Column("asked for"),
        Column("outcome"),
        Column("cause"),
        Column("rule"),
    )
    wrong = told["wrong"]
    rows = tuple(
        Line((str(row["turn"]), row["id"], _wanted(row), _outcome(row), _about(row), row["rule"]))
        for row in wrong[:LIMIT]
    )
    more = len(wrong) - LIMIT
    notes = [f"… and {tokens(more)} more; --format json has all"] if more > 0 else []
    notes.append("--query ID shows the chain of one, --segment ID and --turn N what was where")
    title = f"{_head(told)}: {tokens(len(wrong))} wrong of {_asked(told)}"
    return Table(title, columns, rows, (*notes, *_ended(told)))


def _overview(runs: Sequence[Told]) -> Table:
    """Return a line for each of *runs*, those with most wrong answers first.

    What is the same of all of them stands above, not in each line.
    """
    same = [name for name in _RUN if len({told[name] for told in runs}) == 1]
    varies = [name for name in _RUN if name not in same]
    columns = (
        *(Column(name, right=name == "seed") for name in varies),
        Column("wrong", right=True),
        Column("of", right=True),
        Column("most often"),
        Column("rule"),
    )
    ordered = sorted(runs, key=lambda told: -len(told["wrong"]))
    rows = tuple(Line(_in_a_line(told, varies)) for told in ordered[:LIMIT])
    more = len(runs) - LIMIT
    notes = [f"… and {counted(more, 'more run', 'more runs')}; --format json has all"]
    notes = notes if more > 0 else []
    by = [_CHOICE[name] for name in varies]
    notes.append(f"{' and '.join(by)} lists the answers of one; --confabulations has the causes")
    failed = sum(told["status"] == "failed" for told in runs)
    notes += [f"{counted(failed, 'run', 'runs')} of them failed before the end"] if failed else []
    count = sum(len(told["wrong"]) for told in runs)
    where = "".join(_WHERE[name].format(runs[0][name]) for name in same)
    title = f"{where.lstrip(' ,') or 'all'}: {tokens(count)} wrong of {_asked(*runs)}"
    return Table(f"{title} in {tokens(len(runs))} runs", columns, rows, tuple(notes))


_RUN = ("scenario", "policy", "seed")
_CHOICE = {"scenario": "--session NAME", "policy": "-p NAME", "seed": "--seed N"}
_WHERE = {"scenario": "{}", "policy": " under {}", "seed": ", seed {}"}


def _in_a_line(told: Told, varies: Sequence[str]) -> tuple[str, ...]:
    causes = Counter((row["outcome"], row["decision"], row["rule"]) for row in told["wrong"])
    (outcome, decision, rule), _ = causes.most_common(1)[0]
    return (
        *(str(told[name]) for name in varies),
        tokens(len(told["wrong"])),
        tokens(told["queries"] + told["acts"]),
        f"{outcome}: {decision}",
        rule,
    )


def _clean(runs: Sequence[Told]) -> Table:
    """Return the *runs* in which no answer is wrong, a line for each policy."""
    if len(runs) == 1:
        (told,) = runs
        none = f"no answer is wrong ({_asked(told)})"
        return Table(_head(told), notes=(none, *_ended(told)))
    says: dict[str, list[str]] = {}
    for policy in dict.fromkeys(told["policy"] for told in runs):
        mine = [told for told in runs if told["policy"] == policy]
        names = few(list(dict.fromkeys(told["scenario"] for told in mine)))
        line = f"{counted(len(mine), 'run', 'runs')} each ({names}), {_asked(*mine)}"
        failed = [told for told in mine if told["status"] == "failed"]
        line += f"; {tokens(len(failed))} failed: {failed[0]['reason']}" if failed else ""
        says.setdefault(line, []).append(policy)
    notes = tuple(
        f"{', '.join(who)}: {what if len(who) > 1 else what.replace(' each', '', 1)}"
        for what, who in says.items()
    )
    return Table("no answer is wrong", notes=notes)


def _wanted(row: Told) -> str:
    return str(row["fact"]) if row["fact"] else few(row["missing"])


def _about(row: Told) -> str:
    if not row["segments"]:
        return str(row["cause"])
    return f"{few([_known_as(each) for each in row['about']])}: {row['cause']}"


def _known_as(about: Told) -> str:
    """Name a segment with what finds it in a recording: its file's name, else its tool."""
    path = about["path"]
    name = path.replace("\\", "/").rstrip("/").split("/")[-1] if path else about["tool"]
    return f"{about['segment']} ({name})" if name else str(about["segment"])


def group_tables(told: Told) -> Iterator[Table]:
    """Yield all wrong answers of many runs by cause, with an example of each to explain further."""
    runs = counted(told["runs"], "run", "runs")
    asked = f"{counted(told['asked'], 'query or act', 'queries and acts')} in {runs}"
    if not told["groups"]:
        yield Table("no answer is wrong", notes=(asked,))
        return
    columns = (
        Column("", right=True),
        Column("outcome"),
        Column("cause"),
        Column("n", right=True),
        Column("%", right=True),
        Column("seeds", right=True),
        Column("rule"),
        Column("helps", right=True),
    )
    rows = tuple(Line(_group(at, group)) for at, group in enumerate(told["groups"], 1))
    outcomes = ", ".join(_times(n, name) for name, n in told["outcomes"].items() if n)
    notes = (
        "cause: the decision that made it inevitable, and the reason its record gives",
        "helps: of those, how many the same script under the rule answers correctly",
    )
    yield Table(f"{tokens(told['wrong'])} wrong of {asked}: {outcomes}", columns, rows, notes)
    yield Table("one of each, to explain further", notes=tuple(_examples(told["groups"])))


def _times(n: int, outcome: str) -> str:
    """Return how many there are of an *outcome*, which is an adjective or a violation."""
    return counted(n, outcome, f"{outcome}s" if outcome == "violation" else outcome)


def _group(at: int, group: Told) -> tuple[str, ...]:
    reason = f" ({group['reason']})" if group["reason"] else ""
    helps = f"{tokens(group['helped'])}/{tokens(group['checked'])}" if group["checked"] else "–"
    return (
        str(at),
        group["outcome"],
        f"{group['decision']}{reason}",
        tokens(group["count"]),
        percent(group["share"]),
        tokens(group["seeds"]),
        group["rule"],
        helps,
    )


def _examples(groups: Sequence[Told]) -> Iterator[str]:
    for at, group in enumerate(groups, 1):
        where = f"{few(group['policies'])} on {few(group['scenarios'])}"
        became = ", ".join(f"{tokens(n)} {name}" for name, n in group["became"].items())
        under = f"; under {few(group['under'])}: {became}" if group["under"] else ""
        yield f"{at}  {where}{under}"
        yield f"   {group['command']}"
