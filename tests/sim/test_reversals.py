"""Reversals by hand, and against a reckoning that keeps every salience of every turn."""

from typing import Any

from hypothesis import given

from policies.registry import make
from sim.actions import Evict, Rewrite
from sim.engine import run
from sim.reversals import Reversals, reversals
from sim.script import Arrival, Operator, Query, Script
from sim.segments import Fact, Kind
from tests.support.dense import dense
from tests.support.scripts import BASE_SETTINGS, scripts
from tests.test_random_runs import PRICE, examples

DECAY = 0.5


def note(turn, name, score, **more):
    facts = (Fact(f"k-{name}", "v"),)
    return Arrival(turn, name, Kind.NOTE, 10, score, facts=facts, **more)


def ask(turn, name, relevance):
    return Query(turn, f"q{turn}-{name}", f"k-{name}", relevance, (name,))


def played(*stimuli, turns, evict=(), rewrite=()):
    """Play *stimuli* and take out what is named for its turn."""
    settings = {**BASE_SETTINGS, "turns": turns, "budget": 1_000, "salience.decay": DECAY}
    script = Script("made", 0, settings, tuple(stimuli), (), frozenset({"facts"}))
    policy = make("no-op")
    policy.declares = frozenset({"untagged", "spends"})

    def before_call(view):
        gone = [Evict(name, "x") for turn, name in evict if turn == view.turn]
        gone += [Rewrite((name,), 1, True, "x") for turn, name in rewrite if turn == view.turn]
        return gone

    policy.before_call = before_call
    return reversals(run(script, policy, PRICE).records, DECAY)


THREE = (note(1, "a", 0.2), note(1, "b", 0.8), note(1, "c", 0.1))


def test_nothing_needed_is_nothing_counted():
    assert played(*THREE, turns=3, evict=[(1, "a")]) == Reversals(0, 0, 0, 0)


def test_a_question_that_raises_it_above_what_was_kept():
    """a ranks below b alone when it leaves; in turn 3 it is asked for at 0.9 and b is at 0.2."""
    assert played(*THREE, ask(3, "a", 0.9), turns=3, evict=[(1, "a")]) == Reversals(1, 1, 1, 1)


def test_a_question_too_weak_to_turn_it():
    """b is at 0.8 · 0.5² = 0.2 in turn 3, and a's question gives it 0.15."""
    assert played(*THREE, ask(3, "a", 0.15), turns=3, evict=[(1, "a")]) == Reversals(1, 0, 1, 0)


def test_equal_is_not_above():
    """Both ways: b is at 0.2 in turn 3, and so is a; and what left level with b was not below."""
    assert played(*THREE, ask(3, "a", 0.2), turns=3, evict=[(1, "a")]) == Reversals(1, 0, 1, 0)
    level = (note(1, "a", 0.8), note(1, "b", 0.8))
    assert played(*level, ask(3, "a", 0.9), turns=3, evict=[(1, "a")]) == Reversals(1, 0, 0, 0)


def test_what_leaves_with_it_and_what_is_pinned_is_not_compared():
    more = (note(1, "pin", 0.9, pinned=True), note(1, "d", 0.7))
    went = played(*THREE, *more, ask(3, "a", 0.9), turns=3, evict=[(1, "a"), (1, "d")])
    assert went == Reversals(1, 1, 1, 1)


def test_what_is_rewritten_has_left_too():
    assert played(*THREE, ask(3, "a", 0.9), turns=3, rewrite=[(1, "a")]) == Reversals(1, 1, 1, 1)


def test_an_explicit_request_scores_nothing():
    found = played(*THREE, Operator(3, "o", "a"), turns=3, evict=[(1, "a")])
    assert found == Reversals(1, 0, 1, 0)


def test_what_was_kept_may_have_been_asked_for_itself():
    """In turn 2 c is raised to 0.9, in turn 3 it is at 0.45; a is raised to 0.3 above b's 0.2."""
    kept = (note(1, "a", 0.1), note(1, "b", 0.8), note(1, "c", 0.2))
    found = played(*kept, ask(2, "c", 0.9), ask(3, "a", 0.3), turns=3, evict=[(1, "a")])
    assert found == Reversals(1, 1, 2, 1)


# -- an oracle that recomputes everything ------------------------------------------------------


def reckoned(script: Script, records: list[Any], decay: float) -> Reversals:
    """Count as the page says, with the salience of every segment worked out anew each time."""
    scored: dict[str, list[tuple[int, int, float]]] = {}
    pinned = set()
    for place, r in enumerate(records):
        if r[0] == "arrive":
            scored[r[3]] = [(place, r[2], r[6])]
            if r[8]:
                pinned.add(r[3])
        elif r[0] == "score":
            scored[r[3]].append((place, r[2], r[5]))

    def salience(name: str, place: int, turn: int) -> float:
        _, at, score = [each for each in scored[name] if each[0] <= place][-1]
        return score * decay ** (turn - at)

    def there(upto: int) -> set[str]:
        inside: set[str] = set()
        for r in records[: upto + 1]:
            if r[0] in ("admit", "fetch") and r[4]:
                inside.add(r[3])
            inside -= {r[3]} if r[0] in ("evict", "truncate") else set()
            inside -= set(r[4]) if r[0] == "rewrite" else set()
        return {name for name in inside if name in scored and name not in pinned}

    def left(name: str, upto: int) -> int | None:
        found = None
        for place, r in enumerate(records[:upto]):
            if (r[0] in ("evict", "truncate") and r[3] == name) or (
                r[0] == "rewrite" and name in r[4]
            ):
                found = place
            elif r[0] in ("admit", "fetch") and r[3] == name:
                found = None
        return found

    needs = overtaken = pairs = turned = 0
    for place, r in enumerate(records):
        if r[0] != "missed" or (gone := left(r[3], place)) is None:
            continue
        name, turn = r[3], r[2]
        call = next(p for p in range(gone, len(records)) if records[p][0] == "call")
        end = next(p for p in range(place, len(records)) if records[p][0] in ("turn", "end"))
        then = records[gone][2]
        above = [
            b
            for b in there(gone) & there(call)
            if salience(b, gone, then) > salience(name, gone, then) * (1 + 1e-9)
        ]
        passed = [
            b for b in above if salience(name, end, turn) > salience(b, end, turn) * (1 + 1e-9)
        ]
        needs, overtaken = needs + 1, overtaken + bool(passed)
        pairs, turned = pairs + len(above), turned + len(passed)
    return Reversals(needs, overtaken, pairs, turned)


POLICIES = ("tag-or-drop", "slack-swap-refuse", "naive-rehydrate", "masking:keep=1", "disciplined")


def agree(script: Script) -> int:
    needs = 0
    decay = script.settings["salience.decay"]
    for name in POLICIES:
        records = run(script, make(name), PRICE).records
        found = reversals(records, decay)
        assert found == reckoned(script, records, decay), name
        needs += found.needs
    return needs


def test_dense_runs_agree_with_the_reckoning():
    assert sum(agree(dense(seed)) for seed in range(25)) > 100


@examples(40)
@given(scripts())
def test_random_runs_agree_with_the_reckoning(script: Script) -> None:
    agree(script)
