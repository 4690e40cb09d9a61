"""What an endpoint must do right before a client can be judged by it.

Tried once in a run, where a check first asks for it, by plain requests that share no code with any client under test.
"""

from __future__ import annotations

import functools
import hashlib
import http.client
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from random import Random
from urllib.parse import quote
from xml.etree import ElementTree

from penstock import S3Exception

from .._bench import Access
from .._suite import NotRun, Trial
from ..wire.connection import Answer, Connection
from ..wire.expectation import parse, texts
from ..wire.signing import Identity, sign
from ._directory_bucket import code_of, complete_body

MIB = 1 << 20
SIZES = (3000, 8 * MIB, 2000)  # bytes of an object that replaces itself
PARTS = (5 * MIB, 1000)
ATTEMPTS = 4
PAUSE_S = 0.2  # before the second attempt, and twice as long before each further one
_ERROR = re.compile(b"<Error[ >]")
BUSY = ("InternalError", "ServiceUnavailable", "SlowDown")


class _Wrong(Exception):
    """What the endpoint did: a sentence goes on with it."""


def needs(trial: Trial, *names: str) -> None:
    """Of an endpoint that does them wrong, no client can make anything.

    Args:
        names: Keys of :data:`TRIED`.

    Raises:
        NotRun: the endpoint does one of them wrong.
    """
    for name in names:
        if wrong := trial.bench.once(f"endpoint/{name}", functools.partial(_wrong, trial, TRIED[name])):
            raise NotRun(f"the endpoint {wrong}; no client can be judged by it")


def _wrong(trial: Trial, attempt: Callable[[_Bucket], None]) -> str:
    try:
        there = _Bucket(trial.bench.access, trial.bucket())
    except S3Exception as error:
        return f"makes no buckets: {error}"
    try:
        attempt(there)
    except _Wrong as wrong:
        return str(wrong)
    except (OSError, http.client.HTTPException) as error:
        return f"gave no answer: {type(error).__name__}: {error}"
    finally:
        there.close()
    return ""


def _bytes(*sizes: int) -> list[bytes]:
    """All of them other bytes."""
    random = Random(1)
    return [random.randbytes(size) for size in sizes]


def _objects(there: _Bucket) -> None:
    for data in _bytes(*SIZES):
        there.expect_done(there.put("key", data), "PutObject")
        there.expect_content("key", data, f"gives other bytes than it took: of an object of {len(data)} bytes")
        told = there.ask("HEAD", "key").header("content-length")
        if told != str(len(data)):
            raise _Wrong(f"says of an object of {len(data)} bytes by HeadObject that it has {told}")


def _parts(there: _Bucket) -> None:
    old, *parts = _bytes(3000, *PARTS)
    there.expect_done(there.put("over", old), "PutObject")
    for key, before in (("new", None), ("over", old)):
        with there.uploading(key, parts):
            there.expect_content(key, before, "published parts of an upload that nobody had completed")
        there.expect_content(key, before, "published an upload that was given up")
        there.expect_done(there.put_in_parts(key, parts), "CompleteMultipartUpload")
        there.expect_content(key, b"".join(parts), "gives other bytes than it took: of an object that came in parts")


def _ranges(there: _Bucket) -> None:
    [data] = _bytes(100_000)
    there.expect_done(there.put("key", data), "PutObject")
    etag = there.ask("HEAD", "key").header("etag") or ""
    for begin, end in ((0, 1), (1000, 70_000), (99_000, 100_000)):
        asked = f"bytes={begin}-{end - 1}"
        answer = there.ask("GET", "key", headers={"Range": asked, "If-Match": etag})
        if answer.status == 200:
            raise _Wrong(f"answered a range, {asked}, by the whole object")
        there.expect_done(answer, f"GetObject of {asked} under If-Match, with the object's own ETag")
        if (answer.body, answer.header("content-range")) != (data[begin:end], f"bytes {begin}-{end - 1}/{len(data)}"):
            raise _Wrong(f"answered {asked} by {len(answer.body)} bytes, Content-Range {answer.header('content-range')}")


def _one_version(there: _Bucket) -> None:
    old, new = _bytes(3000, 3000)
    etag = there.expect_done(there.put("key", old), "PutObject").header("etag") or ""
    there.expect_done(there.put("key", new), "PutObject")
    answer = there.ask("GET", "key", headers={"If-Match": etag})
    if answer.status < 400:
        raise _Wrong("takes no notice of If-Match when an object is read")


def _if_none_match(there: _Bucket) -> None:
    condition = {"If-None-Match": "*"}
    first, second = [_bytes(*PARTS, *PARTS)[i : i + 2] for i in (0, 2)]
    for write in (there.put_whole, there.put_in_parts):
        key = write.__name__
        there.expect_done(write(key, first, condition), "a write under If-None-Match, of a new object,")
        there.expect_content(key, b"".join(first), "gives other bytes than it took: under If-None-Match")
        if _done(write(key, second, condition)):
            raise _Wrong("takes no notice of If-None-Match")
        there.expect_content(key, b"".join(first), "refuses a write under If-None-Match and does it")


