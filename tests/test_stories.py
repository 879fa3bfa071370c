"""Every outcome, figure, flip and variant of the scripted stories, as their page states them."""

from dataclasses import replace

import pytest

from bench.prices import get_price
from policies import harness
from policies.registry import make, names
from scenarios import catalogue
from sim.actions import Evict
from sim.engine import run
from sim.records import to_dict
from sim.script import Wait
from sim.streams import uniform

FIELD = {policy.name for policy in harness.found()}
ALL = [name for name in names() if name != "clairvoyant" and name not in FIELD]
"""Policies that know no more than the loop shows them, and act by the budget alone."""
NEAR = 5e-4


class Told:
    """A story as one policy lived through it."""

    def __init__(self, story, policy, *, price=None, extra=(), seed=None, **settings):
        given = {key.replace("__", "."): value for key, value in settings.items()}
        scenario = catalogue.load(story, given)
        script = scenario.script(0)
        self.script = replace(
            script,
            stimuli=(*script.stimuli, *extra),
            seed=script.seed if seed is None else seed,
        )
        chosen = make(policy) if isinstance(policy, str) else policy
        self.run = run(self.script, chosen, price or get_price(scenario.settings["price"]))
        self.metrics = self.run.metrics
        self.records = [to_dict(record) for record in self.run.records]

    def __getitem__(self, metric):
        return self.metrics[metric]

    def rows(self, kind, turn=None):
        return [
            row
            for row in self.records
            if row["type"] == kind and (turn is None or row["turn"] == turn)
        ]

    def left(self, kind, turn=None):
        return [row["segment"] for row in self.rows(kind, turn)]

    def sent(self, turn):
        """Size of the turn's own request."""
        return next(row["tokens"] for row in self.rows("call", turn) if not row["extra"])

    def demand(self, turn):
        return self.rows("demand", turn)[0]["tokens"]

    def answers(self):
        return [(row["outcome"], row["value"]) for row in self.rows("answer")]

    def breaches(self, rule):
        return sum(row["rule"] == rule for row in self.rows("breach"))

    def positions(self, segment):
        """Position of *segment* in the window after each record that touched the window."""
        window, seen = [], []
        for row in self.records:
            if row["type"] in ("admit", "fetch"):
                window.append(row["segment"])
            elif row["type"] in ("evict", "truncate"):
                window.remove(row["segment"])
            else:
                continue
            if segment in window:
                seen.append(window.index(segment))
        return seen


# -- signature-change ------------------------------------------------------------------------


def test_signature_change_naive_trim():
    told = Told("signature-change", "naive-trim")
    assert told.sent(1) == 153_000
    assert told.demand(2) == 231_204
    assert told.left("evict", 2) == ["rank-8", "rank-7", "rank-6", "rank-5"]
    assert told.left("truncate", 2) == []
    assert told.sent(2) == 199_204
    assert told.demand(3) == 267_408
    assert told.left("evict", 3) == ["rank-4", "rank-3", "rank-2", "rank-1"]
    cut = told.rows("truncate", 3)
    assert sum(row["tokens"] for row in cut) == 55_000
    kinds = {row["segment"]: row["kind"] for row in told.rows("arrive")}
    assert [kinds[row["segment"]] for row in cut] == [
        "system",
        "task",
        "assistant",
        "tool_result",
        "diff",
        "tool_result",
    ]
    assert [row["tokens"] for row in cut] == [4_000, 1_000, 2_000, 20_000, 6_000, 22_000]
    assert told.sent(3) == 179_408
    assert told.demand(4) == 247_612
    assert sum(row["tokens"] for row in told.rows("truncate", 4)) == 50_000
    assert told.sent(4) == 197_612
    assert told["policy_bugs"] == 11
    bugs = told.rows("bug")
    assert [bug["segment"] for bug in bugs] == told.left("truncate")
    assert all(bug["segment"] in bug["says"] for bug in bugs)
    assert (told["status"], told["reason"]) == ("failed", "attempts exhausted")
    assert (told["attempts"], told["turns"]) == (4, 4)
    assert told["violations"] == 1


