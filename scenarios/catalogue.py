"""Every scenario by name: the stories, the families, and whatever file a user names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from scenarios import complaints, reference, stories
from scenarios.scenario import Scenario, Source
from sim.errors import InputError, unknown
from sim.measured import Measure

__all__ = [
    "complaint_names",
    "describe",
    "every_name",
    "is_known",
    "load",
    "names",
    "pinned_names",
]

_FILE_ENDS = (".toml", ".json")


def names() -> list[str]:
    """Return the names of the scenarios that are compared by default: stories, then families."""
    return [*stories.NAMES, *reference.families()]


def pinned_names() -> list[str]:
    """Return the names of the scenarios on which published results are claimed."""
    from scenarios import pinned

    return list(pinned.names())


def complaint_names() -> list[str]:
    """Return the names of the scenarios that tell of what users of harnesses reported."""
    return list(complaints.NAMES)


def every_name() -> list[str]:
    """Return the names of all scenarios that ship, in the order in which lists show them."""
    return [*names(), *pinned_names(), *complaint_names()]


def is_known(name: str) -> bool:
    """Whether *name*, a flip behind it or not, is that of a scenario that ships."""
    first, *rest = name.split("/")
    if first == complaints.FOLDER:
        return bool(rest) and rest[0] in complaints.FILES
    return first in (*names(), *pinned_names())


def describe(name: str) -> str:
    """Return one line about a scenario that ships; raises InputError for an unknown name."""
    from scenarios.files import about
    from scenarios.generated import family

    if name in stories.NAMES:
        return about(stories.file(name))
    if name in complaints.NAMES:
        return about(complaints.file(name))
    if name in reference.families():
        return family(name).summary
    if name in pinned_names():
        from scenarios.pinned import about as about_pinned

        return about_pinned(name)
    raise InputError(unknown("scenario", name, every_name()))


def load(
    name_or_path: str,
    settings: Mapping[str, object] | None = None,
    measure: Measure | None = None,
) -> Scenario:
    """Return a scenario, checked, with *settings* over its own.

    *name_or_path* is the name of a story, complaint, family or pinned scenario, the path of a
    scenario file (.toml), any with ``/FLIP`` behind it for a flip or variant (several are applied
    in turn), or the path of a script file (.json). *settings* are overrides by dotted key, values
    as text (from ``--set KEY=VALUE``) or typed. *measure* measures real results, where a scenario
    draws from some (``tool_logs``).

    Raises InputError with a sentence for everything that is wrong.
    """
    found = _load(name_or_path, settings, measure)
    return replace(found, source=Source(name_or_path, dict(settings or {})))


def _load(
    name_or_path: str, settings: Mapping[str, object] | None, measure: Measure | None
) -> Scenario:
    file, patches = _split_path(name_or_path)
    if file is not None and file.suffix == ".json":
        from scenarios.scripts import load_script

        return load_script(file, settings)
    if file is not None:
        from scenarios.files import load_file

        return load_file(file, file.stem, patches, settings, measure)
    name, *patches = name_or_path.split("/")
    if name in stories.NAMES:
        from scenarios.files import load_file

        return load_file(stories.file(name), name, patches, settings)
    if name == complaints.FOLDER and patches and patches[0] in complaints.FILES:
        from scenarios.files import load_file

        told, *patches = patches
        return load_file(complaints.file(told), f"{name}/{told}", patches, settings)
    if name in reference.families() and not patches:
        from scenarios.generated import load_family

        return load_family(name, settings, measure)
    if name in reference.families():
        raise InputError(f"family {name!r} has no flips; use --set, or a scenario file with flips")
    if name in pinned_names() and not patches:
        from scenarios.pinned import load_pinned

        return load_pinned(name, settings)
    if name in pinned_names():
        raise InputError(f"scenario {name!r} is pinned and has no flips; use --set")
    raise InputError(unknown("scenario", name_or_path, every_name()))


def _split_path(name: str) -> tuple[Path | None, list[str]]:
    """Return the file that *name* is the path of, if it is one, and the patches behind it."""
    if name.endswith(_FILE_ENDS):
        return Path(name), []
    path, end, patches = name.rpartition(".toml/")
    if end:
        return Path(path + ".toml"), patches.split("/")
    return None, []
