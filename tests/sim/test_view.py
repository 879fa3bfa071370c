"""What a policy sees: always current, in order, and never changed by looking."""

from __future__ import annotations

from typing import Any

import pytest

from sim.actions import Evict, Refresh, Rewrite
from sim.script import Query, Wait, Write
from sim.segments import Kind
from sim.summariser import Summariser
from tests.sim.build import Idle, acting, come, pair, play, script, told, window


def seen(it: Any, look: Any, actions: Any = None) -> list[Any]:
    """Return what *look* says of the view in each pass, before that pass's *actions*."""
    found: list[Any] = []

    def before_call(view: Any) -> Any:
        found.append(look(view))
        return (actions or {}).get(view.turn, ())

    play(it, Idle(before_call=before_call))
    return found


def test_size_budget_and_turn() -> None:
    it = script(come(1, "a", 30), come(2, "b", 50), budget=100, turns=3)
    look = seen(it, lambda v: (v.turn, v.turns, v.last_turn, v.tokens, v.budget, v.over))
    assert look == [
        (1, 3, False, 30, 100, -70),
        (2, 3, False, 80, 100, -20),
        (3, 3, True, 80, 100, -20),
    ]


def test_an_action_shows_before_the_next_is_asked_for() -> None:
    tokens = []

    def before_call(view: Any) -> Any:
        for name in ("a", "b"):
            yield Evict(name, "x")
            tokens.append((view.tokens, [s.id for s in view.window]))

    play(script(come(1, "a", 30), come(1, "b", 50), come(1, "c", 5)), Idle(before_call=before_call))
    assert tokens == [(55, ["b", "c"]), (5, ["c"])]


def test_the_orders_of_the_design() -> None:
    """By salience, position, kind, retrieval rank, age and path, all kept up to date."""
    orders: dict[str, Any] = {}
    found = []

    def start(view: Any) -> None:
        orders["salience"] = view.salience_order(lambda s: True)
        orders["position"] = view.position_order(lambda s: True)
        orders["kind"] = view.order(lambda s: s.kind, lambda s: True)
        orders["rank"] = view.order(lambda s: -s.rank, lambda s: s.rank is not None)
        orders["age"] = view.order(lambda s: s.turn, lambda s: True)
        orders["path"] = view.order(lambda s: s.path, lambda s: s.path is not None)

    def before_call(view: Any) -> Any:
        found.append(["".join(s.id for s in order) for order in orders.values()])
        return [Evict("b", "x")] if view.turn == 1 else []

    it = script(
        come(1, "a", 9, kind=Kind.FILE, score=0.5, path="2.py", rank=1, facts=("k",)),
        come(1, "b", 9, kind=Kind.USER, score=0.1),
        come(1, "c", 9, kind=Kind.FILE, score=0.4, path="1.py", rank=2, copy=True),
        Query(1, "q", "k", 0.9, ("a",)),
        come(2, "d", 9, kind=Kind.DIFF, score=0.6),
    )
    play(it, Idle(start=start, before_call=before_call))
    assert found == [
        ["bca", "abc", "acb", "ca", "abc", "ca"],
        # c .34, d .6, a .765: the query has raised a
        ["cda", "acd", "dac", "ca", "acd", "ca"],
    ]


def test_a_turn_is_quiescent_until_something_is_read() -> None:
    it = script(
        come(1, "file", 5, kind=Kind.FILE, copy=True),
        come(2, "user", 5, kind=Kind.USER),
        come(2, "say", 5, kind=Kind.ASSISTANT),
        come(2, "think", 5, kind=Kind.THINKING),
        come(2, "diff", 5, kind=Kind.DIFF),
        *pair(3, "result", 5),
        turns=4,
    )
    # a read with a copy spends nothing, a result without one does
    assert seen(it, lambda v: (v.quiescent, v.spent)) == [
        (False, False),
        (True, False),
        (False, True),
        (True, False),
    ]


def test_a_fetch_ends_the_quiet_for_the_pass_that_follows() -> None:
    it = script(come(1, "d", 5, facts=("k",), copy=True), Query(2, "q", "k", 0.9, ("d",)), turns=3)
    look = seen(it, lambda v: (v.turn, v.quiescent, v.spent), {1: [Evict("d", "x")]})
    assert look == [(1, True, False), (2, True, False), (2, False, False), (3, True, False)]


