"""Replicates: the scripts of several agents with one seed, each with draws of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from scenarios import reference
from scenarios.catalogue import load, pinned_names
from sim.script import Arrival, Script, script_to_json
from sim.segments import Kind
from sim.streams import replicate_seed, uniform

NAMES = (*reference.families(), *pinned_names())
SHORT: Mapping[str, str] = {"turns": "12"}


def unlike(script: Script) -> list[object]:
    """Return what differs between two scripts of one family: all but the head."""
    heads = (Kind.SYSTEM, Kind.TOOLS, Kind.TASK)
    return [s for s in script.stimuli if not (isinstance(s, Arrival) and s.kind in heads)]


def heads(script: Script) -> list[tuple[str, int]]:
    kinds = (Kind.SYSTEM, Kind.TOOLS)
    found = (s for s in script.stimuli if isinstance(s, Arrival) and s.kind in kinds)
    return [(s.id, s.tokens) for s in found]


@pytest.mark.parametrize("name", NAMES)
def test_each_replicate_has_draws_of_its_own(name: str) -> None:
    scenario = load(name, SHORT)
    first = scenario.script(3)
    assert scenario.script(3, 0) == first
    others = [scenario.script(3, number) for number in (1, 2)]
    assert [(s.seed, s.replicate) for s in (first, *others)] == [(3, 0), (3, 1), (3, 2)]
    assert others == [scenario.script(3, number) for number in (1, 2)]
    assert len({script.digest() for script in (first, *others)}) == 3
    assert len({str(unlike(script)) for script in (first, *others)}) == 3
    assert heads(first) == heads(others[0]) == heads(others[1]) != []


@pytest.mark.parametrize("name", NAMES)
def test_no_replicate_is_another_seed(name: str) -> None:
    scenario = load(name, SHORT)
    digests = {scenario.script(seed, n).digest() for seed in range(3) for n in range(3)}
    assert len(digests) == 9


@pytest.mark.parametrize("name", reference.families())
def test_a_longer_run_begins_with_the_script_of_a_shorter_one(name: str) -> None:
    short = load(name, {"turns": "8"}).script(1, 2)
    long = load(name, {"turns": "20"}).script(1, 2)
    assert [s for s in long.stimuli if s.turn <= 8] == list(short.stimuli)


def test_a_script_file_keeps_the_replicate(tmp_path: Path) -> None:
    script = load("doc-analysis", SHORT).script(1, 4)
    file = tmp_path / "script.json"
    file.write_text(json.dumps(script_to_json(script)))
    back = load(str(file)).script(0)
    assert (back.seed, back.replicate, back.draws) == (1, 4, script.draws)
    assert "replicate" not in script_to_json(load("doc-analysis", SHORT).script(1))


def test_the_seed_of_a_replicate() -> None:
    assert [replicate_seed(seed, 0) for seed in (0, 1, 99)] == [0, 1, 99]
    drawn = {replicate_seed(seed, number) for seed in range(20) for number in range(1, 20)}
    assert len(drawn) == 20 * 19
    assert drawn.isdisjoint(range(20))
    assert max(drawn) < 2**53
    assert uniform(replicate_seed(0, 1), "copy", "a") != uniform(0, "copy", "a")
    with pytest.raises(ValueError, match="numbered from 0"):
        replicate_seed(0, -1)
