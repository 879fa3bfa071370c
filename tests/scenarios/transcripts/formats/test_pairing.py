"""Tool calls that share an id."""

from scenarios.transcripts.events import ToolCall, ToolResult
from scenarios.transcripts.findings import Findings
from scenarios.transcripts.formats.pairing import distinct


def call(id):
    return ToolCall(1, None, id, "t", {}, "c")


def result(id, text=""):
    return ToolResult(1, None, id, text)


def ids(*events):
    findings = Findings("f")
    return [event.id for event in distinct(events, findings)], findings.notes


def test_a_call_answered_before_gets_an_id_of_its_own():
    found, notes = ids(call("a"), result("a"), call("a"), call("b"), result("b"), result("a"))
    assert found[0] == found[1] == "a"
    assert found[2] == found[5] != "a"
    assert found[3] == found[4] == "b"
    assert notes == ["1 tool call has the id of an earlier one; results go to the last that has it"]


def test_a_call_that_still_waits_keeps_its_id_so_that_it_is_named():
    assert ids(call("a"), call("a"), result("a")) == (["a", "a", "a"], [])


def test_a_second_result_and_a_result_without_a_call_are_left_as_they_are():
    assert ids(result("x"), call("a"), result("a"), result("a")) == (["x", "a", "a", "a"], [])
