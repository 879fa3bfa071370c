"""Values, and the queries mined from them, against a second implementation that looks back."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenarios.transcripts.mining import Miner
from scenarios.transcripts.values import argument_values, values
from tests.scenarios.transcripts.made import Lines, load, queries, text, use


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("call parse_header now", {"parse_header"}),
        ("class HttpServer:", {"HttpServer"}),
        ("see src/app/loader.py:120:7", {"src/app/loader.py", "app/loader.py", "loader.py"}),
        ("src/one.go:36:func parse_it(", {"src/one.go", "one.go", "parse_it"}),
        ("src/one.go-37-\treturn", {"src/one.go", "one.go"}),
        ("lib/two.py:9:os.environ", {"lib/two.py", "two.py"}),
        ("on 2024-05-21 at 10:20:30 or 10:20", set()),
        ("os.environ and console.log and json.JSONDecoder", set()),
        ("self.first_row of this.settings.getRow", {"first_row", "settings.getRow", "getRow"}),
        ("README.md, lib/README.md, package.json", {"lib/README.md"}),
        ("commit 5e0c7f49ab", {"5e0c7f49ab"}),
        (
            "id 550e8400-e29b-41d4-a716-446655440000",
            {"550e8400-e29b-41d4-a716-446655440000", "550e8400", "446655440000"},
        ),
        ("took 31415926 us", {"31415926"}),
        ("a factor of 0.0042517", {"0.0042517"}),
        ("app.path.join_all", {"app.path.join_all", "join_all"}),
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
def test_what_is_distinctive(content, found):
    assert values(content) == found


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
def test_any_text_has_values_of_the_right_length(content):
    assert all(6 <= len(value) <= 80 for value in values(content))
    assert all(6 <= len(value) <= 80 for value in argument_values([content]))


def test_the_latest_result_is_asked_and_the_others_can_answer():
    miner = Miner()
    miner.result(["v"], 2)
    miner.result(["v"], 3)
    assert miner.wrote(["v"], 4) == {1: {"v": (0, 1)}}


def test_what_has_just_come_in_is_not_asked():
    miner = Miner()
    miner.result(["v", "w"], 2)
    assert miner.wrote(["v"], 2) == {}
    assert miner.wrote(["w"], 3) == {0: {"w": (0,)}}


def test_what_the_model_wrote_itself_is_not_asked_again():
    miner = Miner()
    miner.result(["v"], 2)
    assert miner.wrote(["v"], 3) == {0: {"v": (0,)}}
    assert miner.wrote(["v"], 4) == {}
    miner.result(["v"], 5)
    assert miner.wrote(["v"], 6) == {}


def test_what_one_call_writes_twice_is_asked_twice():
    miner = Miner()
    miner.result(["v"], 2)
    assert miner.wrote(["v"], 3) == miner.wrote(["v"], 3) == {0: {"v": (0,)}}


@pytest.mark.parametrize(
    ("own", "path", "asks"),
    [
        ("src/app/loader.py", "/srv/src/app/loader.py", False),
        ("/srv/src/app/loader.py", "src/app/loader.py", False),
        ("app/loader.py", "/srv/src/app/loader.py", False),
        ("src/old/loader.py", "/srv/src/app/loader.py", True),
        ("go doc example.com/team/app-go.Client.Close", "example.com/team/app-go", False),
        ("example.com/team/app-go.New", "example.com/team/app-go", False),
        ("example.com/team/app-goes.New", "example.com/team/app-go", True),
        ("example.com/team/app-go.v2", "example.com/team/app-go", True),
        ("example.com/team/app-go/sub.New", "example.com/team/app-go", True),
    ],
)
def test_a_path_is_the_models_own_however_it_gave_it(own, path, asks):
    miner = Miner()
    miner.result(values(path), 2)
    miner.result(values("nothing of it"), 3)
    miner.wrote(values(own), 3)
    assert bool(miner.wrote(values(path), 5)) == asks


def test_a_result_that_holds_more_of_the_mention_is_the_better_source():
    miner = Miner()
    miner.result(["v", "w"], 2)
    miner.result(["v"], 3)
    assert miner.wrote(["v", "w"], 5) == {0: {"w": (0,)}}
    miner = Miner()
    miner.result(["v", "w"], 2)
    miner.result(["v", "w"], 3)
    assert miner.wrote(["v", "w"], 5) == {1: {"v": (0, 1), "w": (0, 1)}}


def test_what_is_out_of_the_models_sight_is_not_asked_but_can_answer():
    miner = Miner()
    miner.result(["v", "w"], 2)
    miner.wrote(["v"], 3)
    miner.forget(2)
    assert miner.wrote(["w"], 4) == {}
    miner.result(["v"], 5)
    assert miner.wrote(["v"], 6) == {3: {"v": (0, 3, 1)}}


def test_what_comes_again_is_the_latest_and_in_sight():
    miner = Miner()
    miner.result(["v"], 2)
    miner.result(["v"], 3)
    miner.again(0, 4)
    assert miner.wrote(["v"], 5) == {0: {"v": (0, 1)}}
    miner = Miner()
    miner.result(["v"], 2)
    miner.forget(1)
    miner.again(0, 4)
    assert miner.wrote(["v"], 4) == {}
    assert miner.wrote(["v"], 5) == {}
    miner = Miner()
    miner.result(["v"], 2)
    miner.forget(1)
    miner.again(0, 4)
    assert miner.wrote(["v"], 6) == {0: {"v": (0,)}}


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
    st.tuples(st.sampled_from("rrrrufwww"), st.sets(st.sampled_from("abc")), st.booleans()),
    max_size=25,
)


def look_back(said, found, turn, gone):
    """Return what *found*, written in call *turn*, asks of what was *said* before, from *gone*."""
    held, written = {}, {}
    for value in sorted(found):
        holders = [(k, t, n) for k, f, t, n in said if value in f]
        results = [n for k, _, n in holders if k == "r"]
        user = any(k == "u" for k, _, _ in holders)
        if holders and holders[0][0] == "r" and not user and len(results) <= 3:
            held[value] = [(t + 1, n) for k, t, n in holders if k == "r" and t + 1 <= turn]
            written[value] = [n for k, t, n in holders if k == "w" and t + 1 <= turn]
    asked = {}
    for value, results in held.items():
        seen = [(t, n) for t, n in results if n >= gone]
        if not seen or any(n >= gone for n in written[value]):
            continue
        shares = {n: sum((t, n) in held[v] for v in held) for t, n in seen}
        t, n = max(seen)
        if t < turn and shares[n] == max(shares.values()):
            answers = (*(n for _, n in results), *written[value])
            asked.setdefault(n, {})[value] = answers
    return asked


def oracle(steps):
    """Look back from each mention over everything that was said before it."""
    said, turn, gone = [], 1, 0
    for kind, found, next_turn in steps:
        turn += next_turn
        number = sum(k != "u" for k, *_ in said)
        if kind == "f":
            gone = number
            continue
        if kind == "w":
            yield look_back(said, found, turn, gone)
        said.append((kind, found, turn, number))


@settings(deadline=None)
@given(STEPS)
def test_the_index_agrees_with_looking_back(steps):
    miner = Miner()
    turn, texts = 1, 0
    got = []
    for kind, found, next_turn in steps:
        turn += next_turn
        texts += kind in "rw"
        if kind == "r":
            miner.result(found, turn + 1)
        elif kind == "u":
            miner.heard(found)
        elif kind == "f":
            miner.forget(texts)
        else:
            got.append(miner.wrote(found, turn))
    assert got == list(oracle(steps))


@pytest.mark.parametrize("compacted", [False, True])
def test_a_recorded_compaction_takes_results_out_of_the_models_sight(tmp_path, compacted):
    lines = Lines().user("go", 0)
    lines.model("m1", 1, use("a", command="cat log")).result("a", "request req_77ab1", 2)
    lines.model("m2", 3, use("b", command="ls")).result("b", "run_44cd2", 4)
    if compacted:
        data = {"trigger": "auto", "preTokens": 9}
        lines.put("system", None, 5, subtype="compact_boundary", compactMetadata=data)
        lines.user("It was all about a request.", 6, isCompactSummary=True)
    lines.model("m3", 7, use("c", command="cat other")).result("c", "host_12ef3", 8)
    lines.model("m4", 9, use("d", command="ls")).result("d", "nothing", 10)
    lines.model("m5", 11, text("req_77ab1 on host_12ef3"))
    script = load(lines.write(tmp_path / "session.jsonl"))[0].script(0)
    asked = {query.key for query in queries(script)}
    assert asked == ({"host_12ef3"} if compacted else {"host_12ef3", "req_77ab1"})
