import pytest

from sim.script import Arrival
from sim.segments import Kind
from tests.policies.harness.histories import system


def scored(name, score, kind=Kind.NOTE, **more):
    return Arrival(1, name, kind, 10, score, **more)


@pytest.mark.parametrize(("last", "gone"), [([], 0), ([("f", 0.5)], 4)])
def test_trap_above_max_size_not_at_it_the_first_and_the_highest_ranked_stay(play, last, gone):
    ranked = [("a", 0.1), ("b", 0.9), ("c", 0.2), ("d", 0.5), ("e", 0.3), *last]
    told = play(
        "openhands-llm-attention:max_size=6",
        system(10),
        *(scored(*each) for each in ranked),
        budget=1_000,
    )
    # 6 / 2: the first, the best and, of two alike, the newer.
    assert told["evictions"] == gone
    if gone:
        assert told.window == ["system", "b", "f"]


def test_a_call_and_its_result_stay_together_or_not_at_all(play):
    told = play(
        "openhands-llm-attention:max_size=6",
        system(10),
        scored("call", 0.0, Kind.TOOL_CALL, pair="p"),
        scored("result", 0.9, Kind.TOOL_RESULT, pair="p"),
        *(scored(name, 0.5) for name in "abcd"),
        budget=1_000,
    )
    assert told.window == ["system", "call", "result"]


def test_no_model_writes_anything(play):
    told = play(
        "openhands-llm-attention:max_size=2",
        system(10),
        *(scored(name, 0.5) for name in "abcd"),
        budget=1_000,
    )
    assert told["rewrites"] == 0
    assert told.rows("maintain") == []
