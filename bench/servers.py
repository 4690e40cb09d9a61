"""Servers that benchmarks measure: our emulator and moto. Each is a process that listens on a free port of 127.0.0.1."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from harness import BUILD

ACCESS_KEY, SECRET_KEY = "penstock", "penstock-secret"
CREDENTIALS = {"AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY, "AWS_REGION": "us-east-1"}
START_TIMEOUT_S = 30
WITHOUT_JOURNAL = "without a journal"


@dataclass
class Server:
    endpoint: str
    pid: int
    admin: str = ""  # the admin API of our emulator

    def boto3(self) -> Any:
        import boto3
        from botocore.config import Config

        return boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            region_name="us-east-1",
            aws_access_key_id=ACCESS_KEY,
            aws_secret_access_key=SECRET_KEY,
            config=Config(s3={"addressing_style": "path"}, signature_version="s3v4"),
        )

    def presigned(self, bucket: str, key: str, verb: str = "get") -> str:
        url: str = self.boto3().generate_presigned_url(f"{verb}_object", Params={"Bucket": bucket, "Key": key}, ExpiresIn=7200)
        return url


@contextlib.contextmanager
def penstock_emulator(*options: str, journal: bool = False) -> Iterator[Server]:
    """Our emulator, without a journal unless `journal`: the journal's cost is the row `faults.journal`."""
    program = BUILD / "emulator/server/penstock-emulator"
    chosen = options if journal else (*options, "--journal-size", "0")
    process = subprocess.Popen([str(program), "--port", "0", *chosen], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline())
        yield Server(ready["endpoint"], process.pid, ready["admin"])
    finally:
        process.terminate()
        process.wait(START_TIMEOUT_S)


def ask(server: Server, path: str, question: Any = None) -> Any:
    """Sends GET `path`, or POST `path` with `question` as JSON, to the admin API of our emulator. Returns the JSON response."""
    data = None if question is None else json.dumps(question).encode()
    with urllib.request.urlopen(f"{server.admin}/_penstock/{path}", data=data, timeout=START_TIMEOUT_S) as response:
        return json.load(response)


def free_port() -> int:
    """A port that no process listened on a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    return port


@contextlib.contextmanager
def moto() -> Iterator[Server]:
    port = free_port()
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + START_TIMEOUT_S
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                if time.monotonic() > deadline:
                    raise SystemExit(f"bench: moto did not start within {START_TIMEOUT_S} s") from None
                time.sleep(0.1)
        yield Server(f"http://127.0.0.1:{port}", process.pid)
    finally:
        process.terminate()
        process.wait(START_TIMEOUT_S)
