"""Bytes of a data directory that were changed between two runs are never sent with status 200."""

from __future__ import annotations

import http.client
import json
import os
import signal
import sqlite3
import subprocess
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

PROGRAM = Path(os.environ["PENSTOCK_BUILD_DIR"], "emulator/server/penstock-emulator")
MIB = 1 << 20
BODY = os.urandom(12 * MIB + 1000)


@contextmanager
def running(data: Path, *options: str) -> Iterator[Any]:
    """Runs an emulator with the data directory `data`. Yields a boto3 client without retries."""
    import boto3
    import botocore.config

    command = [str(PROGRAM), "--port", "0", "--admin-port", "-1", "--data", str(data), *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield boto3.client(
            "s3",
            endpoint_url=json.loads(process.stdout.readline())["endpoint"],
            region_name="us-east-1",
            aws_access_key_id="penstock",
            aws_secret_access_key="penstock-secret",
            config=botocore.config.Config(retries={"total_max_attempts": 1}, response_checksum_validation="when_required"),
        )
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0


def flip(path: Path, offset: int) -> None:
    with path.open("r+b") as file:
        file.seek(offset)
        byte = file.read(1)[0]
        file.seek(offset)
        file.write(bytes([byte ^ 1]))


def blob_file(data: Path, size: int) -> Path:
    return next(path for path in data.rglob("blobs/*/*") if path.stat().st_size == size)


def status_of(call: Any, **arguments: Any) -> tuple[int, str]:
    """HTTP status and S3's code; 200 for a success."""
    import botocore.exceptions

    try:
        call(**arguments)
    except botocore.exceptions.ClientError as error:
        return error.response["ResponseMetadata"]["HTTPStatusCode"], error.response["Error"]["Code"]
    return 200, ""


def raw_get(s3: Any, key: str) -> tuple[int, int, bytes]:
    """Status, Content-Length and received bytes of a GET, also if the body is truncated."""
    url = urllib.parse.urlsplit(s3.generate_presigned_url("get_object", Params={"Bucket": "bucket", "Key": key}))
    connection = http.client.HTTPConnection(url.netloc, timeout=30)
    connection.request("GET", f"{url.path}?{url.query}")
    response = connection.getresponse()
    announced = int(response.headers["Content-Length"])
    try:
        return response.status, announced, response.read()
    except http.client.IncompleteRead as cut:
        return response.status, announced, cut.partial


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The data directory of a stopped emulator, with an object of 12 MiB and 1,000 bytes in a file."""
    path = tmp_path / "s3"
    with running(path) as s3:
        s3.create_bucket(Bucket="bucket")
        s3.put_object(Bucket="bucket", Key="object", Body=BODY)
    return path


def test_a_damaged_block_in_the_first_bytes_is_an_error(data: Path) -> None:
    flip(blob_file(data, len(BODY)), 5 * MIB + 17)
    log = data.parent / "log"
    with running(data, "--log", str(log)) as s3:
        damaged = (500, "InternalError")
        assert status_of(s3.get_object, Bucket="bucket", Key="object") == damaged
        assert status_of(s3.get_object, Bucket="bucket", Key="object", Range="bytes=5242880-5242890") == damaged
        copy = {"Bucket": "bucket", "CopySource": "bucket/object"}
        assert status_of(s3.copy_object, Key="copy", **copy) == damaged
        assert status_of(s3.copy_object, Key="copy", ChecksumAlgorithm="SHA256", **copy) == damaged
        upload = s3.create_multipart_upload(Bucket="bucket", Key="joined")["UploadId"]
        part = {"Key": "joined", "UploadId": upload, "PartNumber": 1, **copy}
        assert status_of(s3.upload_part_copy, **part) == damaged
        assert status_of(s3.upload_part_copy, CopySourceRange="bytes=5242880-10485760", **part) == damaged

        # Undamaged data is served: the head, other ranges, copies of them.
        assert s3.head_object(Bucket="bucket", Key="object")["ContentLength"] == len(BODY)
        rest = s3.get_object(Bucket="bucket", Key="object", Range=f"bytes={6 * MIB}-")["Body"].read()
        assert rest == BODY[6 * MIB :]
        assert status_of(s3.upload_part_copy, CopySourceRange="bytes=0-5242879", **part) == (200, "")
        assert status_of(s3.get_object, Bucket="bucket", Key="copy") == (404, "NoSuchKey")
        # After an overwrite the object can be read.
        s3.put_object(Bucket="bucket", Key="object", Body=BODY)
        assert s3.get_object(Bucket="bucket", Key="object")["Body"].read() == BODY
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert any("offset 5242880" in json.dumps(line) for line in lines if line.get("status") == 500), lines


def test_a_damaged_later_block_truncates_the_body(data: Path) -> None:
    flip(blob_file(data, len(BODY)), 11 * MIB)
    with running(data) as s3:
        for _ in range(2):
            status, announced, body = raw_get(s3, "object")
            assert (status, announced) == (200, len(BODY))
            assert body == BODY[: 11 * MIB]


def test_damage_is_detected_in_copies_and_joined_objects(data: Path) -> None:
    with running(data) as s3:
        s3.copy_object(Bucket="bucket", Key="copy", CopySource="bucket/object")
        upload = s3.create_multipart_upload(Bucket="bucket", Key="joined")["UploadId"]
        part = {"Bucket": "bucket", "Key": "joined", "UploadId": upload, "PartNumber": 1}
        etag = s3.upload_part_copy(CopySource="bucket/object", CopySourceRange=f"bytes=100-{len(BODY) - 1}", **part)
        parts = [{"PartNumber": 1, "ETag": etag["CopyPartResult"]["ETag"]}]
        s3.complete_multipart_upload(Bucket="bucket", Key="joined", UploadId=upload, MultipartUpload={"Parts": parts})
        assert s3.get_object(Bucket="bucket", Key="joined")["Body"].read() == BODY[100:]
    flip(blob_file(data, len(BODY)), 2 * MIB)
    with running(data) as s3:
        for key in ("object", "copy", "joined"):
            assert status_of(s3.get_object, Bucket="bucket", Key=key) == (500, "InternalError")
            assert status_of(s3.get_object, Bucket="bucket", Key=key, Range="bytes=0-99") == (200, "")


def test_damage_that_a_copy_finds_is_not_served(data: Path) -> None:
    """A GET after the copy verifies the block again, although an earlier GET of this process has verified it."""
    with running(data) as s3:
        assert s3.get_object(Bucket="bucket", Key="object")["Body"].read() == BODY
        flip(blob_file(data, len(BODY)), 2 * MIB)
        copied = status_of(s3.copy_object, Bucket="bucket", Key="copy", CopySource="bucket/object")
        assert copied == (500, "InternalError")
        assert status_of(s3.get_object, Bucket="bucket", Key="object") == (500, "InternalError")
        assert status_of(s3.get_object, Bucket="bucket", Key="object", Range="bytes=0-99") == (200, "")


def test_damage_in_the_database_is_an_error(data: Path) -> None:
    """A row that another program has changed does not match the checksum of its page."""
    database = next(data.rglob("penstock.db"))
    with running(data) as s3:
        for number in range(200):
            s3.put_object(Bucket="bucket", Key=f"small/{number:03}", Body=b"x" * 1000)
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE current SET etag = 'd41d8cd98f00b204e9800998ecf8427e' WHERE CAST(key AS TEXT) = 'small/100'")
    connection.close()
    with running(data) as s3:
        assert status_of(s3.get_object, Bucket="bucket", Key="small/100") == (500, "InternalError")
        assert status_of(s3.head_object, Bucket="bucket", Key="small/100")[0] == 500
        assert status_of(s3.list_objects_v2, Bucket="bucket", Prefix="small/") == (500, "InternalError")
        assert s3.get_object(Bucket="bucket", Key="small/000")["Body"].read() == b"x" * 1000
    done = subprocess.run([str(PROGRAM), "fsck", str(data)], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "does not match its checksum" in done.stdout
