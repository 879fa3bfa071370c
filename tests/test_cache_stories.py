"""What a pause, a ping, a longer life and a change cost; every figure is worked out by hand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bench.cells import run_one
from scenarios import catalogue
from sim.records import FIELDS

FIRST, SECOND = 25_000, 500
"""What turn 1 writes, and what each of the others adds."""
ANSWERS = 3 * 200 * 10.0 / 1e6
"""Three answers of 200 tokens at 10 dollars a million."""

# Input of turns 1 and 2 in dollars: written, then read and written.
SHORT = FIRST * 2.5 / 1e6 + (FIRST * 0.2 + SECOND * 2.5) / 1e6
HOUR = FIRST * 4.0 / 1e6 + (FIRST * 0.2 + SECOND * 4.0) / 1e6
HEAD = (4_000 * 4.0 + 21_000 * 2.5) / 1e6 + (FIRST * 0.2 + SECOND * 2.5) / 1e6

PING = 25_500 * 0.2 / 1e6 + 1 * 10.0 / 1e6
"""It reads all of turn 2 and answers with one token."""


def played(story, policy="no-op", **settings):
    script = catalogue.load(story, settings).script(0)
    metrics, records = run_one(script, policy, strict=True)
    calls = [dict(zip(FIELDS["call"], r[3:], strict=True)) for r in records if r[0] == "call"]
    return metrics, calls


@pytest.mark.parametrize(
    ("story", "read", "written", "input_usd", "pings", "total_usd", "seconds"),
    [
        ("cache-life", 0, 26_000, 0.065, 0, 0.13975, 460),
        ("cache-life/keep-alive", 25_500, 500, 0.00635, 1, 0.08621, 460),
        ("cache-life/one-hour", 25_500, 500, 0.0071, 0, 0.1201, 460),
        ("cache-life/tool-list", 0, 26_000, 0.065, 0, 0.13975, 60),
        ("cache-life/effort", 4_000, 22_000, 0.0558, 0, 0.13055, 60),
        ("cache-life/head-for-an-hour", 4_000, 22_000, 0.0558, 0, 0.13655, 460),
    ],
)
@pytest.mark.parametrize("policy", ["no-op", "tiered", "disciplined", "naive-rewrite"])
def test_cache_life(story, policy, read, written, input_usd, pings, total_usd, seconds):
    metrics, calls = played(story, policy)
    last = calls[-1]
    assert len(calls) == metrics["calls"] == 3
    assert (last["tokens"], last["read"], last["written"], last["plain"]) == (
        26_000,
        read,
        written,
        0,
    )
    assert last["usd"] == pytest.approx(input_usd, abs=1e-12)
    assert metrics["maintenance_cost_usd"] == pytest.approx(pings * PING, abs=1e-12)
    first_two = {"cache-life/one-hour": HOUR, "cache-life/head-for-an-hour": HEAD}.get(story, SHORT)
    assert metrics["prefill_cost_usd"] == pytest.approx(first_two + input_usd, abs=1e-12)
    assert metrics["total_cost_usd"] == pytest.approx(total_usd, abs=1e-12)
    assert metrics["total_cost_usd"] == pytest.approx(
        first_two + input_usd + pings * PING + ANSWERS, abs=1e-12
    )
    assert metrics["total_seconds"] == seconds
    assert (metrics["evictions"], metrics["rewrites"], metrics["policy_bugs"]) == (0, 0, 0)


@pytest.mark.parametrize(
    ("seconds", "pings", "read", "maintenance_usd"),
    [
        # The ping comes at 320 s, when what was stored at 20 s has just died: it writes all anew.
        (280, 1, 25_500, 25_500 * 2.5 / 1e6 + 1e-5),
        # Pings at 319, and not at 598: that is past the end of the wait at 440 s.
        (279, 1, 25_500, PING),
        # Pings at 140, 240 and 340; the next would come as the turn begins, and is not sent.
        (100, 3, 25_500, 3 * PING),
        # The first would come as the turn begins.
        (400, 0, 0, 0.0),
    ],
)
def test_when_pings_are_sent(seconds, pings, read, maintenance_usd):
    metrics, calls = played("cache-life", **{"keep_alive.seconds": seconds})
    assert (metrics["pings"], calls[-1]["read"]) == (pings, read)
    assert metrics["maintenance_cost_usd"] == pytest.approx(maintenance_usd, abs=1e-12)
    assert (metrics["calls"], metrics["total_seconds"]) == (3, 460)


def test_a_provider_that_forbids_edits_is_not_for_policies_that_edit():
    settings = {"history": "append-only"}
    metrics, calls = played("cache-life", "tiered", **settings)
    assert (metrics["status"], calls) == ("not-applicable", [])
    metrics, _ = played("cache-life", "no-op", **settings)
    assert metrics["total_cost_usd"] == pytest.approx(0.13975, abs=1e-12)


DOCS = Path(__file__).parents[1] / "docs" / "scenarios.md"


@pytest.mark.parametrize(
    ("flip", "pings", "calls", "total_usd"),
    [
        # 50,000 written, 26,000 read; four pings in 1,200 s read 16,000 each, the fifth is due as
        # the turn begins.
        ("", 4, [(0, 10_000), (10_000, 6_000), (16_000, 6_000), (0, 28_000)], 0.15104),
        ("/no-pings", 0, [(0, 10_000), (10_000, 6_000), (0, 22_000), (0, 28_000)], 0.175),
        ("/effort", 4, [(0, 10_000), (10_000, 6_000), (16_000, 6_000), (4_000, 24_000)], 0.14184),
        # What turn 2 stored is still there when the old tool list returns, thanks to the pings.
        ("/back", 4, [(0, 10_000), (10_000, 6_000), (0, 22_000), (16_000, 12_000)], 0.15104),
    ],
)
def test_the_example_of_the_docs(tmp_path, flip, pings, calls, total_usd):
    texts = re.findall(r"```toml\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.S)
    (text,) = (text for text in texts if "[[keep-alive]]" in text)
    file = tmp_path / "lunch.toml"
    file.write_text(text, encoding="utf-8")
    metrics, found = played(f"{file}{flip}")
    assert metrics["pings"] == pings
    assert [(call["read"], call["written"]) for call in found] == calls
    assert metrics["total_cost_usd"] == pytest.approx(total_usd, abs=1e-12)
