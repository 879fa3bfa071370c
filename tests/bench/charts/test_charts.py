"""Every chart: what it gathers against sums made another way, and what it draws as a file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bench.api import Comparison, compare, sweep
from bench.charts import cache, cause, distance, occupancy, pareto, salience
from bench.charts import map as two_keys
from bench.charts.choice import Choice, chosen_run, chosen_scenario
from bench.charts.drawing import page_svg, rendered
from bench.charts.picture import picture
from bench.charts.registry import charts
from bench.charts.theme import THEMES
from sim.errors import InputError

OF_A_SWEEP = [name for name, chart in charts().items() if chart.of == "sweep"]

POLICIES = ["naive-rewrite", "slack-swap-refuse", "tag-or-drop", "disciplined", "compaction"]


@pytest.fixture(scope="module")
def found() -> Comparison:
    return compare(
        ["doc-analysis", "stale-file"],
        POLICIES,
        seeds=3,
        settings=None,
        beside=["bound"],
    )


@pytest.fixture(scope="module")
def swept() -> Comparison:
    return sweep(
        "doc-analysis",
        ["slack-swap-refuse", "tiered"],
        ["salience.decay=0.6,0.8,0.95", "rehydrate.threshold=0.2,0.9"],
        seeds=2,
        settings={"turns": 25, "budget": 12_000},
    )


def of(name: str, found: Comparison, swept: Comparison) -> Comparison:
    return swept if name in OF_A_SWEEP else found


def test_there_are_the_charts_of_a_review() -> None:
    assert list(charts()) == [
        *("cause", "distance", "pareto", "cache", "occupancy", "salience", "map", "sensitivity")
    ]


@pytest.mark.parametrize("name", charts())
def test_a_chart_is_the_same_bytes_and_whole_xml(
    name: str, found: Comparison, swept: Comparison
) -> None:
    chart = charts()[name]
    data = chart.gather(of(name, found, swept), Choice())
    one, two = (rendered(chart, data, THEMES["light"], "svg") for _ in range(2))
    assert one == two
    ElementTree.fromstring(one)
    assert chart.told(data).endswith(".")


@pytest.mark.parametrize("name", charts())
def test_a_page_sets_the_colours_and_reads_the_label(
    name: str, found: Comparison, swept: Comparison
) -> None:
    chart = charts()[name]
    data = chart.gather(of(name, found, swept), Choice())
    root = ElementTree.fromstring(page_svg(chart, data))
    assert root.attrib["role"] == "img"
    assert chart.told(data)[:40] in root.attrib["aria-label"]
    assert "width" not in root.attrib
    text = page_svg(chart, data)
    assert "var(--ink)" in text
    assert "#1a1d21" not in text
    names = [each.attrib["id"] for each in root.iter() if "id" in each.attrib]
    assert len(names) == len(set(names))
    assert all(each.startswith(f"{name}-") for each in names)


@pytest.mark.parametrize("theme", THEMES)
def test_a_theme_is_another_picture(theme: str, found: Comparison, tmp_path: Path) -> None:
    made = picture(found, "cause", Choice("doc-analysis"), theme)
    file = tmp_path / f"{made.stem}.png"
    made.save(file)
    assert file.name == "cause-doc-analysis-claude-sonnet-5.png"
    assert file.read_bytes().startswith(b"\x89PNG")
    assert tuple(round(255 * part) for part in made.figure.get_facecolor()[:3]) == tuple(
        bytes.fromhex(THEMES[theme].paper[1:])
    )


@pytest.mark.parametrize("policy", POLICIES)
def test_layers_are_the_tokens_of_each_call(found: Comparison, policy: str) -> None:
    data = occupancy.CHART.gather(found, Choice("doc-analysis", policy=policy, seed=1))
    records = found.repeats.run("doc-analysis", policy, 1).records
    calls = {record[2]: record[3] for record in records if record[0] == "call"}
    assert dict(zip(data.turns, map(sum, zip(*data.held.values(), strict=True)), strict=True)) == (
        calls
    )
    left = sum(record[4] for record in records if record[0] == "evict")
    assert sum(data.marks["evicted"].values()) == left


@pytest.mark.parametrize("policy", POLICIES)
def test_parts_of_a_request_are_its_tokens_and_its_price(found: Comparison, policy: str) -> None:
    data = cache.CHART.gather(found, Choice("doc-analysis", policy=policy))
    again = found.repeats.run("doc-analysis", policy)
    calls = [record for record in again.records if record[0] == "call"]
    assert [sum(each) for each in zip(*data.parts.values(), strict=True)] == [c[3] for c in calls]
    assert list(data.parts["read from the cache"]) == [call[4] for call in calls]
    paid = sum(sum(values) for values in data.dollars.values())
    assert paid == pytest.approx(again.row["total_cost_usd"])


def test_a_bill_is_the_mean_of_its_runs(found: Comparison) -> None:
    data = cause.CHART.gather(found, Choice("doc-analysis"))
    assert [bill.total for bill in data.bills] == sorted(bill.total for bill in data.bills)
    for bill in data.bills:
        mine = found.frame.query("scenario == 'doc-analysis' and policy == @bill.policy")
        assert sum(bill.parts.values()) == pytest.approx(bill.total)
        assert bill.total == pytest.approx(mine.total_cost_usd.mean())
        if "rewrite" in bill.parts:
            assert bill.parts["rewrite"] == pytest.approx(mine.rewrite_cost_usd.mean())


def test_a_distance_is_what_was_missed_above_the_bound(found: Comparison) -> None:
    data = distance.CHART.gather(found, Choice("doc-analysis"))
    for one in data.distances:
        mine = found.frame.query("scenario == 'doc-analysis' and policy == @one.policy")
        assert one.above == pytest.approx((mine.missed_tokens - mine.bound_tokens).mean())
    rows = [{k: v for k, v in row.items() if "bound" not in k} for row in found.rows]
    bare = replace(found, rows=rows)
    with pytest.raises(InputError, match="--bound"):
        distance.CHART.gather(bare, Choice())


def test_no_point_of_a_front_is_beaten(found: Comparison) -> None:
    data = pareto.CHART.gather(found, Choice("doc-analysis"))
    assert len(data.points) + len(data.left_out) == len(POLICIES)

    def beats(one: pareto.Point, two: pareto.Point) -> bool:
        mine = (one.cost, one.peak, one.made_up or 0.0)
        other = (two.cost, two.peak, two.made_up or 0.0)
        return mine != other and all(a <= b for a, b in zip(mine, other, strict=True))

    for point in data.points:
        assert point.on_front is not any(beats(other, point) for other in data.points)


def test_a_reversal_is_one(found: Comparison) -> None:
    data = salience.CHART.gather(found, Choice("doc-analysis", policy="disciplined"))
    lines = {line.segment: line for line in data.lines}
    assert 0 < len(lines) <= 6
    assert data.reversals
    for pair in data.reversals:
        left, kept = lines[pair.segment], lines[pair.kept]
        value = {t: dict(zip(t.turns, t.values, strict=True)) for t in (left, kept)}
        assert value[left][pair.turn] > value[kept][pair.turn]
        gone = max(turn for turn in left.left if turn <= pair.turn)
        assert value[left][gone] < value[kept][gone]
    for line in data.lines:
        decay = found.repeats.run("doc-analysis", "disciplined").script.settings["salience.decay"]
        for (t, s), (_, later) in zip(
            list(zip(line.turns, line.values, strict=True))[:-1],
            list(zip(line.turns, line.values, strict=True))[1:],
            strict=True,
        ):
            assert later == pytest.approx(decay * s, abs=1e-9) or later > decay * s, t


def test_a_map_has_the_means_of_its_settings(swept: Comparison) -> None:
    data = two_keys.CHART.gather(swept, Choice(metric="total_cost_usd"))
    assert (data.x, data.xs) == ("salience.decay", (0.6, 0.8, 0.95))
    assert (data.y, data.ys) == ("rehydrate.threshold", (0.2, 0.9))
    for panel in data.panels:
        for i, v in enumerate(data.ys):
            for j, u in enumerate(data.xs):
                mine = [
                    row["total_cost_usd"]
                    for row in swept.rows
                    if row["policy"] == panel.policy
                    and row["status"] == "completed"
                    and (row["salience.decay"], row["rehydrate.threshold"]) == (u, v)
                ]
                mean = pytest.approx(sum(mine) / len(mine)) if mine else None
                assert panel.values[i][j] == mean
    assert data.panels[0].leads


def test_edges_are_halfway() -> None:
    assert two_keys._edges([1.0, 2.0, 4.0]) == pytest.approx([2**-0.5, 2**0.5, 2**1.5, 2**2.5])
    assert two_keys._edges([0.0, 1.0, 3.0]) == pytest.approx([-0.5, 0.5, 2.0, 4.0])
    leads = (("slack", "slack"), ("swap", "slack"))
    assert two_keys._regions(leads) == [
        ("slack", [(0, 0), (0, 1), (1, 1)]),
        ("swap", [(1, 0)]),
    ]


@pytest.mark.parametrize(
    ("vary", "says"),
    [
        (["budget=8000,9000"], "varied 1"),
        (["budget=8000,9000", "reader=strict,measured"], "needs numbers"),
    ],
)
def test_what_is_no_map(vary: list[str], says: str) -> None:
    made = sweep("doc-analysis", ["tiered"], vary, seeds=1, settings={"turns": 5})
    with pytest.raises(InputError, match=says):
        made.plot.map()


def test_charts_of_a_sweep_and_of_a_comparison_are_told_apart(
    found: Comparison, swept: Comparison
) -> None:
    with pytest.raises(InputError, match="map is of a sweep"):
        found.plot.map()
    with pytest.raises(InputError, match="pareto is of one scenario"):
        swept.plot.pareto()
    with pytest.raises(AttributeError, match="did you mean 'pareto'"):
        found.plot.paretto()
    with pytest.raises(InputError, match="did you mean 'dark'"):
        found.plot.pareto(theme="drak")
    assert "pareto" in dir(found.plot)


def test_a_choice_is_made_where_none_was(found: Comparison) -> None:
    choice = chosen_scenario(found, Choice())
    assert (choice.scenario, choice.price) == ("doc-analysis", "claude-sonnet-5")
    first = chosen_run(found, choice).policy
    assert first in POLICIES
    with pytest.raises(InputError, match="did you mean 'doc-analysis'"):
        chosen_scenario(found, Choice("doc-analysi"))
    with pytest.raises(InputError, match="unknown price"):
        chosen_scenario(found, Choice(price="gpt-9"))
    with pytest.raises(InputError, match="did you mean 'tag-or-drop'"):
        chosen_run(found, Choice(policy="tag-or-dro"))
