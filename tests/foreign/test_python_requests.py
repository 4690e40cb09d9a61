"""The requests of the Python S3Client with a server that shares no code with Penstock (moto), checked with boto3.

Presigned URLs are compared with botocore's signer, and sent by a plain HTTP client.
"""

from __future__ import annotations

import base64
import datetime
import http.client
import itertools
import json
import os
import urllib.parse
from unittest import mock

import boto3
import botocore.auth
import penstock
import pytest
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import Credentials
from penstock.requests import ObjectToDelete

MIB = 1024**2
_numbers = itertools.count()


@pytest.fixture
def client(moto_endpoint):
    config = penstock.S3ClientConfig(force_path_style=True, access_key_id="testing", secret_access_key="testing", max_attempts=2)
    return penstock.S3Client("us-east-1", endpoint=moto_endpoint, s3client_config=config)


@pytest.fixture
def boto(moto_endpoint):
    return boto3.client(
        "s3", endpoint_url=moto_endpoint, region_name="us-east-1", aws_access_key_id="testing", aws_secret_access_key="testing",
        config=Config(s3={"addressing_style": "path"}, signature_version="s3v4"),
    )  # fmt: skip


@pytest.fixture
def bucket(client):
    name = f"python-requests-{next(_numbers)}"
    client.create_bucket(name)
    return name


def send(method: str, url: str, headers: dict[str, str], body: bytes = b"") -> tuple[int, bytes]:
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=30)
    connection.request(method, f"{parts.path}?{parts.query}" if parts.query else parts.path, body or None, headers)
    response = connection.getresponse()
    return response.status, response.read()


def test_boto3_reads_what_put_stored(client, boto, bucket):
    put = client.put(
        bucket, "k", b"data", content_type="text/plain", metadata={"who": "me"}, cache_control="no-cache",
        content_disposition="attachment", content_language="de", tagging={"a": "1 2", "b": "x/y"},
        expires=datetime.datetime(2030, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc), server_side_encryption="AES256",
        storage_class="STANDARD_IA",
    )  # fmt: skip
    found = boto.get_object(Bucket=bucket, Key="k")
    assert (found["Body"].read(), found["ETag"]) == (b"data", put.etag)
    assert (found["ContentType"], found["Metadata"], found["CacheControl"]) == ("text/plain", {"who": "me"}, "no-cache")
    assert (found["ContentDisposition"], found["ContentLanguage"]) == ("attachment", "de")
    assert (found["ServerSideEncryption"], found["StorageClass"]) == ("AES256", "STANDARD_IA")
    assert found["ExpiresString"] == "Wed, 02 Jan 2030 03:04:05 GMT"
    tags = boto.get_object_tagging(Bucket=bucket, Key="k")["TagSet"]
    assert {tag["Key"]: tag["Value"] for tag in tags} == {"a": "1 2", "b": "x/y"}


def test_get_reads_what_boto3_stored(client, boto, bucket):
    stored = boto.put_object(
        Bucket=bucket, Key="k", Body=b"0123456789", ContentType="text/plain", Metadata={"who": "me"}, Tagging="a=b"
    )
    got = client.get(bucket, "k", range=(2, 5), response_content_type="image/png")
    assert (got.body, got.metadata.range, got.metadata.size) == (b"234", (2, 5), 10)
    assert (got.metadata.etag, got.metadata.content_type) == (stored["ETag"], "image/png")
    assert client.get(bucket, "k", range=(-3, None)).body == b"789"
    memory = bytearray(10)
    assert client.get(bucket, "k", buffer=memory).body == memory == b"0123456789"
    assert client.head(bucket, "k").metadata == {"who": "me"}
    assert client.get_object_tagging(bucket, "k") == {"a": "b"}
    with pytest.raises(penstock.S3NotModifiedError):
        client.get(bucket, "k", if_none_match=stored["ETag"])
    with pytest.raises(penstock.S3PreconditionFailedError):
        client.get(bucket, "k", if_match="0" * 32)
    with pytest.raises(penstock.S3NotModifiedError):
        client.get(bucket, "k", if_modified_since=client.head(bucket, "k").last_modified)


