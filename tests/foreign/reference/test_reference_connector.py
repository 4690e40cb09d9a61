"""The reference connector's wheel (s3torchconnector) on the emulator: reads, lists, writes, and objects written by Penstock."""

from __future__ import annotations

import itertools
import os

import penstock
import pytest
import s3torchconnector
import torch
from penstock.testing import Emulator
from s3torchconnector._s3client import S3Client

_numbers = itertools.count()


@pytest.fixture(scope="module")
def emulator():
    with Emulator() as instance:
        yield instance


@pytest.fixture
def theirs(emulator, monkeypatch):
    for name, value in emulator.environment().items():
        monkeypatch.setenv(name, value)
    config = s3torchconnector.S3ClientConfig(force_path_style=True)
    return {"region": "us-east-1", "endpoint": emulator.endpoint, "s3client_config": config}


@pytest.fixture
def bucket(emulator):
    name = f"ref-{next(_numbers)}"
    emulator.client().create_bucket(name)
    return name


@pytest.mark.parametrize("size", [0, 10, 8 * 1024**2 + 1, 20 * 1024**2])
def test_each_library_reads_the_others_objects(emulator, theirs, bucket, size):
    data = os.urandom(size)
    client = S3Client(**theirs)
    with client.put_object(bucket, "theirs") as writer:
        writer.write(data)
    ours = emulator.client()
    assert ours.get_object(bucket, "theirs").read() == data
    with ours.put_object(bucket, "ours") as writer:
        writer.write(data)
    assert client.get_object(bucket, "ours").read() == data
    assert client.head_object(bucket, "ours").size == size


def test_datasets_of_both_libraries_yield_the_same(emulator, theirs, bucket):
    ours = emulator.client()
    for i in range(12):
        with ours.put_object(bucket, f"d/{i:02}") as writer:
            writer.write(f"{i}".encode())
    uri = f"s3://{bucket}/d/"

    def read(reader):
        return reader.key, reader.read()

    theirs_seen = list(s3torchconnector.S3IterableDataset.from_prefix(uri, transform=read, **theirs))
    mapped = s3torchconnector.S3MapDataset.from_prefix(uri, transform=read, **theirs)
    our_dataset = penstock.S3IterableDataset.from_prefix(
        uri, region="us-east-1", endpoint=emulator.endpoint, transform=read, s3client_config=emulator.config()
    )
    assert theirs_seen == [mapped[i] for i in range(len(mapped))] == list(our_dataset)


def test_each_library_loads_the_others_checkpoints(emulator, theirs, bucket):
    state = {"w": torch.randn(1000), "n": 3}
    their_io = s3torchconnector.S3Checkpoint(**theirs)
    our_io = penstock.S3Checkpoint("us-east-1", endpoint=emulator.endpoint, s3client_config=emulator.config())
    for source, target, key in ((their_io, our_io, "a"), (our_io, their_io, "b")):
        with source.writer(f"s3://{bucket}/{key}") as writer:
            torch.save(state, writer)
        loaded = torch.load(target.reader(f"s3://{bucket}/{key}"), weights_only=True)
        assert torch.equal(loaded["w"], state["w"])


def test_the_reference_reports_the_emulators_errors(theirs, bucket):
    client = S3Client(**theirs)
    with pytest.raises(s3torchconnector.S3Exception, match="Service error: The key does not exist"):
        client.get_object(bucket, "missing").read()
    with pytest.raises(s3torchconnector.S3Exception, match="Service error: The object was not found"):
        client.head_object(bucket, "missing")
    with pytest.raises(s3torchconnector.S3Exception, match="Service error: The bucket does not exist"):
        list(client.list_objects("no-such-bucket-here"))


def test_copy_and_delete(theirs, bucket):
    client = S3Client(**theirs)
    with client.put_object(bucket, "source") as writer:
        writer.write(b"x")
    client.copy_object(bucket, "source", bucket, "copy")
    client.delete_object(bucket, "source")
    assert [o.key for page in client.list_objects(bucket) for o in page.object_info] == ["copy"]
