"""A scenario file, loaded: one that holds its stimuli, or settings for a family's generator."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from scenarios import reference, tool_logs
from scenarios.complaint import read_complaint
from scenarios.documents import Faults, read_toml
from scenarios.generated import family_script
from scenarios.scenario import Scenario
from scenarios.stories.build import build, settle_layers, story_script
from scenarios.stories.document import Document, Settings, read_document
from scenarios.tools import declared
from sim.errors import InputError, unknown
from sim.measured import Measure
from sim.script import Script

__all__ = ["about", "load_file"]

_BESIDE = ("prices", tool_logs.KEY)
"""Settings that are paths, in a file from where it stands."""


def about(file: Path) -> str:
    """Return the line in which a scenario file says what it shows."""
    data, _ = read_toml(file)
    return _one_line(data.get("about", ""))


def load_file(
    file: Path,
    name: str,
    patches: Sequence[str] = (),
    overrides: Mapping[str, Any] | None = None,
    measure: Measure | None = None,
) -> Scenario:
    """Return the scenario of a file, with its flips or variants *patches* applied in turn.

    *overrides* are settings from outside, as text or typed; a file with its own stimuli takes all
    but `turns`. A folder of logs or a price book that the file names stands beside the file;
    *measure* measures the logs. Raises one InputError with everything that is wrong with the file
    and its patches, or with the overrides.
    """
    data, faults = read_toml(file)
    document = read_document(data, faults)
    layer = _layer(document, faults)
    given = Settings(reference.read_overrides(overrides or {}, layer))
    if document.family is None and "turns" in given.values:
        raise InputError(f"turns of {name!r} cannot be set: its stimuli are written for its turns")
    for patch in ((), *((one,) for one in document.patches())):
        _maker(document.patched(patch, faults), name, layer, faults)
    complaint = read_complaint(document.complaint, faults)
    faults.raise_all()
    label = "/".join((name, *patches))
    faults = Faults(f"scenario {label!r}", dict)  # what is wrong now is not wrong in the file
    chosen = document.patched(patches, faults)
    chosen.layers.append(given)
    settings, make = _maker(chosen, label, layer, faults)
    faults.raise_all()
    for key in _BESIDE:
        if key in settings and key not in given.values:
            settings[key] = str(file.parent / Path(settings[key]).expanduser())
    logs = tool_logs.of_settings(settings, measure)
    if logs is not None:
        make = partial(family_script, layer, label, settings, logs=logs)
    lines = [document.about, *(document.patches()[patch].values.get("about") for patch in patches)]
    return Scenario(
        name=label,
        kind="story" if document.family is None else "family",
        settings=settings,
        make=make,
        seeded=document.family is not None,
        flips=tuple(document.flips),
        variants=tuple(document.variants),
        tools=declared(chosen.tools, faults),
        about=_one_line(next((line for line in reversed(lines) if line), "")),
        notes=() if logs is None else logs.notes,
        complaint=None if patches else complaint,
    )


def _layer(document: Document, faults: Faults) -> str:
    """Return the section of the reference file that the settings of *document* follow."""
    name = document.family
    if name is None:
        return "story"
    if name not in reference.generators():
        faults.add(unknown("family", name, reference.generators()), ("family",))
        faults.raise_all()
    return name


def _maker(
    document: Document, label: str, layer: str, faults: Faults
) -> tuple[dict[str, Any], Callable[[int], Script]]:
    """Return the settled settings and what makes a script from them."""
    settings = settle_layers(document, layer, faults)
    if document.family is None:
        story = build(document, label, settings, faults)
        return settings, partial(story_script, story, settings)
    for name, tool in document.tools.items():
        faults.add(f"tool {name!r}: the tools come from family {layer!r}", tool.at())
    for item in (*document.items, *(attempt.item for attempt in document.attempts)):
        faults.add(f"{item.title}: the stimuli come from family {layer!r}", item.at())
    return settings, partial(family_script, layer, label, settings)


def _one_line(text: object) -> str:
    return " ".join(str(text).split())
