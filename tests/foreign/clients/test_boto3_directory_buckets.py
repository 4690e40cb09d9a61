"""boto3 on directory buckets (S3 Express One Zone): its session handling with the emulator's, over http and https."""

from __future__ import annotations

import hashlib
import itertools
import ssl
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

ZONE = "use1-az4"
MIB = 1024**2
_numbers = itertools.count()


def code(caught) -> tuple[str, int]:
    response = caught.value.response
    return response["Error"]["Code"], response["ResponseMetadata"]["HTTPStatusCode"]


def configuration(zone=ZONE):
    return {
        "Location": {"Type": "AvailabilityZone", "Name": zone},
        "Bucket": {"Type": "Directory", "DataRedundancy": "SingleAvailabilityZone"},
    }


def client_of(space, ca=None, **options):
    """A new client, which has no session yet."""
    return boto3.client(
        "s3",
        endpoint_url=space.endpoint,
        verify=ca,
        config=Config(retries={"total_max_attempts": 1}, **options),
        aws_access_key_id=space.access_key_id,
        aws_secret_access_key=space.secret_access_key,
        region_name="us-east-1",
    )


@pytest.fixture
def space(s3):
    """A namespace for one test, with its own clock and journal."""
    namespace = s3.emulator.create_namespace(f"express-{next(_numbers)}")
    yield namespace
    s3.emulator.delete_namespace(namespace.name)


@pytest.fixture
def boto(space, s3):
    return client_of(space, s3.ca)


@pytest.fixture
def bucket(boto):
    name = f"logs--{ZONE}--x-s3"
    boto.create_bucket(Bucket=name, CreateBucketConfiguration=configuration())
    return name


def sessions(space) -> int:
    return space.journal.count(operations=["CreateSession"])


def test_a_directory_bucket_is_created_listed_and_deleted(boto, space, bucket):
    boto.create_bucket(Bucket="plain-bucket")
    head = boto.head_bucket(Bucket=bucket)
    assert (head["BucketLocationType"], head["BucketLocationName"]) == ("AvailabilityZone", ZONE)
    assert [b["Name"] for b in boto.list_directory_buckets()["Buckets"]] == [bucket]
    assert [b["Name"] for b in boto.list_buckets()["Buckets"]] == ["plain-bucket"]
    with pytest.raises(ClientError) as caught:
        boto.create_bucket(Bucket=bucket, CreateBucketConfiguration=configuration())
    assert code(caught) == ("BucketAlreadyOwnedByYou", 409)
    boto.delete_bucket(Bucket=bucket)
    assert boto.list_directory_buckets()["Buckets"] == []
    with pytest.raises(ClientError) as caught:
        boto.head_bucket(Bucket=bucket)
    assert code(caught) == ("404", 404)


def test_a_name_and_a_document_with_different_zones_are_rejected(boto):
    with pytest.raises(ClientError) as caught:
        boto.create_bucket(Bucket="logs--use1-az5--x-s3", CreateBucketConfiguration=configuration())
    assert code(caught) == ("InvalidBucketName", 400)


def test_many_buckets_are_listed_page_by_page(boto):
    names = sorted(f"b{i}--use1-az{i % 3 + 4}--x-s3" for i in range(7))
    for name in names:
        boto.create_bucket(Bucket=name, CreateBucketConfiguration=configuration(name.split("--")[1]))
    pages = list(boto.get_paginator("list_directory_buckets").paginate(PaginationConfig={"PageSize": 3}))
    assert [len(page["Buckets"]) for page in pages] == [3, 3, 1]
    assert sorted(b["Name"] for page in pages for b in page["Buckets"]) == names


