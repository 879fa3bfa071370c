"""Random draws belong to a name, not to the moment of use."""

from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from sim.streams import generator, uniform
from tests.sim.build import elsewhere

_part = st.one_of(st.integers(), st.text(max_size=5))


@given(st.integers(0, 9), st.text(max_size=5), st.lists(_part, max_size=3))
def test_a_draw_is_the_head_of_a_keyed_hash(seed: int, stream: str, event: list[object]) -> None:
    text = "\x1f".join(str(part) for part in (seed, stream, *event))
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    draw = uniform(seed, stream, *event)
    assert draw == (int.from_bytes(digest[:8], "big") >> 11) / 2**53
    assert 0.0 <= draw < 1.0


def test_every_part_of_the_name_counts() -> None:
    names = [(0, "a", "x"), (1, "a", "x"), (0, "b", "x"), (0, "a", "y"), (0, "a", "x", 1), (0, "a")]
    assert len({uniform(*name) for name in names}) == len(names)  # type: ignore[arg-type]


def test_draws_do_not_depend_on_the_order_of_use() -> None:
    forward = [uniform(3, "reader", f"q{i}") for i in range(50)]
    backward = [uniform(3, "reader", f"q{i}") for i in reversed(range(50))]
    assert forward == backward[::-1]


def test_draws_are_spread_evenly() -> None:
    draws = [uniform(0, "spread", i) for i in range(20_000)]
    for tenth in range(10):
        share = sum(tenth / 10 <= d < (tenth + 1) / 10 for d in draws) / len(draws)
        assert abs(share - 0.1) < 0.01  # five standard deviations


def test_a_generator_begins_anew_under_each_name() -> None:
    def draw(*name: object) -> list[float]:
        values: list[float] = generator(*name).random(4).tolist()  # type: ignore[arg-type]
        return values

    assert draw(1, "coding-agent", "sizes", 3) == draw(1, "coding-agent", "sizes", 3)
    others = [
        (2, "coding-agent", "sizes", 3),
        (1, "x", "sizes", 3),
        (1, "coding-agent", "waits", 3),
    ]
    for other in others:
        assert draw(*other) != draw(1, "coding-agent", "sizes", 3)


def test_the_same_draws_in_another_process() -> None:
    code = (
        "from sim.streams import generator, uniform\n"
        "print(uniform(1, 'ä', 'b', 2), generator(1, 'a', 'b').integers(0, 1 << 60))"
    )
    here = f"{uniform(1, 'ä', 'b', 2)} {generator(1, 'a', 'b').integers(0, 1 << 60)}"
    assert elsewhere(code, 7) == here
