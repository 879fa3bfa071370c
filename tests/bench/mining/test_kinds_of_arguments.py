"""By what kind of argument a call mentions a value."""

import pytest

from bench.mining import KINDS, kind_of
from scenarios.transcripts.events import Message, ToolCall
from sim.segments import Kind


def call(arguments):
    return ToolCall(1, None, "c", "Tool", arguments, "m")


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        ({"file_path": "/srv/load_rows.py"}, "path"),
        ({"filePath": "/srv/load_rows.py"}, "path"),
        ({"command": "grep load_rows.py ."}, "command"),
        ({"command": ["bash", "-lc", "cat load_rows.py"]}, "command"),
        ({"pattern": "load_rows.py"}, "pattern"),
        ({"new_string": "see load_rows.py", "path": "/x"}, "code"),
        ({"edits": [{"oldText": "load_rows.py", "newText": "y"}]}, "code"),
        ({"command": "apply *** Begin Patch\n*** Update File: load_rows.py"}, "code"),
        ({"id": "load_rows.py"}, "other"),
        ("load_rows.py", "other"),
        ({"pattern": "x", "path": "load_rows.py", "command": "load_rows.py"}, "path"),
        ({"command": "view", "path": "/srv/load_rows.py"}, "path"),
        ({"path": "/elsewhere"}, "other"),
        ([1, None, {"cmd": "cat load_rows.py"}], "command"),
    ],
)
def test_the_first_argument_that_holds_the_value_says_the_kind(arguments, kind):
    assert kind_of(call(arguments), "load_rows.py") == kind
    assert kind in KINDS


def test_a_text_is_prose():
    assert kind_of(Message(1, None, Kind.ASSISTANT, "load_rows.py", call="m"), "x") == "prose"


def test_a_value_within_a_longer_name_is_not_there():
    assert kind_of(call({"path": "/srv/load_rows.py", "command": "load_rows"}), "load_rows") == (
        "path"
    )
    assert kind_of(call({"path": "/srv/reload_rows.py", "command": "load_rows"}), "load_rows") == (
        "command"
    )
