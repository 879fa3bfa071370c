"""Records read again by where they stand, and a file that is one record and one document."""

import json

import pytest

from scenarios.transcripts.findings import Findings
from scenarios.transcripts.recording import Recording
from sim.errors import InputError


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_records_are_found_again_in_any_order(tmp_path, encoding):
    path = tmp_path / "s.jsonl"
    lines = [json.dumps({"n": n, "text": "é😀" * n}, ensure_ascii=False) for n in range(5)]
    path.write_bytes(("\n".join([*lines[:3], "", "broken", *lines[3:]]) + "\n").encode(encoding))
    recording = Recording(path)
    located = list(recording.located(Findings(path)))
    assert [(number, record["n"]) for number, _, record in located] == [
        (1, 0),
        (2, 1),
        (3, 2),
        (6, 3),
        (7, 4),
    ]
    spots = [(number, offset) for number, offset, _ in reversed(located)]
    again = list(recording.again(spots))
    assert again == [(number, record) for number, _, record in reversed(located)]


def test_a_last_line_without_a_line_feed_is_found_again(tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(b'{"a": 1}\n{"b": 2}')
    recording = Recording(path)
    (_, (number, offset, record)) = recording.located(Findings(path))
    assert (number, offset, record) == (2, 9, {"b": 2})
    assert list(recording.again([(2, 9)])) == [(2, {"b": 2})]


def test_one_record_alone_is_parsed_once(tmp_path):
    path = tmp_path / "d.json"
    path.write_text('\n{"messages": []}\n\n')
    recording = Recording(path)
    (record,) = recording.sample()
    assert recording.document() is record


@pytest.mark.parametrize("raw", [b'{"a": 1}\n{"b": 2}', b'{"a": 1} x', b'{"a": 1}\n\xff\n', b"[1"])
def test_what_is_more_or_less_than_one_record_is_no_document(tmp_path, raw):
    path = tmp_path / "d.json"
    path.write_bytes(raw)
    recording = Recording(path)
    recording.sample()
    with pytest.raises(InputError):
        recording.document()
