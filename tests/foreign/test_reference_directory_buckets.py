"""The reference connector's wheel (s3torchconnector) on directory buckets: sessions, datasets and checkpoints."""

from __future__ import annotations

import itertools

import boto3
import pytest
import s3torchconnector
import torch
from botocore.config import Config
from penstock.testing import Emulator
from s3torchconnector._s3client import S3Client

_numbers = itertools.count()


@pytest.fixture(scope="module")
def emulator():
    with Emulator() as instance:
        yield instance


@pytest.fixture
def space(emulator):
    namespace = emulator.create_namespace(f"express-{next(_numbers)}")
    yield namespace
    emulator.delete_namespace(namespace.name)


@pytest.fixture
def theirs(space, monkeypatch):
    for name, value in space.environment().items():
        monkeypatch.setenv(name, value)
    return {"region": "us-east-1", "endpoint": space.endpoint}


@pytest.fixture
def bucket(space):
    return space.create_directory_bucket("train")


@pytest.fixture
def boto(space):
    keys = {"aws_access_key_id": space.access_key_id, "aws_secret_access_key": space.secret_access_key}
    return boto3.client(
        "s3", endpoint_url=space.endpoint, region_name="us-east-1", config=Config(retries={"total_max_attempts": 1}), **keys
    )


def fill(boto, bucket, count=12):
    for i in range(count):
        boto.put_object(Bucket=bucket, Key=f"d/{i:02}", Body=f"{i}".encode())
    return {f"d/{i:02}": f"{i}".encode() for i in range(count)}


def read(reader):
    return reader.key, reader.read()


@pytest.mark.parametrize("size", [0, 10, 8 * 1024**2 + 1, 20 * 1024**2])
def test_the_reference_and_boto3_read_each_others_objects(theirs, boto, bucket, size):
    data = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
    client = S3Client(**theirs)
    with client.put_object(bucket, "theirs") as writer:
        writer.write(data)
    assert boto.get_object(Bucket=bucket, Key="theirs")["Body"].read() == data
    boto.put_object(Bucket=bucket, Key="ours", Body=data)
    assert client.get_object(bucket, "ours").read() == data
    assert client.head_object(bucket, "ours").size == size


def test_an_iterable_dataset_sees_every_object_once(theirs, boto, bucket):
    objects = fill(boto, bucket)
    seen = list(s3torchconnector.S3IterableDataset.from_prefix(f"s3://{bucket}/d/", transform=read, **theirs))
    assert len(seen) == len(objects)
    assert dict(seen) == objects


def test_a_map_dataset_sees_every_object_once(theirs, boto, bucket):
    objects = fill(boto, bucket)
    dataset = s3torchconnector.S3MapDataset.from_prefix(f"s3://{bucket}/d/", transform=read, **theirs)
    assert len(dataset) == len(objects)
    assert dict(dataset[i] for i in range(len(dataset))) == objects


def test_a_checkpoint_round_trips(theirs, space, bucket):
    checkpoint = s3torchconnector.S3Checkpoint(**theirs)
    state = {"w": torch.arange(300_000, dtype=torch.float32), "step": 7}
    with checkpoint.writer(f"s3://{bucket}/run/epoch.ckpt") as writer:
        torch.save(state, writer)
    with checkpoint.reader(f"s3://{bucket}/run/epoch.ckpt") as reader:
        loaded = torch.load(reader)
    assert loaded["step"] == 7
    assert torch.equal(loaded["w"], state["w"])


def test_the_references_client_reuses_its_sessions(theirs, space, boto, bucket):
    objects = fill(boto, bucket, 40)
    before = space.journal.last
    client = S3Client(**theirs)
    for key in objects:
        client.get_object(bucket, key).read()
    reads = space.journal.count(operations=["GetObject"], after=before)
    sessions = space.journal.entries(operations=["CreateSession"], after=before)
    assert reads >= len(objects)
    assert 1 <= len(sessions) <= 4, "sessions are reused, also for many reads"
    assert all(entry.status == 200 for entry in sessions)


def test_a_prefix_without_a_trailing_slash_is_rejected(theirs, boto, bucket):
    fill(boto, bucket, 2)
    with pytest.raises(Exception, match="prefix"):
        list(s3torchconnector.S3IterableDataset.from_prefix(f"s3://{bucket}/d", transform=read, **theirs))