def test_signature_change_tiered():
    told = Told("signature-change", "tiered")
    (big,) = (row for row in told.rows("arrive", 2) if row["raw_tokens"] == 61_204)
    (admitted,) = (row for row in told.rows("admit", 2) if row["segment"] == big["segment"])
    assert 118 * 142 + 44 == 16_800
    assert (admitted["tokens"], admitted["how"], admitted["never"]) == (16_800, "reduced", 44_404)
    assert told["never_admitted_tokens"] == 44_404
    assert told.sent(2) == 186_800
    assert told.sent(3) == 193_840
    assert told.positions("rank-5")[-1] == told.positions("rank-5")[0]
    assert "rank-5" in told.rows("end")[0]["window"]
    refreshes = told.rows("refresh")
    assert [row["segment"] for row in refreshes] == ["rank-6"] * 3
    assert all(row["before"] == row["after"] == 8_000 for row in refreshes)
    assert (told["status"], told["attempts"]) == ("completed", 3)
    assert (told["evictions"], told["policy_bugs"], told["violations"]) == (0, 0, 0)


@pytest.mark.parametrize("policy", ["no-op", "sliding-window", "naive-rehydrate"])
def test_signature_change_succeeds_without_its_task(policy):
    told = Told("signature-change", policy)
    assert (told["status"], told["attempts"]) == ("completed", 3)
    assert (told["acts"], told["violations"]) == (1, 1)
    assert "task" not in told.rows("end")[0]["window"]


def test_signature_change_flip_budget():
    told = Told("signature-change/budget-240000", "naive-trim")
    assert told["evictions"] == 0
    assert (told.demand(2), told.demand(3)) == (231_204, 238_244)
    assert (told["status"], told["attempts"]) == ("completed", 3)


def test_signature_change_flip_arrival_off():
    told = Told("signature-change", "tiered:arrival=off")
    lines = told.rows("rewrite", 2)
    assert [row["sources"] for row in lines] == [
        ("lint-1",),
        ("typecheck-1",),
        ("say-1", "diff-1"),
    ]
    assert all(row["after"] == 12 and row["tagged"] for row in lines)
    assert told.sent(2) == 192_240
    assert told.sent(3) == 199_280
    assert (told["status"], told["attempts"], told["rewrites"]) == ("completed", 3, 3)


# -- eviction-cost ---------------------------------------------------------------------------


def _third_call(story, price, **options):
    (call,) = Told(story, "naive-trim", price=price, **options).rows("call", 3)
    return call


def _ratio(price, story="eviction-cost", **options):
    cut = _third_call(story, price, **options)
    uncut = _third_call("eviction-cost/already-cut", price, **options)
    assert cut["tokens"] == uncut["tokens"] == 95_600
    return cut["usd"] / uncut["usd"], cut["prefill_seconds"] - uncut["prefill_seconds"]


def test_eviction_cost_is_one_pass_of_naive_trim():
    told = Told("eviction-cost", "naive-trim")
    assert told.left("evict") == ["rank-8", "rank-7", "rank-6", "rank-5"]
    assert {row["turn"] for row in told.rows("evict")} == {3}
    assert told["evicted_copy_tokens"] == 32_000


@pytest.mark.parametrize(
    ("name", "one_breakpoint", "auto"),
    [
        ("claude-sonnet-5", 7.395, 7.405),
        ("gpt-5.5", 6.079, 6.076),
        ("claude-opus-5.5", 13.436, 13.454),
    ],
)
def test_eviction_cost_in_dollars(name, one_breakpoint, auto):
    breakpoints = {"rule": "breakpoints", "minimum": 1024, "ttl": 300, "lookback": 20}
    assert _ratio(get_price(name, breakpoints))[0] == pytest.approx(one_breakpoint, abs=NEAR)
    steps = {"rule": "auto", "minimum": 1024, "step": 128, "ttl": 300}
    assert _ratio(get_price(name, steps))[0] == pytest.approx(auto, abs=NEAR)


def test_eviction_cost_in_seconds():
    price = get_price("claude-sonnet-5")
    assert _ratio(price)[1] == pytest.approx(5.447, abs=NEAR)
    half = get_price("claude-sonnet-5", {"prefill_rate": price.speed.prefill_rate / 2})
    assert _ratio(half)[1] == pytest.approx(11.717, abs=NEAR)


