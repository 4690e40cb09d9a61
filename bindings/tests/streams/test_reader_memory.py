"""The bytes that readers request beyond those read, and many readers that share the memory limit of the process."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import textwrap
import time

import pytest
from bucket_io import put
from penstock import _core

TIMEOUT_S = 60
MIB = 1024**2
KIB = 1024
SIZE = 40 * MIB
DATA = random.Random(5).randbytes(MIB) * 40


@pytest.fixture(scope="module")
def large(emulator):
    client = emulator.client()
    client.create_bucket("amplified")
    put(client, "amplified", "large", DATA)
    return "amplified", "large"


def gets(client):
    return client.metrics()["requests"].get("GetObject", 0)


class ReceivedBytes:
    """Bytes received since the construction, counted when no request is in flight."""

    def __init__(self, client):
        self.client, self.before = client, client.metrics()["bytes_received"]

    def total(self):
        deadline = time.monotonic() + TIMEOUT_S
        while _core.memory_usage()["in_flight"]:
            assert time.monotonic() < deadline, f"requests are in flight after {TIMEOUT_S} s"
            os.sched_yield()
        return self.client.metrics()["bytes_received"] - self.before


@pytest.fixture(params=[True, False], ids=["size known", "size unknown"])
def opened(request, client, large):
    info = client.head_object(*large) if request.param else None
    return lambda: client.get_object(*large, object_info=info)


@pytest.mark.parametrize(
    ("size", "reads"),
    [(1, 1), (1000, 2), (60_000, 1), (70_000, 1), (70_000, 2), (70_000, 4), (70_000, 8), (300_000, 3), (4096, 40), (3 * MIB, 3)],
)
def test_after_a_seek_at_most_four_times_the_bytes_read_are_requested(client, opened, size, reads):
    received = ReceivedBytes(client)
    with opened() as reader:
        position = reader.seek(20 * MIB + 3)
        for number in range(1, reads + 1):
            assert reader.read(size) == DATA[position : position + size]
            position += size
            assert received.total() <= max(64 * KIB, 4 * number * size)


@pytest.mark.parametrize(("size", "reads"), [(1000, 1), (70_000, 1), (70_000, 3), (300_000, 2)])
def test_random_reads_request_at_most_four_times_the_bytes_read(client, opened, size, reads):
    places = random.Random(7)
    received = ReceivedBytes(client)
    with opened() as reader:
        for _ in range(10):
            position = reader.seek(places.randrange(MIB, SIZE - MIB))
            for _ in range(reads):
                assert reader.read(size) == DATA[position : position + size]
                position += size
        bound = max(64 * KIB, size) if reads == 1 else max(64 * KIB, 4 * size * reads)
        assert received.total() <= 10 * bound + 64 * KIB  # one request that learns the size


def test_a_first_random_read_is_one_request_for_its_bytes(client, opened):
    reader = opened()
    reader.seek(5 * MIB)  # requests the size if it is unknown
    received, before = ReceivedBytes(client), gets(client)
    reader.seek(9 * MIB)
    assert reader.read(70_000) == DATA[9 * MIB : 9 * MIB + 70_000]
    assert received.total() == 70_000
    assert gets(client) == before + 1


def test_the_first_read_of_a_large_object_requests_one_mebibyte(client, opened):
    with opened() as reader:
        reader.read(10)
        received = ReceivedBytes(client)
        reader.read(1000)
        assert received.total() == 0


def test_a_seek_beyond_the_requested_bytes_is_a_new_request(client, opened):
    reader = opened()
    reader.seek(5 * MIB)
    reader.read(10)
    received = ReceivedBytes(client)
    for step in range(1, 11):
        reader.seek(5 * MIB + step * 300_000)
        reader.read(10)
    assert received.total() == 10 * 64 * KIB


def test_sequential_reading_uses_few_requests(client, opened):
    with opened() as reader:
        reader.seek(MIB)
        before = gets(client)
        while reader.read(64 * KIB):
            pass
        assert gets(client) - before <= 24


MANY_READERS = """
    import penstock
    from penstock import _core
    from penstock.testing import Emulator

    MIB = 1024**2
    penstock.set_memory_limit({limit} * MIB)
    with Emulator() as s3:
        client = penstock.S3Client(s3.region, endpoint=s3.endpoint, s3client_config=s3.config())
        client.create_bucket("bkt")
        data = bytes(range(256)) * (20 * MIB // 256)
        with client.put_object("bkt", "k") as writer:
            writer.write(data)
        readers = [client.get_object("bkt", "k", reader_constructor={kind}) for _ in range(40)]
        position = 0
        while position < len(data):
            for reader in readers:
                assert reader.read({step}) == data[position : position + {step}]
            position += {step}
        usage = _core.memory_usage()
        assert usage["beyond_limit"] == 0 and usage["waiting"] == 0, usage
        assert usage["peak_held"] <= {limit} * MIB, usage
"""


@pytest.mark.parametrize(
    ("limit", "step", "kind"),
    [(16, 700_001, "None"), (64, 4 * MIB, "None"), (64, 4 * MIB, "penstock.S3ReaderConstructor.sequential()")],
)
def test_readers_read_in_turn_never_exceed_the_memory_limit(limit, step, kind):
    """One thread that read 64 readers in turn used to wait 1 s in most of its reads.

    A request that waits that long may exceed the limit, which is counted. Runs in its own process, which has its own limit.
    """
    script = textwrap.dedent(MANY_READERS).format(limit=limit, step=step, kind=kind)
    done = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
