"""The kit of a worker: all that it must have to make the rows that this process would make."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from bench.code_digest import code_digest
from bench.stamps import Stamps, differs, stamp
from sim.errors import InputError

__all__ = ["CODE", "Kit"]

CODE = "has other code of evictbench"
"""What a worker is said to have whose evictbench is not this one."""

READ = ("prices", "tool_logs")
"""Settings that name a file or a folder which a run reads."""


@dataclass(frozen=True, slots=True)
class Kit:
    """What a worker must have: the same *code*, *versions*, *policies* and *files*.

    *code* is `bench.code_digest.code_digest`; *versions* are those of Python and of the libraries
    that rows depend on. *policies* are specs, and *sources* the files of those that are a user's
    own, which travel with the kit. *files* must lie where the work is done, at the same path.
    """

    code: str
    versions: tuple[tuple[str, str | None], ...]
    policies: tuple[str, ...] = ()
    sources: tuple[tuple[str, bytes], ...] = ()
    files: Stamps = ()

    @classmethod
    def of(cls, policies: Iterable[str] = (), settings: Iterable[Mapping[str, Any]] = ()) -> Kit:
        """Return the kit of this process for the specs *policies* under each of *settings*.

        Raises InputError for a file that cannot be read.
        """
        from policies import foreign

        specs = tuple(policies)
        paths = dict.fromkeys(foreign.parse(s)[0] for s in specs if foreign.is_path(s))
        sources = tuple((path, foreign.read(path)) for path in paths)
        files = stamp(str(s[key]) for s in settings for key in READ if s.get(key) is not None)
        return cls(code_digest(), _versions(), specs, sources, files)

    def lacking(self) -> str | None:
        """Return what this process lacks of the kit, None if nothing.

        It is the end of a sentence, such as ``has numpy 2.3.0, not 2.4.6``.
        """
        if code_digest() != self.code:
            return CODE
        for (name, wanted), (_, found) in zip(self.versions, _versions(), strict=True):
            if wanted != found:
                return f"has {name} {found}, not {wanted}" if found else f"has no {name}"
        return self._unmakeable() or differs(self.files)

    def _unmakeable(self) -> str | None:
        from policies.registry import make
        from policies.supplied import supplied

        with supplied(dict(self.sources)):
            for spec in self.policies:
                try:
                    make(spec)
                except InputError as error:
                    return f"cannot make the policy {spec}: {error}"
        return None


def _versions() -> tuple[tuple[str, str | None], ...]:
    from bench.manifest import LIBRARIES, library

    python = ".".join(platform.python_version_tuple()[:2])
    return ("Python", python), *((name, library(name)) for name in LIBRARIES)
