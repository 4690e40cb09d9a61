"""Responses are well-formed XML, whatever bytes of the request they quote.

One exception, which S3 has as well and `penstock_conformance.wire.expectation.parse` accepts: characters that XML 1.0 cannot
represent become character references, which clients avoid with `encoding-type=url`.
"""

from __future__ import annotations

import base64
import hashlib
import os
import random
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest
from penstock_conformance.wire.connection import Connection, Response
from penstock_conformance.wire.expectation import parse

RUNS = 40
PIECES = [b"\xff", b"\xc3", b"\xe2\x82", b"\xed\xa0\x80", b"\xef\xbf\xbe", b"\xef\xbf\xbf", b"\xc3\xa4", b"<", b"&", b"]]>"]

# Listings, reads and errors that quote the request. {} is random text, percent-encoded.
TARGETS = [
    "/bkt?prefix={}&delimiter=/",
    "/bkt?delimiter={}",
    "/bkt?marker={}",
    "/bkt?encoding-type={}",
    "/bkt?max-keys={}",
    "/bkt?list-type={}",
    "/bkt?list-type=2&start-after={}",
    "/bkt?list-type=2&continuation-token={}",
    "/bkt?versions&prefix={}",
    "/bkt?versions&key-marker={}&version-id-marker={}",
    "/bkt?uploads&prefix={}",
    "/bkt?uploads&key-marker={}&upload-id-marker={}",
    "/bkt?{}",
    "/bkt?inventory&id={}",
    "/?prefix={}",
    "/?continuation-token={}",
    "/{}",
    "/{}/k",
    "/bkt/{}",
    "/bkt/k?versionId={}",
    "/bkt/k?partNumber={}",
    "/bkt/k?uploadId={}",
    "/bkt/k?uploadId={}&part-number-marker=1",
    "/bkt/k?response-expires={}",
    "/bkt/k?{}",
]
HEADERS = [
    "x-amz-server-side-encryption",
    "x-amz-storage-class",
    "x-amz-copy-source",
    "x-amz-tagging",
    "x-amz-acl",
    "x-amz-grant-read",
    "x-amz-checksum-crc32",
    "x-amz-checksum-algorithm",
    "x-amz-object-lock-mode",
    "x-amz-website-redirect-location",
    "x-amz-meta-a",
    "x-amz-unknown",
    "Content-MD5",
    "Host",
    "Range",
    "If-Match",
    "Expect",
    "Authorization",
    "x-amz-date",
]
# Requests whose responses quote headers.
QUOTING = [("GET", b"/bkt/k"), ("PUT", b"/bkt/new"), ("POST", b"/bkt/new?uploads"), ("PUT", b"/bkt?acl"), ("PUT", b"/bkt")]


class RawClient:
    """Sends requests without normalization."""

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint
        self.host = urlsplit(endpoint).netloc.encode()

    def request(self, method: str, target: bytes, headers: dict[bytes, bytes] | None = None, body: bytes = b"") -> Response:
        lines = {b"Host": self.host, b"Content-Length": str(len(body)).encode(), **(headers or {})}
        if body:  # some documents need it
            lines[b"Content-MD5"] = base64.b64encode(hashlib.md5(body).digest())
        head = method.encode() + b" " + target + b" HTTP/1.1\r\n" + b"".join(k + b": " + v + b"\r\n" for k, v in lines.items())
        connection = Connection(self.endpoint)
        try:
            return connection.send(method, head + b"\r\n", body)
        finally:
            connection.close()


@pytest.fixture(scope="module")
def client(start_emulator: Any) -> Iterator[RawClient]:
    with start_emulator("--auth=off") as emulator:
        client = RawClient(emulator.endpoint)
        assert client.request("PUT", b"/bkt").status == 200
        for key in (b"k", b"%01", b"%EF%BF%BF", b"%EF%BF%BE/x", b"%C3%A4", b"a%0Db", b"%3C%26"):
            assert client.request("PUT", b"/bkt/" + key, body=b"x").status == 200
        yield client