def test_eviction_cost_with_default_breakpoints():
    price = get_price("claude-sonnet-5")
    cut = _third_call("eviction-cost/default-breakpoints", price)
    uncut = _third_call("eviction-cost/already-cut", price)
    assert cut["read"] == 4_000
    assert cut["usd"] / uncut["usd"] == pytest.approx(11.210, abs=NEAR)
    seconds = cut["prefill_seconds"] - uncut["prefill_seconds"]
    assert seconds == pytest.approx(8.696, abs=NEAR)


class _EvictAtThree:
    label = "evict-one"
    declares = frozenset()
    needs = frozenset()

    def __init__(self, segment=None):
        self.segment = segment

    def before_call(self, view):
        if view.turn == 3 and self.segment is not None:
            yield Evict(self.segment, "probe")


@pytest.mark.parametrize(
    ("rank", "tokens", "behind"),
    [(5, 8_800, 80_200), (6, 8_000, 72_200), (7, 7_700, 64_500), (8, 7_500, 57_000)],
)
def test_eviction_cost_by_position(rank, tokens, behind):
    price = get_price("gpt-5.5", {"step": 1})

    def read(segment):
        told = Told("eviction-cost/tail-cached", _EvictAtThree(segment), price=price)
        return told.rows("call", 3)[0]["read"]

    assert read(None) - read(f"rank-{rank}") == tokens + behind


def test_eviction_cost_flips():
    price = get_price("claude-sonnet-5")
    wait = (Wait(3, 400.0),)
    cold = _third_call("eviction-cost/cold", price)
    uncut = _third_call("eviction-cost/already-cut", price, extra=wait)
    assert cold["read"] == uncut["read"] == 0
    assert cold["usd"] == pytest.approx(uncut["usd"], rel=1e-12)
    cut = Told("eviction-cost/equal-prices", "naive-trim")
    flat = get_price(catalogue.load("eviction-cost/equal-prices").settings["price"])
    uncut = _third_call("eviction-cost/already-cut", flat)
    assert cut.rows("call", 3)[0]["usd"] == pytest.approx(uncut["usd"], rel=1e-12)


# -- rate-limit-table ------------------------------------------------------------------------


def test_rate_limit_table_naive_rehydrate():
    told = Told("rate-limit-table", "naive-rehydrate")
    assert told.demand(12) == 40_900
    assert told.left("evict", 12) == ["table"]
    assert told.sent(12) == 39_100
    assert told.sent(19) == 39_940
    assert told.left("fetch", 19) == ["table"]
    assert told.left("evict", 19) == ["constraint"]
    assert told["violations"] == 1
    assert (told["rehydrated_slack"], told["rehydrated_swap"], told["rehydrated_refused"]) == (
        0,
        0,
        0,
    )


def test_rate_limit_table_slack_swap_refuse():
    told = Told("rate-limit-table", "slack-swap-refuse")
    assert told.left("evict") == ["table"]
    (blocked,) = told.rows("rehydrate")
    assert (blocked["how"], blocked["reason"], blocked["turn"]) == ("blocked", "pinned", 19)
    assert blocked["score"] == pytest.approx(0.72)
    sizes = {row["segment"]: row["tokens"] for row in told.rows("admit")}
    assert sum(sizes[name] for name in blocked["displaced"]) == 840 < 39_940 + 1_800 - 40_000
    (answer,) = told.rows("answer")
    assert answer["outcome"] == "correct"
    assert told["violations"] == 0
    assert told["rehydrated_refused"] == 1


def test_rate_limit_table_naive_rewrite_and_tag_or_drop():
    assert Told("rate-limit-table", "naive-rewrite")["confabulated"] == 1
    told = Told("rate-limit-table", "tag-or-drop")
    assert told["deferred"] == 1
    assert told.left("fetch") == ["table"]
    assert "table" not in told.rows("end")[0]["window"]


