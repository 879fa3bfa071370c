"""The caps of the field, by hand: 4 characters a token, 40 a line, as the settings have them."""

import pytest

from policies.harness.caps import CAPS
from policies.parts.capping import Cap, Capping
from policies.parts.tools import is_command
from sim.script import Arrival, Query
from sim.segments import Fact, Kind
from tests.policies.playing import seg, view_of


def admitted(harness, tokens, kind=Kind.TOOL_RESULT, tool="fetch", held=1, **settings):
    """Return what enters of a result: tokens, form, and tokens of a page of its file."""
    caps = CAPS[harness] if isinstance(harness, str) else (harness,)
    settings = {"budget": 1_000_000, **settings}
    view, _ = view_of(seg("before", 0, held), **settings)
    (decision,) = Capping(caps).on_arrival(view, seg("new", 1, tokens, kind=kind, tool=tool))
    return decision.tokens, decision.how, decision.page


@pytest.mark.parametrize(
    ("harness", "tool", "allowed", "left", "form", "page"),
    [
        ("swe-agent", "bash", 25_000, 25_000, "head", None),
        ("openhands", "bash", 7_500, 7_500, "head-tail", None),
        ("openhands-sdk", "bash", 12_500, 12_500, "head-tail", None),
        ("letta-06", "fetch", 1_500, 1_500, "head", None),
        ("letta", "fetch", 12_500, 12_500, "head", None),
        ("codex", "bash", 10_000, 10_000, "head-tail", None),
        ("codex-older", "bash", 2_560, 2_560, "head-tail", None),
        ("opencode", "fetch", 12_800, 12_800, "head-saved", 12_800),
        ("pi", "bash", 12_800, 12_800, "tail", None),
        ("pi", "fetch", 12_800, 12_800, "head", None),
        ("gemini-cli", "bash", 10_000, 10_000, "head-tail-20-saved", 10_000),
        ("deepagents", "fetch", 20_000, 100, "head-tail-saved", 20_000),
        ("goose", "fetch", 50_000, 8, "pointer", 50_000),
        ("roo", "bash", 2_560, 2_560, "head-tail-saved", 2_560),
        ("cline", "bash", 2_000, 2_000, "head-tail", None),
        ("cline-classic", "bash", 5_000, 5_000, "head-tail", None),
        ("claude-code", "Bash", 7_500, 7_500, "head-tail", None),
        ("claude-code", "fetch", 25_000, 8, "pointer", 25_000),
    ],
)
def test_each_cap_lets_in_its_limit_and_cuts_what_is_over_it(
    harness, tool, allowed, left, form, page
):
    """30,000 characters are 7,500 tokens, 50 kB 12,800, 500 lines of 40 characters 5,000."""
    assert admitted(harness, allowed, tool=tool) == (allowed, "whole", None)
    assert admitted(harness, allowed + 1, tool=tool) == (left, form, page)


def test_each_harness_has_its_cap_tried_above():
    tried = {"swe-agent", "openhands", "openhands-sdk", "letta-06", "letta", "codex", "pi"}
    tried |= {"codex-older", "opencode", "gemini-cli", "deepagents", "goose", "roo", "cline"}
    assert set(CAPS) == tried | {"cline-classic", "claude-code"}


def test_lines_and_characters_bind_by_what_a_line_has():
    """At 10 characters a line, 256 lines are 640 tokens, 10,240 characters still 2,560."""
    assert admitted("codex-older", 641, line__characters=10.0)[0] == 640
    assert admitted("codex-older", 2_561, line__characters=100.0)[0] == 2_560


def test_what_a_token_has_of_characters_is_that_of_its_kind():
    assert admitted("letta-06", 2_001, characters__tool_result=3.0)[0] == 2_000
    assert admitted("letta-06", 1_501, Kind.FILE, characters__tool_result=3.0)[0] == 1_500


def test_reads_and_other_tools_are_apart():
    """20,000 tokens of a file are 2,000 lines of 40 characters; a search has no cap in Roo."""
    assert admitted("roo", 20_000, Kind.FILE)[1] == "whole"
    assert admitted("roo", 20_001, Kind.FILE) == (20_000, "head", None)
    assert admitted("roo", 90_000, tool="search")[1] == "whole"
    assert admitted("claude-code", 90_000, Kind.FILE)[1] == "whole"


def test_only_results_are_cut():
    for kind in (Kind.USER, Kind.DIFF, Kind.IMAGE, Kind.NOTE, Kind.SYSTEM):
        assert admitted("letta-06", 9_000, kind) == (9_000, "whole", None)


def test_four_characters_for_each_token_that_is_left():
    """W is 20,000 + 1,000 and 18,500 are held: 2,500 tokens, 10,000 characters, are left."""
    left = {"budget": 20_000, "output__reserve": 1_000, "held": 18_500}
    assert admitted("gemini-cli", 2_500, **left)[1] == "whole"
    assert admitted("gemini-cli", 2_501, **left) == (2_500, "head-tail-20-saved", 2_500)
    full = {**left, "held": 21_000}
    assert admitted("gemini-cli", 10, **full) == (1, "head-tail-20-saved", 1)


