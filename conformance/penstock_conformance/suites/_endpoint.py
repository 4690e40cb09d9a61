"""Requirements on an endpoint for tests of clients.

Each requirement is tested once per run, before the first check that needs it, by requests that share no code with any client.
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

from .._access import Access
from .._suite import Trial
from .._verdict import NotRun
from ..wire.connection import Connection, Response
from ..wire.expectation import parse, texts
from ..wire.signing import Identity, sign
from ._directory_bucket import code_of, complete_body

MIB = 1 << 20
SIZES = (3000, 8 * MIB, 2000)  # sizes of successive versions of an object, in bytes
PARTS = (5 * MIB, 1000)
ATTEMPTS = 4
PAUSE_S = 0.2  # before the second attempt; doubled before each further attempt
_ERROR = re.compile(b"<Error[ >]")
BUSY = ("InternalError", "ServiceUnavailable", "SlowDown")


class _Deviation(Exception):
    """What the endpoint does wrong, as a predicate that follows "the endpoint"."""


def needs(trial: Trial, *names: str) -> None:
    """Requires correct behaviour of the endpoint.

    Args:
        names: Keys of :data:`REQUIREMENTS`.

    Raises:
        NotRun: the endpoint does not meet one of the requirements.
    """
    for name in names:
        if deviation := trial.bench.once(f"endpoint/{name}", functools.partial(_deviation, trial, REQUIREMENTS[name])):
            raise NotRun(f"the endpoint {deviation}; it cannot be used to test clients")


def _deviation(trial: Trial, test: Callable[[_Bucket], None]) -> str:
    """What the endpoint does wrong; empty if the test passes."""
    try:
        bucket = _Bucket(trial.bench.access, trial.bucket())
    except S3Exception as error:
        return f"cannot create buckets: {error}"
    try:
        test(bucket)
    except _Deviation as deviation:
        return str(deviation)
    except (OSError, http.client.HTTPException) as error:
        return f"did not respond: {type(error).__name__}: {error}"
    finally:
        bucket.close()
    return ""


def _bytes(*sizes: int) -> list[bytes]:
    """Different random content of each size."""
    random = Random(1)
    return [random.randbytes(size) for size in sizes]


def _objects(bucket: _Bucket) -> None:
    for data in _bytes(*SIZES):
        bucket.expect_success(bucket.put("key", data), "PutObject")
        bucket.expect_content("key", data, f"returned wrong content for an object of {len(data)} bytes")
        size = bucket.request("HEAD", "key").header("content-length")
        if size != str(len(data)):
            raise _Deviation(f"returned size {size} from HeadObject for an object of {len(data)} bytes")


def _parts(bucket: _Bucket) -> None:
    old, *parts = _bytes(3000, *PARTS)
    bucket.expect_success(bucket.put("over", old), "PutObject")
    for key, before in (("new", None), ("over", old)):
        with bucket.uploading(key, parts):
            bucket.expect_content(key, before, "published parts of an upload that was not completed")
        bucket.expect_content(key, before, "published an upload that was aborted")
        bucket.expect_success(bucket.put_in_parts(key, parts), "CompleteMultipartUpload")
        bucket.expect_content(key, b"".join(parts), "returned wrong content for an object that was uploaded in parts")


def _ranges(bucket: _Bucket) -> None:
    [data] = _bytes(100_000)
    bucket.expect_success(bucket.put("key", data), "PutObject")
    etag = bucket.request("HEAD", "key").header("etag") or ""
    for begin, end in ((0, 1), (1000, 70_000), (99_000, 100_000)):
        asked = f"bytes={begin}-{end - 1}"
        response = bucket.request("GET", "key", headers={"Range": asked, "If-Match": etag})
        if response.status == 200:
            raise _Deviation(f"returned the whole object for Range: {asked}")
        bucket.expect_success(response, f"GetObject of {asked} with the matching If-Match")
        if (response.body, response.header("content-range")) != (data[begin:end], f"bytes {begin}-{end - 1}/{len(data)}"):
            raise _Deviation(
                f"returned {len(response.body)} bytes, Content-Range {response.header('content-range')}, for Range: {asked}"
            )


def _one_version(bucket: _Bucket) -> None:
    old, new = _bytes(3000, 3000)
    etag = bucket.expect_success(bucket.put("key", old), "PutObject").header("etag") or ""
    bucket.expect_success(bucket.put("key", new), "PutObject")
    response = bucket.request("GET", "key", headers={"If-Match": etag})
    if response.status < 400:
        raise _Deviation("ignores If-Match of GetObject")


def _if_none_match(bucket: _Bucket) -> None:
    condition = {"If-None-Match": "*"}
    first, second = [_bytes(*PARTS, *PARTS)[i : i + 2] for i in (0, 2)]
    for write in (bucket.put_whole, bucket.put_in_parts):
        key = write.__name__
        bucket.expect_success(write(key, first, condition), "a write of a new object with If-None-Match")
        bucket.expect_content(key, b"".join(first), "returned wrong content after a write with If-None-Match")
        if _succeeded(write(key, second, condition)):
            raise _Deviation("ignores If-None-Match of writes")
        bucket.expect_content(key, b"".join(first), "executed a write that it rejected because of If-None-Match")


def _if_match(bucket: _Bucket) -> None:
    first, second, third = _bytes(3000, 3000, 3000)
    bucket.expect_success(bucket.put("key", first), "PutObject")
    old = bucket.request("HEAD", "key").header("etag") or ""
    bucket.expect_success(bucket.put("key", second, {"If-Match": old}), "a write with the matching If-Match")
    bucket.expect_content("key", second, "returned wrong content after a write with If-Match")
    if _succeeded(bucket.put("key", third, {"If-Match": old})):
        raise _Deviation("ignores If-Match of writes")
    bucket.expect_content("key", second, "executed a write that it rejected because of If-Match")


REQUIREMENTS: Mapping[str, Callable[[_Bucket], None]] = {
    "objects": _objects,
    "parts": _parts,
    "ranges": _ranges,
    "one version": _one_version,
    "if-none-match": _if_none_match,
    "if-match": _if_match,
}


def _succeeded(response: Response) -> bool:
    """Status 2xx without an error in the body, which CompleteMultipartUpload can return with status 200."""
    return 200 <= response.status < 300 and not _ERROR.search(response.body[:200])


class _Bucket:
    """Requests for the objects of a bucket."""

    def __init__(self, access: Access, name: str) -> None:
        self._access = access
        self._name = name
        self._connection = Connection(access.endpoint, access.ca)

    def close(self) -> None:
        self._connection.close()

    def request(
        self, method: str, key: str = "", query: str = "", headers: Mapping[str, str] | None = None, body: bytes = b""
    ) -> Response:
        """Sends a request, and retries it after errors that S3 documents as retryable."""
        target = f"/{self._name}" + (f"/{key}" if key else "") + (f"?{query}" if query else "")
        pause = PAUSE_S
        for _ in range(ATTEMPTS - 1):
            response = self._send(method, target, headers or {}, body)
            if response.status not in (500, 503) and (_succeeded(response) or code_of(response) not in BUSY):
                return response
            time.sleep(pause)
            pause *= 2
        return self._send(method, target, headers or {}, body)

    def _send(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Response:
        access = self._access
        sent = [("Host", self._connection.host), *headers.items()]
        if method in ("PUT", "POST"):
            sent.append(("Content-Length", str(len(body))))
        payload, auth = hashlib.sha256(body).hexdigest(), {"region": access.region, "token": access.session_token}
        signed = sign(method, access.endpoint, target, sent, payload, auth, Identity(access.access_key, access.secret_key))
        lines = [f"{method} {signed.target} HTTP/1.1", *(f"{name}: {value}" for name, value in signed.headers)]
        return self._connection.send(method, "\r\n".join(lines).encode() + b"\r\n\r\n", body)

    def put(self, key: str, data: bytes, headers: Mapping[str, str] | None = None) -> Response:
        return self.request("PUT", key, headers=headers, body=data)

    def put_whole(self, key: str, parts: Sequence[bytes], headers: Mapping[str, str] | None = None) -> Response:
        return self.put(key, b"".join(parts), headers)

    def put_in_parts(self, key: str, parts: Sequence[bytes], headers: Mapping[str, str] | None = None) -> Response:
        """Uploads the parts and returns the response of CompleteMultipartUpload. Aborts the upload if that fails."""
        with self.uploading(key, parts) as (query, listed):
            return self.request("POST", key, query, headers, complete_body(listed).encode())

    @contextmanager
    def uploading(self, key: str, parts: Sequence[bytes]) -> Iterator[tuple[str, list[tuple[int, str]]]]:
        """Uploads the parts, and yields the query and the parts for CompleteMultipartUpload. Aborts the upload on exit."""
        begun = self.expect_success(self.request("POST", key, "uploads"), "CreateMultipartUpload")
        query = f"uploadId={quote(self._texts(begun, 'UploadId')[0], safe='')}"
        try:
            listed = []
            for number, data in enumerate(parts, 1):
                sent = self.request("PUT", key, f"partNumber={number}&{query}", body=data)
                listed.append((number, self.expect_success(sent, "UploadPart").header("etag") or ""))
            yield query, listed
        finally:
            self.request("DELETE", key, query)

    def expect_success(self, response: Response, what: str) -> Response:
        if not _succeeded(response):
            raise _Deviation(f"returned {response.status} {code_of(response)}".rstrip() + f" for {what}")
        return response

    def expect_content(self, key: str, data: bytes | None, deviation: str) -> None:
        """Expects the content from GetObject and the key in listings. None: the object must not exist."""
        response = self.request("GET", key)
        if response.status != 404:
            self.expect_success(response, "GetObject")
        if data != (None if response.status == 404 else response.body):
            raise _Deviation(deviation)
        listing = self.expect_success(self.request("GET", query=f"list-type=2&prefix={key}"), "ListObjectsV2")
        if self._texts(listing, "Contents/Key", least=0) != ([] if data is None else [key]):
            raise _Deviation("lists an object that does not exist" if data is None else "does not list an existing object once")

    def _texts(self, response: Response, path: str, least: int = 1) -> list[str]:
        try:
            found = texts(parse(response.body), path)
        except ElementTree.ParseError as error:
            raise _Deviation(f"returned malformed XML: {error}") from error
        if len(found) < least:
            raise _Deviation(f"returned no {path}")
        return found
