"""What a redaction leaves of a recorded session: its figures, and nothing of its text."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench.cells import run_one
from bench.loading import load, load_tools
from scenarios import transcripts
from scenarios.redaction import Redaction, redact, redrawn
from scenarios.scripts import load_script
from sim.errors import InputError
from sim.script import (
    Act,
    Arrival,
    Attempt,
    Change,
    Compaction,
    Operator,
    Query,
    Script,
    Wait,
    WorldRefresh,
    Write,
    script_from_json,
    script_to_json,
)
from sim.segments import Fact, Kind
from tests.scenarios.transcripts.made import Lines, text, use

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "transcripts"
FILES = sorted(p for p in DATA.rglob("*") if p.is_file()) if DATA.is_dir() else []
POLICIES = (
    "naive-rewrite",
    "tag-or-drop",
    "slack-swap-refuse",
    "tiered",
    "disciplined",
    "compaction",
    "recorded",
    "no-op",
)

KEYS = re.findall(
    r"\S+",
    """evictbench_script scenario seed settings capabilities tokens_from output_tokens recorded
    stimuli attempts attempts_cut type turn id kind tokens score time facts copy pinned standing
    taggable path tool pair attempt rank names surrogate_tokens max_result_tokens structure
    reduced_tokens delta_tokens pages key value prior reducible at draw since relevance touches
    requires segment seconds what trigger kept number needs paths ok failed entries groups
    entry_tokens notice_tokens input_tokens cached_tokens written_tokens""",
)
WORDS = re.findall(
    r"\S+",
    """arrival write refresh query act operator wait keep-alive change compaction
    tools system task user assistant thinking tool_call tool_result file diff image summary note
    facts ranks recording roles script o200k cl100k bytes/4 auto manual unknown default unrecorded
    tool_choice images effort strict measured tag always min max sum tokens mass editable
    append-only truncate fail claude-sonnet-5 breakpoints blocks none head head-end
    exact usage estimate keep ratio rounds""",
)
"""The vocabulary that docs/privacy.md lists: every other text of the output is a hash."""
ID = re.compile(
    r"(tools|system|task|user|assistant|thinking|tool_call|tool_result|file|diff|image|summary|note"
    r"|call|result|query|read|value|unrecorded)(-\d{1,9})?(\.image-\d{1,9})?"
)
HASH = re.compile(r"(name|path|tool|key|value|id|draw)-[BCDFGHJKLMNPQRST]{20}")


def texts_of(value):
    """Yield every text of a JSON document, keys too."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from texts_of(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts_of(item)
    elif isinstance(value, str):
        yield value


def unlisted(document):
    """Return the texts of a redacted script that are not of the vocabulary: hashes alone."""
    known = {*KEYS, *WORDS, *load("stale-file").settings, "claude-sonnet-5"}
    found = {t for t in texts_of(document) if t not in known and not t.isdigit()}
    found = {t for t in found if not ID.fullmatch(t)}
    assert all(HASH.fullmatch(t) for t in found), sorted(t for t in found if not HASH.fullmatch(t))
    return found


def eight(text):
    return {text[i : i + 8] for i in range(len(text) - 7)}


def numbers_of(value):
    """Yield every number of a JSON document."""
    if isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from numbers_of(item)
    elif isinstance(value, (int, float)):
        yield value


def survivors(outputs, inputs):
    """Return the 8-character runs of *inputs* that stand in a text of *outputs*."""
    runs = set().union(*(eight(text) for text in outputs)) if outputs else set()
    return {
        text[i : i + 8] for text in inputs for i in range(len(text) - 7) if text[i : i + 8] in runs
    }


def raw_texts(file):
    """Yield the text of a file as it stands, and every string that its JSON holds, decoded."""
    raw = file.read_bytes().decode("utf-8", "replace")
    yield raw
    for part in [raw, *raw.split("\n")]:
        try:
            yield from texts_of(json.loads(part))
        except (ValueError, RecursionError):
            continue
        if part is raw:
            return


