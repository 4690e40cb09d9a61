"""Servers that benchmarks talk to: our emulator, moto. Each a process of its own on a free port of 127.0.0.1."""

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

    def presigned(self, bucket: str, key: str) -> str:
        url: str = self.boto3().generate_presigned_url("get_object", Params={"Bucket": bucket, "Key": key}, ExpiresIn=7200)
        return url


@contextlib.contextmanager
def penstock_emulator(*options: str, journal: bool = False) -> Iterator[Server]:
    """Ours, without a journal unless a row is about that: what it costs is `faults.journal`."""
    program = BUILD / "emulator/server/penstock-emulator"
    chosen = options if journal else (*options, "--journal-bytes", "0")
    process = subprocess.Popen([str(program), "--port", "0", *chosen], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield Server(json.loads(process.stdout.readline())["endpoint"], process.pid)
    finally:
        process.terminate()
        process.wait(START_TIMEOUT_S)


def ask(admin: str, path: str, question: Any = None) -> Any:
    """What the emulator whose admin API is at `admin` answers to GET `path`, or to POST with `question`, as JSON."""
    data = None if question is None else json.dumps(question).encode()
    with urllib.request.urlopen(f"{admin}/_penstock/{path}", data=data, timeout=START_TIMEOUT_S) as answer:
        return json.load(answer)


def free_port() -> int:
    """One that was free just now."""
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
