"""The reference connector's wheel, whose requests name no invocation, meets the named scenarios as they say it does."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
import s3torchconnector
from penstock.testing import Emulator
from s3torchconnector._s3client import S3Client

RANKS = 8


@pytest.fixture
def emulator(monkeypatch):
    with Emulator() as instance:
        for name, value in instance.environment().items():
            monkeypatch.setenv(name, value)
        client = instance.client()
        client.create_bucket("bucket")
        with client.put_object("bucket", "data/key") as writer:
            writer.write(b"0123456789")
        yield instance


def rank_client(emulator):
    config = s3torchconnector.S3ClientConfig(force_path_style=True)
    return S3Client(region="us-east-1", endpoint=emulator.endpoint, s3client_config=config)


@pytest.mark.parametrize(
    ("scenario", "work", "least"),
    [
        ("list-stampede", lambda client: list(client.list_objects("bucket", "data/")), RANKS),
        ("hot-prefix", lambda client: client.get_object("bucket", "data/key").read(), RANKS // 2),
    ],
)
def test_ranks_that_start_together_are_throttled_and_succeed(emulator, scenario, work, least):
    emulator.journal().clear()
    emulator.faults().set(scenario)
    with ThreadPoolExecutor(RANKS) as pool:
        for future in [pool.submit(lambda: work(rank_client(emulator))) for _ in range(RANKS)]:
            future.result()
    entries = emulator.journal().entries()
    assert not any(entry.invocation for entry in entries)
    refused = Counter(entry.connection for entry in entries if entry.status == 503)
    assert least <= refused.total() <= 3 * RANKS
    assert max(refused.values()) <= 3, "on its connection a rank is refused at most three times"
