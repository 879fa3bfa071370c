import pytest

from scenarios.transcripts.tools import Touch, touch

EDITOR = "str_replace_editor"


@pytest.mark.parametrize(
    ("name", "arguments", "touched"),
    [
        ("Read", {"file_path": "/a/b.py", "offset": 3}, Touch("/a/b.py", True)),
        ("NotebookRead", {"notebook_path": "/a.ipynb"}, Touch("/a.ipynb", True)),
        ("read_file", {"path": "./a//b.py"}, Touch("a/b.py", True)),
        ("fs.read_file", {"path": "a/../b.py"}, Touch("b.py", True)),
        ("Edit", {"file_path": "/a", "old_string": "x"}, Touch("/a", False)),
        ("MultiEdit", {"file_path": "/a", "edits": []}, Touch("/a", False)),
        ("NotebookEdit", {"notebook_path": "/n"}, Touch("/n", False)),
        ("Write", {"file_path": "/a", "content": "new"}, Touch("/a", False, "new")),
        ("write_to_file", {"path": "a", "contents": ""}, Touch("a", False, "")),
        (EDITOR, {"command": "view", "path": "/a"}, Touch("/a", True)),
        (EDITOR, {"command": "create", "path": "/a", "file_text": "t"}, Touch("/a", False, "t")),
        (EDITOR, {"command": "str_replace", "path": "/a"}, Touch("/a", False)),
        (EDITOR, {"command": "insert", "path": "/a"}, Touch("/a", False)),
        (EDITOR, {"command": "undo_edit", "path": "/a"}, Touch("/a", False)),
        (EDITOR, {"command": "delete", "path": "/a"}, None),
        (EDITOR, {"command": ["view"], "path": "/a"}, None),
        (EDITOR, {"path": "/a"}, None),
        ("Bash", {"command": "cat /a"}, Touch("/a", True)),
        ("Bash", {"command": "cat a"}, None),
        ("Bash", {"command": "mv /a /b"}, Touch("/a", False, also=("/b",))),
        ("Bash", {"command": "make > /a"}, Touch("/a", False, aside=True)),
        ("Grep", {"path": "/a", "pattern": "x"}, None),
        ("Read", {"file_path": " "}, None),
        ("Read", {"file_path": 7}, None),
        ("Read", {}, None),
        ("Read", "/a", None),
        ("Read", None, None),
        ("", {"path": "/a"}, None),
    ],
)
def test_what_a_call_does_with_a_file(name, arguments, touched):
    assert touch(name, arguments, "fine", False) == touched
    assert touch(name, arguments, "fine", True) is None


@pytest.mark.parametrize(
    "result",
    [
        "ERROR:\nNo replacement was performed",
        "Error: ENOENT",
        "error reading it",
        "<tool_use_error>File has not been read yet",
        "Invalid `path` parameter",
    ],
)
def test_a_result_that_says_it_failed_touches_nothing(result):
    assert touch("Edit", {"file_path": "/a"}, result, False) is None
    assert touch("Read", {"file_path": "/a"}, result, False) is None


def test_a_file_that_speaks_of_errors_is_still_read():
    assert touch("Read", {"file_path": "/a"}, "     1→errors = []", False) is not None
    assert touch("Read", {"file_path": "/a"}, "errors = []", False) is not None


def test_the_listing_of_a_directory_is_no_file():
    listing = "Here's the files and directories up to 2 levels deep in /a"
    assert touch(EDITOR, {"command": "view", "path": "/a"}, listing, False) is None


def test_a_relative_path_is_seen_from_the_folder_of_the_call():
    """So a file has one name, whichever tool touches it."""
    patch = "*** Begin Patch\n*** Update File: b.py\n@@\n-x\n+y\n*** End Patch"
    heredoc = f"apply_patch <<'EOF'\n{patch}\nEOF"
    for name, arguments, path in [
        ("read_file", {"path": "b.py"}, "/w/b.py"),
        ("edit", {"path": "../b.py"}, "/b.py"),
        ("write_file", {"path": "/v/b.py", "content": ""}, "/v/b.py"),
        ("read_file", {"path": "C:\\w\\b.py"}, "C:\\w\\b.py"),
        ("read_file", {"path": "~/b.py"}, "~/b.py"),
        ("shell", {"command": ["cat", "b.py"]}, "/w/b.py"),
        ("shell", {"command": ["cat", "b.py"], "workdir": "s"}, "/w/s/b.py"),
        ("apply_patch", patch, "/w/b.py"),
        ("shell", {"command": ["apply_patch", patch]}, "/w/b.py"),
        ("shell", {"command": ["bash", "-lc", heredoc]}, "/w/b.py"),
        ("shell", {"command": ["bash", "-lc", heredoc], "workdir": "/v"}, "/v/b.py"),
        ("shell", {"command": ["bash", "-lc", f"cd s && {heredoc}"]}, "/w/s/b.py"),
        ("shell", {"command": ["bash", "-lc", f"git status; {heredoc}"]}, "/w/b.py"),
        ("shell", {"command": ["bash", "-lc", f"cd $D; {heredoc}"]}, "b.py"),
    ]:
        assert touch(name, arguments, "fine", False, "/w").path == path, arguments
    assert touch("read_file", {"path": "b.py"}, "fine", False).path == "b.py"
    assert touch("read_file", {"path": "b.py"}, "fine", False, "C:\\w").path == "b.py"


@pytest.mark.parametrize(
    "result",
    ["apply_patch verification failed: no such lines", "error: x", "bash: apply_patch: not found"],
)
def test_a_patch_that_failed_writes_nothing(result):
    patch = "*** Begin Patch\n*** Delete File: b.py\n*** End Patch"
    assert touch("apply_patch", patch, "Success.", False) == Touch("b.py", False)
    assert touch("apply_patch", patch, result, False) is None