def test_rate_limit_table_salience():
    told = Told("rate-limit-table", "no-op")
    script = {s.id: s for s in told.script.stimuli if hasattr(s, "score")}

    def salience(name, turn):
        return script[name].score * 0.85 ** (turn - script[name].turn)

    for name, at_12, at_19 in (
        ("system", 0.167, 0.0536),
        ("table", 0.0787, None),
        ("constraint", 0.116, 0.0371),
        ("summary", 0.163, 0.0524),
        ("document-1", 0.289, 0.0925),
        ("document-4", 0.470, 0.151),
        ("dump", 0.91, 0.2917),
    ):
        if at_12 is not None:
            assert salience(name, 12) == pytest.approx(at_12, abs=NEAR)
        if at_19 is not None:
            assert salience(name, 19) == pytest.approx(at_19, abs=NEAR)
    assert salience("message-13", 19) == pytest.approx(0.19, abs=0.005)
    assert salience("message-19", 19) == 0.5


@pytest.mark.parametrize(
    ("variant", "displaced", "floor"),
    [("documents-unpinned", "document-1", 0.0925), ("note", "note", 0.0308)],
)
def test_rate_limit_table_swaps(variant, displaced, floor):
    told = Told(f"rate-limit-table/{variant}", "slack-swap-refuse")
    (granted,) = told.rows("rehydrate")
    assert (granted["how"], granted["displaced"]) == ("swap", (displaced,))
    assert granted["floor"] == pytest.approx(floor, abs=NEAR)
    assert told.left("evict", 19) == [displaced]
    assert told["rehydrated_swap"] == 1
    assert told["violations"] == 0


def test_rate_limit_table_slack():
    told = Told("rate-limit-table/shrunk", "slack-swap-refuse")
    assert told.sent(19) == 37_940
    assert told["rehydrated_slack"] == 1
    extra = [row for row in told.rows("call", 19) if row["extra"]]
    assert [row["tokens"] for row in extra] == [39_740]


@pytest.mark.parametrize("policy", ["naive-rehydrate", "slack-swap-refuse"])
def test_rate_limit_table_flips(policy):
    small = Told("rate-limit-table/small-dump", policy)
    assert small.sent(12) == 37_900
    assert small.left("evict", 12) == []
    high = Told("rate-limit-table/high-threshold", policy)
    assert [row for row in high.rows("rehydrate") if row["by"] == "threshold"] == []
    assert high["violations"] == 0


# -- threshold-drift -------------------------------------------------------------------------


def test_threshold_drift_naive_rewrite():
    told = Told("threshold-drift", "naive-rewrite")
    (rewrite,) = (row for row in told.rows("rewrite") if row["sources"] == ("span",))
    assert (rewrite["turn"], rewrite["before"], rewrite["after"]) == (11, 4, 2)
    assert not rewrite["tagged"]
    assert told.demand(49) == 127_370 == 2_000 + 120_000 + 39 * 12 + 2 + 4_900
    assert told["edit_turns"] == 40
    assert told.answers() == [("confabulated", "3000")]
    assert told["first_confabulation_turn"] == 49
    chain = told.run.ledger.why("span")
    assert ("span", "rewritten", 11, rewrite["surrogate"], False) in chain
    assert told["fabricated_tokens"] == 40
    assert told["policy_bugs"] == 0


def test_threshold_drift_tag_or_drop():
    told = Told("threshold-drift", "tag-or-drop")
    assert told.left("fetch", 49) == ["span"]
    assert told.answers() == [("correct", "4500")]
    assert told.demand(49) == 127_690
    assert (told["breaches"], told["policy_bugs"]) == (0, 0)


def test_threshold_drift_plain_eviction():
    told = Told("threshold-drift", "tag-or-drop:rewrite=off")
    assert told["rewrites"] == 0
    assert "span" in told.left("evict", 11)
    assert told.left("fetch", 49) == ["span"]
    assert told.answers() == [("correct", "4500")]


def test_threshold_drift_without_tags_is_naive():
    untagged = Told("threshold-drift", "tag-or-drop:tag=off")
    naive = Told("threshold-drift", "naive-rewrite")
    assert untagged.metrics == naive.metrics


