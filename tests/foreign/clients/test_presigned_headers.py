"""Headers in the query of presigned URLs that botocore signs, and checksums of uploads that boto3 completes.

The responses of AWS: boto3 issue 4367, LocalStack pull request 12624, and LocalStack's multipart checksum tests.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import http.client
import zlib
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote, urlsplit

import boto3
import pytest
from botocore.auth import S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import Credentials
from botocore.exceptions import ClientError


@pytest.fixture(scope="module")
def plain_s3(s3: SimpleNamespace) -> SimpleNamespace:
    if s3.ca is not None:
        pytest.skip("the same over TLS")
    return s3


def signed_url(s3: SimpleNamespace, method: str, path: str, query: dict[str, str]) -> str:
    """Signs the URL with Signature Version 4; every parameter of the query is signed."""
    pairs = "&".join(f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in query.items())
    request = AWSRequest(method=method, url=f"{s3.endpoint}{path}?{pairs}")
    credentials = Credentials(s3.emulator.access_key_id, s3.emulator.secret_access_key)
    S3SigV4QueryAuth(credentials, "s3", s3.emulator.region, expires=60).add_auth(request)
    return str(request.url)


def send(method: str, url: str, body: bytes | None = None) -> int:
    """Sends the URL without any header that the client could add, and returns the status."""
    target = urlsplit(url)
    with contextlib.closing(http.client.HTTPConnection(str(target.hostname), target.port, timeout=10)) as connection:
        connection.request(method, f"{target.path}?{target.query}", body)
        return connection.getresponse().status


def md5(body: bytes) -> str:
    return base64.b64encode(hashlib.md5(body).digest()).decode()


def read(boto: Any, bucket: str, key: str) -> bytes:
    return bytes(boto.get_object(Bucket=bucket, Key=key)["Body"].read())


def test_a_condition_in_a_presigned_query_protects_the_object(plain_s3: SimpleNamespace, boto: Any, bucket: str) -> None:
    boto.put_object(Bucket=bucket, Key="k", Body=b"old")
    for condition in ({"If-None-Match": "*"}, {"if-none-match": "*"}, {"If-Match": '"other"'}):
        assert send("PUT", signed_url(plain_s3, "PUT", f"/{bucket}/k", condition), b"new") == 412
        assert read(boto, bucket, "k") == b"old"
    assert send("DELETE", signed_url(plain_s3, "DELETE", f"/{bucket}/k", {"If-Match": '"other"'})) == 412
    assert read(boto, bucket, "k") == b"old"
    etag = boto.head_object(Bucket=bucket, Key="k")["ETag"]
    assert send("PUT", signed_url(plain_s3, "PUT", f"/{bucket}/k", {"If-Match": etag}), b"new") == 200
    assert read(boto, bucket, "k") == b"new"
    assert send("GET", signed_url(plain_s3, "GET", f"/{bucket}/k", {"If-None-Match": "*"})) == 304
    assert send("GET", signed_url(plain_s3, "GET", f"/{bucket}/k", {"Range": "bytes=0-0"})) == 206


def test_every_operation_reads_the_headers_in_its_presigned_query(plain_s3: SimpleNamespace, boto: Any, bucket: str) -> None:
    boto.put_object(Bucket=bucket, Key="k", Body=b"old")
    upload = boto.create_multipart_upload(Bucket=bucket, Key="k")["UploadId"]
    etag = boto.upload_part(Bucket=bucket, Key="k", UploadId=upload, PartNumber=1, Body=b"part")["ETag"]
    parts = f"<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>{etag}</ETag></Part></CompleteMultipartUpload>"
    delete = b"<Delete><Object><Key>absent</Key></Object></Delete>"
    tags = b"<Tagging><TagSet/></Tagging>"
    wrong = base64.b64encode(bytes(16)).decode()
    copy = {"x-amz-copy-source": f"{bucket}/k"}
    cases: list[tuple[str, str, dict[str, str], bytes, int]] = [
        ("HEAD", "k", {"If-None-Match": "*"}, b"", 304),
        ("HEAD", "k", {"If-Unmodified-Since": "Thu, 01 Jan 2015 00:00:00 GMT"}, b"", 412),
        ("GET", "k", {"attributes": "", "x-amz-object-attributes": "ETag"}, b"", 200),
        ("PUT", "c", {**copy, "x-amz-copy-source-if-match": '"other"'}, b"", 412),
        ("PUT", "k", {**copy, "If-None-Match": "*", "x-amz-metadata-directive": "REPLACE"}, b"", 412),
        ("PUT", "k", {"uploadId": upload, "partNumber": "2", "Content-MD5": wrong}, b"part", 400),
        ("POST", "k", {"uploadId": upload, "If-None-Match": "*"}, parts.encode(), 412),
        ("POST", "", {"delete": "", "Content-MD5": wrong}, delete, 400),
        ("POST", "", {"delete": "", "Content-MD5": md5(delete)}, delete, 200),
        ("PUT", "k", {"tagging": "", "Content-MD5": md5(tags)}, tags, 200),
        ("PUT", "k", {"tagging": "", "Content-MD5": wrong}, tags, 400),
        ("PUT", "", {"acl": "", "x-amz-acl": "private"}, b"", 400),
        ("DELETE", "k", {"If-Match": '"other"'}, b"", 412),
    ]
    for method, key, query, body, status in cases:
        url = signed_url(plain_s3, method, f"/{bucket}/{key}", query)
        assert send(method, url, body or None) == status, (method, query)
    assert read(boto, bucket, "k") == b"old"


def test_content_headers_and_metadata_in_a_presigned_query_are_stored(plain_s3: SimpleNamespace, boto: Any, bucket: str) -> None:
    query = {"Cache-Control": "no-store", "Content-Disposition": "inline", "Expires": "0", "x-amz-meta-name": "é"}
    assert send("PUT", signed_url(plain_s3, "PUT", f"/{bucket}/k", query), b"x") == 200
    head = boto.head_object(Bucket=bucket, Key="k")
    assert head["CacheControl"] == "no-store"
    assert head["ContentDisposition"] == "inline"
    assert head["ResponseMetadata"]["HTTPHeaders"]["expires"] == "0"
    assert head["Metadata"] == {"name": "=?UTF-8?B?" + base64.b64encode("é".encode()).decode() + "?="}
    wrong = {"Content-MD5": base64.b64encode(bytes(16)).decode()}
    assert send("PUT", signed_url(plain_s3, "PUT", f"/{bucket}/k", wrong), b"y") == 400
    assert read(boto, bucket, "k") == b"x"


def test_version_two_urls_of_boto3_set_the_content_type(plain_s3: SimpleNamespace, boto: Any, bucket: str) -> None:
    client = boto3.client(
        "s3",
        endpoint_url=plain_s3.endpoint,
        config=Config(s3={"addressing_style": "path"}, signature_version="s3"),
        **plain_s3.credentials,
    )
    url = client.generate_presigned_url("put_object", Params={"Bucket": bucket, "Key": "k", "ContentType": "text/x"})
    assert "Signature=" in url and "content-type=text%2Fx" in url
    assert send("PUT", url, b"x") == 200
    assert boto.head_object(Bucket=bucket, Key="k")["ContentType"] == "text/x"


def complete(boto: Any, bucket: str, upload: dict[str, Any], **extra: Any) -> Any:
    return boto.complete_multipart_upload(Bucket=bucket, Key="big", UploadId=upload["UploadId"], **extra)


def test_an_object_checksum_that_does_not_fit_the_upload_is_a_bad_digest(boto: Any, bucket: str) -> None:
    upload = boto.create_multipart_upload(Bucket=bucket, Key="big", ChecksumAlgorithm="CRC32", ChecksumType="FULL_OBJECT")
    part = boto.upload_part(Bucket=bucket, Key="big", UploadId=upload["UploadId"], PartNumber=1, Body=b"hello")
    parts = {"MultipartUpload": {"Parts": [{"PartNumber": 1, "ETag": part["ETag"]}]}}
    crc32 = base64.b64encode(zlib.crc32(b"hello").to_bytes(4, "big")).decode()
    for checksum in (
        {"ChecksumCRC32": crc32},
        {"ChecksumCRC32": "AAAAAA==", "ChecksumType": "FULL_OBJECT"},
        {"ChecksumCRC32C": "mnG7TA==", "ChecksumType": "FULL_OBJECT"},
    ):
        with pytest.raises(ClientError) as caught:
            complete(boto, bucket, upload, **parts, **checksum)
        assert caught.value.response["Error"]["Code"] == "BadDigest"
        assert caught.value.response["Error"]["Message"] == "The crc32 you specified did not match the calculated checksum."
        assert "Contents" not in boto.list_objects_v2(Bucket=bucket)
    with pytest.raises(ClientError) as empty:
        complete(boto, bucket, upload)
    assert empty.value.response["Error"]["Message"] == "You must specify at least one part"
    with pytest.raises(ClientError) as unknown:
        complete(boto, bucket, {"UploadId": "unknown"})
    assert unknown.value.response["Error"]["Code"] == "NoSuchUpload"
    assert complete(boto, bucket, upload, **parts, ChecksumCRC32=crc32, ChecksumType="FULL_OBJECT")["ChecksumCRC32"] == crc32


def test_a_presigned_query_skips_the_test_event(plain_s3: SimpleNamespace, bucket: str) -> None:
    document = (
        b"<NotificationConfiguration><QueueConfiguration><Queue>arn:aws:sqs:us-east-1:111122223333:q</Queue>"
        b"<Event>s3:ObjectCreated:*</Event></QueueConfiguration></NotificationConfiguration>"
    )
    plain_s3.emulator.remove_events()
    for header, events in ({"x-amz-skip-destination-validation": "true"}, 0), ({}, 1):
        query = {"notification": "", **header}
        assert send("PUT", signed_url(plain_s3, "PUT", f"/{bucket}", query), document) == 200
        assert len(plain_s3.emulator.events()) == events
