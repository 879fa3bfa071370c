"""Values, and the queries mined from them, against a second implementation that looks back."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenarios.transcripts.mining import Miner
from scenarios.transcripts.values import argument_values, values


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("call parse_header now", {"parse_header"}),
        ("class HttpServer:", {"HttpServer"}),
        ("see src/app/main.py:120:7 there", {"src/app/main.py", "main.py"}),
        ("commit 5e0c7f49ab", {"5e0c7f49ab"}),
        (
            "id 550e8400-e29b-41d4-a716-446655440000",
            {"550e8400-e29b-41d4-a716-446655440000", "550e8400", "446655440000"},
        ),
        ("took 31415926 us", {"31415926"}),
        ("a factor of 0.0042517", {"0.0042517"}),
        ("os.path.join_all", {"os.path.join_all", "join_all"}),
        ('error "could not connect" twice', {"could not connect"}),
        ("set `max rows` to", {"max rows"}),
        ("it's not the user's fault", set()),
        ("an ordinary sentence, nothing more: and/or read-only", set()),
        ("README CHANGELOG Returns", set()),
        ("short x1 a_b v1.2", set()),
        ("x" * 2000 + "_1", set()),
        ("a" * 79 + "_", set()),
        ("n" * 79 + "1", {"n" * 79 + "1"}),
        ("n" * 80 + "1", set()),
        ("größe_maß", {"größe_maß"}),
        ("--max-rows=1850000", {"1850000"}),
        ("std::vector_map", {"std::vector_map", "vector_map"}),
    ],
)
def test_what_is_distinctive(text, found):
    assert values(text) == found


@pytest.mark.parametrize(
    "value", ["parse_header", "src/app/main.py", "5e0c7f49ab", "could not connect"]
)
def test_a_value_is_found_again_behind_escapes(value):
    quoted = f'say "{value}" here'
    assert value in values(quoted)
    assert value in values(json.dumps(quoted))
    assert value in values(json.dumps({"k": [f"\n{quoted}\t"]}))


def test_arguments_are_searched_whatever_their_shape():
    arguments = {
        "a": ["load_balancer", {"b": "could not connect"}],
        "n": 31415926,
        "f": 2.7182818,
        "t": True,
        "z": None,
        "long": "could not connect " * 9,
    }
    assert argument_values(arguments) == {
        "load_balancer",
        "could not connect",
        "31415926",
        "2.7182818",
    }
    assert argument_values("plain load_balancer") == {"load_balancer", "plain load_balancer"}
    assert argument_values(None) == set()


@settings(deadline=None)
@given(st.text(max_size=300))
def test_any_text_has_values_of_the_right_length(text):
    assert all(6 <= len(value) <= 80 for value in values(text))
    assert all(6 <= len(value) <= 80 for value in argument_values([text]))


def test_the_latest_result_is_asked_and_the_others_can_answer():
    miner = Miner()
    miner.result(["v"], 2)
    miner.result(["v"], 3)
    assert miner.wrote(["v"], 4) == {1: {"v": (0, 1)}}
    assert miner.wrote(["v"], 5) == {1: {"v": (0, 1, 2)}}


def test_what_has_just_come_in_is_not_asked():
    miner = Miner()
    miner.result(["v"], 2)
    assert miner.wrote(["v"], 2) == {}
    assert miner.wrote(["v"], 3) == {0: {"v": (0, 1)}}


def test_a_result_that_is_not_seen_yet_is_no_source():
    miner = Miner()
    miner.result(["v"], 2)
    miner.result(["v"], 4)
    assert miner.wrote(["v"], 3) == {0: {"v": (0,)}}


@pytest.mark.parametrize("times", [1, 2, 3, 4, 5])
def test_a_value_in_more_than_three_results_asks_nothing(times):
    miner = Miner()
    for turn in range(2, 2 + times):
        miner.result(["v"], turn)
    assert bool(miner.wrote(["v"], 20)) == (times <= 3)


def test_a_value_of_the_users_or_the_models_own_asks_nothing():
    miner = Miner()
    miner.heard(["before"])
    miner.wrote(["mine"], 1)
    miner.result(["before", "mine", "after", "free"], 2)
    miner.heard(["after"])
    assert miner.wrote(["before", "mine", "after", "free"], 4) == {1: {"free": (1,)}}


STEPS = st.lists(
    st.tuples(st.sampled_from("rrruwww"), st.sets(st.sampled_from("abc")), st.booleans()),
    max_size=25,
)


def oracle(steps):
    """Look back from each mention over everything that was said before it."""
    said = []
    turn = 1
    for kind, found, next_turn in steps:
        turn += next_turn
        if kind == "w":
            asked = {}
            for value in sorted(found):
                holders = [(k, t, n) for k, f, t, n in said if value in f]
                results = [n for k, t, n in holders if k == "r"]
                user = any(k == "u" for k, _, _ in holders)
                if not holders or holders[0][0] != "r" or user or len(results) > 3:
                    continue
                seen = [n for k, t, n in holders if k == "r" and t + 1 <= turn]
                turns = {n: t + 1 for k, t, n in holders if k == "r"}
                if seen and turns[seen[-1]] < turn:
                    own = [n for k, t, n in holders if k == "w" and t + 1 <= turn]
                    asked.setdefault(seen[-1], {})[value] = (*seen, *own)
            yield asked
        number = sum(k != "u" for k, *_ in said)
        said.append((kind, found, turn, number))


@settings(deadline=None)
@given(STEPS)
def test_the_index_agrees_with_looking_back(steps):
    miner = Miner()
    turn = 1
    got = []
    for kind, found, next_turn in steps:
        turn += next_turn
        if kind == "r":
            miner.result(found, turn + 1)
        elif kind == "u":
            miner.heard(found)
        else:
            got.append(miner.wrote(found, turn))
    assert got == list(oracle(steps))
