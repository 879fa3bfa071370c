from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from math import nan
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from bench.api import Comparison, compare, replay
from bench.results import load, save
from bench.summary import COLUMNS
from scenarios.catalogue import load as scenario
from sim.errors import InputError
from sim.metrics import METRICS, NAMES
from tests.bench.rows import row, rows

MANIFEST = {"evictbench": "9.9", "scenarios": {"made-up": {"kind": "family"}}}


def comparison(**more: Any) -> Comparison:
    made = rows("a", "stale", [1, 2]) + rows("b", "total_cost_usd", [1 / 3, 2.0])
    return Comparison([*made, row("c", status="not-applicable", reason="no facts")], None, MANIFEST)


def test_a_folder_holds_runs_summary_manifest_and_schema(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "results"
    save(comparison(), folder)
    names = {"runs.parquet", "summary.parquet", "manifest.json", "schema.json"}
    assert {path.name for path in folder.iterdir()} == names
    runs = pd.read_parquet(folder / "runs.parquet")
    assert list(runs.columns) == ["scenario", "policy", "seed", "price", *NAMES, "status", "reason"]
    assert list(runs.index) == [0, 1, 2, 3, 4]
    assert runs["stale"].tolist() == [1, 2, 0, 0, pd.NA]
    assert runs["total_cost_usd"].tolist()[2:4] == [0.333333333, 2.0]
    assert runs["status"].tolist() == ["completed"] * 4 + ["not-applicable"]
    assert list(pd.read_parquet(folder / "summary.parquet").columns) == list(COLUMNS)


def test_whole_numbers_are_nullable_and_rates_are_floats(tmp_path: Path) -> None:
    save(comparison(), tmp_path)
    types = pd.read_parquet(tmp_path / "runs.parquet").dtypes.astype(str)
    for name in ("seed", "queries", "peak_tokens", "first_confabulation_turn", "policy_bugs"):
        assert types[name] == "Int64"
    for name in ("confabulation_rate", "mean_tokens", "peak_share", "total_cost_usd"):
        assert types[name] == "float64"
    for name in ("scenario", "policy", "price", "status", "reason"):
        assert types[name] == "str"
    assert {metric.unit for metric in METRICS if not metric.whole} == {
        "share",
        "USD",
        "s",
        "tokens",
    }


def test_what_is_read_back_is_what_was_written(tmp_path: Path) -> None:
    made = comparison()
    save(made, tmp_path)
    found = load(tmp_path)
    assert found.rows[:2] == made.rows[:2]
    assert found.rows[2]["total_cost_usd"] == 0.333333333
    texts = {"made-up", "c", "list", "not-applicable", "no facts"}
    assert set(found.rows[4].values()) == {*texts, 0, None}
    assert found.key == ("scenario", "price", "policy", "seed")
    assert {name: found.manifest[name] for name in MANIFEST} == MANIFEST
    assert len(found.table("summary")) == 3 * len(NAMES)
    with pytest.raises(InputError, match="it has no table 'turns', but runs, summary"):
        found.table("turns")


def test_the_schema_says_of_each_column_what_is_declared(tmp_path: Path) -> None:
    save(comparison(), tmp_path)
    package = json.loads((tmp_path / "schema.json").read_text())
    assert [each["path"] for each in package["resources"]] == ["runs.parquet", "summary.parquet"]
    for resource in package["resources"]:
        stored = pd.read_parquet(tmp_path / resource["path"])
        fields = resource["schema"]["fields"]
        assert [field["name"] for field in fields] == list(stored.columns)
        assert all(field["description"] for field in fields)
        assert set(resource["schema"]["primaryKey"]) < set(stored.columns)
        assert not stored.duplicated(resource["schema"]["primaryKey"]).any()
    fields = {field["name"]: field for field in package["resources"][0]["schema"]["fields"]}
    assert fields["peak_tokens"] == {
        "name": "peak_tokens",
        "type": "integer",
        "description": "largest request sent",
        "unit": "tokens",
        "better": "less",
    }
    assert fields["seed"]["constraints"] == {"required": True}
    assert "better" not in fields["queries"]


@dataclass(frozen=True)
class Sweep(Comparison):
    """A comparison whose rows have settings in front that were varied."""

    @property
    def columns(self) -> list[str]:
        return ["budget", "salience.decay", "reader", *super().columns]

    @property
    def summary(self) -> list[dict[str, Any]]:  # type: ignore[override]
        return []


def test_settings_that_were_varied_stand_in_front_and_belong_to_the_key(tmp_path: Path) -> None:
    made = [
        {"budget": budget, "salience.decay": decay, "reader": "strict", **row("a")}
        for budget, decay in ((48_000, 0.5), (64_000, 1.0))
    ]
    save(Sweep(made, None, MANIFEST), tmp_path)
    found = load(tmp_path)
    assert found.key == (
        "budget",
        "salience.decay",
        "reader",
        "scenario",
        "price",
        "policy",
        "seed",
    )
    assert found.rows == made
    types = pd.read_parquet(tmp_path / "runs.parquet").dtypes.astype(str)
    assert types[:3].tolist() == ["Int64", "float64", "str"]
    package = json.loads((tmp_path / "schema.json").read_text())
    assert package["resources"][0]["schema"]["fields"][0] == {
        "name": "budget",
        "type": "integer",
        "description": "the setting budget, varied from row to row",
        "unit": "tokens",
        "constraints": {"required": True},
    }
    summary = pd.read_parquet(tmp_path / "summary.parquet")
    assert list(summary.columns) == ["budget", "salience.decay", "reader", *COLUMNS]


def test_measures_and_turns_are_described_too(tmp_path: Path) -> None:
    small = [scenario("doc-analysis", {"turns": 6}), "stale-file"]
    beside = ("bound", "reversals")
    save(compare(small, ["tiered"], seeds=2, beside=beside, turns=True), tmp_path)
    package = json.loads((tmp_path / "schema.json").read_text())
    for resource in package["resources"]:
        assert not [f for f in resource["schema"]["fields"] if "varied" in f["description"]]
    turns = pd.read_parquet(tmp_path / "turns.parquet")
    runs = pd.read_parquet(tmp_path / "runs.parquet")
    assert len(turns) == runs["turns"].sum()
    key = ["scenario", "price", "policy", "seed"]
    summed = turns.groupby(key)["input_tokens"].sum()
    assert summed.equals(runs.set_index(key)["input_tokens"].sort_index())


def test_a_replay_keeps_what_each_policy_saved(tmp_path: Path) -> None:
    session = Path(__file__).resolve().parents[3] / "examples" / "demo-session.jsonl"
    found = replay([session], ["no-op", "tiered"], turns=True)
    save(found, tmp_path)
    saved = pd.read_parquet(tmp_path / "what_if.parquet")
    assert saved["policy"].tolist() == ["tiered", "no-op"]
    assert saved["saved_tokens"].tolist() == [row["saved_tokens"] for row in found.what_if]
    package = json.loads((tmp_path / "schema.json").read_text())
    fields = package["resources"][-1]["schema"]["fields"]
    assert not [field for field in fields if "varied" in field["description"]]
    save(replace(found, turns=[], what_if=[]), tmp_path)
    assert {path.name for path in tmp_path.glob("*.parquet")} == {"runs.parquet", "summary.parquet"}


def test_the_bytes_are_those_of_the_rows(tmp_path: Path) -> None:
    for name, effort in (("one", 1.0), ("two", nan)):
        made = replace(comparison(), manifest={**MANIFEST, "effort": {"seconds": effort}})
        save(made, tmp_path / name)
    for name in ("runs.parquet", "summary.parquet", "schema.json"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    one, two = (load(tmp_path / name).manifest for name in ("one", "two"))
    assert one.pop("effort") != two.pop("effort")
    assert one == two


def test_a_name_that_is_no_text_is_kept_readable(tmp_path: Path) -> None:
    save(Comparison([row("a", scenario="b\udc80")], None, MANIFEST), tmp_path)
    assert load(tmp_path).rows[0]["scenario"] == "b\\udc80"


# -- what cannot be read -----------------------------------------------------------------------


def changed(folder: Path, **more: Any) -> None:
    file = folder / "manifest.json"
    document = json.loads(file.read_text()) | more
    file.write_text(json.dumps({k: v for k, v in document.items() if v is not None}))


def signed(folder: Path, name: str) -> None:
    """Make the manifest hold the hash of what stands in the folder under *name*."""
    files = json.loads((folder / "manifest.json").read_text())["files"]
    files[name]["sha256"] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    changed(folder, files=files)


def refused(folder: Path) -> str:
    with pytest.raises(InputError) as error:
        load(folder)
    says = str(error.value)
    assert "\n" not in says
    return says


def test_what_is_no_folder_of_results(tmp_path: Path) -> None:
    assert refused(tmp_path / "none").endswith("none: there is no such folder")
    (tmp_path / "file").write_text("")
    assert refused(tmp_path / "file").endswith("file: it is no folder")
    assert refused(tmp_path).endswith("no folder of results: it has no manifest.json")


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"format": true}', '{"format": "1"}'])
def test_a_manifest_that_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "manifest.json").write_text(text)
    assert "manifest.json" in refused(tmp_path)


