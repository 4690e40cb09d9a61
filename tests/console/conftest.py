"""Fixtures that open the web console of a running emulator in Chromium."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest
from console_page import Console, client_of
from playwright.sync_api import Browser, expect, sync_playwright

TIMEOUT_MS = 60_000  # of a busy machine
expect.set_options(timeout=TIMEOUT_MS)


@pytest.fixture(scope="module")  # Playwright's event loop runs as long as this, and tests of asyncio need a thread without one.
def browser() -> Iterator[Browser]:
    executable = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert executable, "no Chromium on PATH; install Debian's package chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def open_console(browser: Browser) -> Callable[..., AbstractContextManager[Console]]:
    """A function that opens a page for an emulator. An error of its script, also one of its policy, fails the test."""

    @contextmanager
    def open_page(emulator: Any, *, width: int = 1440, height: int = 900, scheme: str = "light") -> Iterator[Console]:
        size = {"width": width, "height": height}
        context = browser.new_context(viewport=size, color_scheme=scheme, reduced_motion="reduce", accept_downloads=True)
        context.set_default_timeout(TIMEOUT_MS)
        try:
            console = Console(context.new_page(), emulator)
            yield console
            assert console.problems == []
            assert context.cookies() == []
        finally:
            context.close()

    return open_page


@pytest.fixture
def console(open_console: Callable[..., AbstractContextManager[Console]], standalone: Any) -> Iterator[Console]:
    with open_console(standalone) as console:
        yield console


@pytest.fixture
def s3(standalone: Any) -> Any:
    return client_of(standalone)
