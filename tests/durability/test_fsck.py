"""fsck --deep accepts every kind of object that the emulator stores, and finds a changed file."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

PROGRAM = Path(os.environ["PENSTOCK_BUILD_DIR"], "emulator/server/penstock-emulator")
BODY = os.urandom(200_000)
PART = 5 << 20


def client(endpoint: str) -> Any:
    import boto3

    return boto3.client(
        "s3",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id="penstock",
        aws_secret_access_key="penstock-secret",
    )


def fsck(data: Path) -> tuple[int, Any]:
    done = subprocess.run([str(PROGRAM), "fsck", "--deep", "--json", str(data)], capture_output=True, text=True, check=False)
    return done.returncode, json.loads(done.stdout)


def multipart(s3: Any, key: str, **options: str) -> None:
    upload = s3.create_multipart_upload(Bucket="bucket", Key=key, **options)["UploadId"]
    algorithm = {name: value for name, value in options.items() if name == "ChecksumAlgorithm"}
    parts = []
    for number, body in enumerate([b"p" * PART, BODY], 1):
        made = s3.upload_part(Bucket="bucket", Key=key, UploadId=upload, PartNumber=number, Body=body, **algorithm)
        wanted = ("ETag", f"Checksum{options.get('ChecksumAlgorithm')}")
        kept = {name: value for name, value in made.items() if name in wanted}
        parts.append({**kept, "PartNumber": number})
    s3.complete_multipart_upload(Bucket="bucket", Key=key, UploadId=upload, MultipartUpload={"Parts": parts})


def fill(s3: Any) -> None:
    s3.create_bucket(Bucket="bucket")
    key = os.urandom(32)
    kinds: dict[str, dict[str, Any]] = {
        "plain": {},
        "kms": {"ServerSideEncryption": "aws:kms"},
        "aes": {"ServerSideEncryption": "AES256"},
        "customer": {"SSECustomerAlgorithm": "AES256", "SSECustomerKey": key},
    }
    for name, options in kinds.items():
        for size in (0, 1000, len(BODY)):
            s3.put_object(Bucket="bucket", Key=f"{name}/{size}", Body=BODY[:size], **options)
    for algorithm in ("CRC32", "CRC32C", "CRC64NVME", "SHA1", "SHA256"):
        s3.put_object(Bucket="bucket", Key=algorithm, Body=BODY, ChecksumAlgorithm=algorithm)
    multipart(s3, "joined")
    multipart(s3, "composite", ChecksumAlgorithm="SHA256")
    multipart(s3, "full", ChecksumAlgorithm="CRC32", ChecksumType="FULL_OBJECT")
    multipart(s3, "joined-kms", ServerSideEncryption="aws:kms")
    s3.copy_object(Bucket="bucket", Key="copy", CopySource="bucket/joined")
    s3.copy_object(Bucket="bucket", Key="copy-of-kms", CopySource="bucket/kms/1000")
    upload = s3.create_multipart_upload(Bucket="bucket", Key="unfinished", ChecksumAlgorithm="CRC32C")["UploadId"]
    s3.upload_part(Bucket="bucket", Key="unfinished", UploadId=upload, PartNumber=7, Body=BODY, ChecksumAlgorithm="CRC32C")


def test_fsck_agrees_with_the_emulator(tmp_path: Path) -> None:
    data = tmp_path / "s3"
    process = subprocess.Popen([str(PROGRAM), "--port", "0", "--data", str(data)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    endpoint = json.loads(process.stdout.readline())["endpoint"]
    assert urllib.parse.urlsplit(endpoint).port
    try:
        fill(client(endpoint))
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    status, report = fsck(data)
    assert (status, report["stores"][0]["findings"]) == (0, [])
    assert report["stores"][0]["versions"] == 12 + 5 + 4 + 2
    assert report["stores"][0]["parts"] == 1

    damaged = next(file for file in data.rglob("blobs/*/*") if file.stat().st_size == len(BODY))
    content = bytearray(damaged.read_bytes())
    content[1234] ^= 1
    damaged.write_bytes(content)
    status, report = fsck(data)
    assert status == 1
    assert {finding["code"] for finding in report["stores"][0]["findings"]} == {"blob", "content"}


DIRECTORY = "logs--use1-az4--x-s3"
CONFIGURATION = {
    "Location": {"Type": "AvailabilityZone", "Name": "use1-az4"},
    "Bucket": {"Type": "Directory", "DataRedundancy": "SingleAvailabilityZone"},
}


def start(data: Path) -> tuple[Any, str]:
    process = subprocess.Popen([str(PROGRAM), "--port", "0", "--data", str(data)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, json.loads(process.stdout.readline())["endpoint"]


def test_a_directory_bucket_survives_a_kill(tmp_path: Path) -> None:
    """Acknowledged appends, renames with their tokens and uploads survive kill -9, and a session stays valid."""
    data = tmp_path / "s3"
    process, endpoint = start(data)
    try:
        s3 = client(endpoint)
        s3.create_bucket(Bucket=DIRECTORY, CreateBucketConfiguration=CONFIGURATION)
        for i in range(30):
            s3.put_object(Bucket=DIRECTORY, Key="log", Body=bytes([i]) * 3000, WriteOffsetBytes=i * 3000)
        s3.put_object(Bucket=DIRECTORY, Key="a/old", Body=BODY)
        s3.rename_object(Bucket=DIRECTORY, Key="b/new", RenameSource="a/old", ClientToken="t-1")
        s3.create_multipart_upload(Bucket=DIRECTORY, Key="open/upload")
        session = s3.create_session(Bucket=DIRECTORY)["Credentials"]
    finally:
        process.kill()
        process.wait(30)
    status, report = fsck(data)
    assert status == 0, report
    process, endpoint = start(data)
    try:
        s3 = client(endpoint)
        head = s3.head_bucket(Bucket=DIRECTORY)
        assert (head["BucketLocationType"], head["BucketLocationName"]) == ("AvailabilityZone", "use1-az4")
        assert s3.get_object(Bucket=DIRECTORY, Key="log")["Body"].read() == b"".join(bytes([i]) * 3000 for i in range(30))
        s3.put_object(Bucket=DIRECTORY, Key="log", Body=b"more", WriteOffsetBytes=90_000)
        s3.rename_object(Bucket=DIRECTORY, Key="b/new", RenameSource="a/old", ClientToken="t-1")
        assert s3.get_object(Bucket=DIRECTORY, Key="b/new")["Body"].read() == BODY
        listed = s3.list_objects_v2(Bucket=DIRECTORY, Delimiter="/")
        assert {p["Prefix"] for p in listed["CommonPrefixes"]} == {"b/", "open/"}
        assert [o["Key"] for o in listed["Contents"]] == ["log"]
        assert _read_with(session, endpoint) == 200
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0


def _read_with(session: dict[str, Any], endpoint: str) -> int:
    """Reads the log with the credentials of a session. Returns the status."""
    from botocore.auth import S3ExpressAuth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    url = f"{endpoint}/{DIRECTORY}/log"
    keys = Credentials(session["AccessKeyId"], session["SecretAccessKey"], session["SessionToken"])
    asked = AWSRequest("GET", url)
    S3ExpressAuth(keys, "s3express", "us-east-1", identity_cache={}).add_auth(asked)
    with urllib.request.urlopen(urllib.request.Request(url, headers=dict(asked.headers))) as response:
        status: int = response.status
    return status
