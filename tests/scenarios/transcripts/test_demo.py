"""The session that ships: sound, whole, and what its generator writes."""

import json
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from scenarios import transcripts
from sim.script import Arrival, Query, Wait, Write
from sim.segments import Kind

ROOT = Path(__file__).resolve().parents[3]
DEMO = ROOT / "examples" / "demo-session.jsonl"


@pytest.fixture(scope="module")
def demo():
    warnings = []
    (scenario,) = transcripts.load([DEMO], strict=True, on_warning=warnings.append, on_note=str)
    assert warnings == []
    return scenario


def test_it_is_a_coding_session_of_thirty_to_sixty_calls(demo):
    script = demo.script(0)
    found = [s for s in script.stimuli if isinstance(s, Arrival)]
    calls = sum(a.kind is Kind.TOOL_CALL for a in found)
    assert 30 <= calls <= 60
    assert sum(isinstance(s, Wait) and s.seconds > 300 for s in script.stimuli) == 2
    reads = [a.path for a in found if a.kind is Kind.FILE]
    assert len(reads) > len(set(reads))
    writes = [s for s in script.stimuli if isinstance(s, Write)]
    again = [a for a in found if any(a.path == w.path and a.turn > w.turn for w in writes)]
    assert len(again) >= 3


def test_its_default_budget_binds_and_its_queries_reach_back(demo):
    script = demo.script(0)
    found = {s.id: s for s in script.stimuli if isinstance(s, Arrival)}
    assert demo.settings["budget"] < sum(a.tokens for a in found.values())
    asked = [s for s in script.stimuli if isinstance(s, Query)]
    assert sum(q.turn - found[q.touches[0]].turn >= 10 for q in asked) >= 5


def test_what_it_records_goes_with_what_is_counted(demo):
    script = demo.script(0)
    assert sorted(script.recorded) == list(range(1, demo.settings["turns"] + 1))
    prompts = [row["input_tokens"] for _, row in sorted(script.recorded.items())]
    assert prompts == sorted(prompts)
    cold = [turn for turn, row in script.recorded.items() if row["cached_tokens"] == 0]
    assert cold == [1, *(s.turn for s in script.stimuli if isinstance(s, Wait))]


def test_every_line_is_a_record_of_its_own():
    lines = DEMO.read_bytes().split(b"\n")
    assert lines.pop() == b""
    assert all(json.loads(line)["type"] in ("user", "assistant") for line in lines)


def test_the_documentation_is_right(tmp_path):
    page = (ROOT / "docs" / "replay.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `([a-z-]+)` \|", page, re.MULTILINE)
    assert listed == [name for name, _ in transcripts.formats()]
    blocks = re.findall(r"(?:^    .*\n)+", page, re.MULTILINE)
    scores = [b for b in map(textwrap.dedent, blocks) if "config.py" in b]
    assert [block[0] for block in scores] == ["{", "t"]
    found = []
    for number, block in enumerate(scores):
        file = tmp_path / str(number)
        file.write_text(block, encoding="utf-8")
        (scenario,) = transcripts.load([DEMO], relevance_file=file, strict=True)
        found.append({s.id: s.score for s in scenario.script(0).stimuli if isinstance(s, Arrival)})
    assert found[0] == found[1]
    assert set(found[0].values()) == {0.6, 0.9, 1.0}


def test_the_generator_writes_it(tmp_path):
    code = (
        "import sys, pathlib; sys.path.insert(0, sys.argv[1]);"
        "import make_demo_session as m; m.TARGET = pathlib.Path(sys.argv[2]); m.main()"
    )
    again = tmp_path / "again.jsonl"
    subprocess.run([sys.executable, "-c", code, DEMO.parent, again], check=True)
    assert again.read_bytes() == DEMO.read_bytes()
