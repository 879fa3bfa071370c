import json
from collections import Counter
from pathlib import Path

import pytest

from scenarios.transcripts.formats import recognise
from sim.errors import InputError
from sim.segments import Kind
from tests.scenarios.transcripts.made import arrivals, load_all, waits

TRACES = Path(__file__).parents[5] / "shared" / "data" / "serving_traces" / "mooncake"


def request(at, prompt, answer, *blocks, **more):
    return {
        "timestamp": at,
        "input_length": prompt,
        "output_length": answer,
        "hash_ids": list(blocks),
        **more,
    }


def write(tmp_path, *records):
    path = tmp_path / "trace.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def calls(scenarios):
    return {s.name.partition("/")[2]: s.settings["turns"] for s in scenarios}


def test_a_prompt_that_holds_the_last_and_its_answer_is_the_sessions_next_call(tmp_path):
    path = write(
        tmp_path,
        request(0, 1000, 100, 1, 2),
        request(5000, 1500, 10, 1, 3, 4),
        request(65_000, 3000, 50, 1, 3, 9, 10, 11, 12),
    )
    scenarios, warnings, _ = load_all(path)
    assert warnings == []
    # The first ends in block 1, the second, which is longer than 1000 + 100, in block 3.
    assert calls(scenarios) == {"": 3}
    script = scenarios[0].script(0)
    sizes = [(a.kind, a.turn, a.tokens) for a in arrivals(script).values()]
    assert sizes == [
        (Kind.TASK, 1, 1000),
        (Kind.ASSISTANT, 2, 100),
        (Kind.USER, 2, 400),
        (Kind.ASSISTANT, 3, 10),
        (Kind.USER, 3, 1490),
    ]
    assert waits(script) == {2: 5.0, 3: 60.0}
    assert script.recorded == {
        1: {"input_tokens": 1000, "output_tokens": 100},
        2: {"input_tokens": 1500, "output_tokens": 10},
        3: {"input_tokens": 3000, "output_tokens": 50},
    }
    assert script.output_tokens == {1: 100, 2: 10, 3: 50}


def test_the_last_block_counts_only_when_it_is_full(tmp_path):
    whole = write(tmp_path, request(0, 1024, 5, 1, 2), request(1, 1200, 5, 1, 2, 3))
    assert calls(load_all(whole)[0]) == {"": 2}
    other = write(tmp_path, request(0, 1024, 5, 1, 2), request(1, 1200, 5, 1, 4, 3))
    assert calls(load_all(other)[0]) == {"request-1": 1, "request-2": 1}
    partly = write(tmp_path, request(0, 1023, 5, 1, 2), request(1, 1200, 5, 1, 4, 3))
    assert calls(load_all(partly)[0]) == {"": 2}


@pytest.mark.parametrize(
    "second",
    [
        request(1, 1000, 5, 1, 2),  # sent again
        request(1, 1100, 5, 1, 2, 3),  # no longer than 1000 + 100
        request(1, 1500, 5, 7, 2, 3),  # begins otherwise
        request(1, 400, 5, 1),  # shorter, without a full block
    ],
)
def test_what_is_no_continuation_begins_a_session(tmp_path, second):
    scenarios, _, _ = load_all(write(tmp_path, request(0, 1000, 100, 1, 2), second))
    assert calls(scenarios) == {"request-1": 1, "request-2": 1}


def test_the_same_ids_behind_another_beginning_are_other_blocks(tmp_path):
    path = write(tmp_path, request(0, 1024, 1, 5, 6), request(1, 2000, 1, 7, 8, 5, 6))
    assert len(load_all(path)[0]) == 2


def test_what_several_begin_with_tells_no_session_from_another(tmp_path):
    path = write(
        tmp_path,
        request(0, 600, 50, 1, 10),
        request(1, 620, 50, 1, 11),
        request(2, 2000, 50, 1, 20, 21, 22),
        request(3, 700, 50, 1, 12),
    )
    assert set(calls(load_all(path)[0]).values()) == {1}


def test_only_the_first_of_two_branches_is_a_continuation(tmp_path):
    path = write(
        tmp_path,
        request(0, 1024, 10, 1, 2),
        request(1, 2048, 10, 1, 2, 3, 4),
        request(2, 2048, 10, 1, 2, 5, 6),
        request(3, 3000, 10, 1, 2, 3, 4, 7, 8),
    )
    assert calls(load_all(path)[0]) == {"request-1": 3, "request-3": 1}


