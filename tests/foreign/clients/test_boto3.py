"""boto3 on the emulator, which verifies signatures, over http and https."""

from __future__ import annotations

import hashlib
import io
import os
import socket
import urllib.request

import boto3
import pytest
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import ClientError

MIB = 1024**2
ODD_KEYS = ["a b+c", "a/../b", "//double", "ä ö/ü", "100%", "q?x=1&y#z", "emoji-\U0001f600", "a" * 1024, "~*()'!"]


def code(caught) -> tuple[str, int]:
    response = caught.value.response
    return response["Error"]["Code"], response["ResponseMetadata"]["HTTPStatusCode"]


def test_put_get_head_delete(boto, bucket):
    put = boto.put_object(Bucket=bucket, Key="k", Body=b"hello", ContentType="text/plain", Metadata={"a": "b"})
    assert put["ETag"] == f'"{hashlib.md5(b"hello").hexdigest()}"'
    got = boto.get_object(Bucket=bucket, Key="k")
    assert got["Body"].read() == b"hello"
    assert (got["ContentType"], got["Metadata"], got["ContentLength"]) == ("text/plain", {"a": "b"}, 5)
    assert boto.head_object(Bucket=bucket, Key="k")["ETag"] == put["ETag"]
    boto.delete_object(Bucket=bucket, Key="k")
    with pytest.raises(ClientError) as caught:
        boto.head_object(Bucket=bucket, Key="k")
    assert code(caught) == ("404", 404)
    with pytest.raises(ClientError) as caught:
        boto.get_object(Bucket=bucket, Key="k")
    assert code(caught) == ("NoSuchKey", 404)


@pytest.mark.parametrize("key", ODD_KEYS)
def test_unusual_keys_round_trip(boto, bucket, key):
    boto.put_object(Bucket=bucket, Key=key, Body=b"x")
    assert [o["Key"] for o in boto.list_objects_v2(Bucket=bucket)["Contents"]] == [key]
    assert boto.get_object(Bucket=bucket, Key=key)["Body"].read() == b"x"
    boto.copy_object(Bucket=bucket, Key="copy", CopySource={"Bucket": bucket, "Key": key})
    assert boto.get_object(Bucket=bucket, Key="copy")["Body"].read() == b"x"


@pytest.mark.parametrize("algorithm", ["CRC32", "CRC32C", "SHA1", "SHA256", "CRC64NVME"])
def test_checksums_in_trailers(boto, bucket, algorithm):
    """boto3 sends a file-like body over https as aws-chunked with a trailing checksum."""
    boto.put_object(Bucket=bucket, Key="k", Body=io.BytesIO(os.urandom(100_000)), ChecksumAlgorithm=algorithm)
    got = boto.get_object(Bucket=bucket, Key="k", ChecksumMode="ENABLED")
    assert len(got["Body"].read()) == 100_000
    assert got[f"Checksum{algorithm}"]


def test_wrong_checksum_is_refused(boto, bucket):
    with pytest.raises(ClientError) as caught:
        boto.put_object(Bucket=bucket, Key="k", Body=b"hello", ChecksumCRC32="AAAAAA==")
    assert code(caught) == ("BadDigest", 400)
    assert "Contents" not in boto.list_objects_v2(Bucket=bucket)


def test_ranges_and_conditions(boto, bucket):
    etag = boto.put_object(Bucket=bucket, Key="k", Body=b"0123456789")["ETag"]
    got = boto.get_object(Bucket=bucket, Key="k", Range="bytes=2-4", IfMatch=etag)
    assert (got["Body"].read(), got["ContentRange"]) == (b"234", "bytes 2-4/10")
    assert boto.get_object(Bucket=bucket, Key="k", Range="bytes=-3")["Body"].read() == b"789"
    for arguments, expected in [
        ({"Range": "bytes=10-"}, ("InvalidRange", 416)),
        ({"IfMatch": '"other"'}, ("PreconditionFailed", 412)),
        ({"IfNoneMatch": etag}, ("304", 304)),
    ]:
        with pytest.raises(ClientError) as caught:
            boto.get_object(Bucket=bucket, Key="k", **arguments)
        assert code(caught) == expected
    with pytest.raises(ClientError) as caught:
        boto.put_object(Bucket=bucket, Key="k", Body=b"x", IfNoneMatch="*")
    assert code(caught) == ("PreconditionFailed", 412)


def test_multipart_through_the_transfer_manager(boto, bucket):
    data = os.urandom(18 * MIB + 3)
    config = TransferConfig(multipart_threshold=5 * MIB, multipart_chunksize=5 * MIB)
    boto.upload_fileobj(io.BytesIO(data), bucket, "big", Config=config)
    head = boto.head_object(Bucket=bucket, Key="big")
    assert head["ETag"].endswith('-4"')
    target = io.BytesIO()
    boto.download_fileobj(bucket, "big", target, Config=config)
    assert target.getvalue() == data
    assert boto.get_object(Bucket=bucket, Key="big", PartNumber=4)["Body"].read() == data[15 * MIB :]


