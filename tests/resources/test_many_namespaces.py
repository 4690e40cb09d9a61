"""Many namespaces in a data directory need few descriptors: idle ones are closed, and opened again at the next request.

A normal run creates 100 namespaces with 128 descriptors. With PENSTOCK_LONG=1 it creates 10,000 with 1,024.
"""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

PROGRAM = Path(os.environ["PENSTOCK_BUILD_DIR"], "emulator/server/penstock-emulator")
LONG = bool(os.environ.get("PENSTOCK_LONG"))
NAMESPACES = 10_000 if LONG else 100
DESCRIPTORS = 1_024 if LONG else 128
MAX_THREADS = 150  # of the process: those of the server and of the open namespaces


def send(
    connection: http.client.HTTPConnection, method: str, path: str, body: bytes = b"", key: tuple[str, str] | None = None
) -> bytes:
    headers = {}
    if key is not None:
        request = AWSRequest(method=method, url=f"http://{connection.host}:{connection.port}{path}", data=body)
        S3SigV4Auth(Credentials(*key), "s3", "us-east-1").add_auth(request)
        headers = dict(request.headers.items())
    connection.request(method, path, body=body, headers=headers)
    response = connection.getresponse()
    text = response.read()
    assert 200 <= response.status < 300, (method, path, response.status, text)
    return text


def connect(url: str) -> http.client.HTTPConnection:
    return http.client.HTTPConnection(urllib.parse.urlsplit(url).netloc, timeout=60)


@contextmanager
def running(data: Path, descriptors: int) -> Iterator[tuple[subprocess.Popen[str], dict[str, str]]]:
    command = ["prlimit", f"--nofile={descriptors}:{descriptors}", str(PROGRAM), "--port", "0", "--data", str(data)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process, json.loads(process.stdout.readline())
    finally:
        process.terminate()
        assert process.wait(60) == 0


@pytest.mark.timeout(7_200 if LONG else 180)  # each namespace needs about 20 fsyncs
def test_idle_namespaces_use_no_descriptors_or_threads(tmp_path: Path) -> None:
    with running(tmp_path, DESCRIPTORS) as (process, ready):
        admin, s3 = connect(ready["admin"]), connect(ready["endpoint"])
        keys = []
        for number in range(NAMESPACES):
            created = json.loads(send(admin, "POST", "/_penstock/namespaces", json.dumps({"name": f"n{number}"}).encode()))
            keys.append((created["access_key_id"], created["secret_access_key"]))
            send(s3, "PUT", "/bucket", key=keys[-1])
            send(s3, "PUT", "/bucket/key", str(number).encode(), key=keys[-1])
        for number, key in enumerate(keys):
            assert send(s3, "GET", "/bucket/key", key=key) == str(number).encode()
        assert len(list(Path(f"/proc/{process.pid}/fd").iterdir())) < DESCRIPTORS * 3 // 4
        assert len(list(Path(f"/proc/{process.pid}/task").iterdir())) < MAX_THREADS
        fresh = connect(ready["admin"])  # The server may have closed the idle connection.
        assert json.loads(send(fresh, "GET", "/_penstock/stats"))["diagnostics"] == {}


def test_deletions_of_idle_namespaces_use_few_descriptors(tmp_path: Path) -> None:
    count, descriptors = 100, 256
    with running(tmp_path, descriptors) as (_, ready):
        admin = connect(ready["admin"])
        for number in range(count):
            send(admin, "POST", "/_penstock/namespaces", json.dumps({"name": f"n{number}"}).encode())
    with running(tmp_path, descriptors) as (process, ready):
        admin = connect(ready["admin"])
        for number in range(count):
            send(admin, "DELETE", f"/_penstock/namespaces/n{number}")
            assert len(list(Path(f"/proc/{process.pid}/fd").iterdir())) < descriptors * 3 // 4
        assert json.loads(send(admin, "GET", "/_penstock/stats"))["diagnostics"] == {}
