"""boto3 and Penstock list the same versions, in the same entries and pages."""

from __future__ import annotations

import penstock
import pytest


@pytest.fixture(autouse=True)
def our_authorities(s3, monkeypatch) -> None:
    if s3.ca:
        monkeypatch.setenv("AWS_CA_BUNDLE", s3.ca)


def of_boto(boto, bucket: str, prefix: str, page: int) -> list[tuple]:
    """All entries of boto3, which returns versions and delete markers separately."""
    found = []
    pages = boto.get_paginator("list_object_versions").paginate(Bucket=bucket, Prefix=prefix, PaginationConfig={"PageSize": page})
    for response in pages:
        for kind in ("Versions", "DeleteMarkers"):
            for each in response.get(kind, []):
                which = (each["Key"], each["VersionId"], each["IsLatest"], kind == "DeleteMarkers")
                found.append((*which, each.get("Size", 0), each.get("ETag", ""), each["LastModified"].timestamp()))
    return found


def of_ours(client: penstock.S3Client, bucket: str, prefix: str, page: int) -> list[penstock.ObjectVersion]:
    return [version for each in client.list_object_versions(bucket, prefix, max_keys=page) for version in each.versions]


@pytest.mark.parametrize("page", [1, 3, 1000])
def test_boto3_and_penstock_list_the_same_versions(s3, boto, bucket, page):
    boto.put_object(Bucket=bucket, Key="p/before", Body=b"1")  # before versioning is enabled: "null"
    boto.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
    for key in ("p/a b+c%", "p/ä€", "p/before", "p/a b+c%", "q/other"):
        boto.put_object(Bucket=bucket, Key=key, Body=key.encode())
    for key in ("p/ä€", "p/never", "p/before"):
        boto.delete_object(Bucket=bucket, Key=key)
    boto.put_object(Bucket=bucket, Key="p/before", Body=b"again")
    boto.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Suspended"})
    boto.put_object(Bucket=bucket, Key="p/ä€", Body=b"suspended")
    ours = of_ours(client_of(s3), bucket, "p/", page)
    theirs = of_boto(boto, bucket, "p/", page)
    assert len(ours) == 10
    assert sorted(each[:7] for each in ours) == sorted(theirs)
    assert [each.key for each in ours] == sorted((each.key for each in ours), key=str.encode)
    for key in {each.key for each in ours}:
        latest = [each.is_latest for each in ours if each.key == key]
        assert latest == [True] + [False] * (len(latest) - 1)


def client_of(s3) -> penstock.S3Client:
    return penstock.S3Client("us-east-1", endpoint=s3.endpoint, s3client_config=s3.emulator.config())


def test_boto3_reads_a_restored_version(s3, boto, bucket):
    boto.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
    where = {"Bucket": bucket, "Key": "k"}
    first = boto.put_object(Body=b"1", Metadata={"step": "1"}, ContentType="model/x", **where)["VersionId"]
    boto.put_object(Body=b"2", **where)
    boto.delete_object(**where)
    checkpoint = penstock.S3Checkpoint("us-east-1", s3.endpoint, s3.emulator.config())
    restored = checkpoint.restore(f"s3://{bucket}/k", first)
    response = boto.get_object(**where)
    assert (response["Body"].read(), response["VersionId"]) == (b"1", restored.version_id)
    assert (response["Metadata"], response["ContentType"]) == ({"step": "1"}, "model/x")
    boto.delete_object(**where)
    assert checkpoint.undelete(f"s3://{bucket}/k") == 1
    assert boto.head_object(**where)["VersionId"] == restored.version_id
