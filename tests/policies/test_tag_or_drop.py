import pytest

from policies.registry import make
from sim.script import Arrival, Query
from sim.segments import Fact, Kind


def note(turn, name, tokens, score, **more):
    return Arrival(turn, name, Kind.NOTE, tokens, score, **more)


def read(turn, name, tokens, copy):
    return Arrival(turn, name, Kind.FILE, tokens, 1.0, path=f"{name}.py", copy=copy)


def test_a_rewrite_carries_its_tag(play):
    told = play("tag-or-drop", note(1, "span", 50, 0.1))
    assert told.rewritten() == [("span", 20)]
    assert told.rows("rewrite")[0]["tagged"]


@pytest.mark.parametrize(
    ("tokens", "copy", "rewritten", "evicted"),
    [
        (21, False, [("span", 20)], []),
        (20, False, [], [("span", "grows")]),
        (19, False, [], [("span", "grows")]),
        (19, True, [("span", 20)], []),
    ],
)
def test_it_shrinks_or_there_is_a_copy_or_it_is_dropped(play, tokens, copy, rewritten, evicted):
    told = play("tag-or-drop", note(1, "span", tokens, 0.1, copy=copy))
    assert told.rewritten() == rewritten
    assert told.evicted() == evicted


def test_what_cannot_be_tagged_is_dropped(play):
    told = play("tag-or-drop", note(1, "span", 100, 0.1, taggable=False, copy=True))
    assert told.evicted() == [("span", "untaggable")]


def test_it_waits_while_something_without_a_copy_comes(play):
    told = play(
        "tag-or-drop",
        note(1, "span", 100, 0.25),
        note(1, "untaggable", 100, 0.25, taggable=False),
        read(2, "bare", 10, False),
        read(3, "covered", 10, True),
    )
    assert told.evicted(2) == [("untaggable", "untaggable")]
    assert [row["turn"] for row in told.rows("rewrite")] == [3]
    assert told["policy_bugs"] == 0


@pytest.mark.parametrize(
    ("kind", "waits"),
    [
        (Kind.FILE, True),
        (Kind.TOOL_RESULT, True),
        (Kind.IMAGE, True),
        (Kind.USER, False),
        (Kind.ASSISTANT, False),
        (Kind.TOOL_CALL, False),
        (Kind.DIFF, False),
    ],
)
def test_messages_are_no_spending(play, kind, waits):
    told = play("tag-or-drop", note(1, "span", 100, 0.26), Arrival(2, "new", kind, 10, 1.0))
    assert [row["turn"] for row in told.rows("rewrite")] == ([] if waits else [2])


def test_over_budget_it_rewrites_the_lowest_of_the_rest(play):
    told = play(
        "tag-or-drop",
        note(1, "a", 200, 0.9),
        note(1, "b", 200, 0.5),
        note(1, "c", 200, 0.7),
        Arrival(2, "say", Kind.USER, 200, 1.0),
        budget=600,
    )
    assert told.rewritten(2) == [("b", 20), ("c", 20)]
    assert told.sent(2) == 440


def test_over_budget_and_barred_it_evicts_the_lowest(play):
    told = play(
        "tag-or-drop",
        note(1, "a", 200, 0.9),
        note(1, "b", 200, 0.5),
        note(1, "pinned", 100, 0.3, pinned=True),
        read(2, "bare", 200, False),
        budget=500,
    )
    assert told.rewritten() == []
    assert told.evicted() == [("b", "budget")]


def test_when_nothing_full_is_left_surrogates_go(play):
    told = play(
        "tag-or-drop",
        note(1, "a", 100, 0.5),
        note(1, "b", 100, 0.6),
        Arrival(2, "say", Kind.USER, 475, 1.0, pinned=True),
        budget=500,
    )
    assert told.rewritten(2) == [("a", 20), ("b", 20)]
    assert told.evicted(2) == [("s1", "budget")]
    assert told.truncated() == []


def test_a_rewrite_that_frees_nothing_does_not_serve_the_budget(play):
    told = play(
        "tag-or-drop",
        note(1, "small", 15, 0.3, copy=True),
        Arrival(2, "say", Kind.USER, 490, 1.0, pinned=True),
        budget=500,
    )
    assert told.evicted() == [("small", "grows")]


