"""Object operations with boto3: checksums, encryption, conditions, versions, tags, multipart rules.

Signatures and checksums are verified on both sides: boto3 signs every request, sends checksums (in trailers over https) and
checks those of the responses.
"""

from __future__ import annotations

import base64
import hashlib
import io
import os

import boto3
import pytest
from botocore.exceptions import ClientError

MIB = 1024**2
# botocore computes and verifies these. It only passes MD5 on.
COMPUTED = ["CRC32", "CRC32C", "CRC64NVME", "SHA1", "SHA256", "SHA512", "XXHASH64", "XXHASH3", "XXHASH128"]


def refused(call, **arguments) -> tuple[str, int]:
    """Code and status of the error of `call`."""
    with pytest.raises(ClientError) as caught:
        call(**arguments)
    response = caught.value.response
    return response["Error"]["Code"], response["ResponseMetadata"]["HTTPStatusCode"]


def message(call, **arguments) -> str:
    with pytest.raises(ClientError) as caught:
        call(**arguments)
    return caught.value.response["Error"]["Message"]


@pytest.mark.parametrize("algorithm", COMPUTED)
def test_every_checksum_is_stored_and_returned(boto, bucket, algorithm):
    data = os.urandom(100_003)
    put = boto.put_object(Bucket=bucket, Key="k", Body=io.BytesIO(data), ChecksumAlgorithm=algorithm)
    member = f"Checksum{algorithm}"
    assert put["ChecksumType"] == "FULL_OBJECT"
    got = boto.get_object(Bucket=bucket, Key="k", ChecksumMode="ENABLED")
    assert got["Body"].read() == data
    assert got[member] == put[member]
    head = boto.head_object(Bucket=bucket, Key="k", ChecksumMode="ENABLED")
    assert (head[member], head["ChecksumType"]) == (put[member], "FULL_OBJECT")
    attributes = boto.get_object_attributes(Bucket=bucket, Key="k", ObjectAttributes=["Checksum"])
    assert attributes["Checksum"][member] == put[member]
    copied = boto.copy_object(Bucket=bucket, Key="copy", CopySource=f"{bucket}/k")["CopyObjectResult"]
    assert copied[member] == put[member]
    other = "XXHASH3" if algorithm != "XXHASH3" else "SHA512"
    recomputed = boto.copy_object(Bucket=bucket, Key="other", CopySource=f"{bucket}/k", ChecksumAlgorithm=other)
    assert f"Checksum{other}" in recomputed["CopyObjectResult"]
    assert boto.get_object(Bucket=bucket, Key="other", ChecksumMode="ENABLED")["Body"].read() == data
    assert member not in boto.get_object(Bucket=bucket, Key="k", ChecksumMode="ENABLED", Range="bytes=1-5")


@pytest.mark.parametrize("algorithm", [*COMPUTED, "MD5"])
def test_wrong_values_of_every_checksum_are_refused(boto, bucket, algorithm):
    size = {"CRC32": 4, "CRC32C": 4, "SHA1": 20, "SHA256": 32, "SHA512": 64, "MD5": 16, "XXHASH128": 16}.get(algorithm, 8)
    wrong = {f"Checksum{algorithm}": base64.b64encode(bytes(size)).decode()}
    assert refused(boto.put_object, Bucket=bucket, Key="k", Body=b"hello", **wrong) == ("BadDigest", 400)
    short = {f"Checksum{algorithm}": base64.b64encode(bytes(size - 1)).decode()}
    assert refused(boto.put_object, Bucket=bucket, Key="k", Body=b"hello", **short) == ("InvalidRequest", 400)


def test_md5_as_a_checksum(boto, bucket):
    value = base64.b64encode(hashlib.md5(b"hello").digest()).decode()
    assert boto.put_object(Bucket=bucket, Key="k", Body=b"hello", ChecksumMD5=value)["ChecksumMD5"] == value
    assert boto.head_object(Bucket=bucket, Key="k", ChecksumMode="ENABLED")["ChecksumMD5"] == value


