from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import pytest

from bench.kit import Kit
from bench.manifest import LIBRARIES

MINE = "class Mine:\n    def before_call(self, view):\n        return ()\n"


def test_this_process_lacks_nothing_of_its_own_kit() -> None:
    kit = Kit.of(["tiered", "no-op"], [{"prices": None, "budget": 1}])
    assert kit.lacking() is None
    assert [name for name, _ in kit.versions] == ["Python", *LIBRARIES]
    assert (kit.sources, kit.files) == ((), ())


def test_other_code_or_another_library_is_lacking() -> None:
    kit = Kit.of()
    assert replace(kit, code="0").lacking() == "has other code of evictbench"
    (_, python), *rest = kit.versions
    other = replace(kit, versions=(("Python", "2.7"), *rest))
    assert other.lacking() == f"has Python {python}, not 2.7"


def test_a_policy_of_ones_own_travels_with_it(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(MINE)
    kit = Kit.of([f"{file}:Mine", "tiered"])
    file.unlink()
    assert kit.sources == ((str(file), MINE.encode()),)
    assert pickle.loads(pickle.dumps(kit)).lacking() is None


def test_a_policy_that_cannot_be_made_there_is_lacking(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("import beside_it\n" + MINE)
    assert Kit.of([f"{file}:Mine"]).lacking() == (
        f"cannot make the policy {file}:Mine: {file}:1: it cannot be imported: "
        "ModuleNotFoundError: No module named 'beside_it'"
    )
    gone = replace(Kit.of(), policies=("of-another-package",))
    assert str(gone.lacking()).startswith("cannot make the policy of-another-package: unknown")


@pytest.mark.parametrize("setting", ["prices", "tool_logs"])
def test_files_that_a_run_reads_must_be_there(tmp_path: Path, setting: str) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    kit = Kit.of((), [{setting: str(file)}, {setting: str(file)}])
    assert kit.lacking() is None
    file.unlink()
    assert kit.lacking() == f"has no {file}"
