from policies.registry import make
from sim.policy import HOOKS
from sim.script import Arrival
from sim.segments import Kind


def test_the_backstop_alone_decides(play):
    told = play(
        "no-op",
        Arrival(1, "task", Kind.TASK, 50, 1.0, pinned=True),
        Arrival(1, "note", Kind.NOTE, 100, 0.0),
        Arrival(2, "say", Kind.USER, 100, 0.0),
        budget=180,
        strict=False,
    )
    assert told.truncated() == ["task", "note"]
    assert told["evictions"] == told["rewrites"] == 0


def test_it_has_no_hooks():
    policy = make("no-op")
    assert not [hook for hook in HOOKS if hook != "start" and hasattr(policy, hook)]
    assert policy.declares == policy.needs == frozenset()