@pytest.mark.parametrize("algorithm", COMPUTED)
def test_multipart_with_every_checksum(boto, bucket, algorithm):
    created = boto.create_multipart_upload(Bucket=bucket, Key="k", ChecksumAlgorithm=algorithm)
    composite = algorithm != "CRC64NVME"
    assert created["ChecksumType"] == ("COMPOSITE" if composite else "FULL_OBJECT")
    where = {"Bucket": bucket, "Key": "k", "UploadId": created["UploadId"]}
    member = f"Checksum{algorithm}"
    parts = []
    for number, body in enumerate((b"a" * (5 * MIB), b"hello"), 1):
        sent = boto.upload_part(PartNumber=number, Body=body, ChecksumAlgorithm=algorithm, **where)
        parts.append({"PartNumber": number, "ETag": sent["ETag"], member: sent[member]})
    if composite:
        bare = [{k: v for k, v in part.items() if k != member} for part in parts]
        assert refused(boto.complete_multipart_upload, MultipartUpload={"Parts": bare}, **where) == ("InvalidRequest", 400)
    done = boto.complete_multipart_upload(MultipartUpload={"Parts": parts}, MpuObjectSize=5 * MIB + 5, **where)
    assert done[member].endswith("-2") == composite
    head = boto.head_object(Bucket=bucket, Key="k", ChecksumMode="ENABLED", PartNumber=2)
    checksum = parts[1][member] if composite else None
    assert (head["PartsCount"], head["ContentLength"], head.get(member)) == (2, 5, checksum)
    assert boto.get_object(Bucket=bucket, Key="k", ChecksumMode="ENABLED")["Body"].read()[-5:] == b"hello"


