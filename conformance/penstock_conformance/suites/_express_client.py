"""S3 Express One Zone as a client sees it: which host a bucket's name leads to, and sessions."""

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

from penstock._offline_environment import environment_set

from .._suite import NotRun, Suite, Trial
from ._directory_bucket import Directory, directory
from ._express import DATA

suite = Suite(
    "express-client",
    "S3 Express One Zone: clients",
    "The host that each bucket's name, region and flags lead to; one session for many threads; renames.",
    resource=directory,
)

_FLAGS = {"fips": "AWS_USE_FIPS_ENDPOINT", "dual_stack": "AWS_USE_DUALSTACK_ENDPOINT"}
THREADS = 16


class ConnectRecorder:
    """An HTTP proxy that notes which hosts clients want to reach, and lets nobody through."""

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
    """The environment of a client that would go to AWS, were it not for the proxy."""
    variables: dict[str, str | None] = {"AWS_ENDPOINT_URL": None, "NO_PROXY": None, "no_proxy": None, "AWS_MAX_ATTEMPTS": "1"}
    variables |= {"HTTPS_PROXY": recorder.url, "https_proxy": recorder.url, "http_proxy": None}
    variables |= {name: "true" if flags.get(flag) else None for flag, name in _FLAGS.items()}
    with environment_set(variables):
        yield


@suite.check("hosts", "a bucket's name, the region and the flags lead to exactly the documented host")
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
    """Nobody is let through: the client's error tells nothing. What it cannot at all, it says by NotRun."""
    with suppress(Exception):
        trial.client.reach(bucket, region, path_style=path_style)


def _with_sessions(trial: Trial) -> Directory:
    """The suite's resource, where the endpoint gives sessions: without them no client can do what these checks ask."""
    there: Directory = trial.resource
    if refusal := trial.bench.once("express-client/sessions", lambda: _refusal_of_sessions(there)):
        raise NotRun(f"the endpoint gives no sessions: {refusal}")
    return there


def _refusal_of_sessions(there: Directory) -> str:
    try:
        there.session(there.bucket())
    except (ValueError, ElementTree.ParseError) as error:
        return str(error)
    return ""


def _renames(there: Directory) -> bool:
    bucket = there.bucket()
    there.put(bucket, "a", b"content")
    there.ask("PUT", f"/{bucket}/b", query="renameObject", headers={"x-amz-rename-source": "a"})
    return there.keys(bucket)[0] == ["b"] and there.ask("GET", f"/{bucket}/b").body == b"content"


@suite.check("one-session", "many threads that begin at once on a directory bucket share one CreateSession")
def one_session(trial: Trial) -> None:
    there = _with_sessions(trial)
    bucket = there.bucket()
    there.put(bucket, "k", b"content")
    client = trial.client
    start = threading.Barrier(THREADS)

    def read(_: int) -> bytes:
        start.wait()
        return client.get(bucket, "k")

    with ThreadPoolExecutor(THREADS) as pool:
        found = set(pool.map(read, range(THREADS)))
    trial.expect_equal(found, {b"content"}, "what was read")
    trial.expect_equal(len(trial.records.of("CreateSession")), 1, "CreateSession requests")


@suite.check("session-tokens", "requests about objects bring the session's token, and not the credentials' own")
def session_tokens(trial: Trial) -> None:
    there = _with_sessions(trial)
    bucket = there.bucket()
    trial.client.put(bucket, "folder/k", b"content")
    trial.expect_equal(trial.client.get(bucket, "folder/k"), b"content", "what was read")
    requests = [record for record in trial.records if record.key]
    without_it = [str(record) for record in requests if "x-amz-s3session-token" not in record.headers]
    trial.expect(requests and not without_it, f"requests without a session's token: {without_it[:3]}")
    both = [str(record) for record in requests if "x-amz-security-token" in record.headers]
    trial.expect(not both, f"requests with x-amz-security-token: {both[:3]}")
    wrong = [str(record) for record in trial.records if "/s3express/aws4_request" not in record.headers.get("authorization", "")]
    trial.expect(not wrong, f"requests that are not signed for s3express: {wrong[:3]}")


@suite.check("listing", "every key of a directory bucket is listed once, and nothing is asked of its order")
def listing(trial: Trial) -> None:
    there = _with_sessions(trial)
    bucket = there.bucket()
    wanted = [f"{folder}{i}" for folder in ("", "a/", "b/c/") for i in range(5)]
    for key in wanted:
        there.put(bucket, key, b"x")
    trial.expect_equal(sorted(trial.client.keys(bucket, "")), sorted(wanted), "all keys")
    trial.expect_equal(sorted(trial.client.keys(bucket, "a/")), sorted(key for key in wanted if key.startswith("a/")), "below a/")


@suite.check("rename", "a rename is one RenameObject, and copies nothing")
def rename(trial: Trial) -> None:
    there = _with_sessions(trial)
    if not trial.bench.once("express-client/renames", lambda: _renames(there)):
        raise NotRun("the endpoint renames no objects")
    bucket = there.bucket()
    there.put(bucket, "a", b"content")
    trial.client.rename(bucket, "a", "b")
    trial.expect_equal([str(record.key) for record in trial.records.of("RenameObject")], ["b"], "RenameObject requests")
    trial.expect_equal(len(trial.records.of("CopyObject", "DeleteObject")), 0, "copies and deletions")
    found: Any = there.ask("GET", f"/{bucket}/b").body
    trial.expect_equal(found, b"content", "content under the new key")
