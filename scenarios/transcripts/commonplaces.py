"""Names that everybody knows: that a result shows one is not where a model has it from.

The tables hold the standard libraries of Python, JavaScript and Go by the names under which code
calls them, with what is as good as one of theirs, and files that nearly every project has.
"""

from __future__ import annotations

__all__ = ["FILES", "LIBRARIES", "RECEIVERS"]


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


LIBRARIES = _names(
    """
    argparse ast asyncio base64 collections concurrent contextlib copy csv dataclasses datetime
    decimal enum functools glob hashlib importlib inspect io itertools json logging math
    multiprocessing operator os pathlib pickle platform random re shutil signal socket sqlite3
    string struct subprocess sys tempfile textwrap threading time traceback types typing unittest
    urllib uuid warnings

    Array Boolean Buffer Date Error JSON Map Math Number Object Promise RegExp Set String Symbol
    console document fs globalThis process window

    atomic binary bufio bytes cmp context embed errors exec filepath fmt gzip heap http httptest
    log maps reflect regexp rand runtime slices slog sort strconv strings sync syscall template
    testing unicode utf8

    np numpy pd pytest
    """
)
"""First parts of dotted names."""

RECEIVERS = _names("cls self super this")
"""What a dotted name begins with that says nothing."""

FILES = _names(
    """
    .gitignore CHANGELOG.md CONTRIBUTING.md Cargo.lock Cargo.toml Dockerfile LICENSE.md LICENSE.txt
    Makefile README.md README.rst __init__.py __main__.py app.js app.py app.ts config.json config.py
    config.ts config.yaml conftest.py go.mod go.sum index.html index.js index.ts index.tsx main.c
    main.go main.js main.py main.rs main.ts models.py package-lock.json package.json pyproject.toml
    requirements.txt settings.json settings.py setup.cfg setup.py test.js test.py test.sh test.ts
    tests.py tsconfig.json types.ts urls.py usr/bin/env usr/bin/python usr/bin/python3 utils.js
    utils.py utils.ts views.py yarn.lock
    """
)
"""Names of files, without a folder of the project's own."""
