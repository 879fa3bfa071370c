"""What a cell says of a policy that cannot run its scenario."""

from __future__ import annotations

import pytest

from bench.cells import run_one
from policies.registry import make, names
from sim.segments import Kind
from tests.sim.build import come, script

NO_EDITS = ("compaction", "recorded", "no-op", "anthropic-compact", "codex")
"""Policies that do nothing to the history, or nothing but to compact it."""


@pytest.mark.parametrize("policy", names())
def test_a_policy_that_edits_is_not_applicable_to_an_append_only_history(policy: str) -> None:
    it = script(
        come(1, "sys", 10, kind=Kind.SYSTEM),
        settings={"history": "append-only", "price": "claude-sonnet-5"},
        capabilities=("facts", "ranks", "recording", "roles"),
    )
    values, records = run_one(it, policy)
    edits = "edits" in make(policy).needs
    assert edits is (policy not in NO_EDITS)
    assert (values["status"], bool(records)) == (
        ("not-applicable", False) if edits else ("completed", True)
    )
    said = "the policy edits the history, which may only be appended to or compacted"
    assert values["reason"] == (said if edits else "")


def test_what_else_is_missing_is_named_with_it() -> None:
    it = script(come(1, "a", 10), settings={"history": "append-only", "price": "claude-sonnet-5"})
    assert run_one(it, "naive-trim")[0]["reason"] == "the scenario does not offer edits and ranks"