def test_objects_round_trip(boto, bucket):
    put = boto.put_object(Bucket=bucket, Key="a/b", Body=b"hello", Metadata={"m": "1"}, ContentType="text/plain")
    assert put["ETag"].strip('"') != hashlib.md5(b"hello").hexdigest()
    got = boto.get_object(Bucket=bucket, Key="a/b", ChecksumMode="ENABLED")
    assert (got["Body"].read(), got["ETag"], got["Metadata"], got["StorageClass"]) == (
        b"hello",
        put["ETag"],
        {"m": "1"},
        "EXPRESS_ONEZONE",
    )
    assert got["ChecksumCRC32"]
    assert boto.get_object(Bucket=bucket, Key="a/b", Range="bytes=1-2")["Body"].read() == b"el"
    boto.copy_object(Bucket=bucket, Key="copy", CopySource={"Bucket": bucket, "Key": "a/b"})
    assert boto.get_object(Bucket=bucket, Key="copy")["Body"].read() == b"hello"
    with pytest.raises(ClientError) as caught:
        boto.put_object(Bucket=bucket, Key="a/b", Body=b"x", IfNoneMatch="*")
    assert code(caught) == ("PreconditionFailed", 412)
    assert "VersionId" not in boto.delete_object(Bucket=bucket, Key="a/b")
    with pytest.raises(ClientError) as caught:
        boto.get_object(Bucket=bucket, Key="a/b")
    assert code(caught) == ("NoSuchKey", 404)


def test_listings_are_complete_and_unordered(boto, bucket):
    keys = {f"{folder}/{i}" for folder in "abc" for i in range(5)} | {"top"}
    for key in keys:
        boto.put_object(Bucket=bucket, Key=key, Body=b"x")
    listed = [o["Key"] for o in boto.list_objects_v2(Bucket=bucket)["Contents"]]
    assert listed != sorted(listed)
    assert set(listed) == keys
    pages = boto.get_paginator("list_objects_v2").paginate(Bucket=bucket, PaginationConfig={"PageSize": 3})
    assert [o["Key"] for page in pages for o in page["Contents"]] == listed
    boto.create_multipart_upload(Bucket=bucket, Key="open/upload")
    folded = boto.list_objects_v2(Bucket=bucket, Delimiter="/")
    assert {p["Prefix"] for p in folded["CommonPrefixes"]} == {"a/", "b/", "c/", "open/"}
    assert [o["Key"] for o in folded["Contents"]] == ["top"]
    with pytest.raises(ClientError) as caught:
        boto.list_objects_v2(Bucket=bucket, Prefix="a")
    assert code(caught) == ("InvalidRequest", 400)
    with pytest.raises(ClientError) as caught:
        boto.list_objects(Bucket=bucket)
    assert code(caught) == ("NotSupported", 400)


def test_an_upload_with_a_missing_part_is_rejected(boto, bucket):
    upload = boto.create_multipart_upload(Bucket=bucket, Key="m")["UploadId"]
    with pytest.raises(ClientError) as caught:
        boto.delete_bucket(Bucket=bucket)
    assert code(caught) == ("BucketNotEmpty", 409)

    def put(number, size):
        part = boto.upload_part(Bucket=bucket, Key="m", UploadId=upload, PartNumber=number, Body=bytes([number]) * size)
        return {"PartNumber": number, "ETag": part["ETag"]}

    parts = [put(1, 5 * MIB), put(2, 5 * MIB), put(3, 1)]
    with pytest.raises(ClientError) as caught:
        boto.complete_multipart_upload(Bucket=bucket, Key="m", UploadId=upload, MultipartUpload={"Parts": [parts[0], parts[2]]})
    assert code(caught) == ("InvalidPartOrder", 400)
    boto.complete_multipart_upload(Bucket=bucket, Key="m", UploadId=upload, MultipartUpload={"Parts": parts})
    assert boto.head_object(Bucket=bucket, Key="m")["ContentLength"] == 10 * MIB + 1
    assert "Uploads" not in boto.list_multipart_uploads(Bucket=bucket)


def test_append(boto, bucket):
    text = b""
    for i in range(20):
        piece = f"line {i}\n".encode()
        put = boto.put_object(Bucket=bucket, Key="log", Body=piece, WriteOffsetBytes=len(text))
        text += piece
        assert put["Size"] == len(text)
    got = boto.get_object(Bucket=bucket, Key="log", ChecksumMode="ENABLED")
    assert got["Body"].read() == text, "boto3 holds the whole's checksum against it"
    with pytest.raises(ClientError) as caught:
        boto.put_object(Bucket=bucket, Key="log", Body=b"x", WriteOffsetBytes=1)
    assert code(caught) == ("InvalidWriteOffset", 400)
    with pytest.raises(ClientError) as caught:
        boto.put_object(Bucket=bucket, Key="log", Body=b"", WriteOffsetBytes=len(text))
    assert code(caught) == ("InvalidRequest", 400)
    with pytest.raises(ClientError) as caught:
        boto.put_object(Bucket=bucket, Key="absent", Body=b"x", WriteOffsetBytes=1)
    assert code(caught) == ("NoSuchKey", 404)


