"""The machine's Chromium, driven by Playwright."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_chromium() -> str:
    """Return the path of the machine's Chromium or Chrome; raises `RuntimeError` that says how to get one."""
    for name in _NAMES:
        if path := shutil.which(name):
            return path
    raise RuntimeError("no Chromium is on the path: `apt-get install chromium`, or install Google Chrome")


@contextmanager
def running_chromium(*arguments: str) -> Iterator[Browser]:
    """Start a browser without windows, with more arguments of its command line, and end it.

    Playwright's loop counts as running in this thread until the end, so no asynchronous test can run meanwhile.
    """
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_chromium(), args=["--disable-dev-shm-usage", *arguments]
        )
        try:
            yield browser
        finally:
            browser.close()