def test_the_salience_of_a_surrogate_is_its_best_sources() -> None:
    salience = {}

    def before_call(view: Any) -> Any:
        salience[view.turn] = {n: round(view.salience(s), 4) for n, s in view.log.items()}
        return [Rewrite(("a", "b"), 3, True, "x")] if view.turn == 1 else []

    it = script(
        come(1, "a", 9, score=0.2, facts=("k",)),
        come(1, "b", 9, score=0.4),
        Query(2, "q", "k", 0.9, ("a",)),
        Query(2, "r", "k", 0.5, ("a",)),
        turns=3,
    )
    play(it, Idle(before_call=before_call))
    assert salience == {
        1: {"a": 0.2, "b": 0.4},
        2: {"a": 0.17, "b": 0.34, "s1": 0.34},
        # the query raised the absent source, and what stands for it
        3: {"a": 0.765, "b": 0.289, "s1": 0.765},
    }


def test_a_call_and_its_result_are_together() -> None:
    look = seen(
        script(*pair(1, "r", 9), come(1, "n", 1)),
        lambda v: (
            [s.id for s in v.together(v.log["r"])],
            [s.id for s in v.together(v.log["n"])],
            v.position(v.log["n"]),
        ),
    )
    assert look == [(["r", "r.call"], ["n"], 2)]


@pytest.mark.parametrize("act", [Evict, Refresh])
def test_stale_copies_can_be_dealt_with_as_they_are_met(act: Any) -> None:
    """Three copies are left behind: each is met, though each leaves or changes at once."""
    met = []

    def on_write(view: Any, path: str) -> Any:
        for it in view.stale(path):
            met.append(it.id)
            yield act(it.id, "stale") if act is Evict else act(it.id)

    copies = [come(1, n, 10, kind=Kind.FILE, path="a.py", copy=True) for n in "abc"]
    result = play(script(*copies, Write(1, "a.py", 12)), Idle(on_write=on_write))
    assert met == ["a", "b", "c"]
    assert told(result, "write")[0]["stale"] == ("a", "b", "c")
    assert window(result) == (() if act is Evict else ("a", "b", "c"))


def test_what_a_fetch_would_bring() -> None:
    it = script(
        come(1, "f", 10, kind=Kind.FILE, path="a.py", copy=True),
        Write(1, "a.py", 25),
        turns=2,
    )
    look = seen(it, lambda v: (v.fetched_tokens(v.log["f"]), v.current(v.log["f"])))
    assert look == [(25, False), (25, False)]


def test_hooks_come_in_their_order() -> None:
    called: list[str] = []

    def hook(name: str) -> Any:
        def call(view: Any, *rest: Any) -> Any:
            called.append(name)
            return False if name == "pins" else ()

        return call

    names = ("start", "pins", "on_arrival", "on_write", "on_overflow", "before_call", "after_turn")
    it = script(come(1, "a", 9), Write(1, "p"), budget=5)
    play(it, Idle(**{name: hook(name) for name in names}))
    assert called == [
        "start", "on_arrival", "pins", "on_write", "before_call", "on_overflow", "after_turn",
    ]  # fmt: skip


def test_a_policy_needs_but_one_hook() -> None:
    class Bare:
        label, declares, needs = "bare", frozenset(), frozenset()

        def before_call(self, view: Any) -> None:
            return None

    result = play(script(come(1, "a", 9), budget=5), Bare())
    assert told(result, "run")[0]["policy"] == "bare"
    assert told(result, "truncate")[0]["segment"] == "a"
    assert acting({}).needs == frozenset()


# -- what a harness knows of sizes ---------------------------------------------------------


def counted(it: Any, actions: Any = None, look: Any = None) -> list[Any]:
    """Return tokens and over as a policy sees them, before and after each pass."""
    found: list[Any] = []

    def before_call(view: Any) -> Any:
        found.append((view.tokens, view.over))
        for action in (actions or {}).get(view.turn, ()):
            yield action
            found.append((view.tokens, view.over))

    play(it, Idle(before_call=before_call))
    return found


def growing(**settings: Any) -> Any:
    """30 in turn 1; then the model writes 7 and a result of 50 comes; then nothing."""
    return script(
        come(1, "a", 30),
        come(2, "w", 6, kind=Kind.ASSISTANT),
        *pair(2, "r", 50, copy=True),
        turns=3,
        budget=100,
        settings={name.replace("_", ".", 1): value for name, value in settings.items()},
    )


def test_an_exact_count_is_what_is_there() -> None:
    assert counted(growing()) == [(30, -70), (87, -13), (87, -13)]


