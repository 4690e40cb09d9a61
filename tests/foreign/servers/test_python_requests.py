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
    assert client.metrics()["requests"]["DeleteObjects"] == 2
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


def test_configurations_are_documents_that_boto3_reads_and_writes(client, boto, bucket):
    days = "<Filter><Prefix>tmp/</Prefix></Filter><Status>Enabled</Status><Expiration><Days>7</Days></Expiration>"
    rule = f"<Rule><ID>old</ID>{days}</Rule>"
    client.put_bucket_configuration(bucket, "lifecycle", f"<LifecycleConfiguration>{rule}</LifecycleConfiguration>")
    assert boto.get_bucket_lifecycle_configuration(Bucket=bucket)["Rules"][0]["Expiration"] == {"Days": 7}
    client.delete_bucket_configuration(bucket, "lifecycle")
    with pytest.raises(penstock.S3NotFoundError):
        client.get_bucket_configuration(bucket, "lifecycle")

    statement = {"Effect": "Deny", "Principal": "*", "Action": "s3:DeleteObject", "Resource": f"arn:aws:s3:::{bucket}/*"}
    policy = {"Version": "2012-10-17", "Statement": [statement]}
    client.put_bucket_configuration(bucket, "policy", json.dumps(policy))
    assert json.loads(boto.get_bucket_policy(Bucket=bucket)["Policy"]) == policy

    cors = {"AllowedMethods": ["GET"], "AllowedOrigins": ["https://example.com"]}
    boto.put_bucket_cors(Bucket=bucket, CORSConfiguration={"CORSRules": [cors]})
    assert b"https://example.com" in client.get_bucket_configuration(bucket, "cors")

    encryption = {"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": "key-1"}}
    boto.put_bucket_encryption(Bucket=bucket, ServerSideEncryptionConfiguration={"Rules": [encryption]})
    assert b"key-1" in client.get_bucket_configuration(bucket, "encryption")
    client.put_bucket_configuration(
        bucket, "public_access_block",
        "<PublicAccessBlockConfiguration><BlockPublicAcls>true</BlockPublicAcls></PublicAccessBlockConfiguration>",
    )  # fmt: skip
    assert boto.get_public_access_block(Bucket=bucket)["PublicAccessBlockConfiguration"]["BlockPublicAcls"] is True


def test_notifications_are_documents_that_boto3_reads(client, boto, bucket):
    # moto accepts a notification without checking its target
    event = "<Queue>arn:aws:sqs:us-east-1:123456789012:q</Queue><Event>s3:ObjectCreated:*</Event>"
    client.put_bucket_configuration(
        bucket, "notification",
        f"<NotificationConfiguration><QueueConfiguration><Id>n</Id>{event}</QueueConfiguration></NotificationConfiguration>",
    )  # fmt: skip
    found = boto.get_bucket_notification_configuration(Bucket=bucket)["QueueConfigurations"][0]
    assert (found["Id"], found["Events"]) == ("n", ["s3:ObjectCreated:*"])
    assert b"s3:ObjectCreated:*" in client.get_bucket_configuration(bucket, "notification")


def test_retention_and_legal_hold_are_documents_that_boto3_reads(client, boto):
    bucket = f"python-requests-{next(_numbers)}"
    client.create_bucket(bucket, object_lock_enabled=True)
    client.put(bucket, "k", b"x")
    client.put_object_configuration(bucket, "k", "legal_hold", "<LegalHold><Status>ON</Status></LegalHold>")
    assert boto.get_object_legal_hold(Bucket=bucket, Key="k")["LegalHold"] == {"Status": "ON"}
    until = "2040-01-02T03:04:05Z"
    client.put_object_configuration(
        bucket, "k", "retention", f"<Retention><Mode>GOVERNANCE</Mode><RetainUntilDate>{until}</RetainUntilDate></Retention>"
    )
    found = boto.head_object(Bucket=bucket, Key="k")
    assert (found["ObjectLockMode"], found["ObjectLockRetainUntilDate"].year) == ("GOVERNANCE", 2040)
    assert client.head(bucket, "k").object_lock_mode == "GOVERNANCE"


@pytest.mark.parametrize("kind", ["aws:kms", "aws:kms:dsse"])
def test_kms_encryption_arrives_and_comes_back(client, boto, bucket, kind):
    key = "arn:aws:kms:us-east-1:123456789012:key/1"
    bucket_key = kind == "aws:kms"
    options = {"server_side_encryption": kind, "sse_kms_key_id": key, **({"bucket_key_enabled": True} if bucket_key else {})}
    put = client.put(bucket, "ours", b"data", **options)
    key_id = key if kind == "aws:kms" else None  # moto does not return the key of a DSSE object
    assert (put.encryption, put.sse_kms_key_id) == (kind, key_id)
    found = boto.head_object(Bucket=bucket, Key="ours")
    assert (found["ServerSideEncryption"], found.get("SSEKMSKeyId")) == (kind, key_id)
    assert found.get("BucketKeyEnabled", False) == bucket_key

    upload_id = client.create_multipart_upload(bucket, "parts", **options)
    part = client.upload_part(bucket, "parts", upload_id, 1, b"data")
    client.complete_multipart_upload(bucket, "parts", upload_id, [part])
    assert boto.head_object(Bucket=bucket, Key="parts")["ServerSideEncryption"] == kind
    client.copy(bucket, "ours", bucket, "copy", **options)
    assert boto.head_object(Bucket=bucket, Key="copy")["ServerSideEncryption"] == kind

    boto.put_object(Bucket=bucket, Key="theirs", Body=b"data", ServerSideEncryption=kind, SSEKMSKeyId=key)
    read = client.get(bucket, "theirs")
    assert (read.body, read.metadata.encryption, read.metadata.sse_kms_key_id) == (b"data", kind, key_id)


