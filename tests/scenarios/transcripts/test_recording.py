import codecs
import json

import pytest

from scenarios.transcripts.findings import Findings
from scenarios.transcripts.recording import Recording
from sim.errors import InputError


def records(path, strict=False):
    findings = Findings(path, strict=strict)
    return list(Recording(path).records(findings)), findings.warnings()


@pytest.mark.parametrize(
    "mark", ["\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029", "\r\n "]
)
def test_only_a_line_feed_ends_a_record(tmp_path, mark):
    path = tmp_path / "s.jsonl"
    first = json.dumps({"a": f"x{mark}y"}, ensure_ascii=False).replace("\\r", "\\r")
    path.write_bytes(f'{first}\n{{"b": 2}}\n'.encode())
    found, warnings = records(path)
    assert found == [(1, {"a": f"x{mark}y"}), (2, {"b": 2})]
    assert warnings == []


@pytest.mark.parametrize(
    ("between", "named"),
    [
        ("\r", "U+000D"),
        ("\u2028", "U+2028"),
        ("\x0b", "U+000B"),
        ("\x1e", "U+001E"),
        ("\x00", "U+0000"),
        ("", "nothing"),
        (" ", "U+0020"),
    ],
)
def test_records_separated_by_anything_else_are_named_and_skipped(tmp_path, between, named):
    path = tmp_path / "s.jsonl"
    path.write_bytes(f'{{"a": 1}}\n{{"b": 2}}{between}{{"c": 3}}\n{{"d": 4}}\n'.encode())
    found, warnings = records(path)
    assert found == [(1, {"a": 1}), (3, {"d": 4})]
    what = f"records separated by {named} rather than a line feed"
    assert warnings == [f"{path}:2: {what} (skipped)"]
    with pytest.raises(
        InputError, match=rf"s\.jsonl:2: records separated by {named}".replace("+", r"\+")
    ):
        records(path, strict=True)


@pytest.mark.parametrize("line", ["{", "nonsense", '{"a": }', '{"a": 1} rest', "\x1e{}", "'a'"])
def test_a_broken_line_is_named_with_its_number_and_count(tmp_path, line):
    path = tmp_path / "s.jsonl"
    path.write_bytes(f"{{}}\n{line}\n{{}}\n{line}\n".encode())
    found, warnings = records(path)
    assert [number for number, _ in found] == [1, 3]
    (warning,) = warnings
    assert warning.startswith(f"{path}:2: ")
    assert "2 of them" in warning


@pytest.mark.parametrize("cut", [1, 5, 9, 12, 13, 14])
def test_a_cut_last_line_is_named_as_such(tmp_path, cut):
    path = tmp_path / "s.jsonl"
    last = '{"a": "日本語"}'.encode()
    path.write_bytes(b"{}\n" + last[:cut])
    found, warnings = records(path)
    assert found == [(1, {})]
    assert warnings == [f"{path}:2: a cut last line (skipped)"]


def test_a_whole_last_line_needs_no_line_feed(tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(b'{}\n{"a": 1}')
    assert records(path) == ([(1, {}), (2, {"a": 1})], [])


def test_blank_lines_are_no_records(tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"\n{}\n  \r\n\n{}\r\n\n")
    assert records(path) == ([(2, {}), (5, {})], [])


def test_a_line_in_another_encoding_is_named(tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(b'{}\n{"a": "\xe9"}\n{}\n')
    found, warnings = records(path)
    assert [number for number, _ in found] == [1, 3]
    assert warnings == [f"{path}:2: a line that is not utf-8 (skipped)"]


@pytest.mark.parametrize(
    ("encoding", "mark"),
    [
        ("utf-8", codecs.BOM_UTF8),
        ("utf-16-le", codecs.BOM_UTF16_LE),
        ("utf-16-be", codecs.BOM_UTF16_BE),
        ("utf-16-le", b""),
        ("utf-16-be", b""),
        ("utf-32-le", codecs.BOM_UTF32_LE),
    ],
)
def test_byte_order_marks_and_wide_encodings_are_read(tmp_path, encoding, mark):
    lines = '{"a": "é\u2028"}\n{"b": [1]}\n'
    path = tmp_path / "s.jsonl"
    path.write_bytes(mark + lines.encode(encoding))
    assert records(path) == ([(1, {"a": "é\u2028"}), (2, {"b": [1]})], [])
    document = tmp_path / "s.json"
    document.write_bytes(mark + '["é"]'.encode(encoding))
    assert Recording(document).document() == ["é"]


def test_nesting_beyond_measure_is_a_broken_line(tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"[" * 100_000 + b"\n{}\n")
    found, warnings = records(path)
    assert [number for number, _ in found] == [2]
    assert warnings == [f"{path}:1: a line that is not valid JSON (skipped)"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "it is not valid JSON"),
        (b"{\n\n]", "it is not valid JSON"),
        (b'["\xe9"]', "not utf-8 text"),
        (b"[" * 100_000, "nested too deeply"),
        (b"9" * 5000, "it is not valid JSON"),
    ],
)
def test_a_document_that_is_none_is_one_sentence(tmp_path, content, says):
    path = tmp_path / "s.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=says) as raised:
        Recording(path).document()
    assert str(raised.value).startswith(str(path))
    assert "\n" not in str(raised.value)


def test_the_line_of_a_fault_in_a_document_is_said(tmp_path):
    path = tmp_path / "s.json"
    path.write_bytes(b'{\n "a": 1,\n oops\n}')
    with pytest.raises(InputError, match=r"s\.json:3: "):
        Recording(path).document()


@pytest.mark.parametrize(
    ("content", "line", "says"),
    [
        ("", None, "the file is empty"),
        (" \n\n \t\n", None, "there is nothing but white space in it"),
        ('{"a":\n', 1, "it ends before its last value does"),
        ("[1,\n2,\n\n\n", 2, "it ends before its last value does"),
        ("[1\n]\n]\n", 3, "Extra data, column 1"),
    ],
)
def test_a_line_that_is_said_is_one_of_the_file(tmp_path, content, line, says):
    path = tmp_path / "s.json"
    path.write_text(content)
    with pytest.raises(InputError) as raised:
        Recording(path).document()
    assert (raised.value.line, raised.value.message) == (line, f"it is not valid JSON ({says})")


def test_a_missing_file_is_one_sentence(tmp_path):
    with pytest.raises(InputError, match="cannot read it"):
        Recording(tmp_path / "none").document()