def test_usage_lags_by_what_others_have_brought() -> None:
    """Nothing before the first request; the words of the model are in the usage of its answer."""
    assert counted(growing(count_by="usage")) == [(0, -100), (37, -63), (87, -13)]


def test_usage_follows_what_the_policy_does() -> None:
    """A stub for what was sent takes 30 off and adds 4; what was not sent was never counted."""
    actions = {2: [Rewrite(("a",), 4, True, "x", stub=True), Evict("r", "x")], 3: []}
    assert counted(growing(count_by="usage"), actions) == [
        (0, -100),
        (37, -63),
        (11, -89),
        (10, -90),
        (10, -90),
    ]


def test_an_estimate_takes_a_token_of_a_kind_for_more_or_less() -> None:
    """30 notes at 0.5, 7 of the model at 1, 50 of a result at 2.5; the sum is rounded down."""
    known = {"count_by": "estimate", "estimate_note": 0.5, "estimate_tool_result": 2.51}
    assert counted(growing(**known)) == [(15, -85), (147, 47), (147, 47)]


@pytest.mark.parametrize(
    ("by", "ratio", "size"),
    [("exact", 0.5, 31), ("usage", 0.5, 31), ("estimate", 0.5, 15), ("estimate", 0.0, 1)],
)
def test_the_size_of_one_segment(by: str, ratio: float, size: int) -> None:
    it = script(come(1, "a", 31), settings={"count.by": by, "estimate.note": ratio})
    assert seen(it, lambda v: v.size(v.log["a"])) == [size]


@pytest.mark.parametrize("by", ["usage", "estimate"])
def test_a_provider_that_refuses_says_how_long_the_request_is(by: str) -> None:
    found = []

    def on_overflow(view: Any) -> Any:
        found.append((view.refused, view.tokens, view.over))
        return [Evict("b", "x")]

    def before_call(view: Any) -> Any:
        found.append((view.refused, view.tokens, view.over))
        return ()

    known = {"count.by": by, "estimate.note": 0.1}
    it = script(come(1, "a", 60), come(1, "b", 70), budget=100, settings=known)
    play(it, Idle(before_call=before_call, on_overflow=on_overflow))
    tokens = 0 if by == "usage" else 13
    assert found == [(False, tokens, tokens - 100), (True, 130, 30)]


def test_the_context_window_is_the_budget_and_the_reserve() -> None:
    it = script(come(1, "a", 9), budget=100, settings={"output.reserve": 28})
    assert seen(it, lambda v: (v.context_window, v.budget)) == [(128, 100)]


@pytest.mark.parametrize(
    ("tokens", "ratio", "characters", "lines"),
    [(10, 4.0, 40, 1), (11, 4.0, 44, 2), (10, 3.3, 33, 1), (3, 0.1, 0, 0), (100, 3.3, 330, 9)],
)
def test_characters_and_lines(tokens: int, ratio: float, characters: int, lines: int) -> None:
    """A line has 40 characters; a product that floats leave a hair below 33 is 33."""
    it = script(come(1, "a", tokens), settings={"characters.note": ratio})
    assert seen(it, lambda v: (v.characters(v.log["a"]), v.lines(v.log["a"]))) == [
        (characters, lines)
    ]


def test_tokens_of_characters() -> None:
    it = script(come(1, "a", 9), settings={"characters.note": 3.3})
    look = seen(
        it, lambda v: (v.tokens_of(33, "note"), v.tokens_of(32, "note"), v.tokens_of(9, "file"))
    )
    assert look == [(10, 9, 2)]


def test_seconds_since_the_last_request() -> None:
    """Turns of 20 s; a wait of 300 comes before the third."""
    it = script(come(1, "a", 9), Wait(3, 300.0), turns=3)
    assert seen(it, lambda v: v.seconds_since_call) == [None, 20.0, 320.0]


def test_a_request_for_a_cached_summary_is_a_request() -> None:
    """After it, the harness knows what the window holds."""
    found = []

    def before_call(view: Any) -> Any:
        found.append((view.tokens, view.seconds_since_call))
        by = Summariser(cached=True)
        yield Rewrite(("a",), 4, True, "x", whole=True, summariser=by)
        found.append((view.tokens, view.seconds_since_call))

    it = script(come(1, "a", 30), come(1, "b", 50), settings={"count.by": "usage"})
    play(it, Idle(before_call=before_call))
    assert found == [(0, None), (54, 0.0)]
