import pytest

from policies.registry import make
from sim.engine import run
from tests.policies.playing import PRICE, Played, script_of


@pytest.fixture
def play():
    """Run stimuli under a policy, by its spec or as an object; strict unless told otherwise."""

    def play(policy, *stimuli, strict=True, **settings):
        chosen = make(policy) if isinstance(policy, str) else policy
        return Played(run(script_of(*stimuli, **settings), chosen, PRICE, strict=strict))

    return play