def test_threshold_drift_measured_reader():
    draws = [uniform(seed, "reader", "timeout-value") for seed in range(4_000)]
    assert sum(draw < 0.40 for draw in draws) / 4_000 == pytest.approx(0.40, abs=0.025)
    shares = {0.75: 0, 0.10: 0, 0.15: 0}
    for draw in draws:
        shares[0.75 if draw < 0.75 else 0.10 if draw < 0.85 else 0.15] += 1
    assert all(count / 4_000 == pytest.approx(share, abs=0.025) for share, count in shares.items())
    for seed in range(12):
        naive = Told("threshold-drift", "naive-rewrite", seed=seed, reader="measured")
        expected = "confabulated" if draws[seed] < 0.40 else "abstained"
        assert [outcome for outcome, _ in naive.answers()] == [expected]
        tagged = Told("threshold-drift", "tag-or-drop", seed=seed, reader="measured")
        outcomes = [outcome for outcome, _ in tagged.answers()]
        assert outcomes == [
            "correct"
            if draws[seed] < 0.75
            else "abstained"
            if draws[seed] < 0.85
            else "confabulated"
        ]


def test_threshold_drift_flips():
    assert Told("threshold-drift/kept", "naive-rewrite").answers() == [("correct", "4500")]
    for policy in ("naive-rewrite", "tag-or-drop"):
        told = Told("threshold-drift/unasked", policy)
        assert told["queries"] == 0
        assert told["confabulation_rate"] is None


# -- stale-file ------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", ALL)
def test_stale_file(policy):
    told = Told("stale-file", policy)
    refreshed = policy in ("tiered", "disciplined")
    assert told["attempts"] == (2 if refreshed else 3)
    assert told["peak_tokens"] == (17_840 if refreshed else 25_260)
    assert told["refreshes"] == int(refreshed)
    assert told["status"] == "completed"
    if refreshed:
        (row,) = told.rows("refresh")
        position = told.positions(row["segment"])
        assert set(position) == {position[0]}


@pytest.mark.parametrize("policy", ALL)
@pytest.mark.parametrize("flip", ["writes-tax", "needs-tax"])
def test_stale_file_flips(policy, flip):
    assert Told(f"stale-file/{flip}", policy)["attempts"] == 2


# -- three-tools -----------------------------------------------------------------------------


def test_three_tools():
    told = Told("three-tools", "tiered")
    assert told.demand(2) == 33_500
    assert [row["sources"] for row in told.rows("rewrite", 2)] == [("typecheck-1",)]
    assert told.sent(2) == 27_512
    assert told.sent(3) == 29_052
    assert (told["status"], told["attempts"]) == ("completed", 3)


def test_three_tools_pinning_only_the_last():
    told = Told("three-tools", "tiered:pins=last")
    assert [row["sources"] for row in told.rows("rewrite", 2)] == [("typecheck-2",)]
    assert told.rows("rewrite", 2)[0]["kept"] == ()
    assert told["status"] == "failed"


def test_three_tools_flips():
    alone = Told("three-tools/typecheck-alone", "tiered:pins=last")
    assert all("typecheck-2" not in row["sources"] for row in alone.rows("rewrite"))
    assert alone["status"] == "completed"
    wide = Told("three-tools/budget-36000", "tiered")
    assert (wide["rewrites"], wide["evictions"]) == (0, 0)
    assert wide.sent(3) == 35_040


# -- only-pins-left --------------------------------------------------------------------------


def test_only_pins_left():
    told = Told("only-pins-left", "tiered")
    assert (told["status"], told["turns"]) == ("failed", 6)
    for part in ("pin", "21000", "20000", "2000", "6000", "10000", "3000"):
        assert part in told["reason"]
    for name in ("system", "task", "specification", "constraint"):
        assert name in told["reason"]


@pytest.mark.parametrize(
    "policy", [name for name in ALL if not make(name).declares & {"ignores_pins"}]
)
def test_only_pins_left_fails_whoever_keeps_pins(policy):
    assert Told("only-pins-left", policy)["status"] == "failed"


def test_only_pins_left_sliding_window():
    told = Told("only-pins-left", "sliding-window")
    assert told.left("evict")[:2] == ["system", "task"]
    assert (told["status"], told["violations"]) == ("completed", 1)


@pytest.mark.parametrize("flip", ["budget-21000", "constraint-2000"])
def test_only_pins_left_flips(flip):
    told = Told(f"only-pins-left/{flip}", "tiered")
    assert (told["status"], told["violations"]) == ("completed", 0)


# -- growing-surrogate -----------------------------------------------------------------------


