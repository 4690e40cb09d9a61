"""A bucket at an endpoint and its model, with the functions by which steps change and compare both."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from xml.etree import ElementTree

from s3_reference import Bucket, Refused, Version
from s3_wire import Response, Wire

KEYS = ["a", "a/", "a/b", "a/b/c", "a/b d", "a0", "b", "b/x", "b//y", "c+d", "c%", "ä/ö", "\U0001f600", "\uffee", "~"]
DELIMITERS = ["/", "/", "/", "b", "//", ""]
CODE = re.compile(rb"<Code>(.*?)</Code>")
NAMESPACE = "{http://s3.amazonaws.com/doc/2006-03-01/}"


class DifferenceError(AssertionError):
    """The endpoint and the model disagree."""


@dataclass
class Environment:
    """The state of a sequence. `log` has the requests and responses, for the report of a failure."""

    wire: Wire
    name: str
    big: str  # "/bucket/key" of an object of the smallest size of a part
    big_body: bytes
    bucket: Bucket = field(default_factory=Bucket)
    log: list[str] = field(default_factory=list)

    def send(
        self,
        method: str,
        key: str = "",
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
    ) -> Response:
        """Sends one request for the bucket or a key of it."""
        path = f"/{self.name}/{key}" if key else f"/{self.name}"
        response = self.wire.send(method, path, query, headers, body)
        code = CODE.search(response.body) if response.status >= 300 else None
        sent = f" body {body[:60]!r}" if body else ""
        came = f"{response.status} {code[1].decode() if code else ''}"
        self.log.append(f"{method} {key!r} {dict(query or {})} {dict(headers or {})}{sent} -> {came}")
        return response

    # -- choosing

    def key(self, random: Random) -> str:
        """A random key, mostly one that exists."""
        known = [key for key, versions in self.bucket.keys.items() if versions]
        return random.choice(known) if known and random.random() < 0.75 else random.choice(KEYS)

    def version_id(self, key: str, random: Random) -> str | None:
        """Mostly None, else the id of a version of `key`, or an unknown id."""
        if random.random() < 0.6:
            return None
        versions = self.bucket.keys.get(key, [])
        if versions and random.random() < 0.9:
            return random.choice(versions).id
        return "null" if random.random() < 0.2 else None

    def etag(self, key: str, random: Random) -> str:
        """The ETag of the current version of `key`, or another one."""
        current = self.bucket.current(key)
        return current.etag if current and random.random() < 0.7 else "0" * 32

    # -- comparing

    def refused(self, response: Response, refusal: Refused, head: bool = False) -> None:
        """Checks that the response is the model's error."""
        self.same("status", refusal.status, response.status)
        if not head and refusal.status != 304:
            code = CODE.search(response.body)
            self.same("error code", refusal.code, code[1].decode() if code else None)
        for name, value in refusal.headers.items():
            self.same(f"header {name}", value, response.headers.get(name))

    def same(self, what: str, expected: object, found: object) -> None:
        """Checks that both are equal."""
        if expected != found:
            raise DifferenceError(f"{what}: the model says {_short(expected)}, the endpoint {_short(found)}")

    def check_state(self) -> None:
        """Checks that the endpoint lists the model's versions in order."""
        listing = xml(self.wire.send("GET", f"/{self.name}", {"versions": ""}).body)
        found = []
        for node in listing:
            kind = node.tag.removeprefix(NAMESPACE)
            if kind in ("Version", "DeleteMarker"):
                texts = {child.tag.removeprefix(NAMESPACE): child.text or "" for child in node}
                found.append(
                    (kind, texts["Key"], texts["VersionId"], texts["IsLatest"], texts.get("ETag", ""), texts.get("Size", ""))
                )
        expected = [
            row(key, version, index == 0)
            for key in sorted(self.bucket.keys, key=lambda key: key.encode())
            for index, version in enumerate(self.bucket.keys[key])
        ]
        self.same("all versions", expected, found)


def row(key: str, version: Version, latest: bool) -> tuple[str, str, str, str, str, str]:
    """A line of ListObjectVersions."""
    flag = "true" if latest else "false"
    if version.marker:
        return "DeleteMarker", key, version.id, flag, "", ""
    return "Version", key, version.id, flag, f'"{version.etag}"', str(len(version.body))


def xml(body: bytes) -> ElementTree.Element:
    """The document."""
    return ElementTree.fromstring(body)


def text(node: ElementTree.Element, path: str) -> str | None:
    """The text of the first element at `path`; "" where it is empty, None where it is absent."""
    found = node.find("/".join(NAMESPACE + step for step in path.split("/")))
    return None if found is None else found.text or ""


def texts(node: ElementTree.Element, path: str) -> list[str]:
    """The text of every element at `path`."""
    return [found.text or "" for found in node.findall("/".join(NAMESPACE + step for step in path.split("/")))]


def _short(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) < 1500 else shown[:1500] + "…"
