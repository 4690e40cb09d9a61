"""Many requests, some of which fail, leak no descriptors, threads or memory: 20,000 requests, with PENSTOCK_LONG=1 a million."""

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
WARM = 0.25  # the share of requests before the first measurement
MOST_GROWTH = 16 << 20  # bytes of resident memory; a leak of 100 bytes per request would be 100 MB
DATA = os.urandom(4000)
BUCKET, DIRECTORY = "growth", "growth--use1-az4--x-s3"
REQUESTS_OF_A_ROUND = 8.5  # the mean of 6 in one bucket and 11 in the other

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
    """Sends some requests. Returns how many calls failed because a fault rejected them."""
    return plain_requests(client, BUCKET, f"{number % 64}") if number % 2 else directory_requests(client, number)


def plain_requests(client: penstock.S3Client, bucket: str, key: str) -> int:
    """Sends six requests. Returns how many calls failed."""
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
    """`plain_requests`, an append and a rename. Each thread has its own keys, as equal bytes have different ETags here."""
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
    except penstock.S3Exception:  # a response was lost, and the HEAD that looks for the object was rejected
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
def test_many_requests_leak_no_descriptors_threads_or_memory(client):
    rounds = int(REQUESTS / REQUESTS_OF_A_ROUND) // THREADS
    with ThreadPoolExecutor(THREADS) as threads:

        def run(count: int) -> int:  # one future per thread, because one per round would use memory
            return sum(threads.map(lambda thread: sum(round_of(client, thread * 7 + n) for n in range(count)), range(THREADS)))

        refused = run(int(rounds * WARM))
        fds, count, memory = usage()
        refused += run(int(rounds * (1 - WARM)))
        later_fds, later_count, later_memory = usage()
    stats = client.metrics()
    print(f"{sum(stats['requests'].values())} requests, {stats['retries']} retries: descriptors {fds} to {later_fds}, "
          f"threads {count} to {later_count}, memory {memory} to {later_memory}")  # fmt: skip
    assert refused, "no HEAD was rejected"
    assert stats["retries"] > REQUESTS // 500
    assert stats["requests"]["CreateSession"] > REQUESTS // 2000, "too few sessions were replaced"
    assert sum(stats["requests"].values()) > REQUESTS * 0.98
    assert later_fds <= fds + 2 * THREADS  # the number of open connections varies
    assert later_count <= count
    assert later_memory <= memory + MOST_GROWTH
