"""The Amazon S3 Connector (s3torchconnector) on the emulator's directory buckets: sessions, datasets and checkpoints."""

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
def namespace(emulator):
    created = emulator.create_namespace(f"express-{next(_numbers)}")
    yield created
    emulator.delete_namespace(created.name)


@pytest.fixture
def connector(namespace, monkeypatch):
    """The region and endpoint for classes of the connector. Its credentials come from the environment."""
    for name, value in namespace.environment().items():
        monkeypatch.setenv(name, value)
    return {"region": "us-east-1", "endpoint": namespace.endpoint}


@pytest.fixture
def bucket(namespace):
    return namespace.create_directory_bucket("train")


@pytest.fixture
def boto(namespace):
    keys = {"aws_access_key_id": namespace.access_key_id, "aws_secret_access_key": namespace.secret_access_key}
    return boto3.client(
        "s3", endpoint_url=namespace.endpoint, region_name="us-east-1", config=Config(retries={"total_max_attempts": 1}), **keys
    )


def fill(boto, bucket, count=12):
    for i in range(count):
        boto.put_object(Bucket=bucket, Key=f"d/{i:02}", Body=f"{i}".encode())
    return {f"d/{i:02}": f"{i}".encode() for i in range(count)}


def read(reader):
    return reader.key, reader.read()


@pytest.mark.parametrize("size", [0, 10, 8 * 1024**2 + 1, 20 * 1024**2])
def test_the_reference_and_boto3_read_each_others_objects(connector, boto, bucket, size):
    data = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
    client = S3Client(**connector)
    with client.put_object(bucket, "from-connector") as writer:
        writer.write(data)
    assert boto.get_object(Bucket=bucket, Key="from-connector")["Body"].read() == data
    boto.put_object(Bucket=bucket, Key="from-boto3", Body=data)
    assert client.get_object(bucket, "from-boto3").read() == data
    assert client.head_object(bucket, "from-boto3").size == size


def test_an_iterable_dataset_yields_every_object_once(connector, boto, bucket):
    objects = fill(boto, bucket)
    items = list(s3torchconnector.S3IterableDataset.from_prefix(f"s3://{bucket}/d/", transform=read, **connector))
    assert len(items) == len(objects)
    assert dict(items) == objects


def test_a_map_dataset_yields_every_object_once(connector, boto, bucket):
    objects = fill(boto, bucket)
    dataset = s3torchconnector.S3MapDataset.from_prefix(f"s3://{bucket}/d/", transform=read, **connector)
    assert len(dataset) == len(objects)
    assert dict(dataset[i] for i in range(len(dataset))) == objects


def test_a_checkpoint_round_trips(connector, namespace, bucket):
    checkpoint = s3torchconnector.S3Checkpoint(**connector)
    state = {"w": torch.arange(300_000, dtype=torch.float32), "step": 7}
    with checkpoint.writer(f"s3://{bucket}/run/epoch.ckpt") as writer:
        torch.save(state, writer)
    with checkpoint.reader(f"s3://{bucket}/run/epoch.ckpt") as reader:
        loaded = torch.load(reader)
    assert loaded["step"] == 7
    assert torch.equal(loaded["w"], state["w"])


def test_the_references_client_reuses_its_sessions(connector, namespace, boto, bucket):
    objects = fill(boto, bucket, 40)
    before = namespace.journal.last
    client = S3Client(**connector)
    for key in objects:
        client.get_object(bucket, key).read()
    reads = namespace.journal.count(operations=["GetObject"], after=before)
    sessions = namespace.journal.entries(operations=["CreateSession"], after=before)
    assert reads >= len(objects)
    assert 1 <= len(sessions) <= 4, "40 reads must share a few sessions"
    assert all(entry.status == 200 for entry in sessions)


def test_a_prefix_without_a_trailing_slash_is_rejected(connector, boto, bucket):
    fill(boto, bucket, 2)
    with pytest.raises(Exception, match="prefix"):
        list(s3torchconnector.S3IterableDataset.from_prefix(f"s3://{bucket}/d", transform=read, **connector))
