"""The window against a plain list that is counted anew after every change."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from sim.orders import Order, SalienceOrder
from sim.salience import Decay
from sim.segments import Segment
from sim.window import Window
from tests.sim.build import segment


class Twin:
    """A window and a plain list that both take the same changes."""

    def __init__(self) -> None:
        self.window = Window()
        self.plain: list[Segment] = []
        self.sent: list[tuple[str, int, int]] = []
        self.made = 0
        decay = Decay(0.85)
        self.by_salience = SalienceOrder(decay, lambda: 40, lambda s: True)
        self.by_position = Order(lambda s: s.slot, lambda s: not s.held)
        self.decay = decay
        for order in (self.by_salience, self.by_position):
            self.window.attach(order)

    def new(self, tokens: int, pair: int | None, path: int | None, pinned: bool) -> Segment:
        self.made += 1
        return segment(
            f"n{self.made}",
            tokens,
            seq=self.made,
            pair=None if pair is None else f"p{pair}",
            path=None if path is None else f"{path}.py",
            pinned=pinned,
            score=(self.made % 5) / 5,
            scored_at=1 + self.made // 3,
        )

    def state(self) -> list[tuple[str, int, int]]:
        return [(s.id, s.version, s.tokens) for s in self.plain]

    def mates(self, it: Segment) -> list[Segment]:
        return [s for s in self.plain if s is not it and s.pair is not None and s.pair == it.pair]

    def held(self, it: Segment) -> bool:
        return any(s.pinned or s.own_pin for s in (it, *self.mates(it)))

    def check(self) -> None:
        window, plain = self.window, self.plain
        assert list(window) == window.segments == plain
        assert (len(window), window.tokens) == (len(plain), sum(s.tokens for s in plain))
        assert [s.held for s in plain] == [self.held(s) for s in plain]
        assert window.held_tokens == sum(s.tokens for s in plain if self.held(s))
        for at, it in enumerate(plain):
            assert window.index(it) == at
            assert sorted(s.id for s in window.mates(it)) == sorted(s.id for s in self.mates(it))
        for path in {s.path for s in plain if s.path is not None}:
            copies = [s for s in plain if s.path == path and not s.sources]
            assert {s.id for s in window.copies(path)} == {s.id for s in copies}
        assert list(self.by_position) == [s for s in plain if not self.held(s)]
        assert list(self.by_salience) == sorted(plain, key=lambda s: (self.decay.at(s, 40), s.seq))
        same = 0
        while same < min(len(plain), len(self.sent)) and self.state()[same] == self.sent[same]:
            same += 1
        assert window.first_changed <= same
        assert self.state()[: window.first_changed] == self.sent[: window.first_changed]


_any = st.integers(0, 30)
_step = st.one_of(
    st.tuples(
        st.just("append"),
        st.integers(1, 50),
        st.none() | st.integers(0, 3),
        st.none() | st.integers(0, 2),
        st.booleans(),
    ),
    st.tuples(st.just("remove"), _any),
    st.tuples(st.just("replace"), _any, st.integers(1, 50), st.booleans()),
    st.tuples(st.just("resize"), _any, st.integers(1, 50)),
    st.tuples(st.just("pin"), _any),
    st.tuples(st.just("score"), _any, st.floats(0.0, 1.0)),
    st.tuples(st.just("send")),
)


@given(st.lists(_step, max_size=40))
@settings(max_examples=300, deadline=None)
def test_a_window_is_a_list(steps: list[Any]) -> None:
    twin = Twin()
    for what, *values in steps:
        _take(twin, what, values)
        twin.check()


def _take(twin: Twin, what: str, values: list[Any]) -> None:
    window, plain = twin.window, twin.plain
    if what == "append":
        it = twin.new(*values)
        window.append(it)
        plain.append(it)
        return
    if what == "send":
        twin.sent = twin.state()
        window.sent()
        return
    if not plain:
        return
    at = values[0] % len(plain)
    it = plain[at]
    if what == "remove":
        assert window.remove(it, "eviction") == at
        del plain[at]
    elif what == "replace":
        new = twin.new(values[1], None, None, False)
        new.sources, new.pair = (it,), it.pair if values[2] else None
        window.replace(it, new, "rewrite")
        plain[at] = new
    elif what == "resize":
        it.version += 1
        window.resize(it, values[1], "refresh")
    elif what == "pin":
        it.own_pin = not it.own_pin
        window.hold(it)
    else:
        it.score, it.scored_at = values[1], 39
        window.touch(it)


def test_an_order_may_come_late() -> None:
    window = Window()
    for number in range(3):
        window.append(segment(f"n{number}", seq=number, score=1.0 - number / 10))
    order = SalienceOrder(Decay(0.85), lambda: 1, lambda s: True)
    window.attach(order)
    assert [s.id for s in order] == ["n2", "n1", "n0"]


def test_a_refresh_keeps_the_place_and_a_return_goes_to_the_end() -> None:
    window = Window()
    a, b = segment("a", 5), segment("b", 7)
    window.append(a)
    window.append(b)
    window.resize(a, 9, "refresh")
    assert ([s.id for s in window], window.tokens) == (["a", "b"], 16)
    window.remove(a, "eviction")
    window.append(a)
    assert [s.id for s in window] == ["b", "a"]


def test_a_pin_holds_the_call_with_its_result() -> None:
    window = Window()
    call, result = segment("c", 1, pair="p"), segment("r", 30, pair="p")
    window.append(call)
    window.append(result)
    result.own_pin = True
    window.hold(result)
    assert (call.held, window.held_tokens) == (True, 31)
    window.remove(result, "eviction")
    assert (call.held, window.held_tokens) == (False, 0)


def test_a_surrogate_is_no_copy_of_the_path() -> None:
    window = Window()
    file = segment("f", path="a.py")
    window.append(file)
    assert window.copies("a.py") == [file]
    window.replace(file, segment("s", path="a.py", sources=(file,)), "rewrite")
    assert window.copies("a.py") == []
