"""Directory buckets of the endpoint under test, by raw requests: what the Express suites prepare and inspect."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

from .._bench import Bench
from .._verdict import NotRun
from ..wire import request as requests
from ..wire.connection import Connection, Response
from ..wire.expectation import parse, texts
from ..wire.signing import Identity

ZONE = "use1-az4"


@dataclass(frozen=True)
class Session:
    """Credentials from CreateSession."""

    access_key: str
    secret_key: str
    token: str
    expiration: str

    def changed(self, token: str) -> Session:
        return Session(self.access_key, self.secret_key, token, self.expiration)


class DirectoryBuckets:
    """Path-style requests to directory buckets, signed for ``s3express``. Not thread-safe."""

    def __init__(self, bench: Bench) -> None:
        access = bench.access
        self._connection = Connection(access.endpoint, access.ca)
        identity = Identity(access.access_key, access.secret_key)
        self._target = requests.Target(access.endpoint, self._connection.host, access.region, identity)
        self._token = access.session_token
        self._base = f"conf-{secrets.token_hex(4)}"
        self._numbers = 0
        self._made: list[str] = []

    def request(
        self,
        method: str,
        path: str,
        *,
        query: str | None = None,
        headers: Mapping[str, str] | None = None,
        body: bytes | str = b"",
        session: Session | None = None,
        service: str = "s3express",
    ) -> Response:
        """Sends a request. `path` is decoded, `query` is encoded."""
        auth: dict[str, Any] = {"service": service}
        sent = dict(headers or {})
        if session:
            auth |= {"access_key": session.access_key, "secret_key": session.secret_key}
            sent["x-amz-s3session-token"] = session.token
        elif self._token:
            auth["token"] = self._token
        text = body if isinstance(body, str) else body.decode("latin-1")
        spec = {
            "method": method,
            "path": quote(path, safe="/-_.~"),
            **({"query": query} if query is not None else {}),
            "headers": sent,
            "body": text,
            "auth": auth,
        }
        return self._connection.send(*requests.build(spec, {}, self._target))

    def create(self, name: str, zone: str) -> Response:
        """CreateBucket in a zone."""
        kind, redundancy = (
            ("LocalZone", "SingleLocalZone") if zone.count("-") == 2 else ("AvailabilityZone", "SingleAvailabilityZone")
        )
        body = (
            '<CreateBucketConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
            f"<Location><Type>{kind}</Type><Name>{zone}</Name></Location>"
            f"<Bucket><Type>Directory</Type><DataRedundancy>{redundancy}</DataRedundancy></Bucket></CreateBucketConfiguration>"
        )
        return self.request("PUT", f"/{name}", body=body)

    def new_bucket(self) -> str:
        """Creates an empty directory bucket. :meth:`close` deletes it.

        Raises:
            NotRun: the endpoint does not support directory buckets.
        """
        self._numbers += 1
        name = f"{self._base}-{self._numbers}--{ZONE}--x-s3"
        response = self.create(name, ZONE)
        if response.status != 200:
            raise NotRun(f"the endpoint has no directory buckets: CreateBucket returned {response.status} {code_of(response)}")
        self._made.append(name)
        return name

    def session(self, bucket: str, mode: str = "ReadWrite") -> Session:
        """CreateSession.

        Raises:
            ValueError: the request failed, or the response has no credentials.
        """
        response = self.request_session(bucket, mode)
        if response.status != 200:
            raise ValueError(f"CreateSession returned {response.status} {code_of(response)}")
        root = parse(response.body)
        members = ("AccessKeyId", "SecretAccessKey", "SessionToken", "Expiration")
        values = [(texts(root, f"Credentials/{member}") or [""])[0] for member in members]
        if not all(values):
            raise ValueError("CreateSession returned 200 without credentials")
        return Session(*values)

    def request_session(self, bucket: str, mode: str = "ReadWrite") -> Response:
        """Sends CreateSession and returns the response, successful or not."""
        return self.request("GET", f"/{bucket}", query="session", headers={"x-amz-create-session-mode": mode})

    def put(self, bucket: str, key: str, data: bytes, **headers: str) -> Response:
        """PutObject. A header argument `write_offset_bytes` is sent as ``x-amz-write-offset-bytes``."""
        named = {f"x-amz-{name.replace('_', '-')}": value for name, value in headers.items()}
        return self.request("PUT", f"/{bucket}/{key}", body=data, headers=named)

    def keys(self, bucket: str, query: str = "list-type=2") -> tuple[list[str], list[str], str]:
        """Keys and common prefixes of a page, and the token of the next page."""
        response = self.request("GET", f"/{bucket}", query=query)
        if response.status != 200:
            raise ValueError(f"ListObjectsV2 returned {response.status} {code_of(response)}")
        root = parse(response.body)
        token = (texts(root, "NextContinuationToken") or [""])[0]
        return texts(root, "Contents/Key"), texts(root, "CommonPrefixes/Prefix"), token

    def remove(self, name: str) -> None:
        """Deletes a bucket with its objects and uploads. Errors are ignored."""
        try:
            for key in self.keys(name)[0]:
                self.request("DELETE", f"/{name}/{key}")
            uploads = parse(self.request("GET", f"/{name}", query="uploads").body)
            for key, upload in zip(texts(uploads, "Upload/Key"), texts(uploads, "Upload/UploadId"), strict=True):
                self.request("DELETE", f"/{name}/{key}", query=f"uploadId={quote(upload, safe='')}")
        except (ValueError, ElementTree.ParseError):
            pass  # the bucket does not exist, or is not a directory bucket
        self.request("DELETE", f"/{name}")

    def close(self) -> None:
        for name in self._made:
            self.remove(name)
        self._connection.close()


def code_of(response: Response) -> str:
    """The S3 error code; empty if there is none."""
    try:
        return (texts(parse(response.body), "Code") or [""])[0] if response.body else ""
    except ElementTree.ParseError:
        return ""


@contextmanager
def directory(bench: Bench) -> Iterator[DirectoryBuckets]:
    """The resource of the Express suites."""
    instance = DirectoryBuckets(bench)
    try:
        yield instance
    finally:
        instance.close()


def complete_body(parts: Sequence[tuple[int, str]]) -> str:
    """The body of CompleteMultipartUpload."""
    listed = "".join(f"<Part><PartNumber>{number}</PartNumber><ETag>{etag}</ETag></Part>" for number, etag in parts)
    return f'<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">{listed}</CompleteMultipartUpload>'