def test_a_call_and_its_result_become_one_surrogate_when_the_result_is_below(play):
    told = play(
        "tag-or-drop",
        Arrival(1, "call", Kind.TOOL_CALL, 15, 1.0, pair="p"),
        Arrival(1, "result", Kind.TOOL_RESULT, 90, 0.3, pair="p", copy=True, time=1.0),
        turns=4,
    )
    assert 0.3 * 0.85 > 0.25 > 0.3 * 0.85**2
    (row,) = told.rows("rewrite")
    assert (row["turn"], row["sources"], row["after"]) == (3, ("call", "result"), 20)


def test_without_tags_it_restores(play):
    span = note(1, "span", 50, 0.1, taggable=False, facts=(Fact("k", "v", "w"),))
    told = play("tag-or-drop:tag=off", span, Query(2, "q", "k", 0.9, ("span",)))
    assert told.rewritten() == [("span", 12)]
    assert told["confabulated"] == 1
    assert [row["after"] for row in told.rows("restore")] == [40]


def test_without_rewriting_it_evicts_below_the_limit_at_any_time(play):
    told = play(
        "tag-or-drop:rewrite=off",
        note(1, "span", 100, 0.25),
        note(1, "above", 100, 0.3),
        read(2, "bare", 10, False),
    )
    assert told.evicted() == [("span", "relevance")]


def test_without_deferral_it_spends(play):
    told = play("tag-or-drop:defer=off", note(1, "span", 100, 0.26), read(2, "bare", 10, False))
    assert [row["turn"] for row in told.rows("rewrite")] == [2]
    assert told.breaches() == ["compress-then-spend"]


def test_without_the_shrink_rule_it_grows(play):
    told = play("tag-or-drop:shrink=off", note(1, "span", 10, 0.1))
    assert told.rewritten() == [("span", 20)]
    assert told.breaches() == ["growth without a copy"]


def test_without_the_relevance_pass_only_the_budget_counts(play):
    told = play(
        "tag-or-drop:relevance=off",
        note(1, "span", 100, 0.1),
        Arrival(2, "say", Kind.USER, 450, 1.0),
        budget=500,
    )
    assert [row["turn"] for row in told.rows("rewrite")] == [2]


def test_without_eviction_the_rest_is_for_the_backstop(play):
    told = play(
        "tag-or-drop:evict=off",
        note(1, "a", 200, 0.9),
        read(2, "bare", 400, False),
        budget=500,
        strict=False,
    )
    assert told.truncated() == ["a"]


@pytest.mark.parametrize(
    ("spec", "declares"),
    [
        ("tag-or-drop", set()),
        ("tag-or-drop:tag=off", {"untagged"}),
        ("tag-or-drop:shrink=off", {"grows"}),
        ("tag-or-drop:defer=off", {"spends"}),
        ("tag-or-drop:tag=off,shrink=off,defer=off", {"untagged", "grows", "spends"}),
        ("tag-or-drop:rewrite=off,tag=off,defer=off", set()),
    ],
)
def test_declarations_follow_from_the_options(spec, declares):
    assert make(spec).declares == declares
    assert hasattr(make(spec), "on_restore") == (declares >= {"untagged"})


def test_numbers_of_its_own(play):
    told = play(
        "tag-or-drop:rewrite.below=0.5,surrogate.tokens=3,surrogate.tag_tokens=0",
        note(1, "span", 50, 0.4),
    )
    assert told.rewritten() == [("span", 3)]


def test_a_short_call_is_no_reason_to_drop_its_result_while_it_waits(play):
    told = play(
        "tag-or-drop",
        Arrival(1, "call", Kind.TOOL_CALL, 5, 0.25, pair="p"),
        Arrival(1, "result", Kind.TOOL_RESULT, 90, 0.25, pair="p", copy=True, time=1.0),
        Arrival(1, "call-2", Kind.TOOL_CALL, 5, 0.25, pair="q"),
        Arrival(
            1, "result-2", Kind.TOOL_RESULT, 9, 0.25, pair="q", taggable=False, copy=True, time=1.0
        ),
        read(2, "bare", 10, False),
        read(3, "covered", 10, True),
    )
    assert told.evicted(2) == [("result-2", "untaggable"), ("call-2", "untaggable")]
    assert [(row["turn"], row["sources"]) for row in told.rows("rewrite")] == [
        (3, ("call", "result"))
    ]
