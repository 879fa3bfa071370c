"""The common keys, typed."""

from __future__ import annotations

import pytest

from sim.segments import Kind
from sim.settings import KEYS, PER_KIND, Settings
from tests.support.scripts import BASE_SETTINGS

DOTTED = {
    "turns": "turns",
    "budget": "budget",
    "salience_decay": "salience.decay",
    "rehydrate_threshold": "rehydrate.threshold",
    "rehydrate_margin": "rehydrate.margin",
    "slack_trigger": "slack.trigger",
    "rewrite_below": "rewrite.below",
    "surrogate_tokens": "surrogate.tokens",
    "surrogate_tag_tokens": "surrogate.tag_tokens",
    "surrogate_keep": "surrogate.keep",
    "surrogate_taggable": "surrogate.taggable",
    "line_tokens": "line_tokens",
    "restore_tokens": "restore_tokens",
    "image_tokens": "image_tokens",
    "compaction_at": "compaction.at",
    "compaction_share": "compaction.share",
    "reader_distraction": "reader.distraction",
    "reader_refetch": "reader.refetch",
    "clock_turn_seconds": "clock.turn_seconds",
}


def test_fields_go_by_the_names_of_the_design() -> None:
    assert {field: KEYS[field] for field in DOTTED} == DOTTED
    assert frozenset({"characters", "copies", "estimate", "relevance"}) == PER_KIND


def test_every_key_finds_its_field() -> None:
    flat = {key: f"value of {key}" for key in KEYS.values()}
    flat["cache.breakpoints"] = ["a", "b"]
    settings = Settings.from_flat({**flat, "copies.file": 1.0, "copies.diff": 0.25})
    for field, key in KEYS.items():
        expected = ("a", "b") if key == "cache.breakpoints" else f"value of {key}"
        assert getattr(settings, field) == expected
    assert settings.copies == {"file": 1.0, "diff": 0.25}
    assert settings.relevance == {}


def test_a_missing_key_is_named() -> None:
    flat = {k: v for k, v in BASE_SETTINGS.items() if k != "rehydrate.margin"}
    with pytest.raises(KeyError, match=r"rehydrate\.margin"):
        Settings.from_flat(flat)


def test_nothing_can_be_changed_behind_a_runs_back() -> None:
    flat = dict(BASE_SETTINGS)
    settings = Settings.from_flat(flat)
    flat["copies.file"] = 0.0
    assert settings.copies[Kind.FILE] == 1.0
    with pytest.raises(TypeError):
        settings.copies["file"] = 0.0  # type: ignore[index]
    with pytest.raises(AttributeError):
        settings.turns = 3  # type: ignore[misc]
