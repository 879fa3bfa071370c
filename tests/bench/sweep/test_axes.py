"""What --vary says: ranges, lists, options of policies, and what is wrong with each."""

from __future__ import annotations

import pytest

from bench.sweep.axes import axes
from scenarios import reference
from sim.errors import InputError

KEYS = reference.every_key()


def one(text, *policies):
    (axis,) = axes([text], KEYS, dict(zip(policies, policies, strict=True)))
    return axis


def test_a_range_has_both_ends_and_even_steps():
    assert one("salience.decay=0.5:0.9:5").steps() == pytest.approx((0.5, 0.6, 0.7, 0.8, 0.9))
    assert one("salience.decay=0.5:0.99:20").steps()[-1] == 0.99
    assert one("salience.decay=0.5:0.5:1").steps() == (0.5,)


def test_equal_ratios():
    assert one("budget=1000:8000:4:log").steps() == (1000, 2000, 4000, 8000)
    assert one("rehydrate.threshold=0.01:0.81:3:log").steps() == pytest.approx((0.01, 0.09, 0.81))


def test_whole_keys_go_through_whole_numbers():
    assert one("turns=10:13:4").steps() == (10, 11, 12, 13)
    assert one("budget=1_000:2_000:3").steps() == (1000, 1500, 2000)


def test_a_list_is_as_it_is_written():
    axis = one("reader=strict, measured")
    assert axis.steps() == ("strict", "measured")
    assert [axis.at(share) for share in (0.0, 0.49, 0.5, 0.99)] == [
        *("strict", "strict"),
        *("measured", "measured"),
    ]


def test_every_value_of_a_spread_range_is_as_likely():
    """Of 1, 2, 3 and 4, each has a quarter of the unit interval."""
    axis = one("turns=1:4")
    assert [axis.at(share) for share in (0.0, 0.2499, 0.25, 0.5, 0.75, 0.9999)] == [
        1,
        1,
        2,
        3,
        4,
        4,
    ]
    assert one("salience.decay=0.5:0.9").at(0.25) == pytest.approx(0.6)
    assert one("rehydrate.threshold=0.01:0.81:1:log").at(0.5) == pytest.approx(0.09)


def test_an_option_of_a_policy_is_found_by_its_name():
    axis = one("tag-or-drop:rewrite.below=0.1:0.5:5", "tiered", "tag-or-drop:tag=off")
    assert (axis.policy, axis.option) == ("tag-or-drop:tag=off", "rewrite.below")
    assert one("masking:keep=5:9:3", "masking").steps() == (5, 7, 9)


WRONG = {
    "salience.decay": "is not KEY=START:STOP:COUNT",
    "=1:2:3": "is not KEY=START:STOP:COUNT",
    "salience.decy=0.5:0.9:5": "did you mean 'salience.decay'",
    "salience.decay=0.9:0.5:5": "does not go up",
    "salience.decay=0.5:0.9:0": "no number of values of at least 1",
    "salience.decay=0.5:0.9:x": "no number of values of at least 1",
    f"salience.decay=0.5:0.9:{'9' * 5000}": "no number of values of at least 1",
    "salience.decay=0:0.9:4:log": "begins above 0",
    "budget=1000.5:2000:3": "takes whole numbers",
    "reader=strict,": "is empty",
    "reader=strict,strict": "lists strict twice",
    "tierd:rewrite.below=0.1:0.5:5": "did you mean 'tiered'",
    "tiered:arrivl=on,off": "did you mean 'arrival'",
}


@pytest.mark.parametrize("text", WRONG, ids=lambda text: text[:30])
def test_what_is_wrong_is_said(text):
    with pytest.raises(InputError) as found:
        one(text, "tiered")
    assert WRONG[text] in str(found.value)


def test_a_grid_of_too_few_whole_numbers_is_refused():
    with pytest.raises(InputError, match="no 5 whole numbers"):
        one("turns=1:3:5").steps()
    with pytest.raises(InputError, match="needs the number of values"):
        one("turns=1:3").steps()
    with pytest.raises(InputError, match="one value cannot go from 1 to 3; write turns=1"):
        one("turns=1:3:1").steps()


def test_a_key_comes_once_and_something_is_varied():
    with pytest.raises(InputError, match="twice"):
        axes(["budget=1:2:2", "budget=3:4:2"], KEYS, {})
    with pytest.raises(InputError, match="nothing to vary"):
        axes([], KEYS, {})
    two = ["tiered:arrival=off", "tiered:pins=off"]
    with pytest.raises(InputError, match="are both tiered"):
        one("tiered:rewrite.below=0.1:0.2:2", *two)
    with pytest.raises(InputError, match="is set and varied"):
        one("masking:keep=5:9:3", "masking:keep=4")
