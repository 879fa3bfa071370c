"""The JSON Schema of event records, as ``run --events`` writes them: one object a line.

Draft 2020-12 (https://json-schema.org/draft/2020-12). The file that ships is made by
:func:`schema_text`, which a test compares with it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bench.export.values import COMMON, OWN, TYPES
from sim.records import FIELDS

__all__ = ["FILE", "schema", "schema_text"]

FILE = Path(__file__).with_name("events.schema.json")
"""The schema as it ships."""

_FRONT: dict[str, Any] = {
    "time": {
        "type": "number",
        "minimum": 0,
        "description": "Seconds since the run began",
    },
    "turn": {
        "type": "integer",
        "minimum": 0,
        "description": "Turn, from 1; 0 before the first",
    },
}
_AGENT = {
    "type": "integer",
    "minimum": 0,
    "description": "Which of several agents it is about; absent if there is one",
}


def schema() -> dict[str, Any]:
    """Return the schema of one event record, whatever its type."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:evictbench:events:1",
        "title": "evictbench event record",
        "description": "One thing that happened in a run. Sizes are whole tokens, times seconds.",
        "oneOf": [{"$ref": f"#/$defs/{kind}"} for kind in FIELDS],
        "$defs": {kind: _record(kind) for kind in FIELDS},
    }


def schema_text() -> str:
    """Return the schema as the text of the file that ships."""
    return json.dumps(schema(), indent=1, ensure_ascii=False) + "\n"


def _record(kind: str) -> dict[str, Any]:
    values = {name: OWN.get((kind, name)) or COMMON[name] for name in FIELDS[kind]}
    properties = {"type": {"const": kind}, **_FRONT, **values}
    return {
        "type": "object",
        "description": TYPES[kind],
        "properties": {**properties, "agent": _AGENT},
        "required": list(properties),
        "additionalProperties": False,
    }
