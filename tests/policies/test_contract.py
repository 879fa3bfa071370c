"""One contract for every policy, a stranger's included."""

from dataclasses import replace

import pytest

from policies import harness
from policies.adversaries import adversaries
from policies.check import check
from policies.registry import make, names, options
from sim.engine import run
from sim.policy import DECLARABLE, HOOKS, Policy
from sim.prices import CacheRules
from sim.script import Arrival
from sim.segments import Kind
from sim.view import View
from tests.policies.playing import PRICE

THIRD_PARTY = '''
from sim.actions import Evict, Refresh

class Largest:
    """Evicts the largest unpinned segments."""

    label = "largest"
    declares = frozenset()
    needs = frozenset()

    def start(self, view):
        self.order = view.order(lambda s: -s.tokens, lambda s: not s.held)

    def on_write(self, view, path):
        return [Refresh(s.id) for s in view.stale(path)]

    def before_call(self, view):
        while view.over > 0 and self.order.first() is not None:
            yield Evict(self.order.first().id, "size")
'''
COMPACTING = {
    *("lease", "masking", "context-editing", "boundary-prune", "rolling-summary", "hybrid"),
    "compaction",
}
FIELD = {policy.name for policy in harness.found()}
LEAVES_TO_THE_BACKSTOP = {"naive-trim", "naive-rewrite", "recorded", "no-op"} | COMPACTING | FIELD
ACTS = {
    "aider": "least=100",
    "anthropic-compact": "trigger=50000",
    "cline-stale-reads": "batch=600",
    "gemini-cli-masking": "protect=100,batch=60,characters=20",
    "langchain-summarization": "messages=20",
    "openclaw": "keep=1,soft=0.1,hard=0.2,long=200,end=20,note=4,least=0",
    "opencode-prune": "protect=80,minimum=50",
    "openhands-browser-output": "tools=read",
    "pi": "keep=100",
}
"""What a policy whose limits are far from these scripts is set to, so that it does something."""


@pytest.fixture(params=[*names(), "a stranger's"])
def spec(request, tmp_path):
    if request.param in names():
        return request.param
    path = tmp_path / "stranger.py"
    path.write_text(THIRD_PARTY)
    return f"{path}:Largest"


def test_it_is_a_policy(spec):
    policy = make(spec)
    assert isinstance(policy, Policy)
    assert policy.label and isinstance(policy.label, str)
    assert policy.declares <= DECLARABLE
    assert all(callable(getattr(policy, hook)) for hook in HOOKS if hasattr(policy, hook))


def test_it_keeps_the_contract(spec):
    findings = check(lambda: make(_set(spec)))
    assert [str(f) for f in findings if not f.warning] == []
    if spec not in LEAVES_TO_THE_BACKSTOP:
        assert findings == []


@pytest.mark.parametrize("name", ACTS)
def test_it_keeps_the_contract_where_it_acts(name):
    assert [str(f) for f in check(lambda: make(_set(name))) if not f.warning] == []


def test_a_window_that_fits_is_left_alone(spec, play):
    told = play(
        spec,
        Arrival(1, "task", Kind.TASK, 50, 1.0, pinned=True),
        Arrival(1, "note", Kind.NOTE, 450, 1.0),
        turns=3,
        budget=100_000 if spec in FIELD else 500,  # a harness acts at a share of its window
    )
    assert told["evictions"] == told["rewrites"] == 0
    assert told.window == ["task", "note"]


@pytest.mark.parametrize("name", names())
def test_it_never_reads_the_whole_window(name, monkeypatch):
    """Orders are kept for it; what scans the window every turn is too slow for a large one."""

    def scanned(view):
        raise AssertionError("the window was scanned")

    scripts = list(adversaries())
    monkeypatch.setattr(View, "window", property(scanned))
    for script in scripts:
        run(script, make(name), PRICE)


def _set(name):
    return f"{name}:{ACTS[name]}" if name in ACTS else name


def _switched(name):
    for option in options(name):
        if "|" in option.takes and option.default is not None:
            for word in option.takes.split("|"):
                if word != option.default:
                    yield f"{_set(name)}{',' if name in ACTS else ':'}{option.name}={word}"


@pytest.mark.parametrize("name", names())
def test_every_rule_can_be_switched(name):
    """Nothing undeclared follows, and something changes: or it would be no rule."""
    scripts = [(script, script.digest()) for script in adversaries()]
    price = replace(PRICE, rules=CacheRules("breakpoints", ttl=300.0))  # where breakpoints count

    def records(spec):
        return [run(script, make(spec), price, digest=digest).records for script, digest in scripts]

    usual = [rows[1:] for rows in records(_set(name))]
    acts = any(row[0] in ("rewrite", "evict") for rows in usual for row in rows)
    assert acts or name not in FIELD, "it does nothing here: give it an entry in ACTS"
    for spec in _switched(name):
        played = records(spec)
        bugs = {row[3] for rows in played for row in rows if row[0] == "bug"}
        assert bugs <= {"unexplained truncation"}, spec
        assert [rows[1:] for rows in played] != usual, spec
