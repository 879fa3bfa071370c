"""Chains, decisions and rules of the stories, from their page and by hand."""

from __future__ import annotations

from functools import cache

import pytest

from bench.explain.cases import case_of
from bench.explain.checking import Reruns
from bench.explain.explanations import of_answer, of_segment, of_turn, wrong_answers
from bench.explain.rules import RULES
from bench.loading import load
from policies.registry import names
from scenarios import stories


@cache
def case(story, policy, **settings):
    return case_of(load(story, dict(settings)), policy, 0)


def told(story, policy, name, settings=()):
    run = case_of(load(story, dict(settings)), policy, 0)
    return of_answer(run, name, Reruns(run.script))


def events(found):
    return [(step["turn"], step["event"]) for step in found["chain"]]


def test_threshold_drift_by_hand():
    """S0: 4500 ms is read at turn 2, 4 tokens, and rewritten at 11, since .85⁹ = .232 < .25."""
    found = told("threshold-drift", "naive-rewrite", "timeout-value")
    assert events(found) == [
        (2, "admitted"),
        (11, "rewritten"),
        (49, "re-scored"),
        (49, "answered"),
    ]
    admitted, rewritten, scored, answered = found["chain"]
    assert (admitted["segment"], admitted["kind"]) == ("span", "file")
    assert (admitted["raw_tokens"], admitted["tokens_after"], admitted["never"]) == (4, 4, 0)
    assert admitted["arrival_score"] == 1.0
    assert admitted["facts"] == {"timeout": "4500"} and admitted["copy"]
    assert (rewritten["tokens_before"], rewritten["tokens_after"]) == (4, 2)
    assert rewritten["tagged"] is False and rewritten["kept"] == []
    assert (rewritten["reason"], rewritten["by"]) == ("relevance", "pass")
    assert rewritten["salience_before"] == pytest.approx(0.85**9)
    assert scored["salience_before"] == pytest.approx(0.85**47)
    assert scored["salience_after"] == 0.9 and scored["crossed"]
    assert (answered["answer"], answered["outcome"]) == ("3000", "confabulated")
    assert found["source_says"] == "4500"
    assert [step["inevitable"] for step in found["chain"]] == [False, True, False, False]
    assert found["decision"]["decision"] == "rewritten, untagged"
    assert found["decision"]["turn"] == 11 and found["decision"]["copy"]
    assert found["rule"]["name"] == "tag"
    assert found["prevented_by"]["policy"] == "tag-or-drop"
    assert [check["outcome"] for check in found["checks"]] == ["correct"]


def test_tag_off_is_answered_by_its_own_option():
    found = told("threshold-drift", "tag-or-drop:tag=off", "timeout-value")
    assert found["prevented_by"]["policy"] == "tag-or-drop"
    assert found["prevented_by"]["option"] == "tag=on"


def test_without_a_second_pass_nothing_is_lost():
    found = told("threshold-drift", "tag-or-drop", "timeout-value")
    assert found["outcome"] == "correct"
    assert found["decision"] is None and found["rule"] is None and found["checks"] == []
    assert [event for _, event in events(found)][-3:] == ["return decided", "fetched", "answered"]


def test_rate_limit_table_the_gate():
    """S4: the fetched table needs 1,740 tokens more than there are, and takes the constraint."""
    found = told("rate-limit-table", "naive-rehydrate", "deploy")
    assert found["outcome"] == "violation" and found["missing"] == ["constraint"]
    assert events(found) == [(3, "admitted"), (19, "evicted"), (20, "act")]
    gone = found["chain"][1]
    assert (gone["over"], gone["grew"]) == (1_740, "the fetch of table (1,800)")
    assert (gone["book"], gone["reason"], gone["by"]) == ("dispensable", "displaced", "pass")
    assert gone["broke"] == ["pin removed"]
    assert found["rule"]["name"] == "gate"
    assert found["prevented_by"]["policy"] == "slack-swap-refuse"


