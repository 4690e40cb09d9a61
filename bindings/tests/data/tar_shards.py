"""Tar shards for tests. Not in conftest.py, because spawned workers import this module."""

from __future__ import annotations

import io
import random
import tarfile

import penstock
from bucket_io import put
from penstock.data import S3TarDataset


def make_tar(files: list[tuple[str, bytes]], **options: object) -> bytes:
    """An archive of regular files, written by Python's tarfile."""
    memory = io.BytesIO()
    with tarfile.open(fileobj=memory, mode="w", **options) as archive:  # type: ignore[call-overload]
        for name, data in files:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return memory.getvalue()


def sample_files(shard: int, count: int, size: int = 700) -> list[tuple[str, bytes]]:
    """The files of `count` samples, two each, with data that their names determine."""
    files = []
    for number in range(count):
        data = random.Random(f"{shard}/{number}").randbytes(size + 37 * number)
        files += [(f"{shard:03}/{number:04}.jpg", data), (f"{shard:03}/{number:04}.cls", str(number).encode())]
    return files


def keys_of(shard: int, count: int) -> list[str]:
    return [f"{shard:03}/{number:04}" for number in range(count)]


def put_shards(client: penstock.S3Client, bucket: str, counts: list[int], prefix: str = "train/") -> list[str]:
    """Puts a shard for each count of samples. Returns the keys of all samples in order."""
    for shard, count in enumerate(counts):
        put(client, bucket, f"{prefix}{shard:06}.tar", make_tar(sample_files(shard, count)))
    return [key for shard, count in enumerate(counts) for key in keys_of(shard, count)]


def key_of(sample: dict[str, object]) -> object:
    """The transform of most tests: the key of a sample with the right data."""
    shard, number = str(sample["__key__"]).split("/")
    expected = dict(sample_files(int(shard), int(number) + 1))
    assert sample["jpg"] == expected[f"{sample['__key__']}.jpg"]
    assert sample["cls"] == expected[f"{sample['__key__']}.cls"]
    return sample["__key__"]


class Shards:
    """The shards of a bucket. `dataset` makes datasets of them."""

    def __init__(self, emulator: penstock.testing.Emulator, bucket: str, keys: list[str]) -> None:
        self.emulator = emulator
        self.bucket = bucket
        self.keys = keys

    def dataset(self, prefix: str = "train/", **options: object) -> S3TarDataset:
        options.setdefault("decode", key_of)
        options.setdefault("s3client_config", self.emulator.config())
        return S3TarDataset.from_prefix(
            f"s3://{self.bucket}/{prefix}", region="us-east-1", endpoint=self.emulator.endpoint, **options
        )