def sessions(file, **more):
    try:
        return transcripts.load([file], **more)
    except InputError:
        return []


def rows(script, policies=POLICIES):
    return {policy: run_one(script, policy, False)[0] for policy in policies}


@pytest.mark.skipif(not FILES, reason="the recordings are not here")
@pytest.mark.parametrize("file", FILES, ids=lambda f: str(f.relative_to(DATA))[-40:])
def test_nothing_of_a_recording_survives(file):
    found = [script_to_json(redact(s.script(0))) for s in sessions(file)]
    outputs = set().union(*(unlisted(document) for document in found)) if found else set()
    assert not survivors(outputs, raw_texts(file))
    for document in found:
        dated = [n for n in numbers_of({**document, "settings": {}}) if n >= 10**8]
        assert not dated, "no time since an epoch and no number of an id"


def of_each_folder():
    """Return a middling file of each folder, so that each format is run."""
    folders = {}
    for file in FILES:
        if file.stat().st_size < 400_000:
            folders.setdefault(file.relative_to(DATA).parts[0], []).append(file)
    return [max(files, key=lambda f: f.stat().st_size) for files in folders.values()]


@pytest.mark.skipif(not FILES, reason="the recordings are not here")
@pytest.mark.parametrize("file", of_each_folder(), ids=lambda f: f.relative_to(DATA).parts[0])
def test_a_redacted_recording_gives_the_same_rows(file):
    for scenario in sessions(file, settings={"reader": "measured"})[:2]:
        script = scenario.script(0)
        assert 0 < script.settings["surrogate.keep"] < 1
        assert not redrawn(script)
        hidden = script_from_json(json.loads(json.dumps(script_to_json(redact(script)))))
        assert rows(hidden) == rows(script)


SECRET = "/srv/acme-payroll/ledger_final.py"


def made(tmp_path, name="acme payroll.jsonl"):
    """Write a session with a read, four tools, a pause, and mentions of what results brought."""
    lines = Lines()
    lines.user("Why does the payroll of Jane Whitfield fail?", 0)
    body = "ACCOUNT_4711_SALARY = 91_500\n" + "padding_of_the_ledger = 1\n" * 60
    lines.model("m1", 5, use("c1", "Read", file_path=SECRET))
    lines.user([{"type": "tool_result", "tool_use_id": "c1", "content": body}], 7.25)
    lines.model("m2", 9, use("c2", "Bash", command="whoami"))
    lines.user([{"type": "tool_result", "tool_use_id": "c2", "content": "jane.whitfield"}], 10)
    lines.model("m3", 12, use("c3", "mcp__vault__lookup", who="jane.whitfield"))
    lines.user([{"type": "tool_result", "tool_use_id": "c3", "content": "no entry 0xDEADBEEF"}], 20)
    lines.model("m4", 30, use("c4", "Bash", command="grep ACCOUNT_4711_SALARY"))
    lines.user([{"type": "tool_result", "tool_use_id": "c4", "content": "nothing"}], 31)
    lines.model("m5", 40, text("ACCOUNT_4711_SALARY is 91_500 and 0xDEADBEEF unknown"))
    lines.user("Thanks. jane.whitfield@example.org", 4000)
    lines.model("m6", 4010, text("Bye."))
    file = tmp_path / name
    file.write_text("\n".join(lines.lines) + "\n", encoding="utf-8")
    return file


