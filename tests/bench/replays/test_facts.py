"""What was gone and what broke, from records written by hand."""

from bench.replays.facts import MOST, facts

EVICT = ("evict", 1.0, 3, "old", 400, "dispensable", "bulk", "pass")
REWRITE = ("rewrite", 1.0, 4, "s1", ("a", "b"), 300, 20, False, ("k",), "relevance", "pass", True)
PASS = ("pass", 1.0, 3, 400, 9000, 9500, 12000, 0, 2.5)
CAUSES = (("read", 2000, 0.0004), ("append", 100, 0.0002), ("eviction", 9500, 0.02))


def call(turn, causes=CAUSES, extra=False):
    return ("call", 1.0, turn, 11600, 2000, 9600, 0, 50, 0.02, 0.0005, 1.0, 2.0, extra, causes)


def missed(turn, segment, tokens):
    return ("missed", 1.0, turn, segment, tokens, "query")


def answer(turn, query, segment, outcome):
    return ("answer", 1.0, turn, query, "key", segment, outcome, "gone", None)


def test_what_was_gone_says_how_and_since_when():
    found = facts(
        [
            EVICT,
            REWRITE,
            missed(6, "old", 400),
            missed(6, "b", 100),
            answer(6, "q1", "old", "abstained"),
            answer(6, "q2", "b", "confabulated"),
        ]
    )
    assert found["gone"] == [
        {
            "turn": 6,
            "segment": "old",
            "path": None,
            "tokens": 400,
            "query": "q1",
            "outcome": "abstained",
            "how": "evicted (bulk)",
            "since": 3,
        },
        {
            "turn": 6,
            "segment": "b",
            "path": None,
            "tokens": 100,
            "query": "q2",
            "outcome": "confabulated",
            "how": "rewritten, untagged (relevance)",
            "since": 4,
        },
    ]
    assert found["gone_by"] == {"evicted (bulk)": 1, "rewritten, untagged (relevance)": 1}


def test_what_came_back_is_gone_no_more():
    back = ("fetch", 1.0, 5, "old", 400, 1, "reader")
    found = facts([EVICT, back, missed(6, "old", 400)])
    assert [(each["how"], each["since"]) for each in found["gone"]] == [("in part", None)]


def test_a_stale_copy_is_named_until_it_is_refreshed():
    write = ("write", 1.0, 2, "a.py", 2, ("f",))
    fresh = ("refresh", 1.0, 3, "f", 10, 12, 2, "policy")
    (gone,) = facts([write, missed(4, "f", 10)])["gone"]
    assert (gone["how"], gone["since"]) == ("stale", 2)
    (gone,) = facts([write, fresh, missed(4, "f", 10)])["gone"]
    assert (gone["how"], gone["since"]) == ("in part", None)


def test_a_break_costs_what_the_call_lays_to_removals():
    found = facts([EVICT, PASS, call(3)])
    assert found["broke"] == [
        {
            "turn": 3,
            "by": ["eviction"],
            "segments": ["old"],
            "count": 1,
            "removed": 400,
            "again": 9500,
            "usd": 0.02,
        }
    ]
    assert (found["broke_count"], found["broke_usd"]) == (1, 0.02)


def test_a_removal_with_nothing_behind_it_breaks_nothing():
    assert facts([EVICT, call(3, CAUSES[:2])])["broke"] == []
    assert facts([EVICT, PASS, call(3), call(4)])["broke_count"] == 1
    # Of a rewrite at the end of the request only the surrogate is new, 20 tokens.
    assert facts([REWRITE, call(4, (("rewrite", 20, 0.01),))])["broke"] == []
    assert facts([REWRITE, call(4, (("rewrite", 21, 0.01),))])["broke_count"] == 1


def test_what_is_brought_up_to_date_breaks_what_stands_behind_it():
    fresh = ("refresh", 1.0, 8, "file-1", 10, 12, 2, "policy")
    (broke,) = facts([fresh, call(8, (("refresh", 10653, 0.0266),))])["broke"]
    assert (broke["by"], broke["segments"], broke["removed"]) == (["refresh"], ["file-1"], 0)
    assert (broke["again"], broke["usd"]) == (10653, 0.0266)
    world = (*fresh[:-1], "world")
    assert facts([world, call(8, (("refresh", 10653, 0.0266),))])["broke"] == []


def test_a_fetch_is_no_break():
    call_with = call(3, (("eviction", 500, 0.01), ("rehydration", 400, 0.5)))
    (broke,) = facts([EVICT, call_with])["broke"]
    assert (broke["again"], broke["usd"]) == (500, 0.01)


def test_what_a_surrogate_answers_is_what_was_asked_for():
    arrive = ("arrive", 1.0, 1, "b", "file", 100, 1.0, False, False, "b.py", None, ("key",))
    made_up = ("answer", 1.0, 6, "q2", "key", "s1", "confabulated", "untagged", "x")
    (gone,) = facts([arrive, REWRITE, missed(6, "b", 100), made_up])["gone"]
    assert (gone["path"], gone["query"], gone["outcome"]) == ("b.py", "q2", "confabulated")
    other = (*made_up[:4], "another key", *made_up[5:])
    (gone,) = facts([arrive, REWRITE, missed(6, "b", 100), other])["gone"]
    assert gone["outcome"] is None


def test_the_largest_are_kept_and_all_are_counted():
    records = [missed(turn, f"s{turn}", turn) for turn in range(1, MOST + 6)]
    found = facts(records)
    assert found["gone_count"] == MOST + 5
    assert [each["tokens"] for each in found["gone"]] == list(range(MOST + 5, 5, -1))


def test_what_was_gone_is_of_all_that_was_asked_for():
    """Two questions, one of them missed, and two explicit requests, one of them missed."""
    found = facts(
        [
            EVICT,
            missed(6, "old", 400),
            ("missed", 1.0, 7, "b", 9, "operator"),
            answer(6, "q1", "old", "abstained"),
            answer(6, "q2", "b", "correct"),
            ("operator", 1.0, 7, "expand", "b", "granted"),
            ("operator", 1.0, 8, "expand", "c", "resident"),
        ]
    )
    assert (found["gone_count"], found["asked_count"]) == (2, 4)