def test_a_form_from_the_future(tmp_path: Path) -> None:
    save(comparison(), tmp_path)
    changed(tmp_path, format=2)
    says = "it has format 2, written by evictbench 9.9; this version reads 1"
    assert refused(tmp_path).endswith(says)


@pytest.mark.parametrize("key", ["format", "files", "scenarios"])
def test_a_manifest_in_parts(tmp_path: Path, key: str) -> None:
    save(comparison(), tmp_path)
    changed(tmp_path, **{key: None})
    assert "it is no manifest of results" in refused(tmp_path)


@pytest.mark.parametrize("name", ["runs.parquet", "schema.json"])
def test_a_file_that_is_missing_cut_or_damaged(tmp_path: Path, name: str) -> None:
    save(comparison(), tmp_path)
    file = tmp_path / name
    data = file.read_bytes()
    file.write_bytes(data[:-9])
    assert refused(tmp_path).endswith(f"{name}: it is damaged, cut short or not of this manifest")
    signed(tmp_path, name)
    assert f"{name}: it is damaged: " in refused(tmp_path) or "no JSON" in refused(tmp_path)
    file.unlink()
    assert refused(tmp_path).endswith(f"{name}: it is missing")


def test_a_page_that_is_damaged_is_found_by_its_checksum(tmp_path: Path) -> None:
    save(comparison(), tmp_path)
    file = tmp_path / "runs.parquet"
    data = bytearray(file.read_bytes())
    data[60] ^= 0xFF
    file.write_bytes(data)
    signed(tmp_path, "runs.parquet")
    assert "runs.parquet: it is damaged: " in refused(tmp_path)


def test_rows_that_are_no_runs(tmp_path: Path) -> None:
    save(comparison(), tmp_path)
    pd.DataFrame({"scenario": ["a"]}).to_parquet(tmp_path / "runs.parquet")
    signed(tmp_path, "runs.parquet")
    assert refused(tmp_path).endswith("runs.parquet: it has no column 'price'")


@pytest.mark.parametrize("resources", [None, [], [{"path": "runs.parquet"}], 3])
def test_a_schema_without_a_key(tmp_path: Path, resources: object) -> None:
    save(comparison(), tmp_path)
    (tmp_path / "schema.json").write_text(json.dumps({"resources": resources}))
    signed(tmp_path, "schema.json")
    assert refused(tmp_path).endswith("it does not say what tells one run from another")
