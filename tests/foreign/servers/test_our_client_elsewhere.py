"""Our client with servers that share no code with Penstock: moto and rclone's."""

from __future__ import annotations

import itertools
import os
from dataclasses import replace
from types import SimpleNamespace

import boto3
import penstock
import pytest
from botocore.config import Config

MIB = 1024**2
PART = 8 * MIB
UPLOAD_PART = 5 * MIB
_numbers = itertools.count()


@pytest.fixture(params=["moto", "rclone"])
def server(request) -> SimpleNamespace:
    """A server's endpoint and name."""
    return SimpleNamespace(name=request.param, endpoint=request.getfixturevalue(f"{request.param}_endpoint"))


@pytest.fixture
def client(server):
    config = penstock.S3ClientConfig(force_path_style=True, access_key_id="testing", secret_access_key="testing", max_attempts=2)
    return penstock.S3Client("us-east-1", endpoint=server.endpoint, s3client_config=config)


@pytest.fixture
def bucket(client):
    name = f"elsewhere-{next(_numbers)}"
    client.create_bucket(name)
    return name


@pytest.mark.parametrize("size", [0, 1, PART - 1, PART, PART + 1, 3 * PART])
def test_round_trip(client, bucket, size):
    data = os.urandom(size)
    with client.put_object(bucket, "k") as writer:
        writer.write(data)
    assert client.get_object(bucket, "k").read() == data
    ranged = penstock.S3ReaderConstructor.range_based(buffer_size=0)
    if size > 10:
        reader = client.get_object(bucket, "k", reader_constructor=ranged)
        reader.seek(size - 7)
        assert reader.read() == data[-7:]
        reader.seek(0)
        assert reader.read(5) == data[:5]
        assert reader.seek(0, os.SEEK_END) == size  # the size is that of the object, not that of a part


@pytest.mark.parametrize("key", ["plain", "a b+c", "ä ö", "100%", "q?x=1&y", "a/b//c"])
def test_keys_listing_copy_delete(client, bucket, key, server):
    if "//" in key and server.name == "rclone":  # its objects are files
        with pytest.raises(penstock.S3Exception, match="unsupported characters"), client.put_object(bucket, key) as writer:
            writer.write(b"x")
        return
    with client.put_object(bucket, key) as writer:
        writer.write(b"x")
    listed = [info for page in client.list_objects(bucket) for info in page.object_info]
    assert [(info.key, info.size) for info in listed] == [(key, 1)]
    client.copy_object(bucket, key, bucket, "copied")
    assert client.get_object(bucket, "copied").read() == b"x"
    client.delete_object(bucket, key)
    assert [info.key for page in client.list_objects(bucket) for info in page.object_info] == ["copied"]


def test_a_server_is_reached_by_a_host_name_without_settings(client, bucket, server):
    """Symptom: the client sent the request to BUCKET.localhost."""
    config = replace(client.s3client_config, force_path_style=False)
    endpoint = server.endpoint.replace("127.0.0.1", "localhost")
    by_name = penstock.S3Client("us-east-1", endpoint=endpoint, s3client_config=config)
    by_name.put(bucket, "k", b"x")
    assert client.get(bucket, "k").body == by_name.get(bucket, "k").body == b"x"
    assert by_name.presign("get", bucket, "k").url.startswith(f"{endpoint}/{bucket}/k?")


def test_pages_and_prefixes(client, bucket):
    for i in range(7):
        with client.put_object(bucket, f"p/{i}/x") as writer:
            writer.write(b"")
    pages = list(client.list_objects(bucket, "p/", "/", 3))
    assert [p for page in pages for p in page.common_prefixes] == [f"p/{i}/" for i in range(7)]
    assert len(pages) == 3


@pytest.mark.parametrize("checksums", ["when_supported", "when_required"])
@pytest.mark.parametrize("size", [UPLOAD_PART - 1, UPLOAD_PART, UPLOAD_PART + 1, 3 * UPLOAD_PART, 3 * UPLOAD_PART + 5])
def test_parts_are_uploaded_to_servers_without_our_checksums(client, bucket, server, size, checksums, monkeypatch):
    """moto returns a CRC64NVME of the whole and verifies nothing. rclone knows none. Some clients are configured to send none."""
    monkeypatch.setenv("AWS_REQUEST_CHECKSUM_CALCULATION", checksums)
    config = replace(client.s3client_config, part_size=UPLOAD_PART)
    in_parts = penstock.S3Client("us-east-1", endpoint=server.endpoint, s3client_config=config)
    data = os.urandom(size)
    with in_parts.put_object(bucket, "k") as writer:
        for at in range(0, size, 999_983):
            writer.write(data[at : at + 999_983])
    assert in_parts.metrics()["requests"].get("UploadPart", 0) == (-(-size // UPLOAD_PART) if size > UPLOAD_PART else 0)
    boto = boto3.client(
        "s3", endpoint_url=server.endpoint, aws_access_key_id="testing", aws_secret_access_key="testing",
        region_name="us-east-1", config=Config(s3={"addressing_style": "path"}),
    )  # fmt: skip
    assert boto.get_object(Bucket=bucket, Key="k")["Body"].read() == data
    assert client.get_object(bucket, "k").read() == data


def test_a_large_write_arrives_unchanged(client, bucket):
    """The data exceed one PUT. Most of them are sent from the caller's memory, without a copy."""
    data = os.urandom(65 * MIB)
    with client.put_object(bucket, "k") as writer:
        writer.write(b"header")
        writer.write(data)
    assert client.get_object(bucket, "k").read() == b"header" + data


def test_abort_leaves_no_upload(client, bucket):
    writer = client.put_object(bucket, "k")
    writer.write(b"x" * (65 * MIB))
    writer.abort()
    assert client._client.list_multipart_uploads(bucket) == []
    assert [info for page in client.list_objects(bucket) for info in page.object_info] == []


def test_errors_of_other_servers_have_the_same_messages(client, bucket):
    with pytest.raises(penstock.S3NotFoundError, match="The key does not exist"):
        client.get_object(bucket, "missing").read()
    with pytest.raises(penstock.S3NotFoundError, match="The bucket does not exist"):
        list(client.list_objects("no-such-bucket-here"))
    with pytest.raises(penstock.S3NotFoundError, match="The object was not found"):
        client.head_object(bucket, "missing")


def test_delete_objects(client, bucket):
    for key in ("a", "b", "c"):
        with client.put_object(bucket, key) as writer:
            writer.write(b"x")
    assert client._client.delete_objects(bucket, ["a", "c", "missing"]) == []
    assert [info.key for page in client.list_objects(bucket) for info in page.object_info] == ["b"]


def test_a_server_that_verifies_refuses_a_wrong_secret(rclone_endpoint):
    config = penstock.S3ClientConfig(force_path_style=True, access_key_id="testing", secret_access_key="wrong", max_attempts=1)
    client = penstock.S3Client("us-east-1", endpoint=rclone_endpoint, s3client_config=config)
    with pytest.raises(penstock.S3Exception, match="SignatureDoesNotMatch"):
        client.get_object("bucket", "k").read()
