"""What each form of arrival is good for, story by story; every figure is worked out by hand."""

from __future__ import annotations

import pytest

from bench.cells import run_one
from scenarios import catalogue

OTHER = 2_000 + 500 + 500 + 1_500
"""System, task, words and diff of the first attempt of last-of-forty."""
SECOND = 500 + 800 + 40
"""What its second attempt adds where it goes well."""


def played(story, policy):
    metrics, _ = run_one(catalogue.load(story).script(0), policy, strict=True)
    return metrics


def figures(metrics, *names):
    return tuple(metrics[name] for name in names)


@pytest.mark.parametrize(
    ("story", "arrival", "status", "pages", "admitted", "never"),
    [
        # (8,000 − 40) ÷ 300 = 26 failures of 300 and a notice of 40; the second run again.
        ("last-of-forty", "on", "failed", 0, OTHER + 2 * 7_840 + 1_300, 2 * (60_000 - 7_840)),
        # Eight pages, the last of 4,000; what came page by page was never admitted at the door.
        ("last-of-forty", "page", "completed", 7, OTHER + 60_000 + SECOND, 52_000),
        # The pointer leads to the eighth page.
        ("last-of-forty", "spill", "completed", 1, OTHER + 7_848 + 4_000 + SECOND, 60_000 - 7_848),
        # The last of forty stands in the last 4,000 tokens.
        ("last-of-forty", "head-tail", "completed", 0, OTHER + 8_000 + SECOND, 52_000),
        ("last-of-forty", "off", "completed", 0, OTHER + 60_000 + SECOND, 0),
        ("last-of-forty/first", "on", "completed", 0, OTHER + 7_840 + SECOND, 52_160),
        ("last-of-forty/first", "page", "completed", 0, OTHER + 8_000 + SECOND, 52_000),
        ("last-of-forty/pages", "on", "completed", 7, OTHER + 60_000 + SECOND, 52_000),
        ("last-of-forty/pages", "off", "completed", 0, OTHER + 60_000 + SECOND, 0),
    ],
)
def test_the_last_of_forty(story, arrival, status, pages, admitted, never):
    metrics = played(story, f"tiered:arrival={arrival}")
    assert figures(metrics, "status", "pages") == (status, pages)
    assert figures(metrics, "admitted_tokens", "never_admitted_tokens") == (admitted, never)
    assert metrics["calls"] == 2 + pages
    assert metrics["total_seconds"] == 40 + 5 * pages
    assert figures(metrics, "correct", "abstained") == ((1, 0) if status == "completed" else (0, 1))
    assert figures(metrics, "policy_bugs", "fetches", "evictions") == (0, 0, 0)


def test_an_attempt_without_the_cause_is_the_end_of_the_run():
    metrics = played("last-of-forty", "tiered")
    assert figures(metrics, "reason", "attempts") == ("attempts exhausted", 2)


@pytest.mark.parametrize(
    ("story", "options", "correct", "pages", "admitted"),
    [
        # 118 first errors of 142 tokens and a notice of 44, twice.
        ("first-of-each-file", "arrival=on", 3, 0, 5_000 + 2 * 16_800),
        # 24,000 + 24,000 + 13,204 for the first; of the second the first page is enough.
        ("first-of-each-file", "arrival=page", 3, 2, 5_000 + 61_204 + 24_000),
        # The first error of each file is all that is asked for.
        ("first-of-each-file", "arrival=spill", 3, 0, 5_000 + 2 * 16_808),
        # 50,000 stands in the last 12,000 of 61,204; 20,000 stands in neither end.
        ("first-of-each-file", "arrival=head-tail", 2, 0, 5_000 + 2 * 24_000),
        ("first-of-each-file", "arrival=off", 3, 0, 5_000 + 2 * 61_204),
        # Three lines of 40 say what is new, and the rest is read in the result before.
        ("first-of-each-file", "delta=on", 3, 0, 5_000 + 16_800 + 120),
        ("first-of-each-file/on-the-first-page", "arrival=page", 3, 0, 5_000 + 2 * 24_000),
        ("first-of-each-file/few", "arrival=page", 3, 0, 5_000 + 2 * 20_000),
        ("first-of-each-file/few", "arrival=on", 3, 0, 5_000 + 2 * 20_000),
    ],
)
@pytest.mark.parametrize("policy", ["tiered", "disciplined"])
def test_the_first_of_each_file(policy, story, options, correct, pages, admitted):
    metrics = played(story, f"{policy}:{options}")
    assert figures(metrics, "correct", "pages", "admitted_tokens") == (correct, pages, admitted)
    assert figures(metrics, "confabulated", "calls") == (0, 3 + pages)


def test_paging_a_type_check_costs_more_for_the_same_answers():
    reduced, paged = (
        played("first-of-each-file", f"tiered:arrival={how}") for how in ("on", "page")
    )
    assert reduced["correct"] == paged["correct"] == 3
    for cost in ("calls", "total_cost_usd", "total_seconds", "peak_tokens"):
        assert paged[cost] > reduced[cost]