@pytest.fixture
def generator() -> random.Random:
    seed = int(os.environ.get("PENSTOCK_PROPERTY_SEED", random.randrange(2**32)))
    print(f"PENSTOCK_PROPERTY_SEED={seed}")  # shown where the test fails
    return random.Random(seed)


def some_bytes(generator: random.Random, least: int = 0) -> bytes:
    """Up to four random pieces, without bytes below `least`."""
    pieces = [generator.choice([*PIECES, generator.randbytes(1)]) for _ in range(generator.randrange(1, 5))]
    return b"".join(piece for piece in pieces if min(piece) >= least)


def quoted(data: bytes) -> bytes:
    return b"".join(b"%%%02X" % byte for byte in data)


def check(response: Response, request: object) -> None:
    if not response.body or response.header("content-type") != "application/xml":
        return
    try:
        parse(response.body)
    except ElementTree.ParseError as error:
        pytest.fail(f"{request}: {error}: {response.body!r}")


@pytest.mark.parametrize("target", TARGETS)
def test_parameters(client, generator, target):
    for _ in range(RUNS):
        text = target.encode().replace(b"{}", quoted(some_bytes(generator)))
        check(client.request("GET", text), text)
        check(client.request("DELETE" if "/k" in target else "GET", text + b"&encoding-type=url"), text)


def test_raw_bytes_in_the_target(client, generator):
    for _ in range(RUNS):
        raw = some_bytes(generator, least=0x80)
        for target in (b"/bkt/" + raw, b"/bkt?prefix=" + raw, b"/" + raw + b"/k%zz"):
            check(client.request("GET", target), target)


@pytest.mark.parametrize("name", HEADERS)
def test_headers(client, generator, name):
    for _ in range(RUNS):
        value = some_bytes(generator, least=0x21)
        for method, target in QUOTING:
            headers = {b"Host": client.host, name.encode(): value}
            check(client.request(method, target, headers), (method, target, headers))


def test_authorization(standalone, generator):
    client = RawClient(standalone.endpoint)
    for _ in range(RUNS):
        junk = some_bytes(generator, least=0x21).replace(b",", b"")
        scope = b"/20260101/us-east-1/s3/aws4_request, SignedHeaders=host;x-amz-date, Signature=" + b"0" * 64
        for value in (b"AWS4-HMAC-SHA256 Credential=" + junk + scope, b"AWS " + junk + b":AAAA", junk):
            check(client.request("GET", b"/bkt/k", {b"Authorization": value, b"x-amz-date": b"20260101T000000Z"}), value)


@pytest.mark.parametrize("document", [
    (b"POST", b"/bkt?delete", b"<Delete><Object><Key>{}</Key></Object></Delete>"),
    (b"PUT", b"/bkt?tagging", b"<Tagging><TagSet><Tag><Key>{}</Key><Value>v</Value></Tag></TagSet></Tagging>"),
    (b"PUT", b"/bkt/k?tagging", b"<Tagging><TagSet><Tag><Key>a</Key><Value>{}</Value></Tag></TagSet></Tagging>"),
    (b"PUT", b"/bkt?website", b"<WebsiteConfiguration><IndexDocument><Suffix>{}</Suffix></IndexDocument></WebsiteConfiguration>"),
])  # fmt: skip
def test_documents(client, generator, document):
    method, target, text = document
    for _ in range(RUNS):
        body = text.replace(b"{}", some_bytes(generator))
        response = client.request(method.decode(), target, body=body)
        check(response, body)
        check(client.request("GET", target), body)


def test_keys_that_are_not_utf8_cannot_be_deleted_by_name(client):
    response = client.request("POST", b"/bkt?delete", body=b"<Delete><Object><Key>\xff</Key></Object></Delete>")
    assert (response.status, b"<Code>MalformedXML</Code>" in response.body) == (400, True)