def test_object_locks_arrive_and_come_back(client, boto):
    bucket = f"python-requests-{next(_numbers)}"
    boto.create_bucket(Bucket=bucket, ObjectLockEnabledForBucket=True)
    until = datetime.datetime(2040, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc)
    client.put(
        bucket, "ours", b"x", object_lock_mode="GOVERNANCE", object_lock_retain_until_date=until, object_lock_legal_hold=True
    )
    found = boto.head_object(Bucket=bucket, Key="ours")
    assert (found["ObjectLockMode"], found["ObjectLockRetainUntilDate"]) == ("GOVERNANCE", until)
    assert boto.get_object_legal_hold(Bucket=bucket, Key="ours")["LegalHold"] == {"Status": "ON"}

    boto.put_object(Bucket=bucket, Key="theirs", Body=b"x", ObjectLockMode="COMPLIANCE", ObjectLockRetainUntilDate=until)
    read = client.head(bucket, "theirs")
    assert (read.object_lock_mode, read.object_lock_retain_until_date) == ("COMPLIANCE", until.timestamp())
    version = read.version_id
    with pytest.raises(penstock.S3AccessDeniedError):
        client.delete(bucket, "theirs", version_id=version)
    version = client.head(bucket, "ours").version_id
    client.put_object_configuration(bucket, "ours", "legal_hold", "<LegalHold><Status>OFF</Status></LegalHold>")
    client.delete(bucket, "ours", version_id=version, bypass_governance_retention=True)


def test_sse_c_headers_are_those_of_boto3(client, boto, bucket, monkeypatch):
    """moto stores no keys: compares what both clients send."""
    sent = {}

    def keep(request, **_):
        sent.update({name.lower(): value for name, value in request.headers.items() if "customer" in name.lower()})

    key = bytes(range(32))
    boto.meta.events.register("before-send.s3.PutObject", keep)
    boto.put_object(Bucket=bucket, Key="k", Body=b"x", SSECustomerAlgorithm="AES256", SSECustomerKey=key)
    theirs = {name: value.decode() if isinstance(value, bytes) else value for name, value in sent.items()}
    ours = client.presign("put", bucket, "k", sse_customer_key=key).headers
    assert {name.lower(): value for name, value in ours.items() if "customer" in name.lower()} == theirs
    assert len(theirs) == 3


def signed_policy(fields: dict[str, str]) -> tuple[dict[str, object], str]:
    """The policy of a form, and the signature that botocore computes for it."""
    names = {name.lower(): value for name, value in fields.items()}
    policy = json.loads(base64.b64decode(names["policy"]))
    _, date, region, service, _ = names["x-amz-credential"].split("/")
    signer = botocore.auth.S3SigV4PostAuth(Credentials("testing", "testing"), service, region)
    request = AWSRequest(method="POST", url="http://example.com")
    request.context["timestamp"] = names["x-amz-date"]
    assert date == names["x-amz-date"][:8]
    return policy, signer.signature(names["policy"], request)


@pytest.mark.parametrize("key", ["uploads/a b", "uploads/${filename}"])
def test_forms_are_those_of_generate_presigned_post(client, boto, bucket, key):
    fixed = {"acl": "private", "Content-Type": "text/plain", "x-amz-meta-who": "me"}
    conditions = [{name: value} for name, value in fixed.items()]
    theirs = boto.generate_presigned_post(
        bucket, key, Fields=dict(fixed), ExpiresIn=600,
        Conditions=[*conditions, ["starts-with", "$x-amz-meta-note", "n"], ["content-length-range", 1, 2000]],
    )  # fmt: skip
    ours = client.presign_post(
        bucket, key, fields=fixed, starts_with={"x-amz-meta-note": "n"}, content_length_range=(1, 2000), expires_in=600
    )
    assert ours.url == theirs["url"]
    assert set(ours.fields) == set(theirs["fields"])
    our_policy, our_signature = signed_policy(ours.fields)
    their_policy, their_signature = signed_policy(theirs["fields"])
    assert ours.fields["x-amz-signature"] == our_signature
    assert theirs["fields"]["x-amz-signature"] == their_signature

    def comparable(policy: dict[str, object]) -> list[str]:
        dates = ("x-amz-date", "x-amz-credential")
        return [json.dumps(each) for each in policy["conditions"] if not (isinstance(each, dict) and each.keys() & set(dates))]

    assert comparable(our_policy) == comparable(their_policy)
    assert our_policy["expiration"][-1] == their_policy["expiration"][-1] == "Z"
