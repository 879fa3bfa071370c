"""Policies from outside the project: a class in a user's file, or one that a package registers."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from hashlib import blake2b
from importlib.metadata import EntryPoint
from pathlib import Path
from traceback import extract_tb
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from policies.policy import Composed
from policies.supplied import source_of
from sim.errors import InputError, unknown
from sim.policy import DECLARABLE

if TYPE_CHECKING:
    from sim.actions import Action
    from sim.policy import Policy
    from sim.view import View

__all__ = ["build", "code", "from_entry_point", "from_file", "is_path", "parse", "read"]


def is_path(spec: str) -> bool:
    """Whether *spec* names a class in a file."""
    head = spec.partition("=")[0]
    return ".py:" in head or head.endswith(".py")


def parse(spec: str) -> tuple[str, str, str]:
    """Split ``path/to/file.py:ClassName[:options]``; raises InputError without a class."""
    stem, _, rest = spec.partition(".py:")
    path = spec if spec.endswith(".py") and not rest else f"{stem}.py"
    name, colon, given = rest.partition(":")
    if not name.strip():
        raise InputError("it names no class: write path/to/file.py:ClassName", file=path)
    if colon and not given.strip():
        raise InputError(f"policy {name}: no option follows the colon", file=path)
    return path, name.strip(), given


def from_file(path: str, name: str) -> Callable[..., Any]:
    """Return the class *name* of the file *path*; raises InputError if there is no such one.

    Where a source was supplied for *path* (`policies.supplied`), the file is not looked for.
    """
    source = source_of(path)
    module = _from_disk(path) if source is None else _from_source(path, source)
    found = getattr(module, name, None)
    if found is None:
        classes = [
            each
            for each, value in vars(module).items()
            if isinstance(value, type) and value.__module__ == module.__name__
        ]
        raise InputError(unknown("class", name, classes) if classes else _absent(name), file=path)
    _check_class(found, path, name)
    return cast("Callable[..., Any]", found)


def from_entry_point(entry: EntryPoint) -> Callable[..., Any]:
    """Return the class that an installed package registers; raises InputError if it cannot."""
    try:
        found = entry.load()
    except Exception as error:
        raise InputError(f"policy {entry.name}: {_says(error)}") from error
    _check_class(found, None, entry.name)
    return cast("Callable[..., Any]", found)


def read(path: str) -> bytes:
    """Return the source of the policies in the file *path*, or what was supplied for it.

    Raises InputError if it cannot be read.
    """
    source = source_of(path)
    try:
        return Path(path).read_bytes() if source is None else source
    except OSError as error:
        raise InputError(f"cannot read it: {error.strerror}", file=path) from None


def code(factory: Callable[..., Any]) -> bytes:
    """Return the file of the module in which *factory* is made, empty where it has none."""
    module = sys.modules.get(getattr(factory, "__module__", ""))
    file = getattr(module, "__file__", None)
    return read(file) if file else b""


def build(factory: Callable[..., Any], label: str, given: Mapping[str, str]) -> Policy:
    """Make the policy; raises InputError for an option or a declaration that is wrong.

    A class that is no :class:`Composed` takes its options as keyword arguments, ``on`` and
    ``off`` as booleans and figures as numbers.
    """
    if isinstance(factory, type) and issubclass(factory, Composed):
        return cast("Policy", factory(given))
    arguments = {name.replace("-", "_"): _literal(text) for name, text in given.items()}
    _check_arguments(factory, label, arguments)
    try:
        policy = factory(**arguments)
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"policy {label}: it cannot be made: {_says(error)}") from error
    written = ",".join(f"{name}={text}" for name, text in sorted(given.items()))
    return _completed(policy, f"{label}:{written}" if written else label)


class _Completed:
    """A policy with the label, declarations and needs that its own class does not give."""

    def __init__(
        self, policy: Any, label: str, declares: frozenset[str], needs: frozenset[str]
    ) -> None:
        self._policy = policy
        self.label = label
        self.declares = declares
        self.needs = needs

    def before_call(self, view: View) -> Iterable[Action]:
        return cast("Iterable[Action]", self._policy.before_call(view))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._policy, name)


def _completed(policy: Any, label: str) -> Policy:
    if not callable(getattr(policy, "before_call", None)):
        raise InputError(f"policy {label}: what it makes has no before_call")
    sets: dict[str, frozenset[str]] = {}
    for name in ("declares", "needs"):
        value: Any = getattr(policy, name, frozenset())
        if isinstance(value, str) or not all(isinstance(each, str) for each in value):
            raise InputError(f"policy {label}: {name} is not a set of names")
        sets[name] = frozenset(value)
    for rule in sorted(sets["declares"] - DECLARABLE):
        raise InputError(f"policy {label}: {unknown('rule in declares', rule, DECLARABLE)}")
    own = getattr(policy, "label", label)
    return _Completed(policy, own if isinstance(own, str) and own else label, **sets)


def _from_disk(path: str) -> ModuleType:
    file = Path(path)
    if not file.is_file():
        raise InputError("there is no such file", file=path)
    stat = file.stat()
    return _load(str(file.resolve()), path, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=64)
def _load(resolved: str, path: str, modified: int, size: int) -> ModuleType:
    spec = importlib.util.spec_from_file_location(_name_of(resolved.encode()), resolved)
    if spec is None or spec.loader is None:
        raise InputError("it cannot be imported", file=path)
    return _executed(importlib.util.module_from_spec(spec), spec.loader.exec_module, path, resolved)


@lru_cache(maxsize=64)
def _from_source(path: str, source: bytes) -> ModuleType:
    module = ModuleType(_name_of(path.encode() + b"\0" + source))
    module.__file__ = path

    def execute(module: ModuleType) -> None:
        exec(compile(source, path, "exec"), vars(module))

    return _executed(module, execute, path, path)


def _name_of(origin: bytes) -> str:
    return f"evictbench_policy_{blake2b(origin, digest_size=8).hexdigest()}"


def _executed(
    module: ModuleType, execute: Callable[[ModuleType], object], path: str, filename: str
) -> ModuleType:
    """Return *module* after *execute*; *filename* is what its code is known by in a traceback."""
    sys.modules[module.__name__] = module
    try:
        execute(module)
    except SyntaxError as error:
        raise InputError(f"it cannot be imported: {error.msg}", file=path, line=error.lineno) from (
            error
        )
    except Exception as error:
        lines = [row.lineno for row in extract_tb(error.__traceback__) if row.filename == filename]
        raise InputError(
            f"it cannot be imported: {_says(error)}", file=path, line=lines[-1] if lines else None
        ) from error
    return module


def _check_class(found: Any, path: str | None, name: str) -> None:
    if not callable(found):
        raise InputError(f"{name} is not a class", file=path)
    if isinstance(found, type) and not callable(getattr(found, "before_call", None)):
        raise InputError(f"{name} has no before_call", file=path)


def _check_arguments(factory: Callable[..., Any], label: str, arguments: Mapping[str, Any]) -> None:
    try:
        parameters = inspect.signature(factory).parameters
    except (TypeError, ValueError):
        return
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return
    known = [
        n for n, p in parameters.items() if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    for name in arguments:
        if name not in known:
            says = unknown("option", name, known) if known else f"it takes no option {name!r}"
            raise InputError(f"policy {label}: {says}")


def _literal(text: str) -> Any:
    if text in ("on", "off"):
        return text == "on"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _absent(name: str) -> str:
    return f"it has no class {name}"


def _says(error: Exception) -> str:
    message = " ".join(str(error).split())
    return f"{type(error).__name__}: {message}" if message else type(error).__name__
