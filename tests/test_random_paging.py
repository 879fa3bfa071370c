"""Random results that are read page by page, against a naive count of what must be read."""

from __future__ import annotations

from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.script import Arrival, Query, Script
from sim.segments import Fact, Kind
from tests.support.scripts import BASE_SETTINGS
from tests.test_random_runs import FORMS, examples, played, weigh

Asked = tuple[int, int, int, list[tuple[int, int]]]
"""Raw size, limit, turn, and (place, lag of its query) of each fact."""

_results = st.lists(
    st.tuples(
        st.integers(1, 900),
        st.integers(1, 300),
        st.integers(1, 6),
        st.lists(st.tuples(st.integers(0, 1_000), st.integers(0, 3)), max_size=4),
    ),
    min_size=1,
    max_size=6,
)


def written(results: list[Asked], budget: int, pages: bool) -> Script:
    """Return the script in which each fact of each result is asked for."""
    stimuli: list[Arrival | Query] = []
    for number, (raw, limit, turn, facts) in enumerate(sorted(results, key=lambda r: r[2])):
        name = f"r{number}"
        stated = tuple(
            Fact(f"{name}.{n}", "v", "w", reducible=False, at=at) for n, (at, _) in enumerate(facts)
        )
        stimuli.append(
            Arrival(
                turn,
                name,
                Kind.TOOL_RESULT,
                raw,
                0.9,
                facts=stated,
                tool=f"tool{number}",
                max_result_tokens=limit,
                reduced_tokens=limit,
                pages=pages,
                delta_tokens=max(1, raw // 7),
            )
        )
        stimuli += [
            Query(turn + lag, f"q-{name}.{n}", f"{name}.{n}", 0.9, (name,))
            for n, (_, lag) in enumerate(facts)
        ]
    settings = {**BASE_SETTINGS, "turns": 9, "budget": budget}
    kinds = frozenset({"facts", "roles"})
    return Script("paging", 0, settings, tuple(stimuli), capabilities=kinds)


@pytest.mark.parametrize("policy", FORMS)
@examples(60)
@given(results=_results, budget=st.integers(50, 1_500), pages=st.booleans())
def test_whatever_is_read_is_booked(
    policy: str, results: list[Asked], budget: int, pages: bool
) -> None:
    weigh(played(written(results, budget, pages), policy))


@pytest.mark.parametrize(
    ("policy", "direct"), [("tiered:arrival=page", False), ("tiered:arrival=spill", True)]
)
@examples(80)
@given(results=_results)
def test_where_all_fits_each_page_is_read_once_and_each_fact_is_found(
    policy: str, direct: bool, results: list[Asked]
) -> None:
    """With a cursor: up to the furthest page asked for. With a pointer: the pages asked for, but
    for a fact that never entered on the first, which is a page like any other."""
    run = played(written(results, 1_000_000, False), policy)
    expected = 0
    for raw, limit, _, facts in results:
        if raw <= limit:
            continue
        wanted = {min(at, raw - 1) // limit + 1 for at, _ in facts}
        assert max(wanted, default=1) <= ceil(raw / limit)
        expected += len(wanted) if direct else max(wanted, default=1) - 1
    assert run.metrics["pages"] == expected
    assert run.metrics["correct"] == run.metrics["queries"] == sum(len(r[3]) for r in results)
    assert run.metrics["policy_bugs"] == 0
