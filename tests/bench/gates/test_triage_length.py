"""The gate triage-length against dollars by hand, and by a replay that knows no simulator."""

import pytest

from bench.gates import triage_length
from bench.gates.gate import Inputs
from bench.gates.triage_length import GATE
from scenarios.pinned import load_pinned
from sim.script import Arrival
from sim.segments import Kind

READ, WRITE, OUTPUT = 0.2e-6, 2.5e-6, 10e-6


@pytest.fixture(scope="module")
def verdict():
    return GATE.run(Inputs())


def raw(first, second):
    """Dollars of 40 calls with 180 of output: each reads what the last one sent, writes the rest.

    4,000 are sent first; then come *first* and *second* tokens in turn, for the calls of an issue.
    """
    sent, usd = 0, 0.0
    for call in range(1, 41):
        tokens = 4_000 + (call // 2) * first + ((call - 1) // 2) * second
        usd += sent * READ + (tokens - sent) * WRITE + 180 * OUTPUT
        sent = tokens
    return usd


def replayed(name, edit):
    """Dollars of a run whose results are sent at the sizes that *edit* gives them, call by call."""
    made = load_pinned(name).script(0)
    came = [s for s in made.stimuli if isinstance(s, Arrival)]
    sent, usd = [], 0.0
    for turn in range(1, made.settings["turns"] + 1):
        window = [a for a in came if a.turn < turn]
        window += sorted((a for a in came if a.turn == turn), key=lambda a: a.time)
        request = [(a.id, edit(a, turn, window)) for a in window]
        shared = 0
        for one, other in zip(sent, request, strict=False):
            if one != other:
                break
            shared += one[1]
        whole = sum(size for _, size in request)
        output = made.output_tokens.get(turn, 180)
        usd += shared * READ + (whole - shared) * WRITE + output * OUTPUT
        sent = request
    return usd


def size(arrival):
    return 1_600 if arrival.kind is Kind.IMAGE else arrival.tokens


def nothing(arrival, turn, window):
    return size(arrival)


def pruned(arrival, turn, window):
    """Results of 500 tokens and more are 60 from the next message of the user on."""
    said = max((a.turn for a in window if a.kind is Kind.USER), default=0)
    long = arrival.kind is Kind.TOOL_RESULT and arrival.tokens >= 500
    return 60 if long and arrival.turn < said else size(arrival)


def edited(arrival, turn, window):
    """Of results all but the last 3 are 12, from the first request of more than 30,000 on."""
    results = [a.id for a in window if a.kind is Kind.TOOL_RESULT]
    over = sum(map(size, window)) > 30_000
    return 12 if over and arrival.id in results[:-3] else size(arrival)


@pytest.mark.parametrize("run", ["short", "long"])
@pytest.mark.parametrize(
    ("label", "edit"), [("boundary prune", pruned), ("context editing", edited)]
)
def test_an_edited_run_costs_what_a_replay_of_the_rule_says(verdict, run, label, edit):
    base = replayed(f"triage-{run}", nothing)
    change = 100 * (replayed(f"triage-{run}", edit) / base - 1)
    assert verdict.simulated[f"{run}, {label}, %"] == pytest.approx(change)


def test_the_raw_run_by_hand():
    """Long: 60 + 400 + 120 + 5,220 for the first call of an issue, 60 + 1,600 + 120 + 820 for the
    second; call 1 sends 4,000 and call 2 is the first of an issue."""
    from bench.gates import arms

    script = arms.script("triage-long", {"price": "claude-sonnet-5", "cache.rule": "auto"})
    assert arms.cost(script) == pytest.approx(raw(5_800, 2_600))
    assert replayed("triage-long", nothing) == pytest.approx(raw(5_800, 2_600))


def test_it_judges_what_the_page_asks_for(verdict):
    bounds = {c.name: (c.low, c.high) for c in verdict.criteria}
    assert bounds == {
        "long, prune": (None, -15.0),
        "long, compaction": (None, -15.0),
        "long, compaction less prune": (0.0, None),
        "long, editing above both": (0.0, None),
        "short, prune": (-5.0, 5.0),
        "short, compaction": (-5.0, 5.0),
        "short, editing": (5.0, None),
    }
    assert set(verdict.simulated) == set(GATE.published)
    assert verdict.agrees is True


def test_a_breakpoint_in_front_of_the_cut_makes_the_rules_agree(verdict):
    long = verdict.context["long, breakpoints, boundary prune, %"]
    assert long == pytest.approx(verdict.simulated["long, boundary prune, %"], abs=0.5)
    assert verdict.context["long, breakpoints, boundary prune without its breakpoint, %"] > 0


def test_progress_is_told():
    seen = []
    GATE.run(Inputs(report=lambda done, planned: seen.append((done, planned))))
    assert seen[0] == (0, len(triage_length._RUNS)) and seen[-1][0] == seen[-1][1]
