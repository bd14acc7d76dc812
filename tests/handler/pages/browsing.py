"""Pages in a real browser: Chromium by Playwright, with everything that goes wrong on a page collected."""

from __future__ import annotations

import importlib.util
import os
import shutil
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

#: A Chromium of the system; ``CHROMIUM`` names another one.
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
HOW = "make test-browser installs it"


def chromium_path():
    """The browser's program. Skips the test where there is none."""
    if importlib.util.find_spec("playwright") is None:
        pytest.skip(f"the package playwright is missing: {HOW}")
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip(f"no Chromium is on the PATH: {HOW}")
    return found


@contextmanager
def chromium():
    """A browser without windows."""
    path = chromium_path()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield browser
        browser.close()


class Tab:
    """One page, and what went wrong on it: errors, messages of the console, rules of the policy, requests, dialogs."""

    def __init__(self, context) -> None:
        self.problems: list[str] = []
        self.page = context.new_page()
        self.page.on("console", lambda one: self.problems.append(f"{one.type}: {one.text}"))
        self.page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        self.page.on("dialog", self._refuse)
        self.page.on("request", self._requested)

    def _refuse(self, dialog):
        self.problems.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _requested(self, request):
        if not request.url.startswith(("file:", "data:")):
            self.problems.append(f"request: {request.url}")

    def show(self, file: Path):
        """Open a page and wait until its scripts are done."""
        self.page.goto(file.as_uri())
        self.page.wait_for_selector("html[data-table=ready]")
        return self

    def value(self, script):
        """What an expression is on the page."""
        return self.page.evaluate(script)

    def wait(self, script, wanted=True):
        """Until an expression is as wanted. The policy of pages forbids Playwright's own waiting for expressions."""
        deadline = time.monotonic() + 20
        while (found := self.value(script)) != wanted:
            assert time.monotonic() < deadline, f"{script} is {found!r}, not {wanted!r}"
            time.sleep(0.02)

    @property
    def focused(self):
        """The text of the element that has the focus."""
        return self.value("document.activeElement.getAttribute('aria-label') || document.activeElement.textContent")

    @property
    def rows(self):
        """The texts of the rows of the table of slices."""
        return self.value(
            "[...document.querySelectorAll('#slices tbody tr')].map(r => [...r.cells].map(c => c.textContent))"
        )
