"""Real recordings, spoilt: every mutation ends in a script, a named warning, or one sentence."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench.cells import run_one
from scenarios import transcripts
from sim.errors import InputError
from sim.tokens import BYTES
from tests.scenarios.transcripts.test_fuzz import check

DATA = Path(__file__).parents[4] / "shared" / "data" / "transcripts"
FILES = sorted(path for path in DATA.rglob("*") if path.is_file()) if DATA.is_dir() else []
MUTATIONS = 30
"""Of each file; there are some two hundred of them."""

_LINES = 60
_ITEMS, _TEXT = 14, 160
_OTHERS: tuple[Any, ...] = (
    None,
    True,
    -1,
    2.5,
    10**30,
    "",
    "x",
    [],
    {},
    [[]],
    {"type": 7},
    "\ud800",
)


def slim(value: Any) -> Any:
    """Return a JSON value with fewer items and shorter texts, so that a mutation is quick."""
    if isinstance(value, dict):
        return {key: slim(each) for key, each in value.items()}
    if isinstance(value, list):
        return [slim(each) for each in value[:_ITEMS]]
    return value[:_TEXT] if isinstance(value, str) else value


def shorter(path: Path) -> str:
    """Return the head of a recording that is still one: a document slim, or its first lines."""
    text = path.read_text("utf-8", "replace")
    try:
        return json.dumps(slim(json.loads(text)))
    except ValueError:
        pass
    lines = text.splitlines()[:_LINES]
    return "\n".join(_slim_line(line) for line in lines)


def _slim_line(line: str) -> str:
    try:
        return json.dumps(slim(json.loads(line)))
    except ValueError:
        return line


def mutated(text: str, draw: random.Random) -> str:
    """Return *text* cut short, with two lines swapped, one doubled, or a value of another type."""
    lines = text.split("\n")
    kind = draw.choice(("cut", "swap", "double", "drop", "value", "value", "value"))
    at, other = draw.randrange(len(lines)), draw.randrange(len(lines))
    if kind == "cut":
        return text[: draw.randrange(len(text) + 1)]
    if kind == "swap":
        lines[at], lines[other] = lines[other], lines[at]
    elif kind == "double":
        lines.insert(other, lines[at])
    elif kind == "drop":
        del lines[at]
    else:
        lines[at] = _wrong(lines[at], draw)
    return "\n".join(lines)


def _wrong(line: str, draw: random.Random) -> str:
    try:
        value = json.loads(line)
    except ValueError:
        place = draw.randrange(len(line) + 1)
        return line[:place] + draw.choice(("```", "<details>", "####", "\x00", "> ")) + line[place:]
    holders = [each for each in _holders(value) if each]
    if not holders:
        return json.dumps(draw.choice(_OTHERS))
    holder = draw.choice(holders)
    keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
    holder[draw.choice(keys)] = draw.choice(_OTHERS)
    return json.dumps(value)


def _holders(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        yield value
        for each in value.values() if isinstance(value, dict) else value:
            yield from _holders(each)


@pytest.mark.skipif(not FILES, reason="the recordings are not here")
@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.name[:24]}")
def test_a_spoilt_recording(path: Path, tmp_path: Path) -> None:
    draw = random.Random(path.name)
    whole = shorter(path)
    spoilt = tmp_path / "recording"
    for number in range(MUTATIONS):
        text = mutated(whole, draw)
        if draw.random() < 0.3:
            text = mutated(text, draw)
        spoilt.write_bytes(text.encode("utf-8", "surrogatepass"))
        warnings: list[str] = []
        try:
            found = transcripts.load([spoilt], tokenizer=BYTES, on_warning=warnings.append)
        except InputError as error:
            assert str(error).startswith(str(spoilt)) or "no recorded session" in str(error)
            assert "\n" not in str(error)
            continue
        assert all("\n" not in each and each.isprintable() for each in warnings)
        for scenario in found[:3]:
            check(scenario.script(0))
            if number == 0:
                assert run_one(scenario.script(0), "tiered")[0]["status"] is not None
