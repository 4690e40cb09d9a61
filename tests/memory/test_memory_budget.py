"""Many large streams of one process stay within its memory limit. The tests measure resident memory.

`./dev test --long` reads 1 GiB in each of 64 threads.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config

BUILD = Path(os.environ["PENSTOCK_BUILD_DIR"])
LONG = bool(os.environ.get("PENSTOCK_LONG"))
MIB = 1024**2
THREADS = 64
READ_SIZE = 1024 * MIB if LONG else 24 * MIB
WRITE_SIZE = 96 * MIB if LONG else 12 * MIB
LIMIT = 256 * MIB if LONG else 64 * MIB
# Memory that the limit does not cover: thread stacks, allocator arenas, connections and code pages.
OVERHEAD = 64 * MIB  # 64 threads
OVERHEAD_ONE_THREAD = 16 * MIB
TIMEOUT_S = 1500 if LONG else 120  # of one process
pytestmark = pytest.mark.timeout(2 * TIMEOUT_S if LONG else 180)
KEYS = {"AWS_ACCESS_KEY_ID": "penstock", "AWS_SECRET_ACCESS_KEY": "penstock-secret"}


@contextlib.contextmanager
def emulator(data: Path) -> Iterator[str]:
    command = [str(BUILD / "emulator/server/penstock-emulator"), "--port", "0", "--admin-port", "-1", "--data", str(data)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())["endpoint"]
    finally:
        process.terminate()
        process.wait(30)


def run(verb: str, endpoint: str, key: str, size: int) -> dict[str, int]:
    command = [str(BUILD / "tests/memory/parallel_streams"), verb, endpoint, "bucket", key, str(THREADS), str(size), str(LIMIT)]
    env = {**os.environ, **KEYS}
    completed = subprocess.run(command, env=env, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    assert completed.returncode == 0, completed.stderr
    return json.loads(completed.stdout)


@contextlib.contextmanager
def large_object(size: int) -> Iterator[tuple[str, Any]]:
    """Runs an emulator with ``bucket/object`` of `size` bytes (0: only the bucket). Yields its endpoint and a boto3 client."""
    with tempfile.TemporaryDirectory() as folder, emulator(Path(folder)) as endpoint:
        client = boto3.client(
            "s3", endpoint_url=endpoint, aws_access_key_id=KEYS["AWS_ACCESS_KEY_ID"], region_name="us-east-1",
            aws_secret_access_key=KEYS["AWS_SECRET_ACCESS_KEY"], config=Config(s3={"addressing_style": "path"}),
        )  # fmt: skip
        client.create_bucket(Bucket="bucket")
        if size:
            path = Path(folder) / "large"
            with path.open("wb") as file:
                file.truncate(size)
            client.upload_file(str(path), "bucket", "object")
        yield endpoint, client


@pytest.mark.parametrize(("verb", "size"), [("read", READ_SIZE), ("write", WRITE_SIZE)])
def test_64_streams_stay_within_the_limit(verb, size):
    with large_object(size if verb == "read" else 0) as (endpoint, client):
        used = run(verb, endpoint, "object", size)
        listed = client.list_objects_v2(Bucket="bucket")["Contents"]
    assert [entry["Size"] for entry in listed] == [size] * (1 if verb == "read" else THREADS)
    assert used["held"] == 0
    assert used["beyond_limit"] == 0
    assert used["peak_held"] <= LIMIT
    assert used["grown_kib"] * 1024 <= LIMIT + OVERHEAD


def test_streams_read_in_turn_stay_within_the_limit_and_free_their_memory():
    """Streams that one thread reads in turn use small blocks, which must replace the earlier large blocks in memory."""
    with large_object(READ_SIZE) as (endpoint, _):
        used = run("turns", endpoint, "object", READ_SIZE)
    assert used["peak_held"] <= LIMIT
    assert used["grown_kib"] * 1024 <= LIMIT + OVERHEAD_ONE_THREAD
    assert used["left_kib"] * 1024 <= LIMIT // 4 + OVERHEAD_ONE_THREAD
