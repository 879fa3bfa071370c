from __future__ import annotations

from hashlib import blake2b
from pathlib import Path

import pytest

from bench.code_digest import code_digest, code_files, differing

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, text in {
        "sim/engine.py": "a",
        "scenarios/stories/one.toml": "b",
        "sim/__pycache__/engine.cpython-311.pyc": "c",
        "sim/.engine.py": "d",
        "sim/engine.py~": "e",
        "tests/test_engine.py": "f",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_sources_of_the_packages_count_and_nothing_else(tree: Path) -> None:
    assert code_files(tree) == {
        "scenarios/stories/one.toml": blake2b(b"b", digest_size=16).hexdigest(),
        "sim/engine.py": blake2b(b"a", digest_size=16).hexdigest(),
    }


def test_this_code_is_whole() -> None:
    files = code_files()
    assert list(files) == sorted(files)
    data = {"bench/prices.toml", "scenarios/reference.toml", "scenarios/pinned.toml"}
    assert {"sim/engine.py", "policies/tiered.py", "bench/runs.py", *data} <= set(files)
    assert dict(files) == code_files(ROOT / "." / "bench" / "..")


@pytest.mark.parametrize("change", ["content", "name", "removal", "addition"])
def test_the_digest_changes_with_any_file(tree: Path, change: str) -> None:
    before = code_files(tree)
    file, story = tree / "sim" / "engine.py", tree / "scenarios" / "stories" / "one.toml"
    if change == "content":
        file.write_text("changed")
    elif change == "name":
        file.rename(file.with_name("motor.py"))
    elif change == "removal":
        story.unlink()
    else:
        file.with_name("more.py").write_text("")
    after = code_files(tree)
    assert code_digest(after) != code_digest(before)
    assert (
        differing(before, after)
        == {
            "content": ["sim/engine.py"],
            "name": ["sim/engine.py", "sim/motor.py"],
            "removal": ["scenarios/stories/one.toml"],
            "addition": ["sim/more.py"],
        }[change]
    )


def test_the_digest_does_not_depend_on_an_order() -> None:
    assert code_digest({"b": "2", "a": "1"}) == code_digest({"a": "1", "b": "2"})
    assert code_digest({"a": "1"}) != code_digest({"a": "2"})
    assert code_digest() == code_digest(code_files())
