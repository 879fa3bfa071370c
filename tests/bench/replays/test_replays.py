"""Recorded sessions replayed, from files to what each policy saved."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench import api
from bench.cli import main
from scenarios.transcripts.builder import FRAME
from tests.scenarios.transcripts.made import Lines, text, use


def session(
    path: Path,
    calls: int = 12,
    size: int = 400,
    compact: int | None = None,
    model: str | None = None,
) -> Path:
    """Write a session whose results have *size* tokens; it compacts after call *compact*."""
    named = {} if model is None else {"model": model}
    lines = Lines().user("please look at everything", 0)
    prompt = 1000
    for n in range(1, calls + 1):
        usage = {"input_tokens": 5, "cache_read_input_tokens": prompt - 5, "output_tokens": 9}
        lines.model(f"m{n}", 10 * n, use(f"t{n}", command=f"ls {n}"), usage=usage, message=named)
        lines.result(f"t{n}", f"entry_{n}_found " + "word " * size, 10 * n + 1)
        prompt += size
        if n == compact:
            lines.put(
                "system",
                None,
                10 * n + 2,
                subtype="compact_boundary",
                compactMetadata={"trigger": "auto", "preTokens": prompt},
            )
            lines.user("so far: " + "x " * 50, 10 * n + 3, isCompactSummary=True)
            prompt = 1000
    lines.model("end", 10 * calls + 10, text("I saw entry_1_found"))
    return lines.write(path)


def test_a_policy_that_never_acts_saves_nothing(tmp_path):
    found = api.replay([session(tmp_path / "a.jsonl")], ["no-op"], budget=100_000)
    (row,) = found.what_if
    assert (row["saved_tokens"], row["saved_usd"], row["saved_seconds"]) == (0, 0.0, 0.0)
    assert (row["gone_count"], row["broke_count"]) == (0, 0)
    assert found.recorded["a"]["usage"]["calls"] == 12


def test_what_is_saved_is_the_difference_to_the_recording(tmp_path):
    found = api.replay([session(tmp_path / "a.jsonl")], ["no-op", "compaction"], budget=4_000)
    rows = {row["policy"]: row for row in found.rows}
    as_it_was = found.recorded["a"]["simulated"]["claude-sonnet-5"]
    for row in found.what_if:
        metrics = rows[row["policy"]]
        assert row["saved_tokens"] == as_it_was["input_tokens"] - metrics["input_tokens"]
        assert row["saved_usd"] == as_it_was["total_cost_usd"] - metrics["total_cost_usd"]
        assert row["saved_seconds"] == as_it_was["total_seconds"] - metrics["total_seconds"]
    assert rows["compaction"]["rewrites"] > 0
    (compaction,) = (row for row in found.what_if if row["policy"] == "compaction")
    assert compaction["gone_count"] > 0 and compaction["saved_tokens"] > 0


def test_the_recording_has_room_for_all_and_its_own_compactions(tmp_path):
    plain = api.replay([session(tmp_path / "a.jsonl")], ["no-op"], budget=3_000)
    compacted = api.replay([session(tmp_path / "b.jsonl", compact=8)], ["no-op"], budget=3_000)
    before = plain.recorded["a"]["simulated"]["claude-sonnet-5"]["peak_tokens"]
    after = compacted.recorded["b"]["simulated"]["claude-sonnet-5"]["peak_tokens"]
    # Twelve pairs of 450 tokens and more, against the nine before the compaction.
    assert before > 5_400 > 4_500 > after > 4_050
    assert compacted.recorded["b"]["compactions"] == 1


def test_the_fit_is_of_the_recorded_prompts(tmp_path):
    fit = api.replay([session(tmp_path / "a.jsonl")], ["no-op"]).recorded["a"]["fit"]
    assert (fit["fitted"], fit["held_out"]) == (6, 6)
    assert fit["max_error"] < 0.05


def test_several_workers_give_the_same(tmp_path):
    files = [session(tmp_path / f"{n}.jsonl", calls=n + 4) for n in range(3)]
    policies = ["no-op", "tiered", "compaction"]
    one = api.replay(files, policies, budget=2_500, price=["gpt-5.5", "claude-sonnet-5"])
    two = api.replay(files, policies, budget=2_500, price=["gpt-5.5", "claude-sonnet-5"], jobs=2)
    assert one.rows == two.rows
    assert json.dumps(one.what_if) == json.dumps(two.what_if)
    assert one.pooled == two.pooled
    assert one.recorded == two.recorded
    assert one.manifest["notes"] == two.manifest["notes"]
    assert one.manifest["scenarios"] == two.manifest["scenarios"]


def test_a_session_is_shared_out_where_there_are_more_workers(tmp_path):
    file = session(tmp_path / "a.jsonl")
    one = api.replay([file], ["no-op", "tiered", "compaction"], budget=2_500)
    two = api.replay([file], ["no-op", "tiered", "compaction"], budget=2_500, jobs=2)
    assert one.rows == two.rows and one.recorded == two.recorded
    assert two.manifest["planned"] == two.manifest["finished"] == 3


def test_the_pool_is_over_sessions(tmp_path):
    files = [session(tmp_path / f"{n}.jsonl", calls=8 + n) for n in range(4)]
    found = api.replay(files, ["no-op", "compaction"], budget=2_500)
    saved = [row["saved_tokens"] for row in found.what_if if row["policy"] == "compaction"]
    (line,) = (
        each for each in found.pooled if (each["policy"], each["saved"]) == ("compaction", "tokens")
    )
    assert line["total"] == sum(saved)
    assert line["mean"] == pytest.approx(sum(saved) / 4)
    assert (line["n"], line["sessions"]) == (4, 4)
    assert line["better"] == sum(each > 0 for each in saved)
    assert line["ci_low"] <= line["mean"] <= line["ci_high"]
    whole = sum(
        each["simulated"]["claude-sonnet-5"]["input_tokens"] for each in found.recorded.values()
    )
    assert line["share"] == pytest.approx(sum(saved) / whole)


def test_a_run_that_fails_saves_nothing_that_counts(tmp_path):
    found = api.replay([session(tmp_path / "a.jsonl")], ["no-op", "naive-trim"], budget=4_000)
    rows = {row["policy"]: row for row in found.what_if}
    assert rows["naive-trim"]["saved_usd"] is None
    assert {each["n"] for each in found.pooled if each["policy"] == "naive-trim"} == {0}


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return ended.value.code or 0, out, err


def test_the_tables_of_a_session(tmp_path, capsys):
    file = session(tmp_path / "a.jsonl")
    code, out, _ = run(capsys, "replay", file, "-p", "compaction", "--budget", 2_500)
    assert code == 0
    assert "a: saved against the recording" in out
    assert "Recorded: " in out and "in 12 calls" in out
    assert "was asked for in turn" in " ".join(out.split())


def test_many_sessions_have_a_line_each_and_a_pool(tmp_path, capsys):
    for n in range(5):
        session(tmp_path / f"s{n}.jsonl", calls=6 + n)
    code, out, _ = run(capsys, "replay", tmp_path, "-p", "compaction", "-p", "no-op")
    assert code == 0
    assert "5 sessions at claude-sonnet-5" in out
    assert "all sessions at claude-sonnet-5, pooled" in out
    assert "5/5" in out


def test_the_json_holds_what_the_tables_show(tmp_path, capsys):
    file = session(tmp_path / "a.jsonl")
    code, out, _ = run(capsys, "replay", file, "-p", "no-op", "--format", "json")
    found = json.loads(out)
    assert code == 0
    assert set(found) >= {"rows", "summary", "manifest", "recorded", "what_if", "pooled"}
    assert list(found["recorded"]) == ["a"]


def test_a_pattern_is_a_batch(tmp_path, capsys):
    for name in ("a.jsonl", "b.jsonl", "c.txt"):
        session(tmp_path / name)
    code, out, _ = run(capsys, "replay", tmp_path / "*.jsonl", "-p", "no-op", "--format", "json")
    assert code == 0
    assert list(json.loads(out)["recorded"]) == ["a", "b"]


def test_what_is_no_recording_is_passed_over_in_a_batch_only(tmp_path, capsys):
    session(tmp_path / "a.jsonl")
    (tmp_path / "b.txt").write_text("hello")
    code, _, err = run(capsys, "replay", tmp_path, "-p", "no-op")
    assert code == 0 and "passed over" in err
    code, _, err = run(capsys, "replay", tmp_path / "b.txt", "-p", "no-op")
    assert code == 2 and "not a recording" in err
    code, _, err = run(capsys, "replay", tmp_path, "-p", "no-op", "--strict")
    assert code == 2 and "not a recording" in err


def test_a_batch_without_a_model_call_says_so(tmp_path, capsys):
    Lines().user("hello", 0).write(tmp_path / "a.jsonl")
    code, _, err = run(capsys, "replay", tmp_path, "-p", "no-op")
    assert code == 2
    assert "no model call" in err


def test_what_was_read_twice_is_in_the_calls_and_saved_by_nobody(tmp_path):
    lines = Lines().user("go", 0)
    body = "some_name_1 " + "word " * 300
    usage = {"input_tokens": 5, "output_tokens": 1}
    for n, path in ((1, "/r/a.py"), (2, "/r/b.py"), (3, "/r/a.py")):
        lines.model(f"m{n}", 10 * n, use(f"t{n}", "Read", file_path=path), usage=usage)
        lines.result(f"t{n}", body if path == "/r/a.py" else "other " * 300, 10 * n + 1)
    lines.model("m4", 40, text("done with some_name_1"), usage=usage)
    file = lines.write(tmp_path / "a.jsonl")
    settings = {"keep_alive.seconds": 4}
    found = api.replay([file], ["no-op"], budget=100_000, tokenizer="bytes/4", settings=settings)
    told = found.recorded["a"]
    (row,) = found.rows
    assert row["fetches"] == 0
    assert told["simulated"]["claude-sonnet-5"]["input_tokens"] == row["input_tokens"]
    # The third reading stands in the last request alone, in tokens of four bytes: "Read" 1,
    # {"file_path": "/r/a.py"} has 24 bytes.
    held = sum(call["simulated"] for call in told["calls"])
    assert held - row["input_tokens"] == -(-len(body) // 4) + 1 + 6 + FRAME
    (line,) = found.what_if
    assert line["saved_tokens"] == 0


def test_each_session_has_the_price_of_its_model_and_dollars_are_sums(tmp_path, capsys):
    files = [
        session(tmp_path / "a.jsonl", model="claude-haiku-4-5-20251001"),
        session(tmp_path / "b.jsonl", model="gpt-5.5"),
        session(tmp_path / "c.jsonl", model="somebodys-own-1"),
        session(tmp_path / "d.jsonl"),
    ]
    found = api.replay(files, ["compaction"], budget=4_000)
    prices = {row["scenario"]: row["price"] for row in found.what_if}
    default = "claude-sonnet-5"
    assert prices == {"a": "claude-haiku-4.5", "b": "gpt-5.5", "c": default, "d": default}
    lines = {line["saved"]: line for line in found.pooled}
    assert {line["price"] for line in found.pooled} == {"own"} and len(found.pooled) == 3
    assert lines["usd"]["sessions"] == 4
    # the same session, once at each price: its dollars are those of a batch at one price
    alone = {
        price: api.replay([file], ["compaction"], budget=4_000, price=price).what_if[0]["saved_usd"]
        for file, price in zip(files, prices.values(), strict=True)
    }
    total = alone["claude-haiku-4.5"] + alone["gpt-5.5"] + 2 * alone[default]
    assert lines["usd"]["total"] == pytest.approx(total)
    told = [note.says for note in found.manifest["notes"] if "recorded with" in note]
    assert len(told) == 3 and "no row of the price book" in told[2]
    code, out, _ = run(capsys, "replay", *files, "-p", "compaction", "--budget", 4_000)
    out = " ".join(out.split())
    assert code == 0
    assert "4 sessions each at the price of its model" in out
    assert "all sessions, each at the price of its model, pooled" in out
    assert "Dollars are sums over sessions, of each at its own price" in out


def test_one_price_for_all_is_said_by_nobody_but_the_user(tmp_path):
    files = [
        session(tmp_path / "a.jsonl", model="claude-haiku-4-5"),
        session(tmp_path / "b.jsonl", model="gpt-5.5"),
    ]
    for price in ("gpt-4.1", ["gpt-4.1", "gpt-5.5"]):
        found = api.replay(files, ["no-op"], price=price)
        wanted = [price] if isinstance(price, str) else price
        assert sorted({line["price"] for line in found.pooled}) == wanted
        assert not [note for note in found.manifest["notes"] if "recorded with" in note]