def test_versions_and_deletions(client, boto, bucket):
    client.put_bucket_versioning(bucket, "Enabled")
    assert boto.get_bucket_versioning(Bucket=bucket)["Status"] == "Enabled"
    first, second = (client.put(bucket, "k", data).version_id for data in (b"1", b"2"))
    assert client.get(bucket, "k", version_id=first).body == b"1"
    result = client.delete_objects(bucket, [ObjectToDelete("k", version_id=first), "k"])
    assert [(each.key, each.version_id) for each in result.deleted] == [("k", first), ("k", None)]
    listed = boto.list_object_versions(Bucket=bucket)
    assert [each["VersionId"] for each in listed["Versions"]] == [second]
    assert len(listed["DeleteMarkers"]) == 1
    marker = listed["DeleteMarkers"][0]["VersionId"]
    assert client.delete(bucket, "k", version_id=marker).version_id == marker
    assert boto.get_object(Bucket=bucket, Key="k")["Body"].read() == b"2"


def test_delete_objects_in_batches(client, boto, bucket):
    boto.put_object(Bucket=bucket, Key="k1500", Body=b"x")
    assert len(client.delete_objects(bucket, [f"k{number}" for number in range(1501)]).deleted) == 1501
    assert client.stats()["requests"]["DeleteObjects"] == 2
    assert "Contents" not in boto.list_objects_v2(Bucket=bucket)


def test_an_upload_by_hand(client, boto, bucket):
    data = os.urandom(5 * MIB)
    boto.put_object(Bucket=bucket, Key="source", Body=data)
    upload = client.create_multipart_upload(bucket, "k", content_type="text/plain", metadata={"a": "b"})
    assert [each["UploadId"] for each in boto.list_multipart_uploads(Bucket=bucket)["Uploads"]] == [upload]
    assert [each.upload_id for each in client.list_multipart_uploads(bucket).uploads] == [upload]
    client.upload_part(bucket, "k", upload, 1, data)
    client.upload_part_copy(bucket, "k", upload, 2, bucket, "source", src_range=(0, 5 * MIB))
    client.upload_part(bucket, "k", upload, 3, b"end")
    sizes = [part["Size"] for part in boto.list_parts(Bucket=bucket, Key="k", UploadId=upload)["Parts"]]
    parts = client.list_parts(bucket, "k", upload).parts
    assert [part.size for part in parts] == sizes == [5 * MIB, 5 * MIB, 3]
    client.complete_multipart_upload(bucket, "k", upload, parts)
    found = boto.get_object(Bucket=bucket, Key="k")
    assert found["Body"].read() == data + data + b"end"
    assert (found["ContentType"], found["Metadata"]) == ("text/plain", {"a": "b"})
    other = client.create_multipart_upload(bucket, "other")
    client.abort_multipart_upload(bucket, "other", other)
    assert "Uploads" not in boto.list_multipart_uploads(Bucket=bucket)


def test_copy_and_tags_and_buckets(client, boto, bucket):
    client.put(bucket, "k", b"x", metadata={"a": "1"})
    client.copy(bucket, "k", bucket, "copy", metadata_directive="REPLACE", metadata={"b": "2"}, content_type="image/png")
    found = boto.head_object(Bucket=bucket, Key="copy")
    assert (found["Metadata"], found["ContentType"]) == ({"b": "2"}, "image/png")
    client.put_object_tagging(bucket, "k", {"t": "v"})
    assert boto.get_object_tagging(Bucket=bucket, Key="k")["TagSet"] == [{"Key": "t", "Value": "v"}]
    client.delete_object_tagging(bucket, "k")
    assert boto.get_object_tagging(Bucket=bucket, Key="k")["TagSet"] == []
    client.put_bucket_tagging(bucket, {"t": "v"})
    assert boto.get_bucket_tagging(Bucket=bucket)["TagSet"] == [{"Key": "t", "Value": "v"}]
    client.head_bucket(bucket)
    assert bucket in [each.name for each in client.list_buckets()]
    client.delete_objects(bucket, ["k", "copy"])
    client.delete_bucket(bucket)
    with pytest.raises(penstock.S3NotFoundError):
        client.head_bucket(bucket)


