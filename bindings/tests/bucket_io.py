"""Short functions that put, get and list objects. Not in conftest.py, because spawned workers import this module."""

from __future__ import annotations

import penstock


def put(client: penstock.S3Client, bucket: str, key: str, data: bytes) -> None:
    with client.put_object(bucket, key) as writer:
        writer.write(data)


def get(client: penstock.S3Client, bucket: str, key: str) -> bytes:
    return client.get_object(bucket, key).read()


def keys(client: penstock.S3Client, bucket: str, prefix: str = "") -> list[str]:
    return [info.key for page in client.list_objects(bucket, prefix) for info in page.object_info]
