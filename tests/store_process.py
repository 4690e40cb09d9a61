"""Runs an emulator process with a data directory and sends requests to it, for tests of crashes and damage."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import http.client
import json
import os
import re
import signal
import subprocess
import urllib.parse
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

PROGRAM = Path(os.environ["PENSTOCK_BUILD_DIR"], "emulator/server/penstock-emulator")
STOP_TIMEOUT_S = 60
CHECKSUM_REQUIRED = ("?versioning=", "?delete=", "?tagging=", "?lifecycle=", "?legal-hold=", "?retention=")


class StartRefusedError(Exception):
    """The emulator exited instead of serving. The text is its standard error."""


class Server:
    """A running emulator. `environment`: variables in addition to those of the test process."""

    def __init__(self, data: Path, *options: str, auth: str = "off", environment: Mapping[str, str] | None = None) -> None:
        command = [str(PROGRAM), "--port", "0", "--admin-port", "0", "--auth", auth, "--data", str(data), *options]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **(environment or {})}
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise StartRefusedError(self.process.communicate(timeout=STOP_TIMEOUT_S)[1])
        ready = json.loads(line)
        self.netloc = urllib.parse.urlsplit(ready["endpoint"]).netloc
        self.admin = urllib.parse.urlsplit(ready["admin"]).netloc

    def kill(self) -> str:
        """Kills the process. Returns its standard error."""
        self.process.send_signal(signal.SIGKILL)
        return self.process.communicate(timeout=STOP_TIMEOUT_S)[1]

    def stop(self) -> str:
        self.process.send_signal(signal.SIGTERM)
        return self.process.communicate(timeout=STOP_TIMEOUT_S)[1]


@contextlib.contextmanager
def serving(data: Path, *options: str, auth: str = "off", environment: Mapping[str, str] | None = None) -> Iterator[Server]:
    """Runs a server, which is killed at the end of the block if it still runs."""
    server = Server(data, *options, auth=auth, environment=environment)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.kill()


class Requests:
    """Sends unsigned requests over one keep-alive connection."""

    def __init__(self, netloc: str) -> None:
        self.wire = http.client.HTTPConnection(netloc, timeout=60)
        self.etag = self.version = ""  # of the last response

    def send(self, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, bytes]:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if method != "GET" and path.endswith(CHECKSUM_REQUIRED):
            named["x-amz-checksum-crc32"] = base64.b64encode(zlib.crc32(body).to_bytes(4, "big")).decode()
        self.wire.request(method, path, body=body, headers=named)
        response = self.wire.getresponse()
        self.etag = response.headers.get("ETag", "")
        self.version = response.headers.get("x-amz-version-id", "")
        return response.status, response.read()

    def expect(self, status: int, method: str, path: str, body: bytes = b"", **headers: str) -> bytes:
        response = self.send(method, path, body, **headers)
        assert response[0] == status, (method, path, response[0], response[1][:400])
        return response[1]

    def multipart(self, path: str, parts: list[bytes], complete: bool = True) -> str:
        """Uploads an object in parts. Returns the upload's id."""
        found = re.search(rb"<UploadId>([^<]+)", self.expect(200, "POST", f"{path}?uploads="))
        assert found
        upload = found.group(1).decode()
        listed = ""
        for number, part in enumerate(parts, 1):
            self.expect(200, "PUT", f"{path}?partNumber={number}&uploadId={upload}", part)
            listed += f"<Part><PartNumber>{number}</PartNumber><ETag>{self.etag}</ETag></Part>"
        if complete:
            document = f"<CompleteMultipartUpload>{listed}</CompleteMultipartUpload>"
            self.expect(200, "POST", f"{path}?uploadId={upload}", document.encode())
        return upload


def admin(server: Server, method: str, path: str, document: Any = None) -> tuple[int, bytes]:
    """Sends one request to the admin API, for example ("GET", "users"). Returns the status and the body."""
    wire = http.client.HTTPConnection(server.admin, timeout=60)
    try:
        wire.request(method, f"/_penstock/{path}", body=None if document is None else json.dumps(document))
        response = wire.getresponse()
        return response.status, response.read()
    finally:
        wire.close()


class SignedRequests(Requests):
    """Sends requests signed with an access key, which selects a namespace."""

    def __init__(self, netloc: str, access_key_id: str, secret_access_key: str) -> None:
        super().__init__(netloc)
        self.credentials = Credentials(access_key_id, secret_access_key)

    def send(self, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, bytes]:
        request = AWSRequest(method=method, url=f"http://{self.wire.host}:{self.wire.port}{path}", data=body)
        S3SigV4Auth(self.credentials, "s3", "us-east-1").add_auth(request)
        return super().send(method, path, body, **headers, **dict(request.headers.items()))


def fsck(data: Path, *options: str) -> tuple[int, dict[str, Any], str]:
    """Runs `fsck --deep`. Returns its exit status, report and standard error."""
    command = [str(PROGRAM), "fsck", "--deep", "--json", *options, str(data)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, json.loads(done.stdout) if done.stdout else {}, done.stderr


@dataclass(frozen=True)
class ListedVersion:
    version: str
    is_marker: bool
    is_latest: bool


def listed_versions(document: bytes) -> dict[str, list[ListedVersion]]:
    """The versions and delete markers of a ListObjectVersions response of one page, by key, newest first."""
    root = ElementTree.fromstring(document)
    assert root.findtext("{*}IsTruncated") == "false"
    found: dict[str, list[ListedVersion]] = {}
    for entry in root:
        kind = entry.tag.rpartition("}")[2]
        if kind in ("Version", "DeleteMarker"):
            version, latest = entry.findtext("{*}VersionId") or "", entry.findtext("{*}IsLatest") == "true"
            found.setdefault(entry.findtext("{*}Key") or "", []).append(ListedVersion(version, kind == "DeleteMarker", latest))
    return found


def body_of(label: str, size: int) -> bytes:
    """Bytes that depend on the write's label at every offset."""
    block = hashlib.sha256(label.encode()).digest()
    return (block * (size // len(block) + 1))[:size]


BUCKETS = ["plain", "versioned", "logs--use1-az4--x-s3"]  # the last is a directory bucket


def make_buckets(server: Server) -> None:
    s3 = Requests(server.netloc)
    s3.expect(200, "PUT", "/plain")
    s3.expect(200, "PUT", "/versioned")
    s3.expect(
        200, "PUT", "/versioned?versioning=", b"<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>"
    )
    location = "<Location><Name>use1-az4</Name><Type>AvailabilityZone</Type></Location>"
    kind = "<Bucket><DataRedundancy>SingleAvailabilityZone</DataRedundancy><Type>Directory</Type></Bucket>"
    document = f"<CreateBucketConfiguration>{location}{kind}</CreateBucketConfiguration>"
    s3.expect(200, "PUT", f"/{BUCKETS[2]}", document.encode())
