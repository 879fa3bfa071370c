"""All wrong answers of many runs by cause, counted again by hand and by one run at a time."""

from __future__ import annotations

from collections import Counter

from bench.cells import run_one
from bench.explain.findings import is_wrong
from bench.explain.grouping import Task, grouped
from bench.loading import load
from policies.registry import names

TOLD = {"turns": "30"}


def tasks(*wanted, policies=("naive-rewrite", "sliding-window", "tag-or-drop"), seeds=1):
    found = []
    for name in wanted:
        scenario = load(name, TOLD if name in ("doc-analysis", "coding-agent") else {})
        for seed in range(seeds if scenario.seeded else 1):
            found.append(Task(len(found), name, scenario, seed, tuple(policies)))
    return found


def test_stories_by_hand():
    """threshold-drift, rate-limit-table and the-door each confabulate once under naive-rewrite."""
    found = grouped(tasks("threshold-drift", "rate-limit-table", "the-door"))
    (group,) = found["groups"]
    assert (group["outcome"], group["decision"]) == ("confabulated", "rewritten, untagged")
    assert (group["reason"], group["rule"]) == ("relevance", "tag")
    assert (group["count"], group["share"], group["runs"], group["seeds"]) == (3, 1.0, 3, 3)
    assert group["policies"] == ["naive-rewrite"]
    assert group["scenarios"] == ["threshold-drift", "rate-limit-table", "the-door"]
    assert (group["helped"], group["checked"]) == (2, 3)
    assert group["became"] == {"correct": 2, "deferred": 1}
    assert group["example"]["id"] == "timeout-value"
    assert found["outcomes"] == {"confabulated": 3, "stale": 0, "abstained": 0, "violation": 0}


def test_nothing_wrong():
    found = grouped(tasks("threshold-drift", policies=("tag-or-drop",)))
    assert found["groups"] == [] and found["wrong"] == 0 and found["asked"] == 1


def test_every_wrong_answer_is_in_one_group():
    many = tasks("doc-analysis", "coding-agent", policies=names()[:6], seeds=2)
    found = grouped(many)
    wrong = Counter()
    for task in many:
        for policy in task.policies:
            _, records = run_one(task.scenario.script(task.seed), policy)
            for record in filter(is_wrong, records):
                wrong["violation" if record[0] == "act" else record[6]] += 1
    assert found["wrong"] == wrong.total() == sum(group["count"] for group in found["groups"])
    assert {k: v for k, v in found["outcomes"].items() if v} == dict(wrong)
    assert (
        sum(group["share"] for group in found["groups"]) == 1.0
        or abs(sum(group["share"] for group in found["groups"]) - 1.0) < 1e-12
    )
    counts = [group["count"] for group in found["groups"]]
    assert counts == sorted(counts, reverse=True)
    for group in found["groups"]:
        assert group["helped"] <= group["checked"] <= group["count"]
        assert sum(group["became"].values()) == group["checked"]


def test_any_number_of_jobs_gives_the_same():
    many = tasks("doc-analysis", "threshold-drift", seeds=2)
    assert grouped(many, 2) == grouped(many)