def test_exactly_one_of_concurrent_appends_succeeds(boto, bucket):
    boto.put_object(Bucket=bucket, Key="log", Body=b"0")

    def append(i):
        try:
            boto.put_object(Bucket=bucket, Key="log", Body=bytes([i]), WriteOffsetBytes=1)
            return "succeeded"
        except ClientError as error:
            return error.response["Error"]["Code"]

    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(append, range(8)))
    assert sorted(outcomes) == ["InvalidWriteOffset"] * 7 + ["succeeded"]
    assert boto.head_object(Bucket=bucket, Key="log")["ContentLength"] == 2


def test_rename(boto, bucket):
    etag = boto.put_object(Bucket=bucket, Key="old name+", Body=b"hello")["ETag"]
    boto.rename_object(Bucket=bucket, Key="new", RenameSource="old%20name%2B", ClientToken="t-1")
    boto.rename_object(Bucket=bucket, Key="new", RenameSource="old%20name%2B", ClientToken="t-1")
    assert boto.get_object(Bucket=bucket, Key="new")["ETag"] == etag
    with pytest.raises(ClientError) as caught:
        boto.rename_object(Bucket=bucket, Key="newer", RenameSource="new", ClientToken="t-1")
    assert code(caught) == ("IdempotencyParameterMismatch", 400)
    with pytest.raises(ClientError) as caught:
        boto.rename_object(Bucket=bucket, Key="newer", RenameSource="absent")
    assert code(caught) == ("NoSuchKey", 404)
    boto.put_object(Bucket=bucket, Key="there", Body=b"")
    with pytest.raises(ClientError) as caught:
        boto.rename_object(Bucket=bucket, Key="there", RenameSource="new", DestinationIfNoneMatch="*")
    assert code(caught) == ("PreconditionFailed", 412)
    boto.rename_object(Bucket=bucket, Key="there", RenameSource="new", SourceIfMatch=etag)
    assert boto.get_object(Bucket=bucket, Key="there")["Body"].read() == b"hello"


def test_conditional_deletes(boto, bucket):
    boto.put_object(Bucket=bucket, Key="k", Body=b"hello")
    modified = boto.head_object(Bucket=bucket, Key="k")["LastModified"]
    for condition in ({"IfMatchSize": 4}, {"IfMatchLastModifiedTime": modified - timedelta(seconds=9)}, {"IfMatch": '"no"'}):
        with pytest.raises(ClientError) as caught:
            boto.delete_object(Bucket=bucket, Key="k", **condition)
        assert code(caught) == ("PreconditionFailed", 412)
    response = boto.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": "k", "Size": 4}, {"Key": "absent", "Size": 1}]})
    assert [e["Code"] for e in response["Errors"]] == ["PreconditionFailed"]
    assert [d["Key"] for d in response["Deleted"]] == ["absent"]
    boto.delete_object(Bucket=bucket, Key="k", IfMatchSize=5, IfMatchLastModifiedTime=modified)
    assert boto.list_objects_v2(Bucket=bucket)["KeyCount"] == 0


def test_one_session_serves_many_requests(boto, space, bucket):
    before = sessions(space)
    for i in range(20):
        boto.put_object(Bucket=bucket, Key=f"k{i}", Body=b"x")
    assert sessions(space) == before, "the session of the bucket's creation goes on"
    assert space.journal.count(operations=["PutObject"]) == 20


def test_a_session_ends_after_five_minutes_of_the_virtual_clock(boto, space, bucket, s3):
    boto.put_object(Bucket=bucket, Key="k", Body=b"x")
    space.clock.advance(4 * 60)
    assert boto.get_object(Bucket=bucket, Key="k")["Body"].read() == b"x"
    space.clock.advance(2 * 60)
    with pytest.raises(ClientError) as caught:  # boto3's clock has not moved
        boto.get_object(Bucket=bucket, Key="k")
    assert code(caught) == ("ExpiredToken", 400)
    fresh = client_of(space, s3.ca)
    assert fresh.get_object(Bucket=bucket, Key="k")["Body"].read() == b"x"


