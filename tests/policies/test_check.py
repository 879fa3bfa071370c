import subprocess
import sys
from typing import ClassVar

import pytest

from policies.check import check, main
from sim.actions import Admit, Evict, Rewrite

ROOT = __file__.rsplit("/tests/", 1)[0]


class Base:
    label = "bad"
    declares = frozenset()
    needs = frozenset()

    def before_call(self, view):
        return ()


def rules(factory):
    return {(f.rule, f.warning) for f in check(factory)}


def found(factory, rule):
    sentences = [f.says for f in check(factory) if f.rule == rule]
    assert sentences, [str(f) for f in check(factory)]
    return sentences[0]


def test_a_policy_that_does_nothing_is_only_warned():
    assert rules(Base) == {("backstop", True)}


class Mutates(Base):
    def before_call(self, view):
        for segment in view.window:
            segment.score = 0.0
            yield Evict(segment.id, "x") if view.over > 0 and not segment.held else Evict("", "")
            return


def test_changing_what_it_sees():
    assert "before_call changes what it only may look at: segment" in found(Mutates, "mutation")


class MutatesInAList(Base):
    def before_call(self, view):
        next(iter(view.log.values())).surrogates.append(None)
        return []


def test_changing_a_list_it_sees():
    assert found(MutatesInAList, "mutation")


class Raises(Base):
    def on_write(self, view, path):
        return {}[path]


def test_raising():
    assert "on_write raises KeyError" in found(Raises, "raises")


class RaisesLate(Base):
    def before_call(self, view):
        yield from ()
        if view.turn == 3:
            raise ZeroDivisionError("oops")


def test_raising_in_a_generator():
    assert "before_call raises ZeroDivisionError: oops" in found(RaisesLate, "raises")


class EvictsPins(Base):
    def before_call(self, view):
        if view.over > 0:
            yield Evict(view.window[0].id, "first")


def test_removing_pins_undeclared():
    assert "which is pinned" in found(EvictsPins, "pin removed")


class DeclaresIt(EvictsPins):
    declares = frozenset({"ignores_pins"})


def test_declared_breaches_are_no_finding():
    assert ("pin removed", False) not in rules(DeclaresIt)


class Rewrites(Base):
    tagged = False

    def before_call(self, view):
        for segment in list(view.window):
            if not segment.held and not segment.is_surrogate and segment.taggable:
                yield Rewrite((segment.id,), 15, self.tagged, "short")


class RewritesWithTags(Rewrites):
    tagged = True


def test_undeclared_rewrites():
    assert ("untagged rewrite", False) in rules(Rewrites)
    with_tags = rules(RewritesWithTags)
    assert {("compress-then-spend", False), ("growth without a copy", False)} <= with_tags
    assert ("untagged rewrite", False) not in with_tags


class Splits(Base):
    declares = frozenset({"spends"})

    def before_call(self, view):
        half = [s for s in view.window if s.pair and not s.is_surrogate and s.kind == "tool_result"]
        if len(half) > 1 and all(s.taggable for s in half):
            yield Rewrite(tuple(s.id for s in half), 5, True, "results")


def test_splitting_pairs():
    assert "its other half" in found(Splits, "pair")


class Drawn(Base):
    def before_call(self, view):
        import random

        free = [s for s in view.window if not s.held]
        while view.over > 0 and free:
            yield Evict(free.pop(random.randrange(len(free))).id, "drawn")


def test_global_random_state():
    assert "differ" in found(Drawn, "reproducible")


class Remembers(Base):
    seen: ClassVar[list[int]] = []

    def before_call(self, view):
        self.seen.append(view.turn)
        for segment in list(view.window):
            if view.over > 0 and not segment.held and len(self.seen) % 3:
                yield Evict(segment.id, "sometimes")


def test_state_shared_between_runs():
    assert "differ" in found(Remembers, "reproducible")


def test_one_instance_for_all_runs():
    policy = Base()
    assert "same instance" in found(lambda: policy, "fresh")


class Endless(Base):
    def before_call(self, view):
        while True:
            yield Evict("nobody", "again")


def test_a_hook_without_end():
    assert {("inadmissible action", False)} <= rules(Endless)


class NoAction(Base):
    def before_call(self, view):
        for segment in list(view.window):
            if view.over > 0 and not segment.held:
                yield Evict(segment.id, "front")
        yield "evict"

    def on_rehydrate(self, view, segment):
        return True

    def on_arrival(self, view, segment):
        yield Admit(segment.tokens)

    def on_idle(self, view, seconds):
        yield Admit(3)


def test_answers_of_the_wrong_kind():
    sentences = [f.says for f in check(NoAction) if f.rule == "answer"]
    assert any("before_call yields str" in says for says in sentences)
    assert any("on_rehydrate returns bool" in says for says in sentences)


class Fickle(Base):
    def __init__(self):
        self.asked = 0

    def pins(self, view, segment):
        self.asked += 1
        return self.asked % 2 == 0


def test_pins_that_change_their_mind():
    assert "pins says" in found(Fickle, "pins")


class WrongShape:
    label = 3
    declares = frozenset({"ignores_all"})
    needs = frozenset({"clairvoyance"})

    def before_call(self, view):
        return ()


def test_shape():
    assert {f.rule for f in check(WrongShape)} == {"shape", "needs"}
    assert "frozenset" in found(type("T", (Base,), {"needs": {"ranks"}}), "shape")
    assert "before_call" in found(type("T", (), {**vars(Base), "before_call": None}), "shape")


HASHED = """
from sim.actions import Evict

class Hashed:
    def before_call(self, view):
        for name in {s.id for s in view.window if not s.held}:
            if view.over > 0:
                yield Evict(name, "set")

class Fine:
    def before_call(self, view):
        for segment in list(view.window):
            if view.over > 0 and not segment.held:
                yield Evict(segment.id, "front")
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(HASHED)
    return path


def test_the_command(file, capsys):
    def command(*arguments):
        line = [sys.executable, "-m", "policies.check", *arguments]
        return subprocess.run(line, capture_output=True, text=True, cwd=ROOT, check=False)

    done = command(f"{file}:Hashed")
    assert done.returncode == 1
    assert "different hash seeds" in done.stdout
    done = command("nosuch")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "unknown policy 'nosuch'" in done.stderr
    assert command().returncode == 2
    assert "python -m policies.check" in command("--help").stdout


def test_the_command_in_process(file, capsys):
    assert main([f"{file}:Fine"]) == 0
    assert "nothing found" in capsys.readouterr().out
    assert main(["no-op"]) == 0
    assert "warning [backstop]" in capsys.readouterr().out
