"""Explanations as plain data: of an answer or act, a segment, a turn, and all that is wrong.

Everything shown as text and as JSON comes from what is made here; see docs/explain.md for the keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from bench.explain.causes import Cause, cause_of
from bench.explain.checking import Check, Reruns, brief, check, rule_for
from bench.explain.findings import Finding, Told, findings, is_wrong, tell
from bench.explain.places import stays, window_at
from bench.explain.rebuilt import named
from bench.explain.steps import Step, few, steps
from sim.errors import InputError, unknown

if TYPE_CHECKING:
    from bench.explain.rules import Rule
    from sim.records import Record
    from sim.script import Script

__all__ = ["Case", "of_answer", "of_segment", "of_turn", "why_words", "wrong_answers"]


@dataclass(frozen=True, slots=True)
class Case:
    """A run to be explained: *script* under *policy*, a spec, with what it left."""

    script: Script
    policy: str
    metrics: dict[str, Any]
    records: Sequence[Record]

    @property
    def told(self) -> Told:
        """The run as explanations see it."""
        return tell(self.script, self.records)

    def head(self) -> dict[str, Any]:
        """Return what it was the run of, and how it ended."""
        return {
            "scenario": self.script.scenario,
            "policy": self.policy,
            "seed": self.script.seed,
            "status": self.metrics["status"],
            "reason": self.metrics["reason"] or None,
        }


def wrong_answers(case: Case) -> dict[str, Any]:
    """Return the wrong answers of a run, each with its cause in a line and the rule against it."""
    told = case.told
    rows = []
    for finding in findings(told):
        cause = cause_of(told, finding)
        rule = rule_for(told, finding, cause)
        rows.append(
            {
                "turn": finding.turn,
                "what": finding.what,
                "id": finding.id,
                "fact": finding.key or None,
                "outcome": finding.outcome,
                "answer": finding.value or None,
                "missing": list(finding.missing),
                "segments": list(cause.segments),
                "about": [told.stated.about(name) for name in cause.segments],
                "decision": cause.decision,
                "cause": brief(told.records, cause),
                "rule": rule.name,
            }
        )
    answers = sum(r[0] == "answer" for r in case.records)
    acts = sum(r[0] == "act" for r in case.records)
    return {**case.head(), "queries": answers, "acts": acts, "wrong": rows}


def of_answer(case: Case, name: str, reruns: Reruns) -> dict[str, Any]:
    """Return the chain of the query or act *name*; raises InputError if the run asked no such."""
    asked = [r[3] for r in case.records if r[0] in ("answer", "act")]
    if name not in asked:
        raise InputError(_unknown("query or act", name, asked, "the run asks nothing"))
    told = case.told
    finding = findings(told, (name,))[0]
    body = {**case.head(), **_question(told, finding)}
    if not finding.wrong:
        chain = _chain(told, finding, None)
        return {**body, "chain": chain, "others": _others(told, finding, ()), "decision": None,
                "opened": None, "rule": None, "checks": [], "prevented_by": None}  # fmt: skip
    cause = cause_of(told, finding)
    rule = rule_for(told, finding, cause)
    checks = check(reruns, finding, cause, rule, case.policy)
    return {
        **body,
        "chain": _chain(told, finding, cause),
        "others": _others(told, finding, cause.segments),
        "decision": _decision(told, cause),
        "opened": _opened(told, finding, cause),
        **_verdict(rule, checks),
    }


def _question(told: Told, finding: Finding) -> dict[str, Any]:
    source = _roots(finding, None)
    values = told.stated.values(finding.key) if finding.key else {}
    expected = next((values[name] for name in source if name in values), None)
    return {
        "what": finding.what,
        "id": finding.id,
        "turn": finding.turn,
        "fact": finding.key or None,
        "outcome": finding.outcome,
        "row": finding.cause or None,
        "answer": finding.value or None,
        "source_says": expected or None,
        "missing": list(finding.missing),
    }


def _roots(finding: Finding, cause: Cause | None) -> list[str]:
    """Return the segments whose chain it is: those of the decision, else what the reader saw."""
    if finding.what == "act":
        return list(finding.carriers)
    looked = [*(cause.segments if cause else ()), finding.segment or ""]
    for names in (looked, finding.carriers[-1:]):
        items = [finding.items[n] for n in names if n in finding.items]
        roots = [o.id for item in items for o in item.originals() if o.id in finding.carriers]
        if roots:
            return list(dict.fromkeys(roots))
    return []


def _chain(told: Told, finding: Finding, cause: Cause | None) -> list[dict[str, Any]]:
    chain = steps(told, _roots(finding, cause), finding.index)
    for step in chain:
        step.inevitable = cause is not None and step.index == cause.index
    last = _answer_step(finding, told)
    last.inevitable = cause is not None and cause.index == finding.index
    return [step.as_dict() for step in (*chain, last)]


def _answer_step(finding: Finding, told: Told) -> Step:
    if finding.what == "act":
        says = f"{finding.id} acts and has all it requires"
        if finding.missing:
            says = f"violation: {finding.id} acts and cannot read {few(finding.missing)}"
        return Step(finding.index, finding.turn, "act", finding.missing[0] if finding.missing
                    else "", says)  # fmt: skip
    value = f'"{finding.value}"' if finding.value else "nothing"
    made_up = f"answers {value}: made up" if finding.value else "makes an answer up"
    row = _ROWS.get(finding.cause, finding.cause)
    says = {
        "confabulated": f"{made_up}; {row}",
        "stale": f"answers {value}: an older version; {row}",
        "abstained": f"does not answer; {row}",
        "deferred": f"the answer is put off; {row}",
    }.get(finding.outcome, f"answers {value}; {row}")
    values = told.stated.values(finding.key)
    roots = _roots(finding, None)
    source = next((values[name] for name in roots if name in values), "")
    if source and source != finding.key and finding.outcome == "confabulated":
        says += f'; the source says "{source}"'
    return Step(
        finding.index, finding.turn, "answered", finding.segment or "", says,
        more={"outcome": finding.outcome, "answer": finding.value or None, "row": finding.cause},
    )  # fmt: skip


_ROWS = {
    "full": "it is in the window, full and current",
    "kept": "what stands for it kept the fact",
    "stale": "what is in the window was never brought up to date",
    "untagged": "the surrogate does not say that it stands for more",
    "tagged": "the surrogate says that it stands for more, and that is not asked for, or not there",
    "invented": "it repeats text that was made up before",
    "gone": "what said it is gone and has no copy",
    "never admitted": "what said it never entered, or entered without it",
    "paged": "the page that says it was not turned to",
    "distraction": "drawn from a bulk file in the window",
}


def _others(told: Told, finding: Finding, segments: Sequence[str]) -> list[dict[str, Any]]:
    """Return what had become of the other segments that stated the fact."""
    if finding.what == "act":
        return []
    shown = set(_roots(finding, Cause("", "", None, tuple(segments))))
    found = []
    for name in finding.carriers:
        if name in shown:
            continue
        life = steps(told, [name], finding.index)
        if life:
            last = life[-1].as_dict()
            told_of = {key: last[key] for key in ("turn", "event", "segment", "says")}
            found.append({"source": name, **told_of})
    return found


def _decision(told: Told, cause: Cause) -> dict[str, Any]:
    return {
        "decision": cause.decision,
        "reason": cause.reason or None,
        "turn": None if cause.index is None else told.records[cause.index][2],
        "segments": list(cause.segments),
        "kind": cause.kind or None,
        "copy": cause.copy,
        "breaks": list(cause.broke),
        "says": brief(told.records, cause),
    }


def _opened(told: Told, finding: Finding, cause: Cause) -> dict[str, Any] | None:
    """Return what left the answer to a draw of the reader, where it was one."""
    if cause.index != finding.index or finding.opened is None:
        return None
    record = told.records[finding.opened]
    values = named(record)
    what = {"admit": "the admission of", "evict": "the eviction of", "rewrite": "the rewrite of",
            "truncate": "the cut of", "refuse": "the refusal of", "write": "the write of",
            }.get(record[0], f"the {record[0]} of")  # fmt: skip
    about = values.get("segment") or values.get("path") or few(values.get("sources", ()))
    return {"turn": record[2], "event": record[0], "says": f"{what} {about}, turn {record[2]}"}


def _verdict(rule: Rule, checks: Sequence[Check]) -> dict[str, Any]:
    rows = [{**asdict(c.remedy), "change": c.remedy.change, "outcome": c.outcome, "why": c.why,
             "helped": c.helped} for c in checks]  # fmt: skip
    for row in rows:
        row["option"] = row["option"] or None
        row["change"] = row["change"] or None
        row["why"] = row["why"] or None
        del row["kind"]
    helped = next((row for row in rows if row["helped"]), None)
    return {
        "rule": {"name": rule.name, "says": rule.says},
        "checks": rows,
        "prevented_by": helped,
    }


def of_segment(case: Case, name: str) -> dict[str, Any]:
    """Return where the segment *name* was; raises InputError if the run has none of that name."""
    told = case.told
    names = [n for r in case.records for n in _named(r)]
    if name not in names:
        raise InputError(_unknown("segment", name, names, "nothing ever arrived"))
    from sim.audit import audit

    life = steps(told, [name])
    return {
        **case.head(),
        "segment": name,
        "changes": [step.as_dict() for step in life],
        "stays": [stay.as_dict() for stay in stays(told, name)],
        "why": [_why(entry) for entry in audit(case.records).why(name)],
    }


def _named(record: Record) -> list[str]:
    if record[0] in ("arrive", "rewrite"):
        return [record[3]]
    return [record[4]] if record[0] == "restore" else []


def _why(entry: tuple[Any, ...]) -> dict[str, Any]:
    return dict(zip(("segment", "what", "turn"), entry, strict=False), says=why_words(entry))


def why_words(entry: tuple[Any, ...]) -> str:
    """Return an entry of the chain that the ledger answers with, in words; see ``Audit.why``."""
    segment, what, turn, *details = entry
    words = f"{segment} {what} turn {turn}"
    if what == "rewritten":
        words += f" as {details[0]}, {'tagged' if details[1] else 'untagged'}"
    elif what == "restored":
        words += f" as {details[0]}, invented"
    elif what == "revealed":
        words += f": {details[0]} is shown again"
    elif details:
        words += f" ({', '.join(map(str, details))})"
    return words


def of_turn(case: Case, turn: int) -> dict[str, Any]:
    """Return what the window held at the call of *turn*, what came, and what the pass did and why.

    Raises InputError for a turn that the run never began.
    """
    last = max((r[2] for r in case.records), default=0)
    if not 1 <= turn <= last:
        raise InputError(f"the run has turns 1 to {last}, and no turn {turn}")
    told = case.told
    calls = [named(r) for r in case.records if r[0] == "call" and r[2] == turn]
    done = [step.as_dict() for step in steps(told, None, turn=turn)]
    demand = next((r[3] for r in case.records if r[0] == "demand" and r[2] == turn), None)
    return {
        **case.head(),
        "turn": turn,
        "budget": told.settings["budget"],
        "demand": demand,
        "came": [step for step in done if step["event"] in ("admitted", "kept out")],
        "done": [step for step in done if step["event"] not in ("admitted", "kept out")],
        "window": [asdict(place) for place in window_at(told, turn)],
        "calls": [_call(call) for call in calls],
        "answers": [_said(r) for r in case.records if r[2] == turn and r[0] in ("answer", "act")],
    }


def _call(call: dict[str, Any]) -> dict[str, Any]:
    causes = [{"cause": c, "tokens": t, "usd": usd} for c, t, usd in call["causes"]]
    kept = ("tokens", "read", "written", "plain", "output", "usd", "output_usd",
            "prefill_seconds", "extra")  # fmt: skip
    return {**{name: call[name] for name in kept}, "causes": causes}


def _said(record: Record) -> dict[str, Any]:
    values = named(record)
    if record[0] == "act":
        return {"id": values["act"], "outcome": "violation" if values["missing"] else "kept",
                "answer": None, "wrong": is_wrong(record)}  # fmt: skip
    return {"id": values["query"], "outcome": values["outcome"], "answer": values["value"] or None,
            "wrong": is_wrong(record)}  # fmt: skip


def _unknown(what: str, name: str, known: Sequence[str], none: str) -> str:
    if not known:
        return f"unknown {what} {name!r}; {none}"
    names = list(dict.fromkeys(known))
    sentence = unknown(what, name, names)
    if "did you mean" in sentence or len(names) <= 12:
        return sentence
    return f"unknown {what} {name!r}; there are {len(names):,}, the first are {few(names, 8)}"