def _if_match(there: _Bucket) -> None:
    first, second, third = _bytes(3000, 3000, 3000)
    there.expect_done(there.put("key", first), "PutObject")
    old = there.ask("HEAD", "key").header("etag") or ""
    there.expect_done(there.put("key", second, {"If-Match": old}), "a write under If-Match, with the object's own ETag,")
    there.expect_content("key", second, "gives other bytes than it took: under If-Match")
    if _done(there.put("key", third, {"If-Match": old})):
        raise _Wrong("takes no notice of If-Match")
    there.expect_content("key", second, "refuses a write under If-Match and does it")


TRIED: Mapping[str, Callable[[_Bucket], None]] = {
    "objects": _objects,
    "parts": _parts,
    "ranges": _ranges,
    "one version": _one_version,
    "if-none-match": _if_none_match,
    "if-match": _if_match,
}


def _done(answer: Answer) -> bool:
    """CompleteMultipartUpload may begin with 200 and end with an error."""
    return 200 <= answer.status < 300 and not _ERROR.search(answer.body[:200])


class _Bucket:
    """Plain requests for a bucket's objects."""

    def __init__(self, access: Access, name: str) -> None:
        self._access = access
        self._name = name
        self._connection = Connection(access.endpoint, access.ca)

    def close(self) -> None:
        self._connection.close()

    def ask(
        self, method: str, key: str = "", query: str = "", headers: Mapping[str, str] | None = None, body: bytes = b""
    ) -> Answer:
        """Tried again where S3 says that a client has to."""
        target = f"/{self._name}" + (f"/{key}" if key else "") + (f"?{query}" if query else "")
        pause = PAUSE_S
        for _ in range(ATTEMPTS - 1):
            answer = self._send(method, target, headers or {}, body)
            if answer.status not in (500, 503) and (_done(answer) or code_of(answer) not in BUSY):
                return answer
            time.sleep(pause)
            pause *= 2
        return self._send(method, target, headers or {}, body)

    def _send(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Answer:
        access = self._access
        sent = [("Host", self._connection.host), *headers.items()]
        if method in ("PUT", "POST"):
            sent.append(("Content-Length", str(len(body))))
        payload, auth = hashlib.sha256(body).hexdigest(), {"region": access.region, "token": access.session_token}
        signed = sign(method, access.endpoint, target, sent, payload, auth, Identity(access.access_key, access.secret_key))
        lines = [f"{method} {signed.target} HTTP/1.1", *(f"{name}: {value}" for name, value in signed.headers)]
        return self._connection.send(method, "\r\n".join(lines).encode() + b"\r\n\r\n", body)

    def put(self, key: str, data: bytes, headers: Mapping[str, str] | None = None) -> Answer:
        return self.ask("PUT", key, headers=headers, body=data)

    def put_whole(self, key: str, parts: Sequence[bytes], headers: Mapping[str, str] | None = None) -> Answer:
        return self.put(key, b"".join(parts), headers)

    def put_in_parts(self, key: str, parts: Sequence[bytes], headers: Mapping[str, str] | None = None) -> Answer:
        """What CompleteMultipartUpload is answered; an upload that is not completed is given up."""
        with self.uploading(key, parts) as (query, listed):
            return self.ask("POST", key, query, headers, complete_body(listed).encode())

    @contextmanager
    def uploading(self, key: str, parts: Sequence[bytes]) -> Iterator[tuple[str, list[tuple[int, str]]]]:
        """Query and parts of an upload that lacks its completion. Given up behind the block, where it is still open."""
        begun = self.expect_done(self.ask("POST", key, "uploads"), "CreateMultipartUpload")
        query = f"uploadId={quote(self._texts(begun, 'UploadId')[0], safe='')}"
        try:
            listed = []
            for number, data in enumerate(parts, 1):
                sent = self.ask("PUT", key, f"partNumber={number}&{query}", body=data)
                listed.append((number, self.expect_done(sent, "UploadPart").header("etag") or ""))
            yield query, listed
        finally:
            self.ask("DELETE", key, query)

    def expect_done(self, answer: Answer, what: str) -> Answer:
        if not _done(answer):
            raise _Wrong(f"answered {what} by {answer.status} {code_of(answer)}".rstrip())
        return answer

    def expect_content(self, key: str, data: bytes | None, otherwise: str) -> None:
        """Read and listed; None: no such object."""
        answer = self.ask("GET", key)
        if answer.status != 404:
            self.expect_done(answer, "GetObject")
        if data != (None if answer.status == 404 else answer.body):
            raise _Wrong(otherwise)
        listing = self.expect_done(self.ask("GET", query=f"list-type=2&prefix={key}"), "ListObjectsV2")
        if self._texts(listing, "Contents/Key", least=0) != ([] if data is None else [key]):
            raise _Wrong("lists an object that is not there" if data is None else "does not list an object once that is there")

    def _texts(self, answer: Answer, path: str, least: int = 1) -> list[str]:
        try:
            found = texts(parse(answer.body), path)
        except ElementTree.ParseError as error:
            raise _Wrong(f"answered by XML that cannot be read: {error}") from error
        if len(found) < least:
            raise _Wrong(f"answered without {path}")
        return found