def test_what_belongs_together_still_does(tmp_path):
    (scenario,) = sessions(made(tmp_path))
    script = scenario.script(0)
    hidden = redact(script)
    before = [s for s in script.stimuli if isinstance(s, Arrival)]
    after = [s for s in hidden.stimuli if isinstance(s, Arrival)]
    for one, other in zip(before, after, strict=True):
        for name in ("turn", "kind", "tokens", "score", "time", "copy", "pinned", "taggable"):
            assert getattr(one, name) == getattr(other, name)
        assert (one.path is None) == (other.path is None)
    for name in ("id", "pair", "path", "tool"):
        pairs = {(getattr(a, name), getattr(b, name)) for a, b in zip(before, after, strict=True)}
        assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})
    queries = [s for s in hidden.stimuli if isinstance(s, Query)]
    assert queries
    stated = {f.key for a in after for f in a.facts}
    assert all(q.key in stated and q.key == f"key-{q.key[4:]}" for q in queries)
    assert [s for s in script.stimuli if isinstance(s, Wait)] == [
        s for s in hidden.stimuli if isinstance(s, Wait)
    ]


def test_no_word_and_no_time_of_a_made_session_is_left(tmp_path):
    file = made(tmp_path)
    (scenario,) = sessions(file)
    text = json.dumps(script_to_json(redact(scenario.script(0))))
    for word in ("acme", "payroll", "4711", "jane", "Whitfield", "vault", "Bash", "grep", "2026"):
        assert word not in text
    assert not survivors(unlisted(json.loads(text)), raw_texts(file))


def test_two_redactions_have_no_name_in_common(tmp_path):
    (scenario,) = sessions(made(tmp_path))
    one, other = (unlisted(script_to_json(redact(scenario.script(0)))) for _ in range(2))
    assert len(one) == len(other) and not one & other


def test_a_name_is_the_start_of_a_keyed_hash():
    """HMAC-SHA-256 (RFC 2104) of "path", a zero byte and the text, worked without hmac."""
    import hashlib

    key = b"k" * 32
    inner = bytes(b ^ 0x36 for b in key.ljust(64, b"\0"))
    outer = bytes(b ^ 0x5C for b in key.ljust(64, b"\0"))
    digest = hashlib.sha256(outer + hashlib.sha256(inner + b"path\0/etc/x").digest()).hexdigest()
    letters = dict(zip("0123456789abcdef", "BCDFGHJKLMNPQRST", strict=True))
    expected = "path-" + "".join(letters[c] for c in digest[:20])
    assert Redaction(key).name("path", "/etc/x") == expected


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("call-7", True),
        ("file-12.image-2", True),
        ("task", True),
        ("unrecorded", True),
        ("read-1", True),
        ("call-7 of Jane", False),
        ("call-0123456789", False),
        ("call-", False),
        ("jane-7", False),
        ("CALL-7", False),
        ("call-7\n", False),
        ("call-٣", False),
    ],
)
def test_only_counted_ids_stay(name, kept):
    assert (Redaction().name("id", name) == name) is kept


def test_budgets_of_tools_are_measured_before_the_text_goes(tmp_path):
    tools = tmp_path / "tools.toml"
    tools.write_text("[tools.Read]\nmax_result_tokens = 100\n")
    file = made(tmp_path)
    (scenario,) = sessions(file, declared=load_tools(tools))
    script = scenario.script(0)
    hidden = redact(script)
    (read,) = (s for s in hidden.stimuli if isinstance(s, Arrival) and s.path is not None)
    assert read.max_result_tokens == 100 and 0 < read.reduced_tokens <= 100 < read.tokens
    policies = ("tiered", "tiered:arrival=off", "tiered:arrival=head-tail")
    assert rows(hidden, policies) == rows(script, policies)
    assert rows(hidden, ["tiered"]) != rows(hidden, ["tiered:arrival=off"])


TEXT = st.text(
    st.characters() | st.sampled_from('\x1b\x9b\u202e\x00\ud800\u2028"\\/-'), max_size=30
)