def test_the_location_of_a_completed_upload_is_its_url_at_the_endpoint(s3, boto, bucket):
    """In a bucket of another region too. boto3 sends path-style requests to the endpoint."""
    key = "a/b c"
    boto.create_bucket(Bucket=f"{bucket}-west", CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
    west = boto3.client("s3", endpoint_url=s3.endpoint, verify=s3.ca, **{**s3.credentials, "region_name": "eu-west-1"})
    for client, name in ((boto, bucket), (west, f"{bucket}-west")):
        where = {"Bucket": name, "Key": key}
        where["UploadId"] = client.create_multipart_upload(**where)["UploadId"]
        part = {"PartNumber": 1, "ETag": client.upload_part(PartNumber=1, Body=b"x", **where)["ETag"]}
        done = client.complete_multipart_upload(MultipartUpload={"Parts": [part]}, **where)
        assert done["Location"] == f"{s3.endpoint}/{name}/a%2Fb%20c"


def test_a_declared_full_object_checksum_is_verified(boto, bucket):
    """Amazon S3 User Guide, Checking object integrity: the whole's CRC32 is derived from those of the parts."""
    created = boto.create_multipart_upload(Bucket=bucket, Key="k", ChecksumAlgorithm="CRC32", ChecksumType="FULL_OBJECT")
    where = {"Bucket": bucket, "Key": "k", "UploadId": created["UploadId"]}
    bodies = (b"a" * (5 * MIB), b"hello")
    tags = [boto.upload_part(PartNumber=n, Body=b, ChecksumAlgorithm="CRC32", **where)["ETag"] for n, b in enumerate(bodies, 1)]
    parts = {"Parts": [{"PartNumber": n, "ETag": tag} for n, tag in enumerate(tags, 1)]}
    complete = boto.complete_multipart_upload
    whole = {"MultipartUpload": parts, "ChecksumType": "FULL_OBJECT", **where}
    assert refused(complete, ChecksumCRC32="AAAAAA==", **whole) == ("BadDigest", 400)
    assert message(complete, **{**whole, "ChecksumType": "COMPOSITE"}) == (
        "The upload was created using the FULL_OBJECT checksum mode. The complete request must use the same checksum mode."
    )
    assert message(complete, MpuObjectSize=4, **whole) == (
        f"The provided 'x-amz-mp-object-size' header value 4 does not match what was computed: {5 * MIB + 5}"
    )
    assert complete(ChecksumCRC32="dsLl6w==", **whole)["ETag"] == '"7cbb08aa3c3309d6882c18fcecc4bee7-2"'


def test_customer_keys(boto, bucket):
    red = {"SSECustomerAlgorithm": "AES256", "SSECustomerKey": "r" * 32}
    blue = {"SSECustomerAlgorithm": "AES256", "SSECustomerKey": "b" * 32}
    where = {"Bucket": bucket, "Key": "k"}
    put = boto.put_object(Body=b"hello", **where, **red)
    assert put["SSECustomerKeyMD5"] == base64.b64encode(hashlib.md5(b"r" * 32).digest()).decode()
    assert "ServerSideEncryption" not in put
    assert boto.get_object(**where, **red)["Body"].read() == b"hello"
    assert boto.head_object(**where, **red)["SSECustomerAlgorithm"] == "AES256"
    assert refused(boto.get_object, **where) == ("InvalidRequest", 400)
    assert refused(boto.get_object, **where, **blue) == ("AccessDenied", 403)
    assert refused(boto.head_object, **where) == ("400", 400)
    assert refused(boto.head_object, **where, **blue) == ("403", 403)
    source = {"CopySource": f"{bucket}/k", "Bucket": bucket, "Key": "copy"}
    opened = {"CopySourceSSECustomerAlgorithm": "AES256", "CopySourceSSECustomerKey": "r" * 32}
    assert refused(boto.copy_object, **source) == ("InvalidRequest", 400)
    boto.copy_object(**source, **opened, **blue)
    assert boto.get_object(Bucket=bucket, Key="copy", **blue)["Body"].read() == b"hello"
    boto.put_object(Bucket=bucket, Key="plain", Body=b"x")
    assert refused(boto.get_object, Bucket=bucket, Key="plain", **red) == ("InvalidRequest", 400)


def test_customer_keys_in_uploads(boto, bucket):
    key = {"SSECustomerAlgorithm": "AES256", "SSECustomerKey": "r" * 32}
    upload = boto.create_multipart_upload(Bucket=bucket, Key="k", **key)["UploadId"]
    where = {"Bucket": bucket, "Key": "k", "UploadId": upload}
    assert refused(boto.upload_part, PartNumber=1, Body=b"x", **where) == ("InvalidRequest", 400)
    other = {**key, "SSECustomerKey": "b" * 32}
    assert refused(boto.upload_part, PartNumber=1, Body=b"x", **where, **other) == ("InvalidRequest", 400)
    tag = boto.upload_part(PartNumber=1, Body=b"x", **where, **key)["ETag"]
    boto.complete_multipart_upload(MultipartUpload={"Parts": [{"PartNumber": 1, "ETag": tag}]}, **where, **key)
    assert boto.get_object(Bucket=bucket, Key="k", **key)["Body"].read() == b"x"


def test_kms(boto, bucket):
    where = {"Bucket": bucket, "Key": "k"}
    key = "1234abcd-12ab-34cd-56ef-1234567890ab"
    put = boto.put_object(Body=b"hello", ServerSideEncryption="aws:kms", SSEKMSKeyId=key, BucketKeyEnabled=True, **where)
    assert put["ServerSideEncryption"] == "aws:kms"
    assert put["SSEKMSKeyId"].startswith("arn:aws:kms:") and put["SSEKMSKeyId"].endswith(f"key/{key}")
    assert put["BucketKeyEnabled"] is True
    assert put["ETag"] != f'"{hashlib.md5(b"hello").hexdigest()}"'
    got = boto.get_object(**where)
    assert (got["Body"].read(), got["SSEKMSKeyId"], got["ETag"]) == (b"hello", put["SSEKMSKeyId"], put["ETag"])
    copy = boto.copy_object(Bucket=bucket, Key="copy", CopySource=f"{bucket}/k")
    assert copy["ServerSideEncryption"] == "AES256"
    assert copy["CopyObjectResult"]["ETag"] == f'"{hashlib.md5(b"hello").hexdigest()}"'
    unknown = {"ServerSideEncryption": "aws:kms", "SSEKMSKeyId": "no-key"}
    assert refused(boto.put_object, Body=b"", **where, **unknown) == ("KMS.NotFoundException", 400)


def test_default_encryption_of_a_bucket(boto, bucket):
    def rules() -> list:
        return boto.get_bucket_encryption(Bucket=bucket)["ServerSideEncryptionConfiguration"]["Rules"]

    def put(rule: dict) -> dict:
        return boto.put_bucket_encryption(Bucket=bucket, ServerSideEncryptionConfiguration={"Rules": [rule]})

    unset = [{"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}, "BucketKeyEnabled": False}]
    assert rules() == unset
    default = {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": "alias/a"}
    kms = {"ApplyServerSideEncryptionByDefault": default, "BucketKeyEnabled": True}
    put(kms)
    assert rules() == [kms]
    response = boto.put_object(Bucket=bucket, Key="k", Body=b"x")
    assert (response["ServerSideEncryption"], response["BucketKeyEnabled"]) == ("aws:kms", True)
    wrong = {"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256", "KMSMasterKeyID": "alias/a"}}
    assert refused(put, rule=wrong) == ("InvalidArgument", 400)
    boto.delete_bucket_encryption(Bucket=bucket)
    assert rules() == unset


def test_conditional_writes(boto, bucket):
    """Amazon S3 User Guide, conditional writes, copies and deletes."""
    where = {"Bucket": bucket, "Key": "k"}
    put = boto.put_object
    assert refused(put, Body=b"1", IfMatch='"x"', **where) == ("NoSuchKey", 404)
    etag = put(Body=b"1", IfNoneMatch="*", **where)["ETag"]
    assert refused(put, Body=b"2", IfNoneMatch="*", **where) == ("PreconditionFailed", 412)
    assert refused(put, Body=b"2", IfNoneMatch=etag, **where) == ("NotImplemented", 501)
    assert refused(put, Body=b"2", IfMatch="*", **where) == ("NotImplemented", 501)
    assert refused(put, Body=b"2", IfMatch=etag, IfNoneMatch="*", **where) == ("NotImplemented", 501)
    assert refused(put, Body=b"2", IfMatch='"x"', **where) == ("PreconditionFailed", 412)
    etag = put(Body=b"2", IfMatch=etag.strip('"'), **where)["ETag"]
    copy = {"CopySource": f"{bucket}/k", "Bucket": bucket, "Key": "copy"}
    assert refused(boto.copy_object, CopySourceIfMatch='"x"', **copy) == ("PreconditionFailed", 412)
    assert refused(boto.copy_object, CopySourceIfNoneMatch=etag, **copy) == ("PreconditionFailed", 412)
    boto.copy_object(CopySourceIfMatch=etag, IfNoneMatch="*", **copy)
    assert refused(boto.copy_object, IfNoneMatch="*", **copy) == ("PreconditionFailed", 412)
    assert refused(boto.delete_object, IfMatch='"x"', **where) == ("PreconditionFailed", 412)
    boto.delete_object(IfMatch="*", **where)
    assert refused(boto.head_object, **where) == ("404", 404)


def test_conditional_completes(boto, bucket):
    """A write or delete of the key since the upload began is a conflict (S3 API Reference, CompleteMultipartUpload)."""
    where = {"Bucket": bucket, "Key": "k"}

    def begin() -> dict:
        upload = {"UploadId": boto.create_multipart_upload(**where)["UploadId"], **where}
        tag = boto.upload_part(PartNumber=1, Body=b"part", **upload)["ETag"]
        return {"MultipartUpload": {"Parts": [{"PartNumber": 1, "ETag": tag}]}, **upload}

    complete = boto.complete_multipart_upload
    fresh = begin()
    boto.put_object(Body=b"x", **where)
    assert refused(complete, IfNoneMatch="*", **fresh) == ("PreconditionFailed", 412)
    over = begin()
    boto.delete_object(**where)
    assert refused(complete, IfNoneMatch="*", **over) == ("ConditionalRequestConflict", 409)
    boto.put_object(Body=b"1", **where)
    raced = begin()
    etag = boto.put_object(Body=b"2", **where)["ETag"]
    assert refused(complete, IfMatch=etag, **raced) == ("ConditionalRequestConflict", 409)
    assert refused(complete, IfMatch='"x"', **raced) == ("PreconditionFailed", 412)
    assert complete(IfMatch=etag, **begin())["ETag"].endswith('-1"')


def test_versions_and_markers(boto, bucket):
    boto.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
    where = {"Bucket": bucket, "Key": "k"}
    first = boto.put_object(Body=b"1", **where)["VersionId"]
    second = boto.put_object(Body=b"2", **where)["VersionId"]
    marker = boto.delete_object(**where)
    assert marker["DeleteMarker"] is True
    with pytest.raises(ClientError) as caught:
        boto.get_object(**where)
    headers = caught.value.response["ResponseMetadata"]["HTTPHeaders"]
    assert headers["x-amz-delete-marker"] == "true"
    assert headers["x-amz-version-id"] == marker["VersionId"]
    with pytest.raises(ClientError) as caught:
        boto.get_object(VersionId=marker["VersionId"], **where)
    response = caught.value.response
    assert response["Error"]["Code"] == "MethodNotAllowed"
    assert response["Error"]["ResourceType"] == "DeleteMarker"
    assert response["ResponseMetadata"]["HTTPHeaders"]["allow"] == "DELETE"
    assert boto.get_object(VersionId=first, **where)["Body"].read() == b"1"
    boto.copy_object(Bucket=bucket, Key="old", CopySource={**where, "VersionId": first})
    assert boto.get_object(Bucket=bucket, Key="old")["Body"].read() == b"1"
    by_marker = {"CopySource": {**where, "VersionId": marker["VersionId"]}, "Bucket": bucket, "Key": "old"}
    assert refused(boto.copy_object, **by_marker) == ("InvalidRequest", 400)
    assert refused(boto.get_object, VersionId="no-version", **where) == ("InvalidArgument", 400)
    assert refused(boto.get_object, VersionId="A" * 32, **where) == ("InvalidArgument", 400)
    assert refused(boto.get_object, Bucket=bucket, Key="other", VersionId=first) == ("NoSuchVersion", 404)
    boto.delete_object(VersionId=marker["VersionId"], **where)
    assert boto.get_object(**where)["VersionId"] == second
    deleted = boto.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": "k", "VersionId": first}, {"Key": "k"}]})["Deleted"]
    assert [d.get("DeleteMarker", False) for d in deleted] == [False, True]


def test_tags(boto, bucket):
    boto.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
    where = {"Bucket": bucket, "Key": "k"}
    first = boto.put_object(Body=b"1", Tagging="a=1&b=x%20y", **where)["VersionId"]
    boto.put_object(Body=b"2", **where)

    def put(*pairs: tuple[str, str], **more) -> dict:
        tags = [{"Key": key, "Value": value} for key, value in pairs]
        return boto.put_object_tagging(Tagging={"TagSet": tags}, **where, **more)

    def get(**more) -> dict:
        return {t["Key"]: t["Value"] for t in boto.get_object_tagging(**where, **more)["TagSet"]}

    assert get() == {}
    assert get(VersionId=first) == {"a": "1", "b": "x y"}
    assert boto.get_object(VersionId=first, **where)["TagCount"] == 2
    put(("c", "3"), VersionId=first)
    assert (get(VersionId=first), get()) == ({"c": "3"}, {})
    boto.copy_object(Bucket=bucket, Key="copy", CopySource={**where, "VersionId": first})
    assert boto.get_object(Bucket=bucket, Key="copy")["TagCount"] == 1
    boto.copy_object(Bucket=bucket, Key="copy", CopySource=f"{bucket}/k", TaggingDirective="REPLACE", Tagging="z=9")
    assert boto.get_object_tagging(Bucket=bucket, Key="copy")["TagSet"] == [{"Key": "z", "Value": "9"}]
    boto.delete_object_tagging(VersionId=first, **where)
    assert get(VersionId=first) == {}
    for pairs, expected in [
        ([("a", "1"), ("a", "2")], "InvalidTag"),
        ([("k" * 129, "")], "InvalidTag"),
        ([("k", "v" * 257)], "InvalidTag"),
        ([("aws:k", "v")], "InvalidTag"),
        ([("k", "<>")], "InvalidTag"),
        ([(f"k{n}", "") for n in range(11)], "BadRequest"),
    ]:
        assert refused(lambda p=pairs: put(*p)) == (expected, 400), pairs
    assert refused(boto.put_object, Body=b"", Tagging="a=1&a=2", **where) == ("InvalidArgument", 400)


def test_classes_and_metadata(boto, bucket):
    where = {"Bucket": bucket, "Key": "k"}
    boto.put_object(Body=b"cold", StorageClass="GLACIER", Metadata={"Name": "v"}, **where)
    assert refused(boto.get_object, **where) == ("InvalidObjectState", 403)
    head = boto.head_object(**where)
    assert (head["StorageClass"], head["Metadata"]) == ("GLACIER", {"name": "v"})
    assert refused(boto.copy_object, CopySource=f"{bucket}/k", Bucket=bucket, Key="c") == ("InvalidObjectState", 403)
    assert refused(boto.put_object, Body=b"", StorageClass="FROZEN", **where) == ("InvalidStorageClass", 400)
    assert refused(boto.put_object, Body=b"", ACL="public-read", **where) == ("AccessControlListNotSupported", 400)
    assert refused(boto.put_object, Body=b"", GrantRead=f'id="{"0" * 64}"', **where) == ("AccessControlListNotSupported", 400)
    assert refused(boto.put_object, Body=b"", GrantRead='id="a"', **where) == ("InvalidArgument", 400)
    boto.put_object(Body=b"", ACL="bucket-owner-full-control", **where)
    assert refused(boto.put_object, Body=b"", Metadata={"a": "v" * 2048}, **where) == ("MetadataTooLarge", 400)
    assert refused(boto.put_object, Body=b"", ExpectedBucketOwner="000000000001", **where) == ("AccessDenied", 403)
    assert refused(boto.put_object, Body=b"", ObjectLockLegalHoldStatus="ON", **where) == ("InvalidRequest", 400)
    boto.put_object(Body=b"x", WebsiteRedirectLocation="/there", ContentLanguage="de", **where)
    got = boto.get_object(ResponseContentType="a/b", ResponseContentLanguage="fr", **where)
    assert (got["ContentType"], got["ContentLanguage"], got["WebsiteRedirectLocation"]) == ("a/b", "fr", "/there")


def test_deleting_many_with_conditions(boto, bucket):
    etag = boto.put_object(Bucket=bucket, Key="a", Body=b"a")["ETag"]
    boto.put_object(Bucket=bucket, Key="b", Body=b"b")
    entries = [{"Key": "a", "ETag": etag}, {"Key": "b", "ETag": '"other"'}, {"Key": "c", "VersionId": "A" * 32}]
    response = boto.delete_objects(Bucket=bucket, Delete={"Objects": entries})
    assert [d["Key"] for d in response["Deleted"]] == ["a"]
    assert [(e["Key"], e["Code"]) for e in response["Errors"]] == [("b", "PreconditionFailed"), ("c", "NoSuchVersion")]
    quiet = boto.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": "b"}], "Quiet": True})
    assert "Deleted" not in quiet
    too_many = {"Objects": [{"Key": f"k{n}"} for n in range(1001)]}
    assert refused(boto.delete_objects, Bucket=bucket, Delete=too_many) == ("MalformedXML", 400)