def test_sessions_that_the_record_names_need_no_blocks(tmp_path):
    path = write(
        tmp_path,
        {"session_id": "a", "timestamp": 0, "input_length": 100, "output_length": 10},
        {"session_id": "b/c", "timestamp": 10, "input_length": 70, "output_length": 10},
        {"session_id": "a", "delay": 2500, "input_length": 150, "output_length": 10},
        {"session_id": "a", "delay": 500, "input_length": 90, "output_length": 10},
    )
    scenarios, warnings, _ = load_all(path)
    assert calls(scenarios) == {"a": 3, "b/c": 1}
    script = scenarios[0].script(0)
    assert [a.tokens for a in arrivals(script).values()] == [100, 10, 40, 10]
    assert waits(script) == {2: 2.5}
    assert warnings == [
        f"{path}:4: a prompt no longer than the one before and its answer (nothing new)"
    ]


@pytest.mark.parametrize(
    ("record", "what"),
    [
        ([], "a record that is not an object"),
        ({"timestamp": 1, "hash_ids": []}, "a request without input_length and output_length"),
        (request(1, -4, 1), "a request without input_length and output_length"),
        (request(1, 0, 1), "a request without input_length and output_length"),
        (request(1, True, 1), "a request without input_length and output_length"),
        (request(1, 10, "1"), "a request without input_length and output_length"),
        (request(1, 10, 1, 1.5), "hash_ids that are no list of whole numbers"),
        (request(1, 10, 1, True), "hash_ids that are no list of whole numbers"),
        (request(1, 10, 1, hash_ids=None), "hash_ids that are no list of whole numbers"),
        (request("soon", 10, 1), "a time that cannot be read"),
        (request(-1, 10, 1), "a time that cannot be read"),
        (request(float("nan"), 10, 1), "a time that cannot be read"),
        (request(10**400, 10, 1), "a time that cannot be read"),
    ],
)
def test_what_breaks_the_pattern_is_named(tmp_path, record, what):
    path = write(tmp_path, request(0, 10, 1, 3), record)
    _, warnings, _ = load_all(path)
    assert [w.partition(f"{path}:2: ")[2].partition(" (")[0] for w in warnings] == [what]
    with pytest.raises(InputError, match=what):
        load_all(path, strict=True)


def test_no_answer_and_no_blocks_are_sizes_too(tmp_path):
    scenarios, warnings, _ = load_all(write(tmp_path, request(0, 10, 0)))
    assert (calls(scenarios), warnings) == ({"": 1}, [])
    assert scenarios[0].script(0).output_tokens == {1: 0}


def test_a_trace_of_another_shape_is_none(tmp_path):
    path = write(tmp_path, request(0, 10, 1, chat_id=3))
    with pytest.raises(InputError, match=r"JSON|not a recording"):
        recognise(path)


def sessions_of(records):
    """Join the requests the slow way: by comparing whole lists of blocks."""
    ends = []  # each: blocks up to the end, session or None
    totals: list[int] = []
    joined = []
    for record in records:
        blocks, prompt = record["hash_ids"], record["input_length"]
        full = blocks if 512 * len(blocks) == prompt else blocks[:-1]
        met = [e for e in ends if e[0] and e[0] == full[: len(e[0])]]
        furthest = max(met, key=lambda e: len(e[0]), default=[[], None])
        session = furthest[1]
        if session is not None and prompt <= totals[session]:
            session = None
        same = [e for e in met if e[0] == full]
        for end in met:
            end[1] = None
        if session is None:
            session = len(totals)
            totals.append(0)
            if full and not same:
                ends.append([full, session])
        else:
            if same and furthest[0] == full:
                same[0][1] = session
            elif full:
                ends.append([full, session])
        totals[session] = prompt + record["output_length"]
        joined.append(session)
    return joined


@pytest.mark.skipif(not TRACES.is_dir(), reason="needs ../shared")
@pytest.mark.parametrize(
    ("name", "requests"), [("conversation_trace", 12_031), ("synthetic_trace", 3993)]
)
def test_the_published_traces(tmp_path, name, requests):
    lines = (TRACES / f"{name}.jsonl").read_text().splitlines()
    assert len(lines) == requests
    some = [json.loads(line) for line in lines[:1500]]
    path = write(tmp_path, *some)
    scenarios, warnings, _ = load_all(path, budget=10**9)
    assert warnings == []
    joined = Counter(sessions_of(some))
    assert [s.settings["turns"] for s in scenarios] == [joined[n] for n in sorted(joined)]
    for scenario in scenarios:
        script = scenario.script(0)
        held = 0
        for turn in range(1, scenario.settings["turns"] + 1):
            held += sum(a.tokens for a in arrivals(script).values() if a.turn == turn)
            assert script.recorded[turn]["input_tokens"] == held