def test_rate_limit_table_a_rule_that_only_defers():
    """tag-or-drop fetches what cannot stay: deferred; disciplined answers from the summary."""
    found = told("rate-limit-table", "naive-rewrite", "throttling")
    assert found["rule"]["name"] == "tag"
    assert [(c["policy"], c["outcome"]) for c in found["checks"]] == [
        ("tag-or-drop", "deferred"),
        ("disciplined", "correct"),
    ]


def test_only_pins_left_no_rule_helps():
    """At turn 6 the pins are 21,000 of 20,000: who keeps them fails before turn 7 asks."""
    found = told("only-pins-left", "sliding-window", "submit")
    assert found["decision"]["decision"] == "evicted" and found["decision"]["turn"] == 6
    assert found["rule"]["name"] == "pin" and found["prevented_by"] is None
    outcomes = {check["policy"]: check["outcome"] for check in found["checks"]}
    assert outcomes["sliding-window:pins=on"] == "not asked"
    assert outcomes["tiered"] == "not asked"
    assert "21000" in found["checks"][0]["why"]


def test_signature_change_the_backstop():
    """Attempt 3 demands 267,408; after ranks 4–1 the backstop cuts 55,000, the task among them."""
    found = told("signature-change", "naive-trim", "patch-3")
    assert events(found) == [(1, "admitted"), (3, "cut"), (3, "act")]
    assert found["chain"][1]["tokens_before"] == 1_000
    assert found["decision"]["decision"] == "cut by the backstop"
    assert "typecheck-3 (61204 tokens)" in found["chain"][1]["grew"]
    assert found["rule"]["name"] == "reduce at arrival"
    assert found["prevented_by"]["policy"] == "tiered"


def test_the_door_and_its_neighbours():
    found = told("the-door", "naive-rewrite", "ask-6")
    assert found["outcome"] == "confabulated" and found["decision"]["turn"] == 5
    assert found["prevented_by"]["policy"] == "tag-or-drop"
    deferred = told("the-door", "slack-swap-refuse", "ask-6")
    assert deferred["outcome"] == "deferred" and deferred["decision"] is None
    assert events(deferred)[:2] == [(5, "kept out"), (6, "re-scored")]
    first = deferred["chain"][0]
    assert first["reason"] == "margin" and first["score"] == 0.2
    assert first["tokens_before"] == 9_000 and first["tokens_after"] == 0


def test_last_of_forty_cut_at_the_door():
    found = told("last-of-forty", "tiered", "which-failure")
    assert found["outcome"] == "abstained"
    assert found["decision"]["decision"] == "cut at the door"
    assert found["chain"][0]["never"] == (
        found["chain"][0]["raw_tokens"] - found["chain"][0]["tokens_after"]
    )
    assert found["prevented_by"]["option"] == "arrival=page"


def test_a_draw_of_the_reader():
    """Under `measured` a tagged surrogate with a copy leaves the answer to a draw."""
    for seed in range(40):
        scenario = load("threshold-drift", {"reader": "measured"})
        run = case_of(scenario, "tag-or-drop", seed)
        found = of_answer(run, "timeout-value", Reruns(run.script))
        if found["outcome"] in ("correct", "deferred"):
            assert found["decision"] is None
            continue
        assert found["decision"]["decision"] == "left to the reader"
        assert found["chain"][-1]["inevitable"]
        assert found["opened"]["event"] == "rewrite" and found["opened"]["turn"] == 11
        assert found["rule"]["name"] == "drop"
        assert found["prevented_by"]["policy"] == "tag-or-drop:rewrite=off"
        return
    pytest.fail("no seed of 40 abstains or invents, of which a quarter should")


def test_coding_agent_left_stale():
    run = case_of(load("coding-agent", {"turns": "30"}), "no-op", 0)
    stale = [row for row in wrong_answers(run)["wrong"] if row["outcome"] == "stale"]
    assert stale
    for row in stale[:1]:
        found = of_answer(run, row["id"], Reruns(run.script))
        assert found["decision"]["decision"] == "left stale"
        assert found["rule"]["name"] == "refresh in place"
        last = [step for step in found["chain"] if step["inevitable"]]
        assert [step["event"] for step in last] == ["stale"]