def test_multipart_by_hand(boto, bucket):
    boto.put_object(Bucket=bucket, Key="source", Body=b"s" * (5 * MIB))
    upload = boto.create_multipart_upload(Bucket=bucket, Key="k")["UploadId"]
    where = {"Bucket": bucket, "Key": "k", "UploadId": upload}
    copied = boto.upload_part_copy(PartNumber=1, CopySource=f"{bucket}/source", **where)["CopyPartResult"]["ETag"]
    sent = boto.upload_part(PartNumber=3, Body=b"end", **where)["ETag"]
    parts = boto.list_parts(**where)["Parts"]
    assert [(p["PartNumber"], p["Size"]) for p in parts] == [(1, 5 * MIB), (3, 3)]
    assert [u["UploadId"] for u in boto.list_multipart_uploads(Bucket=bucket)["Uploads"]] == [upload]
    complete = {"Parts": [{"PartNumber": 1, "ETag": copied}, {"PartNumber": 3, "ETag": sent}]}
    first = boto.complete_multipart_upload(MultipartUpload=complete, **where)
    assert boto.complete_multipart_upload(MultipartUpload=complete, **where)["ETag"] == first["ETag"]
    assert boto.get_object(Bucket=bucket, Key="k")["Body"].read() == b"s" * (5 * MIB) + b"end"
    with pytest.raises(ClientError) as caught:
        boto.abort_multipart_upload(Bucket=bucket, Key="k", UploadId="no-such-upload")
    assert code(caught) == ("NoSuchUpload", 404)


def test_too_small_parts_are_refused(boto, bucket):
    upload = boto.create_multipart_upload(Bucket=bucket, Key="k")["UploadId"]
    where = {"Bucket": bucket, "Key": "k", "UploadId": upload}
    tags = [boto.upload_part(PartNumber=n, Body=b"small", **where)["ETag"] for n in (1, 2)]
    parts = {"Parts": [{"PartNumber": n, "ETag": tag} for n, tag in enumerate(tags, 1)]}
    with pytest.raises(ClientError) as caught:
        boto.complete_multipart_upload(MultipartUpload=parts, **where)
    assert code(caught) == ("EntityTooSmall", 400)


def test_listing(boto, bucket):
    for key in ("a/1", "a/2", "b/1", "c", "d"):
        boto.put_object(Bucket=bucket, Key=key, Body=b"x")
    pages = list(boto.get_paginator("list_objects_v2").paginate(Bucket=bucket, Delimiter="/", PaginationConfig={"PageSize": 2}))
    assert [p["Prefix"] for page in pages for p in page.get("CommonPrefixes", [])] == ["a/", "b/"]
    assert [o["Key"] for page in pages for o in page.get("Contents", [])] == ["c", "d"]
    old = list(boto.get_paginator("list_objects").paginate(Bucket=bucket, PaginationConfig={"PageSize": 2}))
    assert [o["Key"] for page in old for o in page["Contents"]] == ["a/1", "a/2", "b/1", "c", "d"]
    after = boto.list_objects_v2(Bucket=bucket, StartAfter="b/1", FetchOwner=True)["Contents"]
    assert [o["Key"] for o in after] == ["c", "d"]
    assert len(after[0]["Owner"]["ID"]) == 64


def test_delete_objects(boto, bucket):
    for key in ("a", "b", "c"):
        boto.put_object(Bucket=bucket, Key=key, Body=b"x")
    response = boto.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": "a"}, {"Key": "missing"}]})
    assert [d["Key"] for d in response["Deleted"]] == ["a", "missing"]
    assert [o["Key"] for o in boto.list_objects_v2(Bucket=bucket)["Contents"]] == ["b", "c"]


def test_buckets(boto, bucket, s3):
    assert bucket in [b["Name"] for b in boto.list_buckets()["Buckets"]]
    assert boto.get_bucket_location(Bucket=bucket)["LocationConstraint"] is None
    boto.head_bucket(Bucket=bucket)
    boto.put_object(Bucket=bucket, Key="k", Body=b"")
    with pytest.raises(ClientError) as caught:
        boto.delete_bucket(Bucket=bucket)
    assert code(caught) == ("BucketNotEmpty", 409)
    boto.delete_object(Bucket=bucket, Key="k")
    boto.delete_bucket(Bucket=bucket)
    with pytest.raises(ClientError) as caught:
        boto.list_objects_v2(Bucket=bucket)
    assert code(caught) == ("NoSuchBucket", 404)


def test_presigned_urls(boto, bucket, s3):
    import ssl

    context = ssl.create_default_context(cafile=s3.ca) if s3.ca else None
    put = boto.generate_presigned_url("put_object", Params={"Bucket": bucket, "Key": "k"})
    urllib.request.urlopen(urllib.request.Request(put, data=b"via url", method="PUT"), context=context, timeout=10)
    get = boto.generate_presigned_url("get_object", Params={"Bucket": bucket, "Key": "k"})
    assert urllib.request.urlopen(get, context=context, timeout=10).read() == b"via url"
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(get.replace("X-Amz-Signature=", "X-Amz-Signature=0"), context=context, timeout=10)
    assert caught.value.code == 403


