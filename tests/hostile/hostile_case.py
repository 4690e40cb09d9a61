"""The types of `hostile_http` and `hostile_s3`: what a hostile server sends, and the expected result of our client."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from raw_server import Action, Script


class After(Enum):
    """The connection after a case. `CLOSED`: not used again. `REUSED`: the next request uses it. `EITHER`: both are correct."""

    CLOSED = "closed"
    REUSED = "reused"
    EITHER = "either"


CLOSED, REUSED, EITHER = After.CLOSED, After.REUSED, After.EITHER
MIB = 1 << 20
BODY = b"abcd"
S3 = "Amazon S3 API Reference, "
GUIDE = "Amazon S3 User Guide, "


@dataclass(frozen=True)
class Case:
    """One case.

    Attributes:
        source: The section, page or failure that the case tests.
        call: A call of the worker's `CALLS`.
        script: The response to each request.
        expected: The result of the call, or `Raises`.
        early: The server responds before it reads the request's body.
    """

    name: str
    source: str
    call: str
    script: Script | Sequence[Action]
    expected: object
    after: After
    early: bool = False


@dataclass(frozen=True)
class Raises:
    """An exception of one of the classes (names separated by `|`) whose text matches the regular expression `text`."""

    exception: str
    text: str


def fails(text: str) -> Raises:
    return Raises("S3Exception", text)


def unavailable(text: str) -> Raises:
    return Raises("S3UnavailableError", text)


def timed_out(text: str) -> Raises:
    return Raises("S3TimeoutError", text)


def data_loss(text: str) -> Raises:
    return Raises("S3DataLossError", text)


def in_turn(*scripts: Sequence[Action]) -> Script:
    """A script that runs the next one for each request, and the last one for all further requests."""
    return lambda _request, index: scripts[min(index, len(scripts) - 1)]


def head(*lines: bytes, status: bytes = b"200 OK", etag: bytes = b'"e"') -> bytes:
    named = [b"HTTP/1.1 " + status, *([b"ETag: " + etag] if etag else []), *lines]
    return b"\r\n".join(named) + b"\r\n\r\n"


def ok(body: bytes = BODY, *lines: bytes, status: bytes = b"200 OK", etag: bytes = b'"e"') -> bytes:
    return head(b"Content-Length: %d" % len(body), *lines, status=status, etag=etag) + body


def error(status: bytes, code: bytes, *lines: bytes) -> bytes:
    return ok(b"<Error><Code>" + code + b"</Code><Message>m</Message></Error>", *lines, status=status, etag=b"")


def chunks(data: bytes) -> bytes:
    return head(b"Transfer-Encoding: chunked") + data


ITEM = b'<Contents><Key>%s</Key><Size>1</Size><ETag>"e"</ETag><LastModified>2023-01-02T03:04:05.000Z</LastModified></Contents>'
MORE = b"<IsTruncated>true</IsTruncated><NextContinuationToken>%s</NextContinuationToken>"


def page(content: bytes) -> bytes:
    """A response document of ListObjectsV2."""
    return b"<ListBucketResult>" + content + b"</ListBucketResult>"


def listing(content: bytes) -> bytes:
    return ok(page(content), etag=b"")