EVERY = [(story, policy) for story in stories.NAMES for policy in names()]


@pytest.mark.parametrize(("story", "policy"), EVERY)
def test_every_wrong_answer_of_every_story(story, policy):
    """Each has a chain whose figures are the records' own, a decision, and a rule by name."""
    from sim.errors import InputError

    try:
        run = case(story, policy)
    except InputError:
        return
    listed = wrong_answers(run)["wrong"]
    wrong = [
        r[3]
        for r in run.records
        if (r[0] == "answer" and r[6] in ("confabulated", "stale", "abstained"))
        or (r[0] == "act" and r[5])
    ]
    assert [row["id"] for row in listed] == wrong
    for name in wrong:
        found = of_answer(run, name, Reruns(run.script))
        assert found["decision"]["turn"] is not None
        assert found["rule"]["name"] in RULES
        assert sum(step["inevitable"] for step in found["chain"]) >= 1
        assert found["chain"][0]["event"] in ("admitted", "kept out")
        for step in found["chain"][:-1]:
            agrees(run.records[step["record"]], step)


def agrees(record, step):
    assert record[2] == step["turn"]
    sizes = {
        "admit": lambda r: (None, r[4]),
        "evict": lambda r: (r[4], 0),
        "truncate": lambda r: (r[4], 0),
        "rewrite": lambda r: (r[5], r[6]),
        "restore": lambda r: (r[5], r[6]),
        "fetch": lambda r: (0, r[4]),
        "refresh": lambda r: (r[4], r[5]),
    }.get(record[0])
    if sizes is not None:
        assert (step["tokens_before"], step["tokens_after"]) == sizes(record)


def test_segment_of_the_table():
    """Resident at position 2 to turn 11, at s = .4·.85⁹ at the end; gone at 12, .72 after 19."""
    found = of_segment(case("rate-limit-table", "slack-swap-refuse"), "table")
    stays = [(s["first_turn"], s["last_turn"], s["where"], s["tokens"]) for s in found["stays"]]
    assert stays == [
        (2, 11, "resident", 1_800),
        (12, 19, "absent", None),
        (20, 20, "absent", None),
    ]
    here, gone, after = found["stays"]
    assert here["positions"] == [2] * 10
    assert here["salience_last"] == pytest.approx(0.4 * 0.85**9)
    assert gone["salience_first"] == pytest.approx(0.0787, abs=5e-5)
    assert after["salience_first"] == pytest.approx(0.72 * 0.85)
    assert [(e["what"], e["turn"]) for e in found["why"]] == [("admitted", 2), ("evicted", 12)]
    blocked = found["changes"][-1]
    assert (blocked["how"], blocked["reason"]) == ("blocked", "pinned")


def test_segment_by_its_surrogate():
    found = of_segment(case("threshold-drift", "naive-rewrite"), "span")
    assert [(s["where"], s["first_turn"], s["last_turn"], s["stand_in"]) for s in found["stays"]] \
        == [("resident", 2, 10, None), ("as surrogate", 11, 49, "s3")]  # fmt: skip
    made = of_segment(case("threshold-drift", "naive-rewrite"), "s3")
    assert made["changes"][-1]["event"] == "made up"


def test_turn_of_the_dump():
    """Turn 12: 31,900 + 9,000 is 900 over, the table goes, 39,100 are sent."""
    found = of_turn(case("rate-limit-table", "slack-swap-refuse"), 12)
    assert found["demand"] == 40_900
    assert [step["segment"] for step in found["came"]] == ["dump"]
    (gone,) = (step for step in found["done"] if step["event"] == "evicted")
    assert gone["segment"] == "table" and gone["tokens_before"] == 1_800
    assert sum(place["tokens"] for place in found["window"]) == 39_100
    assert found["calls"][0]["tokens"] == 39_100
    assert sum(cause["usd"] for cause in found["calls"][0]["causes"]) == pytest.approx(
        found["calls"][0]["usd"]
    )