def test_tokens_are_those_that_the_harness_counts():
    """It takes 3 tokens for 2: 20,001 are 30,001 to it, and of 30,000 all come in."""
    estimate = {"count__by": "estimate", "estimate__tool_result": 1.5}
    cap = Cap("head", tokens=30_000)
    assert admitted(cap, 20_000, **estimate)[1] == "whole"
    assert admitted(cap, 20_001, **estimate) == (20_000, "head", None)


@pytest.mark.parametrize(
    ("tool", "command"),
    [
        *((tool, True) for tool in ("Bash", "bash", "run_shell_command", "tests", "exec-1")),
        *((tool, False) for tool in ("read", "WebFetch", "grep", "latest", "brunch", None)),
    ],
)
def test_a_command_is_known_by_a_word_of_its_tool(tool, command):
    assert is_command(seg("r", 0, kind=Kind.TOOL_RESULT, tool=tool)) is command


def test_no_read_is_a_command():
    assert not is_command(seg("r", 0, kind=Kind.FILE, tool="bash"))


@pytest.mark.parametrize(
    ("policy", "tool", "allowed"),
    [
        ("swe-agent-last-observations", "bash", 25_000),
        ("swe-agent-closed-window", "bash", 25_000),
        ("gemini-cli-masking", "bash", 10_000),
        ("opencode-prune", "fetch", 12_800),
        ("cline-stale-reads", "bash", 2_000),
        ("cline-classic", "bash", 5_000),
        ("cline-basic", "bash", 2_000),
        ("claude-code-microcompact", "Bash", 7_500),
        ("roo-truncation", "bash", 2_560),
    ],
)
def test_a_policy_that_clears_has_the_cap_of_its_harness(play, policy, tool, allowed):
    result = Arrival(1, "result", Kind.TOOL_RESULT, allowed + 1, 0.5, tool=tool)
    assert play(policy, result, budget=1_000_000)["admitted_tokens"] == allowed
    assert play(f"{policy}:cap=off", result, budget=1_000_000)["admitted_tokens"] == allowed + 1


class Door:
    """A policy that caps and does nothing else."""

    label = "door"
    declares = needs = frozenset()

    def __init__(self, *caps):
        self.on_arrival = Capping(caps).on_arrival

    def before_call(self, view):
        return ()


@pytest.mark.parametrize(
    ("cap", "known"),
    [
        (Cap("head", tokens=100), "a"),
        (Cap("tail", tokens=100), "d"),
        (Cap("head-tail", tokens=100), "ad"),
        (Cap("head-tail-20", tokens=500), "acd"),
    ],
)
def test_what_is_cut_is_gone_where_no_copy_is_kept(play, cap, known):
    """Facts at 0, 99, 600 and 999 of 1,000. A fifth of 500 is 100, and the rest is 600 to 999."""
    facts = tuple(
        Fact(k, "v", reducible=False, at=at)
        for k, at in zip("abcd", (0, 99, 600, 999), strict=True)
    )
    log = Arrival(1, "log", Kind.TOOL_RESULT, 1_000, 0.5, tool="bash", facts=facts)
    asks = [Query(1, f"q{k}", k, 0.5, ("log",)) for k in "abcd"]
    told = play(Door(cap), log, *asks, budget=10_000)
    outcomes = {row["key"]: row["outcome"] for row in told.rows("answer")}
    expected = set(known) | ({"b"} if cap.form in ("head", "head-tail-20") else set())
    assert {key for key, outcome in outcomes.items() if outcome == "correct"} == expected
    assert {key for key, outcome in outcomes.items() if outcome == "abstained"} == (
        set("abcd") - expected
    )


@pytest.mark.parametrize(
    ("cap", "left"),
    [(Cap("head-saved", tokens=100), 100), (Cap("pointer", tokens=100), 8)],
)
def test_what_a_file_keeps_is_read_from_it(play, cap, left):
    """The fact at 450 is on the fifth page of 100; page 10 has none."""
    facts = (Fact("k", "v", reducible=False, at=450),)
    log = Arrival(1, "log", Kind.TOOL_RESULT, 1_000, 0.5, tool="bash", facts=facts)
    told = play(Door(cap), log, Query(1, "q", "k", 0.5, ("log",)), budget=10_000)
    assert [row["outcome"] for row in told.rows("answer")] == ["correct"]
    assert [(row["number"], row["pages"], row["how"]) for row in told.rows("page")] == [
        (5, 10, "pointer")
    ]
    assert told.window == ["log", "log.p5"]
    assert told["admitted_tokens"] == left + 100
    assert told["never_admitted_tokens"] == 1_000 - left
