"""Which row of a price book a recorded model is, and what says which model it was."""

import json

import pytest

from bench.prices import load_book
from scenarios.transcripts.loading import Reading, scenarios_of
from scenarios.transcripts.models import by_name, row_of
from scenarios.transcripts.sources import find
from sim.tokens import BYTES
from tests.scenarios.transcripts.made import Lines, session_of, text

ROWS = by_name(["claude-sonnet-5", "claude-haiku-4.5", "claude-haiku-4.5-1h", "gpt-4.1", "gpt-5.5"])


@pytest.mark.parametrize(
    ("model", "row"),
    [
        ("claude-sonnet-5", "claude-sonnet-5"),
        ("Claude-Sonnet-5", "claude-sonnet-5"),
        ("claude-haiku-4-5", "claude-haiku-4.5"),
        ("claude-haiku-4-5-20251001", "claude-haiku-4.5"),
        ("claude-haiku-4-5@20251001", "claude-haiku-4.5"),
        ("claude-haiku-4.5-latest", "claude-haiku-4.5"),
        ("claude-sonnet-5[1m]", "claude-sonnet-5"),
        ("anthropic/claude-haiku-4.5", "claude-haiku-4.5"),
        ("litellm_proxy/anthropic/claude-haiku-4-5-20251001", "claude-haiku-4.5"),
        ("us.anthropic.claude-haiku-4-5-20251001-v1:0", "claude-haiku-4.5"),
        ("anthropic.claude-sonnet-5-v1:0", "claude-sonnet-5"),
        ("openrouter/openai/gpt-4.1:free", "gpt-4.1"),
        ("gpt-4.1-2025-04-14", "gpt-4.1"),
        # other models, however near their names are
        ("gpt-4.1-mini", None),
        ("gpt-5.5-codex", None),
        ("gpt-5", None),
        ("gpt-4", None),
        ("claude-sonnet-4-5-20250929", None),
        ("claude-sonnet", None),
        ("sonnet", None),
        ("my-claude-sonnet-5", None),
        ("claude-sonnet-55", None),
        ("", None),
        ("/", None),
    ],
)
def test_which_row_a_model_is(model, row):
    assert row_of(model, ROWS) == row


def test_each_row_of_the_book_is_found_by_its_own_name():
    book = list(load_book())
    rows = by_name(book)
    assert [row_of(name, rows) for name in book] == book


def priced(path, rows=ROWS, **settings):
    """Return the price of the only session of *path*, and the notes on it."""
    (source,) = find([path], False, print)
    notes = []
    reading = Reading.of(10**6, settings, tokenizer=BYTES, rows=rows)
    (scenario,) = scenarios_of(source, reading, print, notes.append)
    said = [note.says for note in notes if "recorded with" in note]
    return scenario.settings["price"], said


def calls(tmp_path, *models):
    lines = Lines().user("x", 0)
    for number, model in enumerate(models):
        lines.model(f"m{number}", number, text("ok"), message={"model": model} if model else {})
        lines.user("go on", number)
    return lines.write(tmp_path / "s.jsonl")


def test_a_session_has_the_price_of_its_model(tmp_path):
    path = calls(tmp_path, "gpt-4.1", "gpt-4.1")
    assert priced(path) == (
        "gpt-4.1",
        ["recorded with 'gpt-4.1': priced as gpt-4.1 (--price sets another)"],
    )
    assert priced(path, price="gpt-5.5") == ("gpt-5.5", [])
    assert priced(path, rows=None) == ("claude-sonnet-5", [])


def test_a_model_without_a_row_has_the_default_and_it_is_said(tmp_path):
    price, (said,) = priced(calls(tmp_path, "gpt-5.1-codex"))
    assert price == "claude-sonnet-5"
    assert said == (
        "recorded with 'gpt-5.1-codex', which is no row of the price book: priced as "
        "claude-sonnet-5 (--price sets another, `evictbench list prices` has the names)"
    )
    assert priced(calls(tmp_path, None)) == ("claude-sonnet-5", [])


def test_of_several_models_the_one_of_most_calls_counts_and_of_equals_the_first(tmp_path):
    price, (said,) = priced(calls(tmp_path, "gpt-5.5", "gpt-4.1", "gpt-4.1"))
    assert price == "gpt-4.1" and "(most calls; 1 more made others)" in said
    assert priced(calls(tmp_path, "gpt-5.5", "gpt-4.1"))[0] == "gpt-5.5"


@pytest.mark.parametrize(
    ("name", "content", "model"),
    [
        (
            "openai.json",
            {
                "model": "gpt-a",
                "messages": [
                    {"role": "user", "content": "x"},
                    {"role": "assistant", "content": "y"},
                ],
            },
            "gpt-a",
        ),
        (
            "list.json",
            [
                {"role": "user", "content": "x"},
                {"role": "assistant", "content": "y", "model": "gpt-b"},
            ],
            "gpt-b",
        ),
        (
            "anthropic.json",
            {
                "model": "claude-c",
                "system": "s",
                "messages": [
                    {"role": "user", "content": "x"},
                    {"role": "assistant", "content": "y"},
                ],
            },
            "claude-c",
        ),
        (
            "aider.md",
            "\n# aider chat started at 2024-08-06 09:47:11\n\n> Model: gpt-d with whole edit "
            "format, prompt cache  \n\n#### hello\n\nHi there.\n",
            "gpt-d",
        ),
        (
            "spec.md",
            "<!-- Generated by SpecStory, Markdown v2.1.0 -->\n\n# t\n\n"
            "<!-- Claude Code Session 1-2 (2026-05-04 10:00:00Z) -->\n\n"
            "_**User (2026-05-04 10:00:00Z)**_\n\nlist it\n\n---\n\n"
            "_**Agent (claude-e 2026-05-04 10:00:02Z)**_\n\nI look.\n",
            "claude-e",
        ),
        ("none.json", [{"role": "user", "content": "x"}, {"role": "assistant", "content": 7}], ""),
    ],
)
def test_where_a_record_names_its_model(tmp_path, name, content, model):
    path = tmp_path / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    session, _ = session_of(path)
    assert list(session.models) == ([model] if model else [])
    assert sum(session.models.values()) == (session.turns if model else 0)
