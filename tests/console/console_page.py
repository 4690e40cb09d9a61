"""A page of the web console, as tests use it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import boto3
from playwright.sync_api import Page

REPOSITORY = Path(__file__).parents[2]
DIST = REPOSITORY / "build/console/dist"
AXE = REPOSITORY / "console/node_modules/axe-core/axe.min.js"
RULES = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}}


# A key whose end shows reversed where it is not escaped, and how it must show.
BIDI_KEY = "x/\u202egpj\u2066.exe"
BIDI_SHOWN = "x/\\u{202e}gpj\\u{2066}.exe"


class Console:
    """A page of the console, and what a test does with it."""

    def __init__(self, page: Page, emulator: Any) -> None:
        self.page = page
        self.emulator = emulator
        self.problems: list[str] = []
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("console", self._on_message)

    def _on_message(self, message: Any) -> None:
        # The browser also writes an error for each refused request, which tests cause on purpose.
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.problems.append(message.text)

    def open(self, route: str = "", *, live: bool = True) -> Page:
        """Opens a route and waits for its heading, and for the first live event."""
        self.page.goto(f"{self.emulator.admin}/console/#/{route}")
        self.page.locator("h1").wait_for()
        if live:
            self.page.locator('.connection[data-phase="open"]').wait_for()
        return self.page

    def views(self) -> list[str]:
        """The routes of all tabs."""
        links = self.page.locator(".tabs a")
        return [link.get_attribute("href").removeprefix("#/") for link in links.all()]

    def hidden_characters(self) -> list[str]:
        """Texts and titles of the page with a character that changes the direction of others."""
        return self.page.evaluate(r"""() => {
          const texts = [document.body.innerText];
          for (const element of document.querySelectorAll('[title], [aria-label]')) {
            texts.push(element.getAttribute('title') ?? '', element.getAttribute('aria-label') ?? '');
          }
          return texts.filter((text) => /[\u202a-\u202e\u2066-\u2069]/.test(text));
        }""")

    def violations(self) -> list[str]:
        """What axe-core finds: one line for each rule and element."""
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(AXE.read_text())  # not a script of the page: its policy would refuse it
        found = self.page.evaluate("rules => axe.run(document, rules)", RULES)["violations"]
        return [f"{one['id']}: {node['html'][:200]} {node['failureSummary']}" for one in found for node in one["nodes"]]


def client_of(emulator: Any) -> Any:
    return boto3.client(
        "s3",
        endpoint_url=emulator.endpoint,
        region_name=emulator.region,
        aws_access_key_id=emulator.access_key,
        aws_secret_access_key=emulator.secret_key,
    )
