from __future__ import annotations

from pathlib import Path

import pytest

from bench.stamps import differs, stamp
from sim.errors import InputError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "logs" / "deep").mkdir(parents=True)
    (tmp_path / "logs" / "a.log").write_text("a")
    (tmp_path / "logs" / "deep" / "b.log").write_text("b")
    (tmp_path / "logs" / ".hidden").write_text("c")
    (tmp_path / "prices.toml").write_text("d")
    return tmp_path


def test_what_is_as_it_was_does_not_differ(folder: Path) -> None:
    stamps = stamp([f"{folder}/logs", f"{folder}/prices.toml", f"{folder}/logs"])
    assert [path for path, _ in stamps] == [f"{folder}/logs", f"{folder}/prices.toml"]
    (folder / "logs" / ".hidden").write_text("changed")
    assert differs(stamps) is None
    assert differs(()) is None


@pytest.mark.parametrize("change", ["content", "name", "addition", "removal"])
def test_a_folder_differs_with_any_file_in_it(folder: Path, change: str) -> None:
    stamps = stamp([f"{folder}/logs"])
    file = folder / "logs" / "deep" / "b.log"
    if change == "content":
        file.write_text("c")
    elif change == "name":
        file.rename(file.with_name("c.log"))
    elif change == "addition":
        file.with_name("c.log").write_text("")
    else:
        file.unlink()
    assert differs(stamps) == f"has another {folder}/logs"


def test_a_file_that_is_gone_or_changed_is_named(folder: Path) -> None:
    file = folder / "prices.toml"
    stamps = stamp([str(file)])
    file.write_text("other")
    assert differs(stamps) == f"has another {file}"
    file.unlink()
    assert differs(stamps) == f"has no {file}"
    with pytest.raises(InputError, match=r"prices.toml: cannot read it: No such file"):
        stamp([str(file)])
