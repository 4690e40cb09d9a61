"""S3FileSystem: the operations of torch's checkpoint file systems, and the messages of the reference connector."""

from __future__ import annotations

import inspect
import logging
import os
import pickle
from pathlib import Path

import bucket_io
import penstock
import pytest
import torch
from penstock.dcp import S3FileSystem
from penstock.testing import Emulator
from torch.distributed.checkpoint.filesystem import FileSystemBase


@pytest.fixture
def fs(client) -> S3FileSystem:
    return S3FileSystem("us-east-1", client)


class FailingClient:
    """A client whose first `failures` deletions fail."""

    def __init__(self, failures: int) -> None:
        self.failures = failures
        self.deleted: list[tuple[str, str]] = []

    def delete_object(self, bucket: str, key: str) -> None:
        self.deleted.append((bucket, key))
        if len(self.deleted) <= self.failures:
            raise penstock.S3Exception(f"failure {len(self.deleted)}")


def test_arguments_are_those_of_the_reference_plus_endpoint():
    names = list(inspect.signature(S3FileSystem.__init__).parameters)[1:]
    assert names == ["region", "s3_client", "s3client_config", "reader_constructor", "endpoint"]
    assert issubclass(S3FileSystem, FileSystemBase)
    assert S3FileSystem("us-east-1", endpoint="http://127.0.0.1:1")._client.endpoint == "http://127.0.0.1:1"


def test_given_client_is_used(client):
    config = penstock.S3ClientConfig(max_attempts=3)
    assert S3FileSystem("eu-west-1", client, config)._client is client
    assert S3FileSystem("eu-west-1", s3client_config=config)._client.s3client_config is config


def test_user_agent_contains_dcp_and_the_reader_type():
    assert S3FileSystem("us-east-1")._client.user_agent_prefix.endswith(f" (dcp; {torch.__version__}; md/reader_type#sequential)")
    ranged = S3FileSystem("us-east-1", reader_constructor=penstock.S3ReaderConstructor.range_based())
    assert ranged._client.user_agent_prefix.endswith("md/reader_type#range_based)")


def test_written_bytes_are_read_back(fs, client, bucket):
    with fs.create_stream(f"s3://{bucket}/a/b", "wb") as writer:
        writer.write(b"content")
    assert bucket_io.get(client, bucket, "a/b") == b"content"
    with fs.create_stream(f"s3://{bucket}/a/b", "rb") as reader:
        assert isinstance(reader, penstock.S3Reader)
        assert reader.read() == b"content"


def test_failed_write_publishes_nothing_and_keeps_the_previous_object(fs, client, bucket):
    bucket_io.put(client, bucket, "k", b"before")

    def broken() -> None:
        with fs.create_stream(f"s3://{bucket}/k", "wb") as writer:
            writer.write(b"x" * 70_000_000)
            raise OSError("the disk")

    with pytest.raises(OSError, match="the disk"):
        broken()
    assert bucket_io.get(client, bucket, "k") == b"before"
    assert client._client.list_multipart_uploads(bucket) == []


@pytest.mark.parametrize("mode", ["w", "r", "ab", "r+b", ""])
def test_unsupported_modes_raise(fs, mode):
    wanted = f"Invalid mode='{mode}' mode argument: create_stream only supports rb (read mode) & wb (write mode)"
    with pytest.raises(ValueError) as raised, fs.create_stream("s3://b/k", mode):
        pass
    assert str(raised.value) == wanted


def test_paths_are_strings_and_are_not_normalized(fs):
    assert fs.concat_path("s3://b/x", "y") == "s3://b/x/y"
    assert fs.concat_path("s3://b/x/", "y") == "s3://b/x/y"
    assert fs.concat_path("s3://b", ".metadata") == "s3://b/.metadata"
    path = "s3://b//double//slash/"
    assert fs.init_path(path) is path
    assert fs._path is path
    assert fs.mkdir(path) is None


def test_rename_copies_and_deletes(fs, client, bucket):
    bucket_io.put(client, bucket, "dir/a b%+é", b"1")
    fs.rename(f"s3://{bucket}/dir/a b%+é", f"s3://{bucket}/dir/new ?#")
    assert bucket_io.keys(client, bucket) == ["dir/new ?#"]
    assert bucket_io.get(client, bucket, "dir/new ?#") == b"1"


def test_rename_across_buckets_raises(fs):
    with pytest.raises(ValueError) as raised:
        fs.rename("s3://a/k", "s3://b/k")
    assert str(raised.value) == (
        "Source and destination buckets cannot be different (rename does not support cross-buckets operations)"
    )


def test_rename_of_a_missing_object_deletes_nothing(fs, client, bucket):
    bucket_io.put(client, bucket, "there", b"1")
    with pytest.raises(penstock.S3Exception, match=r"^Service error: The object was not found"):
        fs.rename(f"s3://{bucket}/missing", f"s3://{bucket}/there")
    assert bucket_io.keys(client, bucket) == ["there"]


