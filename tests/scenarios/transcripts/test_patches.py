"""Patches: which files they touch, by whatever tool they come."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.transcripts.patches import patch_of, patched
from scenarios.transcripts.tools import Touch, touch

PATCH = """*** Begin Patch
*** Add File: new.txt
+one
+
+*** Add File: no header
*** Update File: ./old.py
*** Move to: moved.py
@@ def f
-x
+y
*** Delete File: gone.txt
*** End Patch
"""


def test_the_files_of_a_patch():
    assert patched(PATCH) == {
        "new.txt": "one\n\n*** Add File: no header\n",
        "./old.py": None,
        "moved.py": None,
        "gone.txt": None,
    }


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("apply_patch", PATCH),
        ("applyPatch", {"input": PATCH}),
        ("apply_patch", {"patchText": PATCH}),
        ("apply_patch", {"command": ["apply_patch", PATCH]}),
        ("shell", {"command": ["bash", "-lc", f"apply_patch <<'EOF'\n{PATCH}EOF"]}),
        ("shell", {"command": ["apply_patch", PATCH]}),
        ("shell_command", {"command": f"apply_patch <<EOF\n{PATCH}EOF"}),
        ("exec_command", {"cmd": f"apply_patch << EOF\n{PATCH}EOF"}),
    ],
)
def test_a_patch_touches_all_its_files(name, arguments):
    expected = Touch(
        "new.txt", False, "one\n\n*** Add File: no header\n", ("old.py", "moved.py", "gone.txt")
    )
    assert touch(name, arguments, "Success. Updated the following files:", False) == expected
    assert touch(name, arguments, "Success", True) is None
    assert touch(name, arguments, "error: no such file", False) is None


@pytest.mark.parametrize(
    ("plain", "arguments"),
    [
        ("applypatch", "no envelope"),
        ("applypatch", {"input": 7}),
        ("applypatch", None),
        ("shell", PATCH),
        ("shell", {"command": f"cat <<EOF\n{PATCH}EOF"}),
        ("shell", {"command": ["rg", "apply_patch"]}),
        ("write", {"input": PATCH}),
    ],
)
def test_what_applies_no_patch(plain, arguments):
    assert patch_of(plain, arguments) is None


def test_an_envelope_without_files_touches_nothing():
    assert touch("apply_patch", "*** Begin Patch\n*** Add File:  \n", "ok", False) is None


@given(st.text(alphabet="*+- \nAdd Fileabc:Begin Patch", max_size=200))
def test_no_patch_raises(text):
    assert all(path.strip() for path in patched("*** Begin Patch" + text))