def test_growing_surrogate():
    told = Told("growing-surrogate", "naive-rewrite")
    (rewrite,) = told.rows("rewrite")
    assert (rewrite["turn"], rewrite["before"], rewrite["after"]) == (3, 200, 900)
    assert told.left("truncate") == ["other"]
    (bug,) = told.rows("bug")
    assert bug["segment"] == "other"
    assert "span" in bug["says"]
    assert "200 → 900" in bug["says"]
    assert told["policy_bugs"] == 1
    assert told.breaches("growth without a copy") == 1


def test_growing_surrogate_is_dropped():
    told = Told("growing-surrogate", "tag-or-drop")
    assert told.left("evict") == ["span"]
    assert told["policy_bugs"] == 0


def test_growing_surrogate_flips():
    small = Told("growing-surrogate/surrogate-50", "naive-rewrite")
    assert small["policy_bugs"] == 0
    wide = Told("growing-surrogate/budget-9000", "naive-rewrite")
    assert wide.breaches("growth without a copy") == 1
    assert wide.left("truncate") == []


# -- compress-then-spend ---------------------------------------------------------------------


def test_compress_then_spend():
    told = Told("compress-then-spend", "naive-rewrite")
    assert told.demand(5) == 21_500
    assert told.sent(5) == 15_512
    assert told.breaches("compress-then-spend") == 1
    waits = Told("compress-then-spend", "tag-or-drop")
    assert waits.left("evict", 5) == ["a"]
    assert waits.sent(5) == 15_500
    assert waits["rewrites"] == 0


def test_compress_then_spend_flips():
    copied = Told("compress-then-spend/copied", "tag-or-drop")
    assert [row["sources"] for row in copied.rows("rewrite", 5)] == [("a",)]
    assert copied.sent(5) == 15_520
    low = Told("compress-then-spend/low-a", "tag-or-drop")
    assert low.rows("rewrite")[0]["turn"] == 6
    assert low.rows("rewrite")[0]["sources"] == ("a",)
    assert low.rows("rewrite", 5) == []
    assert low["evictions"] == 0


# -- the-door --------------------------------------------------------------------------------


def test_the_door():
    told = Told("the-door", "slack-swap-refuse")
    first, second = told.rows("refuse")
    assert (first["turn"], first["reason"], first["tokens"]) == (5, "margin", 9_000)
    assert first["displaced"] == ("document-1",)
    assert first["score"] == pytest.approx(0.2)
    assert first["floor"] == pytest.approx(0.470, abs=NEAR)
    assert told["never_admitted_tokens"] == 9_000
    assert (second["turn"], second["reason"], second["tokens"]) == (6, "margin", 0)
    assert second["score"] == pytest.approx(0.45)
    assert second["floor"] == pytest.approx(0.399, abs=NEAR)
    assert [row["outcome"] for row in told.rows("answer")] == ["deferred", "correct"]
    (operator,) = told.rows("operator")
    assert (operator["turn"], operator["how"]) == (7, "admitted")
    assert told.left("evict") == ["document-1"]
    assert told.left("evict", 7) == ["document-1"]
    assert told["fetches"] == 0


@pytest.mark.parametrize(
    "policy", [name for name in ALL if name not in ("slack-swap-refuse", "disciplined")]
)
def test_the_door_is_open_elsewhere(policy):
    told = Told("the-door", policy)
    assert [
        (row["turn"], row["tokens"]) for row in told.rows("admit") if row["segment"] == "result"
    ] == [(5, 9_000)]


def test_the_door_flips():
    slack = Told("the-door/budget-50000", "slack-swap-refuse")
    (row,) = (r for r in slack.rows("admit") if r["segment"] == "result")
    assert (row["turn"], row["displaced"]) == (5, ())
    assert slack.rows("refuse") == []
    swap = Told("the-door/no-operator", "slack-swap-refuse")
    (row,) = (r for r in swap.rows("admit") if r["segment"] == "result")
    assert (row["turn"], row["displaced"]) == (8, ("document-1",))
    assert row["score"] == pytest.approx(0.9)
    assert row["floor"] == pytest.approx(0.289, abs=NEAR)
    assert [r["outcome"] for r in swap.rows("answer")] == ["deferred", "correct"]