def test_failed_deletion_is_retried_only_by_the_client():
    with Emulator() as own_emulator:
        client = own_emulator.client(penstock.S3ClientConfig(max_attempts=2))
        client.create_bucket("bucket")
        bucket_io.put(client, "bucket", "old", b"1")
        busy = {"error": {"status": 503, "code": "SlowDown"}}
        own_emulator.faults().set([{"when": {"operation": "DeleteObject"}, "do": busy}])
        own_emulator.journal().clear()
        with pytest.raises(penstock.S3ThrottledError) as raised:
            S3FileSystem("us-east-1", client).rename("s3://bucket/old", "s3://bucket/new")
        assert raised.value.attempts == 2
        own_emulator.journal().assert_count(2, operations=["DeleteObject"])
        own_emulator.faults().clear()
        assert bucket_io.keys(client, "bucket") == ["new", "old"]


def test_exists(fs, client, bucket):
    bucket_io.put(client, bucket, "k", b"")
    assert fs.exists(f"s3://{bucket}/k")
    assert not fs.exists(f"s3://{bucket}/missing")


@pytest.mark.parametrize(
    ("text", "there"), [("Service error: The object was not found", False), ("Client error: Forbidden: no", None)]
)
def test_exists_raises_for_errors_other_than_not_found(text, there):
    class Client:
        def head_object(self, bucket: str, key: str) -> None:
            raise penstock.S3Exception(text)

    fs = S3FileSystem("us-east-1", Client())
    if there is None:
        with pytest.raises(penstock.S3Exception, match="Forbidden"):
            fs.exists("s3://b/k")
    else:
        assert fs.exists("s3://b/k") is there


def test_rm_file_logs_failures(client, bucket, caplog):
    bucket_io.put(client, bucket, "k", b"")
    S3FileSystem("us-east-1", client).rm_file(f"s3://{bucket}/k")
    assert bucket_io.keys(client, bucket) == []
    S3FileSystem("us-east-1", FailingClient(1)).rm_file("s3://b/k")
    assert caplog.records[-1].getMessage() == "Failed to remove object from S3"
    assert caplog.records[-1].exc_info


def test_validate_checkpoint_id():
    valid = S3FileSystem.validate_checkpoint_id
    assert valid("s3://b/k")
    assert valid(Path("s3://b/k"))
    assert not valid("/tmp/checkpoint")
    assert not valid("gs://b/k")
    assert not valid("s3://")


def test_pathlib_path_raises_an_error_with_the_correct_uri(fs):
    with pytest.raises(ValueError, match="a Path merges the slashes of a URI; pass the string 's3://b/k'"):
        fs.exists(Path("s3://b/k"))
    with pytest.raises(ValueError, match="Only s3:// URIs are supported, not '/tmp/x'; write s3://bucket/key"):
        fs.exists("/tmp/x")


def test_other_path_like_objects_are_converted_to_str(fs, client, bucket):
    class Location(os.PathLike):
        def __fspath__(self) -> str:
            return f"s3://{bucket}/k"

        __str__ = __fspath__

    with fs.create_stream(Location(), "wb") as writer:
        writer.write(b"1")
    assert fs.exists(Location())
    assert fs.concat_path(Location(), "x") == f"s3://{bucket}/k/x"


@pytest.mark.parametrize(
    ("path", "escaped"),
    [
        ("", ""),
        ("a/b", "a/b"),
        ("a b/c%/+é", "a%20b/c%25/%2B%C3%A9"),
        ("/x//y/", "/x//y/"),
        ("k=v&w?#*~._-", "k%3Dv%26w%3F%23%2A~._-"),
    ],
)
def test_escape_path(path, escaped):
    assert S3FileSystem._escape_path(path) == escaped


def test_it_pickles_before_and_after_use(fs, client, bucket):
    for used in (False, True):
        copy = pickle.loads(pickle.dumps(fs))
        assert copy.exists(f"s3://{bucket}/none") is False
        assert used or fs.exists(f"s3://{bucket}/none") is False


def test_operations_are_logged(fs, client, bucket, caplog):
    bucket_io.put(client, bucket, "a", b"")
    uri = f"s3://{bucket}"
    with caplog.at_level(logging.DEBUG, logger="penstock.dcp"):
        fs.rename(f"{uri}/a", f"{uri}/b")
        fs.exists(f"{uri}/b")
        fs.rm_file(f"{uri}/b")
    texts = [record.getMessage() for record in caplog.records]
    assert texts == [
        f"rename {uri}/a to {uri}/b", f"rename: copied {uri}/a to {uri}/b successfully", f"rename: {uri}/a successfully",
        f"exists {uri}/b", f"remove {uri}/b",
    ]  # fmt: skip
