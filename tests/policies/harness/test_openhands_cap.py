"""The cap of OpenHands before each of its condensers: 30,000 characters are 7,500 tokens."""

import pytest

from tests.policies.harness.histories import step

CONDENSERS = (
    *("openhands-recent-events", "openhands-observation-masking", "openhands-browser-output"),
    *("openhands-amortized", "openhands-conversation-window"),
)


@pytest.mark.parametrize("name", CONDENSERS)
@pytest.mark.parametrize(
    ("cap", "tokens", "left"), [("on", 7_500, 7_500), ("on", 7_501, 7_500), ("off", 7_501, 7_501)]
)
def test_a_result_is_cut_as_it_comes_in_and_never_again(play, name, cap, tokens, left):
    told = play(f"{name}:cap={cap}", *step(1, 10, tokens, tool="bash"), turns=3, budget=20_000)
    assert [told.sent(turn) for turn in (1, 2, 3)] == [10 + left] * 3
    assert told["evictions"] == told["rewrites"] == 0
