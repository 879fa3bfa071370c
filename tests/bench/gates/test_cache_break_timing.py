"""The gate cache-break-timing against dollars by hand at Sonnet 5."""

import pytest

from bench.gates import cache_break_timing
from bench.gates.cache_break_timing import GATE
from bench.gates.gate import Inputs

READ, WRITE, OUTPUT = 0.2e-6, 2.5e-6, 10e-6
HEAD = 3_500
"""Tokens of the tool list and the system, which a change of effort leaves as they are."""


@pytest.fixture(scope="module")
def verdict():
    return GATE.run(Inputs())


def extra(verdict, name):
    return verdict.simulated[name] - verdict.simulated["no change"]


def test_it_agrees(verdict):
    assert verdict.agrees is True
    assert len(verdict.criteria) == 5
    assert set(verdict.simulated) == set(GATE.published)


def test_the_summary_pass_reads_what_was_sent_and_writes_what_came(verdict):
    """85,400 tokens at request 20, 79,600 of them sent before; 1.3 % of all but the pinned 4,000.

    The window of request 20 is 4,000 + 19 · 4,200 + 1,600.
    """
    summary = int(81_400 * 0.013)
    assert summary == 1_058
    assert verdict.context["compacting request"] == 20
    read = 79_600 * READ + 5_800 * WRITE + summary * OUTPUT
    broken = HEAD * READ + (85_400 - HEAD) * WRITE + summary * OUTPUT
    assert verdict.simulated["pass"] == pytest.approx(read)
    assert verdict.simulated["pass, broken"] == pytest.approx(broken)


@pytest.mark.parametrize(
    ("name", "lost"),
    [
        # what requests 11 and 16 held: 4,000 + 10 · 4,200, and 4,000 + 15 · 4,200 + 1,600
        ("mid-session", (46_000, 68_600)),
        ("on the compacting request", (79_600,)),
        # system, task and summary
        ("after compaction", (4_000 + 1_058,)),
    ],
)
def test_a_change_writes_once_more_what_it_breaks(verdict, name, lost):
    """And the 500 of the task at each compaction behind it: without a change, the entry of system
    and task that the first request stored is found there."""
    compactions = 1 if name == "after compaction" else 2
    tokens = sum(each - HEAD for each in lost) + 500 * compactions
    assert extra(verdict, name) == pytest.approx(tokens * (WRITE - READ))


def test_another_tool_list_breaks_the_system_too(verdict):
    """But a compaction finds the system, which the request before it has written again."""
    more = HEAD * (WRITE - READ)
    assert verdict.context["no change, tool list"] == verdict.simulated["no change"]
    for name, times in (
        ("mid-session", 2),
        ("on the compacting request", 1),
        ("after compaction", 1),
    ):
        tools = verdict.context[f"{name}, tool list"]
        assert tools - verdict.simulated[name] == pytest.approx(times * more)


def test_a_later_compaction_makes_a_change_on_its_request_dearer(monkeypatch):
    """Above 100,000 tokens it comes at request 24, with 4,000 + 22 · 4,200 sent before."""
    real = cache_break_timing.arms.script

    def half_full(name, settings):
        return real(name, {**settings, "compaction.at": 0.5})

    monkeypatch.setattr(cache_break_timing.arms, "script", half_full)
    late = GATE.run(Inputs())
    assert late.context["compacting request"] == 24
    assert extra(late, "on the compacting request") == pytest.approx(
        (96_400 - HEAD + 500) * (WRITE - READ)
    )


def test_each_change_is_to_a_value_that_was_not_there():
    first, second = cache_break_timing._change("effort", (12, 17))
    assert (first.turn, second.turn) == (12, 17)
    assert first.value != second.value
    assert "default" not in (first.value, second.value)
