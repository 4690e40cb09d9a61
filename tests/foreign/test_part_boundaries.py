"""Objects of sizes around part boundaries, from boto3 to our client and back, checksums verified on both sides."""

from __future__ import annotations

import os

import penstock
import pytest
from boto3.s3.transfer import TransferConfig
from penstock.testing import Emulator

MIB = 1024**2
PART = 8 * MIB
SIZES = [0, 1, PART - 1, PART, PART + 1, 3 * PART, 3 * PART + 5]


@pytest.fixture
def client(s3):
    environment = {"AWS_CA_BUNDLE": s3.ca} if s3.ca else {}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        yield our_client(s3.emulator)


def our_client(emulator: Emulator) -> penstock.S3Client:
    config = penstock.S3ClientConfig(
        force_path_style=True,
        access_key_id=emulator.access_key_id,
        secret_access_key=emulator.secret_access_key,
        max_attempts=2,
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


@pytest.mark.parametrize("size", SIZES)
def test_boto3_reads_and_verifies_what_we_wrote(boto, bucket, client, size):
    data = os.urandom(size)
    with client.put_object(bucket, "k") as writer:
        writer.write(data)
    answer = boto.get_object(Bucket=bucket, Key="k", ChecksumMode="ENABLED")
    assert answer["ChecksumType"] == "FULL_OBJECT"
    assert answer["Body"].read() == data
