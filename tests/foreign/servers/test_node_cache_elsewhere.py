"""The node cache over servers that share no code with Penstock: moto and rclone's."""

from __future__ import annotations

import os
from types import SimpleNamespace

import penstock
import pytest

MIB = 1024**2


@pytest.fixture(params=["moto", "rclone"])
def server(request) -> SimpleNamespace:
    """A server's endpoint and name."""
    return SimpleNamespace(name=request.param, endpoint=request.getfixturevalue(f"{request.param}_endpoint"))


@pytest.fixture
def cached(server, tmp_path):
    config = penstock.S3ClientConfig(
        force_path_style=True, access_key_id="testing", secret_access_key="testing", max_attempts=2, cache=str(tmp_path)
    )
    return penstock.S3Client("us-east-1", endpoint=server.endpoint, s3client_config=config)


def put(client, bucket, key, data):
    with client.put_object(bucket, key) as writer:
        writer.write(data)


@pytest.mark.parametrize("size", [0, 1, MIB - 1, MIB, MIB + 1, 9 * MIB])
def test_a_second_read_comes_from_the_cache(cached, server, size):
    bucket, data = f"cache-{server.name}-{size}", os.urandom(size)
    cached.create_bucket(bucket)
    put(cached, bucket, "k", data)
    for _ in range(2):
        before = cached.metrics()["cache"]
        assert cached.get_object(bucket, "k").read() == data
    if size > 0:
        after = cached.metrics()["cache"]
        assert (after["misses"], after["hit_bytes"] - before["hit_bytes"]) == (before["misses"], size)


def test_a_data_set_is_read_from_the_cache_until_it_is_listed_anew(cached, server):
    bucket = f"cache-{server.name}-set"
    cached.create_bucket(bucket)
    old, new = os.urandom(2 * MIB + 5), os.urandom(3 * MIB)
    put(cached, bucket, "k", old)

    def dataset():
        return penstock.S3MapDataset.from_prefix(
            f"s3://{bucket}/", region="us-east-1", endpoint=server.endpoint, s3client_config=cached.s3client_config,
            transform=lambda reader: reader.read(),
        )  # fmt: skip

    first = dataset()
    assert first[0] == old
    put(cached, bucket, "k", new)
    assert first[0] == old
    assert dataset()[0] == new
    assert cached.get_object(bucket, "k").read() == new
