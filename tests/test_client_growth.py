"""No descriptors, threads or memory more after many requests, some of which failed: 20,000, and PENSTOCK_LONG=1 a million."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import penstock
import pytest
from penstock_conformance._admin import Admin

LONG = bool(os.environ.get("PENSTOCK_LONG"))
REQUESTS = int(os.environ.get("PENSTOCK_GROWTH_REQUESTS", "1000000" if LONG else "20000"))
THREADS = 8
WARM = 0.25  # of the requests, before the first look
MOST_GROWTH = 16 << 20  # bytes of resident memory; a hundred bytes a request would be a hundred million
DATA = os.urandom(4000)
BUCKET, DIRECTORY = "growth", "growth--use1-az4--x-s3"
REQUESTS_OF_A_ROUND = 8.5  # 6 in the one bucket, 11 in the other

FAULTS = [
    {"id": "throttled", "when": {"probability": 0.001}, "do": {"slow_down": {}}},
    {"id": "failed", "when": {"probability": 0.003}, "do": {"error": {"code": "InternalError"}}},
    {"id": "reset", "when": {"probability": 0.004}, "do": {"reset": {}, "at": "after_commit"}},
    {"id": "cut", "when": {"operation": "GetObject", "probability": 0.01}, "do": {"fin": {}, "at": "body_out@40"}},
    {"id": "refused", "when": {"operation": "HeadObject", "probability": 0.01}, "do": {"error": {"code": "AccessDenied"}}},
    {"id": "ended", "when": {"bucket": {"exactly": DIRECTORY}, "nth": "every 500"}, "do": {"credentials": {"mode": "expired"}}},
]  # fmt: skip


@pytest.fixture
def client(start_emulator) -> Iterator[penstock.S3Client]:
    with start_emulator() as emulator:
        config = penstock.S3ClientConfig(
            force_path_style=True, access_key_id=emulator.access_key, secret_access_key=emulator.secret_key
        )
        client = penstock.S3Client(emulator.region, endpoint=emulator.endpoint, s3client_config=config)
        client.create_bucket(BUCKET)
        client.create_bucket(DIRECTORY)
        Admin(emulator.admin).set_faults({"seed": 5, "rules": FAULTS})
        yield client
        Admin(emulator.admin).clear_faults()


def round_of(client: penstock.S3Client, number: int) -> int:
    """Some requests; how many calls failed for good, of those that are refused now and then."""
    return plain_requests(client, BUCKET, f"{number % 64}") if number % 2 else directory_requests(client, number)


def plain_requests(client: penstock.S3Client, bucket: str, key: str) -> int:
    """Six."""
    put(client, bucket, key)
    assert client.get_object(bucket, key).read() == DATA
    reader = client.get_object(bucket, key)
    assert reader.read(10) == DATA[:10]
    next(iter(client.list_objects(bucket, max_keys=5)))
    client.delete_object(bucket, f"{key}-other")
    try:
        client.head_object(bucket, key)
    except penstock.S3AccessDeniedError:
        return 1
    return 0


def directory_requests(client: penstock.S3Client, number: int) -> int:
    """The same, and an object is appended to and renamed. Keys of this thread alone: the same bytes again have another ETag."""
    key = f"{threading.get_ident()}/{number % 64}"
    refused = plain_requests(client, DIRECTORY, key)
    put(client, DIRECTORY, key)
    try:
        writer = client.append_object(DIRECTORY, key)
    except penstock.S3AccessDeniedError:  # of its HEAD
        return refused + 1
    writer.write(DATA)
    try:
        writer.close()
    except penstock.S3Exception:  # an answer was lost, and the look at the object refused
        assert writer.unsettled == len(DATA)
        writer.close()
    client.rename_object(DIRECTORY, key, f"{key}-renamed")
    assert client.get_object(DIRECTORY, f"{key}-renamed").read() == DATA + DATA
    return refused


def put(client: penstock.S3Client, bucket: str, key: str) -> None:
    with client.put_object(bucket, key) as writer:
        writer.write(DATA)


def usage() -> tuple[int, int, int]:
    """Descriptors, threads, bytes of resident memory."""
    gc.collect()
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return len(os.listdir("/proc/self/fd")), int(status["Threads"]), int(status["VmRSS"].split()[0]) << 10  # noqa: PTH208


@pytest.mark.timeout(7200 if LONG else 180)
def test_many_requests_leave_nothing_behind(client):
    rounds = int(REQUESTS / REQUESTS_OF_A_ROUND) // THREADS
    with ThreadPoolExecutor(THREADS) as threads:

        def run(count: int) -> int:  # one future for each thread: one for each round would be memory of this test's own
            return sum(threads.map(lambda thread: sum(round_of(client, thread * 7 + n) for n in range(count)), range(THREADS)))

        refused = run(int(rounds * WARM))
        fds, count, memory = usage()
        refused += run(int(rounds * (1 - WARM)))
        later_fds, later_count, later_memory = usage()
    stats = client.stats()
    print(f"{sum(stats['requests'].values())} requests, {stats['retries']} retries: descriptors {fds} to {later_fds}, "
          f"threads {count} to {later_count}, memory {memory} to {later_memory}")  # fmt: skip
    assert refused, "HEADs were refused"
    assert stats["retries"] > REQUESTS // 500
    assert stats["requests"]["CreateSession"] > REQUESTS // 2000, "sessions were replaced"
    assert sum(stats["requests"].values()) > REQUESTS * 0.98
    assert later_fds <= fds + 2 * THREADS  # connections come and go
    assert later_count <= count
    assert later_memory <= memory + MOST_GROWTH
