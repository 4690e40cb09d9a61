"""boto3 and Object Lock: configuration, retention, legal holds, and what may be removed; over http and https."""

from __future__ import annotations

import itertools
from datetime import datetime, timedelta, timezone

import pytest
from botocore.exceptions import ClientError

_numbers = itertools.count()
PROTECTED = "Access Denied because object protected by object lock."


def later(**period: int) -> datetime:
    return datetime.now(timezone.utc).replace(microsecond=0) + timedelta(**period)


def refusal(call, **arguments) -> tuple[str, int]:
    with pytest.raises(ClientError) as caught:
        call(**arguments)
    response = caught.value.response
    return response["Error"]["Message"], response["ResponseMetadata"]["HTTPStatusCode"]


@pytest.fixture
def locked(boto) -> str:
    name = f"locked-{next(_numbers)}"
    boto.create_bucket(Bucket=name, ObjectLockEnabledForBucket=True)
    return name


def test_the_default_retention_applies_to_new_versions(boto, locked):
    retention = {"Mode": "GOVERNANCE", "Days": 3}
    configuration = {"ObjectLockEnabled": "Enabled", "Rule": {"DefaultRetention": retention}}
    boto.put_object_lock_configuration(Bucket=locked, ObjectLockConfiguration=configuration)
    assert boto.get_object_lock_configuration(Bucket=locked)["ObjectLockConfiguration"] == configuration
    boto.put_object(Bucket=locked, Key="k", Body=b"x")
    head = boto.head_object(Bucket=locked, Key="k")
    assert head["ObjectLockMode"] == "GOVERNANCE"
    assert abs(head["ObjectLockRetainUntilDate"] - later(days=3)) < timedelta(minutes=5)


def test_retention_keeps_a_version_until_it_is_bypassed(boto, locked):
    version = boto.put_object(Bucket=locked, Key="k", Body=b"x")["VersionId"]
    until = later(days=1)
    boto.put_object_retention(Bucket=locked, Key="k", Retention={"Mode": "GOVERNANCE", "RetainUntilDate": until})
    assert boto.get_object_retention(Bucket=locked, Key="k")["Retention"] == {"Mode": "GOVERNANCE", "RetainUntilDate": until}
    assert refusal(boto.delete_object, Bucket=locked, Key="k", VersionId=version) == (PROTECTED, 403)
    shorter = {"Mode": "GOVERNANCE", "RetainUntilDate": later(hours=1)}
    assert refusal(boto.put_object_retention, Bucket=locked, Key="k", Retention=shorter) == (PROTECTED, 403)
    boto.put_object_retention(Bucket=locked, Key="k", Retention=shorter, BypassGovernanceRetention=True)
    assert boto.delete_object(Bucket=locked, Key="k")["DeleteMarker"]
    boto.delete_object(Bucket=locked, Key="k", VersionId=version, BypassGovernanceRetention=True)
    assert "Versions" not in boto.list_object_versions(Bucket=locked)


def test_a_legal_hold_is_set_with_the_object_and_removed(boto, locked):
    version = boto.put_object(Bucket=locked, Key="k", Body=b"x", ObjectLockLegalHoldStatus="ON")["VersionId"]
    assert boto.get_object_legal_hold(Bucket=locked, Key="k")["LegalHold"] == {"Status": "ON"}
    entry = {"Objects": [{"Key": "k", "VersionId": version}]}
    assert [error["Code"] for error in boto.delete_objects(Bucket=locked, Delete=entry)["Errors"]] == ["AccessDenied"]
    boto.put_object_legal_hold(Bucket=locked, Key="k", LegalHold={"Status": "OFF"})
    assert "Errors" not in boto.delete_objects(Bucket=locked, Delete=entry)


def test_compliance_of_a_multipart_upload_cannot_be_bypassed(boto, locked):
    lock = {"ObjectLockMode": "COMPLIANCE", "ObjectLockRetainUntilDate": later(days=1)}
    upload = boto.create_multipart_upload(Bucket=locked, Key="k", **lock)["UploadId"]
    part = boto.upload_part(Bucket=locked, Key="k", UploadId=upload, PartNumber=1, Body=b"x")
    parts = {"Parts": [{"ETag": part["ETag"], "PartNumber": 1}]}
    version = boto.complete_multipart_upload(Bucket=locked, Key="k", UploadId=upload, MultipartUpload=parts)["VersionId"]
    assert boto.head_object(Bucket=locked, Key="k")["ObjectLockMode"] == "COMPLIANCE"
    remove = {"Bucket": locked, "Key": "k", "VersionId": version, "BypassGovernanceRetention": True}
    assert refusal(boto.delete_object, **remove) == (PROTECTED, 403)
