"""Objects of sizes near part boundaries, written by boto3 and read by our client and vice versa. Both verify checksums."""

from __future__ import annotations

import os

import penstock
import pytest
from boto3.s3.transfer import TransferConfig
from penstock.testing import Emulator

MIB = 1024**2
PART = 8 * MIB
SIZES = [0, 1, PART - 1, PART, PART + 1, 3 * PART, 3 * PART + 5]
UPLOAD_PART = 5 * MIB
UPLOAD_SIZES = [0, 1, UPLOAD_PART - 1, UPLOAD_PART, UPLOAD_PART + 1, 3 * UPLOAD_PART, 3 * UPLOAD_PART + 5]
SINGLE_PUT = 64 * MIB


@pytest.fixture
def client(s3):
    environment = {"AWS_CA_BUNDLE": s3.ca} if s3.ca else {}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        yield our_client(s3.emulator)


@pytest.fixture
def in_parts(s3, client):
    """A client with small parts. `client` sets the environment that it needs for TLS."""
    return our_client(s3.emulator, part_size=UPLOAD_PART)


def our_client(emulator: Emulator, **options) -> penstock.S3Client:
    config = penstock.S3ClientConfig(
        force_path_style=True,
        access_key_id=emulator.access_key_id,
        secret_access_key=emulator.secret_access_key,
        max_attempts=2,
        **options,
    )
    return penstock.S3Client(emulator.region, endpoint=emulator.endpoint, s3client_config=config)


@pytest.mark.parametrize("algorithm", ["CRC64NVME", "CRC32C", "CRC32"])
@pytest.mark.parametrize("size", SIZES)
def test_we_read_and_verify_what_boto3_put(boto, bucket, client, size, algorithm):
    data = os.urandom(size)
    boto.put_object(Bucket=bucket, Key="k", Body=data, ChecksumAlgorithm=algorithm)
    assert client.get_object(bucket, "k").read() == data


@pytest.mark.parametrize("size", SIZES)
def test_we_read_what_boto3_uploaded_in_parts(boto, bucket, client, size, tmp_path):
    data = os.urandom(size)
    path = tmp_path / "data"
    path.write_bytes(data)
    parts = TransferConfig(multipart_threshold=5 * MIB, multipart_chunksize=5 * MIB)
    boto.upload_file(str(path), bucket, "k", Config=parts)  # its checksum is COMPOSITE
    assert client.get_object(bucket, "k").read() == data


def verified_by_boto3(boto, bucket: str) -> bytes:
    """The object's bytes. boto3 compares them with the stored checksum."""
    response = boto.get_object(Bucket=bucket, Key="k", ChecksumMode="ENABLED")
    assert response["ChecksumType"] == "FULL_OBJECT"
    assert response["ChecksumCRC64NVME"]
    return response["Body"].read()


@pytest.mark.parametrize("size", [0, 1, PART + 1, SINGLE_PUT - 1, SINGLE_PUT, SINGLE_PUT + 1])
def test_boto3_reads_and_verifies_what_we_wrote(boto, bucket, client, size):
    data = os.urandom(size)
    with client.put_object(bucket, "k") as writer:
        writer.write(data)
    assert verified_by_boto3(boto, bucket) == data


@pytest.mark.parametrize("size", UPLOAD_SIZES)
@pytest.mark.parametrize("piece", [999_983, 3 * UPLOAD_PART + 5])
def test_boto3_reads_and_verifies_what_we_wrote_in_parts(boto, bucket, in_parts, size, piece):
    data = os.urandom(size)
    with in_parts.put_object(bucket, "k") as writer:
        for at in range(0, size, piece):
            writer.write(data[at : at + piece])
    assert verified_by_boto3(boto, bucket) == data
    attributes = boto.get_object_attributes(Bucket=bucket, Key="k", ObjectAttributes=["ObjectSize", "ObjectParts"])
    assert attributes["ObjectSize"] == size
    parts = attributes.get("ObjectParts", {}).get("TotalPartsCount", 1)
    assert parts == max(1, -(-size // UPLOAD_PART))


def test_boto3_reads_and_verifies_an_upload_without_copies(boto, bucket, client):
    """Large writes are sent from the caller's memory. Their parts have no checksum: that of the whole is verified."""
    data = os.urandom(100 * MIB)
    with client.put_object(bucket, "k") as writer:
        writer.write(b"header")
        writer.write(memoryview(data))
    assert verified_by_boto3(boto, bucket) == b"header" + data
