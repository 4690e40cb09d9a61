"""S3 Express One Zone from the client's side: endpoint hosts, sessions and renames."""

from __future__ import annotations

import os
import re
import socket
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any
from xml.etree import ElementTree

from penstock_emulator.offline_environment import environment_set

from .._suite import Suite, Trial
from .._verdict import NotRun
from ._directory_bucket import DirectoryBuckets, directory
from ._express import DATA

suite = Suite(
    "express-client",
    "S3 Express One Zone: clients",
    "The endpoint host for each bucket name, region and flag; one session shared by all threads; renames.",
    resource=directory,
)

_FLAGS = {"fips": "AWS_USE_FIPS_ENDPOINT", "dual_stack": "AWS_USE_DUALSTACK_ENDPOINT"}
THREADS = 16


class ConnectRecorder:
    """An HTTP proxy that records the host of each CONNECT request and refuses the connection."""

    def __init__(self) -> None:
        self.hosts: list[str] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection, suppress(OSError):
                connection.settimeout(10)
                head = b""
                while b"\r\n\r\n" not in head and (piece := connection.recv(4096)):
                    head += piece
                if found := re.match(rb"CONNECT ([^ :]+):\d+ ", head):
                    self.hosts.append(found[1].decode())
                connection.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")


@contextmanager
def _to_aws(recorder: ConnectRecorder, flags: Mapping[str, bool]) -> Iterator[None]:
    """Sets the environment of a client that connects to AWS through the recording proxy."""
    variables: dict[str, str | None] = {"AWS_ENDPOINT_URL": None, "NO_PROXY": None, "no_proxy": None, "AWS_MAX_ATTEMPTS": "1"}
    variables |= {"HTTPS_PROXY": recorder.url, "https_proxy": recorder.url, "http_proxy": None}
    variables |= {name: "true" if flags.get(flag) else None for flag, name in _FLAGS.items()}
    with environment_set(variables):
        yield


@suite.check("hosts", "bucket name, region and flags select exactly the documented host")
def hosts(trial: Trial) -> None:
    recorder = ConnectRecorder()
    rows = []
    try:
        for row in DATA["hosts"]:
            flags = row.get("flags", {})
            recorder.hosts.clear()
            with _to_aws(recorder, flags):
                _reach(trial, row["bucket"], row["region"], path_style=flags.get("path_style", False))
            found = sorted(set(recorder.hosts))
            where = " ".join([row["bucket"], row["region"], *flags])
            trial.expect_equal(found, [row["host"]], where)
            rows.append([where, ", ".join(found)])
    finally:
        recorder.close()
    trial.evidence(hosts=rows, environment=sorted(name for name in os.environ if name.startswith("AWS_")))


def _reach(trial: Trial, bucket: str, region: str, *, path_style: bool) -> None:
    """Ignores the client's error, since the proxy refuses each connection. NotRun is not an Exception and passes."""
    with suppress(Exception):
        trial.client.reach(bucket, region, path_style=path_style)


def _with_sessions(trial: Trial) -> DirectoryBuckets:
    """The suite's resource, if the endpoint supports sessions, which these checks need.

    Raises:
        NotRun: the endpoint does not support sessions.
    """
    buckets: DirectoryBuckets = trial.resource
    if error := trial.bench.once("express-client/sessions", lambda: _session_error(buckets)):
        raise NotRun(f"the endpoint does not support sessions: {error}")
    return buckets


def _session_error(buckets: DirectoryBuckets) -> str:
    try:
        buckets.session(buckets.new_bucket())
    except (ValueError, ElementTree.ParseError) as error:
        return str(error)
    return ""


def _renames(buckets: DirectoryBuckets) -> bool:
    bucket = buckets.new_bucket()
    buckets.put(bucket, "a", b"content")
    buckets.request("PUT", f"/{bucket}/b", query="renameObject", headers={"x-amz-rename-source": "a"})
    return buckets.keys(bucket)[0] == ["b"] and buckets.request("GET", f"/{bucket}/b").body == b"content"


@suite.check("one-session", "threads that start at once on a directory bucket share one CreateSession request")
def one_session(trial: Trial) -> None:
    buckets = _with_sessions(trial)
    bucket = buckets.new_bucket()
    buckets.put(bucket, "k", b"content")
    client = trial.client
    start = threading.Barrier(THREADS)

    def read(_: int) -> bytes:
        start.wait()
        return client.get(bucket, "k")

    with ThreadPoolExecutor(THREADS) as pool:
        found = set(pool.map(read, range(THREADS)))
    trial.expect_equal(found, {b"content"}, "content read")
    trial.expect_equal(len(trial.records.of("CreateSession")), 1, "CreateSession requests")


@suite.check("session-tokens", "object requests carry the session token, and not the token of the credentials")
def session_tokens(trial: Trial) -> None:
    buckets = _with_sessions(trial)
    bucket = buckets.new_bucket()
    trial.client.put(bucket, "folder/k", b"content")
    trial.expect_equal(trial.client.get(bucket, "folder/k"), b"content", "content read")
    requests = [record for record in trial.records if record.key]
    without_it = [str(record) for record in requests if "x-amz-s3session-token" not in record.headers]
    trial.expect(requests and not without_it, f"requests without a session token: {without_it[:3]}")
    both = [str(record) for record in requests if "x-amz-security-token" in record.headers]
    trial.expect(not both, f"requests with x-amz-security-token: {both[:3]}")
    wrong = [str(record) for record in trial.records if "/s3express/aws4_request" not in record.headers.get("authorization", "")]
    trial.expect(not wrong, f"requests not signed for s3express: {wrong[:3]}")


@suite.check("listing", "a listing of a directory bucket has each key once, in any order")
def listing(trial: Trial) -> None:
    buckets = _with_sessions(trial)
    bucket = buckets.new_bucket()
    wanted = [f"{folder}{i}" for folder in ("", "a/", "b/c/") for i in range(5)]
    for key in wanted:
        buckets.put(bucket, key, b"x")
    trial.expect_equal(sorted(trial.client.keys(bucket, "")), sorted(wanted), "all keys")
    trial.expect_equal(sorted(trial.client.keys(bucket, "a/")), sorted(key for key in wanted if key.startswith("a/")), "below a/")


@suite.check("rename", "a rename is one RenameObject request, without a copy")
def rename(trial: Trial) -> None:
    buckets = _with_sessions(trial)
    if not trial.bench.once("express-client/renames", lambda: _renames(buckets)):
        raise NotRun("the endpoint does not support RenameObject")
    bucket = buckets.new_bucket()
    buckets.put(bucket, "a", b"content")
    trial.client.rename(bucket, "a", "b")
    trial.expect_equal([str(record.key) for record in trial.records.of("RenameObject")], ["b"], "RenameObject requests")
    trial.expect_equal(len(trial.records.of("CopyObject", "DeleteObject")), 0, "CopyObject and DeleteObject requests")
    found: Any = buckets.request("GET", f"/{bucket}/b").body
    trial.expect_equal(found, b"content", "content under the new key")