@settings(max_examples=40, deadline=None, suppress_health_check=[*HealthCheck])
@given(st.lists(st.tuples(TEXT, TEXT, TEXT, TEXT), min_size=1, max_size=6), st.booleans())
def test_nothing_of_any_session_survives(tmp_path, rounds, again):
    lines, said = Lines(), []
    lines.user("Begin.", 0)
    for n, (tool, path, body, words) in enumerate(rounds):
        body = body + " identifier_" + str(n) + "_" + path
        lines.model(f"m{n}", 10 * n + 1, use(f"c{n}", tool, file_path=path, command=words))
        result = {"type": "tool_result", "tool_use_id": f"c{n}", "content": body}
        lines.user([result], 10 * n + 2)
        lines.model(f"w{n}", 10 * n + 3, text(words or "x"), text(rounds[0][2] * again or "y"))
        said += [tool, path, body, words]
    file = tmp_path / "made.jsonl"
    file.write_text("\n".join(lines.lines) + "\n", encoding="utf-8")
    (scenario,) = transcripts.load([file])
    script = scenario.script(0)
    hidden = redact(script)
    outputs = unlisted(script_to_json(hidden))
    assert not survivors(outputs, [*said, *raw_texts(file)])
    policies = ("naive-rewrite", "tiered")
    for each in (hidden, script):
        written = tmp_path / "written.json"
        written.write_text(json.dumps(script_to_json(each)))
        back = load_script(written).script(0)
        assert back == each
        assert rows(back, policies) == rows(script, policies)


def test_every_stimulus_of_a_script_loses_its_text():
    secret = "Jane Whitfield"
    fact = Fact(f"{secret} key", f"{secret} value", f"{secret} prior", draw=f"{secret} draw")
    about = {"tool": secret, "path": secret, "pair": secret, "names": (secret,), "facts": (fact,)}
    stimuli = (
        Arrival(1, secret, Kind.FILE, 10, 1.0, **about),
        Write(1, secret, 12, (fact,), attempt=1),
        WorldRefresh(1, secret, 11),
        Query(1, secret, f"{secret} key", 0.5, (secret,)),
        Act(1, secret, (secret,)),
        Operator(1, secret, secret),
        Change(1, "tools", secret),
        Compaction(1, 10, secret, (secret,)),
    )
    branch = (Arrival(2, f"{secret} 2", Kind.DIFF, 10, 1.0),)
    attempts = (Attempt(1, 2, (f"{secret} key",), (secret,), branch, branch),)
    common = load("stale-file").settings
    own = {"cache.breakpoints": (secret,), "prices": secret, "tool_logs": secret, secret: secret}
    script = Script(
        secret,
        0,
        {**common, **own},
        stimuli,
        attempts,
        frozenset({"facts", secret}),
        tokens_from=secret,
        recorded={1: {secret: 5, "input_tokens": 7}},
    )
    hidden = redact(script)
    document = script_to_json(hidden)
    assert "Jane" not in json.dumps(document) and "Whitfield" not in json.dumps(document)
    assert not survivors(unlisted(document), [secret, f"{secret} key"])
    assert hidden.recorded == {1: {"input_tokens": 7}}
    arrival, write, refresh, query, act, operator, *_, compaction = hidden.stimuli
    assert refresh.segment == query.touches[0] == act.requires[0] == arrival.id
    assert operator.segment == compaction.kept[0] == arrival.id != query.key
    assert hidden.settings["cache.breakpoints"] == (arrival.id,)
    assert write.path == arrival.path == arrival.names[0] == hidden.attempts[0].paths[0]
    assert query.key == arrival.facts[0].key == hidden.attempts[0].facts[0]
    assert redrawn(script) is False
    keeps = {**script.settings, "surrogate.keep": 0.5}
    assert redrawn(Script(secret, 0, keeps, stimuli)) is True


@pytest.mark.parametrize("name", ["stale-file", "rate-limit-table", "threshold-drift"])
def test_a_redacted_story_gives_the_same_rows(name):
    script = load(name).script(0)
    assert not redrawn(script)
    assert rows(redact(script)) == rows(script)


def test_a_family_whose_surrogates_keep_nothing_gives_the_same_rows():
    script = load("coding-agent", {"turns": 25, "surrogate.keep": 0}).script(2)
    assert not redrawn(script)
    assert rows(redact(script)) == rows(script)
