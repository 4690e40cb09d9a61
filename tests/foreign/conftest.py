"""Fixtures for other projects' clients on our emulator, and for our client on other projects' servers."""

from __future__ import annotations

import contextlib
import itertools
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import boto3
import pytest
from botocore.config import Config
from penstock.testing import Emulator

_numbers = itertools.count()
START_TIMEOUT_S = 30
START_ATTEMPTS = 3


@pytest.fixture(scope="session", params=["http", "https"])
def s3(request: pytest.FixtureRequest, certificate: tuple[Path, Path]) -> Iterator[SimpleNamespace]:
    """The emulator, over plain HTTP and over TLS, with what a client needs to reach it."""
    pem, key = certificate
    tls = request.param == "https"
    with Emulator(tls_cert=str(pem) if tls else None, tls_key=str(key) if tls else None) as emulator:
        yield SimpleNamespace(
            emulator=emulator,
            endpoint=emulator.endpoint,
            ca=str(pem) if tls else None,
            credentials={
                "aws_access_key_id": emulator.access_key_id,
                "aws_secret_access_key": emulator.secret_access_key,
                "region_name": emulator.region,
            },
        )


@pytest.fixture
def boto(s3: SimpleNamespace):
    config = Config(s3={"addressing_style": "path"}, signature_version="s3v4", retries={"max_attempts": 1})
    return boto3.client("s3", endpoint_url=s3.endpoint, verify=s3.ca, config=config, **s3.credentials)


@pytest.fixture
def bucket(boto) -> str:
    name = f"foreign-{next(_numbers)}"
    boto.create_bucket(Bucket=name)
    return name


def start_foreign_server(name: str, command: list[str]) -> tuple[subprocess.Popen[bytes], int]:
    """Starts a server that another project wrote; `{port}` in its command is the port to listen on.

    These servers cannot listen on port 0 and report the port. A server that ends before it listens may have lost its port to
    another process; it is started again on another port.

    Returns:
        The process and its port.
    """
    for _ in range(START_ATTEMPTS):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        words = [word.format(port=port) for word in command]
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + START_TIMEOUT_S
        while process.poll() is None and time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                return process, port
            time.sleep(0.02)
        process.kill()
        process.wait()
    raise AssertionError(f"{name} did not listen within {START_TIMEOUT_S} s in {START_ATTEMPTS} attempts")


@contextlib.contextmanager
def foreign_server(name: str, command: list[str]) -> Iterator[str]:
    """Runs a server as `start_foreign_server` does. Yields its endpoint."""
    process, port = start_foreign_server(name, command)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(START_TIMEOUT_S)


@pytest.fixture(scope="session")
def moto_endpoint() -> Iterator[str]:
    with foreign_server("moto", [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", "{port}"]) as endpoint:
        yield endpoint


@pytest.fixture(scope="session")
def rclone_endpoint() -> Iterator[str]:
    """rclone of PyPI, newer than Debian's: it serves S3 from memory, and verifies signatures (testing / testing)."""
    rclone = str(Path(os.environ["PENSTOCK_CLIENTS_PYTHON"]).parent / "rclone")
    command = [rclone, "serve", "s3", "--auth-key", "testing,testing", "--addr", "127.0.0.1:{port}", ":memory:"]
    with foreign_server("rclone", [*command, "--config", os.devnull]) as endpoint:
        yield endpoint