def test_files(client, boto, bucket, tmp_path):
    data = os.urandom(9 * MIB)
    (tmp_path / "d/e").mkdir(parents=True)
    (tmp_path / "d/e/f").write_bytes(data)
    client.upload_file(tmp_path / "d/e/f", bucket, "f", content_type="x/y", part_size=5 * MIB)
    found = boto.get_object(Bucket=bucket, Key="f")
    assert (found["Body"].read(), found["ContentType"]) == (data, "x/y")
    client.download_file(bucket, "f", tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == data
    assert client.upload_directory(tmp_path / "d", bucket, "p").files == 1
    boto.put_object(Bucket=bucket, Key="p/g", Body=b"g")
    assert client.download_directory(bucket, "p", tmp_path / "down").files == 2
    assert ((tmp_path / "down/e/f").read_bytes(), (tmp_path / "down/g").read_bytes()) == (data, b"g")


def botocore_url(method: str, url: str, headers: dict[str, str], token: str | None = None) -> str:
    """Signs the same request with botocore, at the time that the URL names."""
    parts = urllib.parse.urlsplit(url)
    query = urllib.parse.parse_qsl(parts.query, keep_blank_values=True)
    ours = dict(query)
    kept = [(name, value) for name, value in query if not name.startswith("X-Amz-")]
    plain = parts._replace(query=urllib.parse.urlencode(kept, quote_via=urllib.parse.quote)).geturl()
    request = AWSRequest(method=method, url=plain, headers=headers)
    now = datetime.datetime.strptime(ours["X-Amz-Date"], "%Y%m%dT%H%M%SZ")
    signer = botocore.auth.S3SigV4QueryAuth(
        Credentials("testing", "testing", token), "s3", "us-east-1", expires=int(ours["X-Amz-Expires"])
    )
    with mock.patch("botocore.auth.get_current_datetime", return_value=now):
        signer.add_auth(request)
    return request.url


@pytest.mark.parametrize(
    ("operation", "key", "arguments"),
    [
        ("get", "a b/\u00e4+%", {"response_content_disposition": 'attachment; filename="a b.txt"', "version_id": "v/1"}),
        ("head", "k", {"expires_in": 604800}),
        ("put", "k", {"content_type": "text/plain", "metadata": {"who": "me"}, "tagging": {"a": "b c"}, "if_none_match": True}),
        ("delete", "k", {"version_id": "null"}),
        ("upload_part", "k", {"upload_id": "u+/=", "part_number": 3}),
        ("get", "k", {"expected_bucket_owner": "111122223333", "requester_pays": True, "extra_query": {"x": "y z"}}),
    ],
)
@pytest.mark.parametrize("token", [None, "the/token+="])
def test_presigned_urls_equal_those_of_botocore(operation, key, arguments, token):
    config = penstock.S3ClientConfig(
        force_path_style=True, access_key_id="testing", secret_access_key="testing", session_token=token
    )
    client = penstock.S3Client("us-east-1", endpoint="http://127.0.0.1:9", s3client_config=config)
    signed = client.presign(operation, "bucket", key, **arguments)
    query = [urllib.parse.parse_qs(urllib.parse.urlsplit(url).query) for url in (
        signed.url, botocore_url(signed.method, signed.url, dict(signed.headers), token)
    )]  # fmt: skip
    assert query[0] == query[1]
    assert "X-Amz-Signature" in query[0]


def test_presigned_urls_work_elsewhere(client, boto, bucket):
    put = client.presign("put", bucket, "a b", content_type="text/plain")
    assert send(put.method, put.url, dict(put.headers), b"data")[0] == 200
    assert boto.head_object(Bucket=bucket, Key="a b")["ContentType"] == "text/plain"
    get = client.presign("get", bucket, "a b")
    assert send(get.method, get.url, dict(get.headers)) == (200, b"data")
    assert send("DELETE", client.presign("delete", bucket, "a b").url, {})[0] == 204
    assert send(get.method, get.url, dict(get.headers))[0] == 404


def test_a_presigned_form_has_the_policy_of_boto3(client, boto, bucket):
    ours = client.presign_post(bucket, "k", fields={"acl": "private"}, content_length_range=(1, 10), expires_in=60)
    theirs = boto.generate_presigned_post(
        bucket, "k", Fields={"acl": "private"}, Conditions=[{"acl": "private"}, ["content-length-range", 1, 10]], ExpiresIn=60
    )
    assert set(ours.fields) == set(theirs["fields"])

    def conditions(fields):
        policy = json.loads(base64.b64decode(fields["policy"]))
        return [each for each in policy["conditions"] if "x-amz-date" not in each]

    assert sorted(map(str, conditions(ours.fields))) == sorted(map(str, conditions(theirs["fields"])))
    assert ours.url.rstrip("/") == theirs["url"].rstrip("/")
