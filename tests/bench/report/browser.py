"""A real browser for the tests of a page: Chromium, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NAMES = ("chromium", "chromium-browser", "google-chrome")

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


def browser_path() -> str | None:
    """Return the browser of this machine; ``EVICTBENCH_BROWSER`` names one that must be there."""
    named = os.environ.get("EVICTBENCH_BROWSER")
    if named:
        assert Path(named).is_file(), f"EVICTBENCH_BROWSER is {named!r}, and there is no such file"
        return named
    return next((found for name in NAMES if (found := shutil.which(name))), None)


@contextmanager
def launched() -> Iterator[Browser]:
    """Give a browser; the test is skipped where this machine has none."""
    from playwright.sync_api import sync_playwright

    path = browser_path()
    if path is None:
        pytest.skip("no Chromium is installed here")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Opened:
    """A page that was opened from a file, with every line of its console and every request."""

    page: Page
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)


@contextmanager
def opened(browser: Browser, file: Path, **context: Any) -> Iterator[Opened]:
    """Give *file* opened in *browser*; *context* is what a new context of Playwright takes."""
    made = browser.new_context(**context)
    found = Opened(made.new_page())
    found.page.on("console", lambda message: found.said.append(message.text))
    found.page.on("pageerror", lambda error: found.said.append(str(error)))
    found.page.on("request", lambda request: found.asked.append(request.url))
    found.page.goto(file.resolve().as_uri())
    try:
        yield found
    finally:
        made.close()
