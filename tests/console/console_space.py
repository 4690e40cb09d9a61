"""A namespace of its own for a test of the console, so that limits, faults and clocks do not affect other tests."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.request import Request, urlopen

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError
from console_page import Console
from playwright.sync_api import Page, expect


def admin(emulator: Any, method: str, path: str, body: object = None) -> Any:
    """Sends a request to the admin API and returns its JSON."""
    data = None if body is None else json.dumps(body).encode()
    with urlopen(Request(f"{emulator.admin}/_penstock/{path}", data=data, method=method), timeout=30) as response:
        return json.load(response)


def client(emulator: Any, access_key: str, secret_key: str) -> Any:
    """An S3 client that does not retry: a test sees each response."""
    return boto3.client(
        "s3",
        endpoint_url=emulator.endpoint,
        region_name=emulator.region,
        aws_access_key_id=access_key,
        aws_secret_access_key=secret_key,
        config=Config(retries={"total_max_attempts": 1}),
    )


def error_code(call: Any, **arguments: Any) -> str:
    """The error code of a call, or '' if it succeeds."""
    try:
        call(**arguments)
    except ClientError as error:
        return str(error.response["Error"]["Code"])
    return ""


@dataclass
class Space:
    """A namespace and a client whose key selects it."""

    emulator: Any
    name: str
    s3: Any
    bucket: str

    def admin(self, method: str, path: str, body: object = None) -> Any:
        """Sends a request to the admin API of the namespace: `limits` is `limits/NAME`."""
        head, *query = path.split("?")
        return admin(self.emulator, method, "?".join([f"{head}/{self.name}", *query]), body)

    def open(self, console: Console, route: str) -> Page:
        """Opens a view of the namespace."""
        return console.open(f"{route}{'&' if '?' in route else '?'}namespace={self.name}")


@contextmanager
def new_space(emulator: Any) -> Iterator[Space]:
    """A namespace with an empty bucket, removed at the end."""
    name = f"view-{uuid.uuid4().hex[:8]}"
    key = admin(emulator, "POST", "namespaces", {"name": name})
    space = Space(emulator, name, client(emulator, key["access_key_id"], key["secret_access_key"]), f"{name}-bucket")
    try:
        space.s3.create_bucket(Bucket=space.bucket)
        yield space
    finally:
        admin(emulator, "DELETE", f"namespaces/{name}")


def check_page(console: Console) -> None:
    """What every view must satisfy in any state: no violation that axe-core finds, and no horizontal scrolling of the page."""
    found = console.violations()
    assert not found, "\n".join(found)
    widths = console.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert widths[0] <= widths[1], "the page is wider than the window"


def expect_problem(page: Page, text: str) -> None:
    """An error that the emulator returned is shown."""
    expect(page.get_by_role("alert").filter(has_text=text).first).to_be_visible()