def test_create_session_returns_its_expiration(boto, space, bucket):
    space.clock.freeze()
    credentials = boto.create_session(Bucket=bucket, SessionMode="ReadOnly")["Credentials"]
    assert credentials["Expiration"] == (space.clock.now + timedelta(minutes=5)).astimezone(UTC).replace(microsecond=0)
    assert credentials["Expiration"] > datetime(2020, 1, 1, tzinfo=UTC)
    assert all(credentials[name] for name in ("AccessKeyId", "SecretAccessKey", "SessionToken"))


def test_presigned_urls_expire_with_their_session(boto, space, bucket, s3):
    trust = ssl.create_default_context(cafile=s3.ca) if s3.ca else None
    boto.put_object(Bucket=bucket, Key="k", Body=b"hello")
    url = boto.generate_presigned_url("get_object", Params={"Bucket": bucket, "Key": "k"}, ExpiresIn=3600)
    assert "X-Amz-S3session-Token=" in url
    assert urllib.request.urlopen(url, context=trust).read() == b"hello"
    space.clock.advance(6 * 60)
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(url, context=trust)
    assert caught.value.code == 400
    assert b"<Code>ExpiredToken</Code>" in caught.value.read()


def test_without_sessions_the_access_key_signs(space, bucket, s3):
    plain = client_of(space, s3.ca, s3={"disable_s3_express_session_auth": True})
    before = sessions(space)
    plain.put_object(Bucket=bucket, Key="k", Body=b"x")
    assert plain.get_object(Bucket=bucket, Key="k")["Body"].read() == b"x"
    assert sessions(space) == before


def test_operations_that_directory_buckets_lack_are_rejected(boto, bucket):
    boto.put_object(Bucket=bucket, Key="k", Body=b"x")
    calls = [
        lambda: boto.get_bucket_versioning(Bucket=bucket),
        lambda: boto.get_object_tagging(Bucket=bucket, Key="k"),
        lambda: boto.get_object_acl(Bucket=bucket, Key="k"),
        lambda: boto.list_object_versions(Bucket=bucket),
        lambda: boto.get_bucket_website(Bucket=bucket),
        lambda: boto.put_object(Bucket=bucket, Key="k", Body=b"x", Tagging="a=b"),
        lambda: boto.put_object(Bucket=bucket, Key="k", Body=b"x", ACL="private"),
    ]
    for call in calls:
        with pytest.raises(ClientError) as caught:
            call()
        assert code(caught) == ("NotImplemented", 501)


def test_lifecycle_and_encryption_are_stored(boto, bucket):
    rule = {"ID": "r", "Status": "Enabled", "Filter": {"Prefix": "tmp/"}, "Expiration": {"Days": 1}}
    boto.put_bucket_lifecycle_configuration(Bucket=bucket, LifecycleConfiguration={"Rules": [rule]})
    assert boto.get_bucket_lifecycle_configuration(Bucket=bucket)["Rules"][0]["ID"] == "r"
    assert boto.get_bucket_encryption(Bucket=bucket)["ServerSideEncryptionConfiguration"]["Rules"]


def test_each_directory_bucket_has_its_own_limits(space, s3, boto):
    """All keys of a bucket share one limit, in all its folders. Another bucket has its own."""
    names = [space.create_directory_bucket(name) for name in ("one", "two")]
    for name in names:  # creates its session before the clock is frozen
        boto.list_objects_v2(Bucket=name)
    space.clock.freeze()
    space.set_limits({"preset": "aws-standard", "directory_preset": "aws-strict"})

    def admitted(bucket) -> int:
        for number in range(500):
            try:
                boto.put_object(Bucket=bucket, Key=f"{number % 10}/{number}", Body=b"")
            except ClientError as error:
                assert error.response["Error"]["Code"] == "SlowDown"
                return number
        raise AssertionError("never refused")

    budgets = [admitted(name) for name in names]
    assert budgets[0] == budgets[1] >= 1
    boto.create_bucket(Bucket="plain-bucket")
    for number in range(budgets[0] + 5):
        boto.put_object(Bucket="plain-bucket", Key=f"0/{number}", Body=b"")