def test_presigned_urls_of_version_two(s3, bucket):
    """boto3 uses version 2 for presigned URLs unless a signature version is configured."""
    import ssl

    config = Config(s3={"addressing_style": "path"})
    client = boto3.client("s3", endpoint_url=s3.endpoint, verify=s3.ca, config=config, **s3.credentials)
    context = ssl.create_default_context(cafile=s3.ca) if s3.ca else None
    put = client.generate_presigned_url("put_object", Params={"Bucket": bucket, "Key": "a b+ä", "Metadata": {"m": "1"}})
    assert "AWSAccessKeyId=" in put
    request = urllib.request.Request(put, data=b"two", method="PUT", headers={"Content-Type": ""})
    urllib.request.urlopen(request, context=context, timeout=10)
    assert client.head_object(Bucket=bucket, Key="a b+ä")["Metadata"] == {"m": "1"}
    get = client.generate_presigned_url(
        "get_object", Params={"Bucket": bucket, "Key": "a b+ä", "ResponseContentType": "text/css"}
    )
    with urllib.request.urlopen(get, context=context, timeout=10) as response:
        assert (response.read(), response.headers["Content-Type"]) == (b"two", "text/css")
    listing = client.generate_presigned_url("list_objects_v2", Params={"Bucket": bucket})
    assert b"<Size>3</Size>" in urllib.request.urlopen(listing, context=context, timeout=10).read()
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(get.replace("Expires=", "Expires=1"), context=context, timeout=10)
    assert caught.value.code == 403


def test_version_two_does_not_cover_newer_sub_resources(s3, bucket):
    """botocore does not sign them, so the holder of a URL could add one."""
    import ssl

    config = Config(signature_version="s3", s3={"addressing_style": "path"})
    client = boto3.client("s3", endpoint_url=s3.endpoint, verify=s3.ca, config=config, **s3.credentials)
    context = ssl.create_default_context(cafile=s3.ca) if s3.ca else None
    client.put_object(Bucket=bucket, Key="k", Body=b"two")
    get = client.generate_presigned_url("get_object", Params={"Bucket": bucket, "Key": "k"})
    assert urllib.request.urlopen(get, context=context, timeout=10).read() == b"two"
    changed = [
        get + addition for addition in ("&retention", "&legal-hold", "&attributes", "&Signature=AAAA", "&X-Amz-Signature=00")
    ]
    for url in [*changed, client.generate_presigned_url("get_public_access_block", Params={"Bucket": bucket})]:
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(url, context=context, timeout=10)
        document = caught.value.read()
        expected = (400, b"InvalidArgument") if "AAAA" in url or "=00" in url else (403, b"ParametersNotSigned")
        assert caught.value.code == expected[0]
        assert expected[1] in document


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"aws_secret_access_key": "wrong"}, ("SignatureDoesNotMatch", 403)),
        ({"aws_access_key_id": "NOBODY"}, ("InvalidAccessKeyId", 403)),
    ],
)
def test_wrong_credentials(s3, bucket, change, expected):
    credentials = {**s3.credentials, **change}
    config = Config(s3={"addressing_style": "path"})
    stranger = boto3.client("s3", endpoint_url=s3.endpoint, verify=s3.ca, config=config, **credentials)
    with pytest.raises(ClientError) as caught:
        stranger.list_objects_v2(Bucket=bucket)
    assert code(caught) == expected


def test_virtual_hosted_style(s3, bucket, monkeypatch):
    """bucket.localhost names the bucket. As not every resolver resolves *.localhost (RFC 6761), getaddrinfo is replaced."""
    resolve = socket.getaddrinfo

    def local(host, *rest, **options):
        return resolve("127.0.0.1" if str(host).endswith("localhost") else host, *rest, **options)

    monkeypatch.setattr(socket, "getaddrinfo", local)
    endpoint = s3.endpoint.replace("127.0.0.1", "localhost")
    config = Config(s3={"addressing_style": "virtual"})
    client = boto3.client("s3", endpoint_url=endpoint, verify=s3.ca, config=config, **s3.credentials)
    client.put_object(Bucket=bucket, Key="v", Body=b"virtual")
    assert client.get_object(Bucket=bucket, Key="v")["Body"].read() == b"virtual"


def test_signed_chunks(s3, bucket):
    """payload_signing_enabled over http: the body's hash, or a signature per chunk, is checked."""
    config = Config(s3={"addressing_style": "path", "payload_signing_enabled": True})
    client = boto3.client("s3", endpoint_url=s3.endpoint, verify=s3.ca, config=config, **s3.credentials)
    client.put_object(Bucket=bucket, Key="k", Body=io.BytesIO(b"z" * 200_000))
    assert client.get_object(Bucket=bucket, Key="k")["Body"].read() == b"z" * 200_000
