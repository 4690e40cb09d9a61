"""boto3 and the AWS CLI see what lifecycle rules and restores do as the namespace's clock moves.

The cases follow the Amazon S3 User Guide's lifecycle pages and, rewritten, the lifecycle tests of ceph/s3-tests
(s3tests/functional/test_s3.py, test_lifecycle_*). Signatures are not checked, because clients sign with the machine's time.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from penstock_emulator import Emulator

LARGE = b"x" * 200_000


@pytest.fixture(scope="module")
def emulator() -> Iterator[Emulator]:
    with Emulator(auth="off") as instance:
        yield instance


@pytest.fixture
def moved(emulator: Emulator) -> Emulator:
    """The emulator, empty, with a frozen clock at noon."""
    emulator.reset()
    emulator.clock().freeze()
    emulator.clock().set(emulator.clock().now.replace(hour=12, minute=0, second=0, microsecond=0))
    return emulator


@pytest.fixture
def client(moved: Emulator) -> Any:
    client = boto3.client(
        "s3", endpoint_url=moved.endpoint, region_name=moved.region, aws_access_key_id=moved.access_key_id,
        aws_secret_access_key=moved.secret_access_key, config=Config(s3={"addressing_style": "path"}),
    )  # fmt: skip
    client.create_bucket(Bucket="life")
    return client


def configure(client: Any, *rules: dict[str, Any]) -> None:
    numbered = [{"ID": f"rule{number}", "Filter": {}, "Status": "Enabled", **rule} for number, rule in enumerate(rules, 1)]
    client.put_bucket_lifecycle_configuration(Bucket="life", LifecycleConfiguration={"Rules": numbered})


def advance(emulator: Emulator, days: float) -> list[str]:
    """Moves the clock, runs the rules, and returns the kinds of the actions."""
    emulator.clock().advance(days * 86_400)
    return [entry["action"] for entry in emulator.run_lifecycle()["log"]]


def keys(client: Any) -> list[str]:
    return [entry["Key"] for entry in client.list_objects_v2(Bucket="life").get("Contents", [])]


def versions(client: Any) -> tuple[list[str], list[str]]:
    """The keys of all versions and of all delete markers."""
    listed = client.list_object_versions(Bucket="life")
    return [each["Key"] for each in listed.get("Versions", [])], [each["Key"] for each in listed.get("DeleteMarkers", [])]


def enable_versioning(client: Any, status: str = "Enabled") -> None:
    client.put_bucket_versioning(Bucket="life", VersioningConfiguration={"Status": status})


def refusal(call: Any, **arguments: Any) -> tuple[str, int]:
    with pytest.raises(ClientError) as caught:
        call(**arguments)
    response = caught.value.response
    return response["Error"]["Code"], response["ResponseMetadata"]["HTTPStatusCode"]


def test_each_rule_expires_the_objects_of_its_prefix(client: Any, moved: Emulator) -> None:
    for key in ("expire1/a", "expire1/b", "keep/a", "keep/b", "expire3/a", "expire3/b"):
        client.put_object(Bucket="life", Key=key, Body=b"x")
    configure(
        client,
        {"Filter": {"Prefix": "expire1/"}, "Expiration": {"Days": 1}},
        {"Filter": {"Prefix": "expire3/"}, "Expiration": {"Days": 3}},
    )
    assert len(keys(client)) == 6
    advance(moved, 2)
    assert len(keys(client)) == 4
    advance(moved, 2)
    assert keys(client) == ["keep/a", "keep/b"]


def test_the_expiration_header_tells_the_date_of_the_removal(client: Any, moved: Emulator) -> None:
    configure(client, {"Expiration": {"Days": 1}})
    put = client.put_object(Bucket="life", Key="k", Body=b"x")
    assert 'rule-id="rule1"' in put["Expiration"]
    midnight = moved.clock().now.replace(hour=0) + timedelta(days=2)
    assert midnight.strftime('expiry-date="%a, %d %b %Y %H:%M:%S GMT"') in put["Expiration"]
    assert client.head_object(Bucket="life", Key="k")["Expiration"] == put["Expiration"]
    moved.clock().set(midnight - timedelta(seconds=1))
    assert moved.run_lifecycle()["actions"] == 0
    moved.clock().set(midnight)
    assert moved.run_lifecycle()["actions"] == 1


def test_tags_and_sizes_select_objects(client: Any, moved: Emulator) -> None:
    client.put_object(Bucket="life", Key="tagged", Body=b"x", Tagging="tom=sawyer")
    client.put_object(Bucket="life", Key="both", Body=b"x", Tagging="tom=sawyer&huck=finn")
    client.put_object(Bucket="life", Key="plain", Body=b"x")
    client.put_object(Bucket="life", Key="large", Body=b"x" * 3000)
    configure(
        client,
        {"Filter": {"And": {"Prefix": "", "Tags": [{"Key": "tom", "Value": "sawyer"}, {"Key": "huck", "Value": "finn"}]}},
         "Expiration": {"Days": 1}},
        {"Filter": {"ObjectSizeGreaterThan": 2000}, "Expiration": {"Days": 1}},
    )  # fmt: skip
    advance(moved, 3)
    assert keys(client) == ["plain", "tagged"]


def test_versioned_objects_get_a_delete_marker_once(client: Any, moved: Emulator) -> None:
    enable_versioning(client)
    version = client.put_object(Bucket="life", Key="k", Body=b"kept")["VersionId"]
    configure(client, {"Expiration": {"Days": 1}})
    assert advance(moved, 2) == ["create_delete_marker"]
    assert (keys(client), versions(client)) == ([], (["k"], ["k"]))
    assert advance(moved, 10) == []
    assert client.get_object(Bucket="life", Key="k", VersionId=version)["Body"].read() == b"kept"


def test_newer_noncurrent_versions_are_retained(client: Any, moved: Emulator) -> None:
    enable_versioning(client)
    stored = [client.put_object(Bucket="life", Key="k", Body=b"x")["VersionId"] for _ in range(10)]
    configure(client, {"NoncurrentVersionExpiration": {"NoncurrentDays": 1, "NewerNoncurrentVersions": 5}})
    assert advance(moved, 2) == ["expire_noncurrent_version"] * 4
    listed = client.list_object_versions(Bucket="life")["Versions"]
    assert [each["VersionId"] for each in listed] == stored[:3:-1]


def test_all_versions_of_a_deleted_key_go_and_then_its_marker(client: Any, moved: Emulator) -> None:
    enable_versioning(client)
    client.put_object(Bucket="life", Key="k", Body=b"x")
    client.delete_object(Bucket="life", Key="k")
    configure(client, {"NoncurrentVersionExpiration": {"NoncurrentDays": 1}, "Expiration": {"ExpiredObjectDeleteMarker": True}})
    assert advance(moved, 2) == ["expire_noncurrent_version", "expire_delete_marker"]
    assert versions(client) == ([], [])


def test_a_suspended_bucket_keeps_old_versions_and_loses_the_null_version(client: Any, moved: Emulator) -> None:
    enable_versioning(client)
    client.put_object(Bucket="life", Key="k", Body=b"old")
    enable_versioning(client, "Suspended")
    client.put_object(Bucket="life", Key="k", Body=b"null")
    configure(client, {"Expiration": {"Days": 1}})
    advance(moved, 2)
    listed = client.list_object_versions(Bucket="life")
    assert [each["VersionId"] for each in listed["DeleteMarkers"]] == ["null"]
    assert len(listed["Versions"]) == 1 and listed["Versions"][0]["VersionId"] != "null"


def test_incomplete_uploads_are_aborted(client: Any, moved: Emulator) -> None:
    configure(client, {"Filter": {"Prefix": "test1/"}, "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 2}})
    created = client.create_multipart_upload(Bucket="life", Key="test1/a")
    client.create_multipart_upload(Bucket="life", Key="test2/")
    assert created["AbortRuleId"] == "rule1"
    assert advance(moved, 2) == []
    assert advance(moved, 1) == ["abort_upload"]
    assert [each["Key"] for each in client.list_multipart_uploads(Bucket="life")["Uploads"]] == ["test2/"]
    upload = {"Bucket": "life", "Key": "test1/a", "UploadId": created["UploadId"]}
    assert refusal(client.list_parts, **upload) == ("NoSuchUpload", 404)


def test_object_lock_keeps_versions_from_their_expiration(client: Any, moved: Emulator) -> None:
    client.create_bucket(Bucket="locked", ObjectLockEnabledForBucket=True)
    rule = {"ID": "all", "Filter": {}, "Status": "Enabled", "Expiration": {"Days": 1}}
    rule |= {"NoncurrentVersionExpiration": {"NoncurrentDays": 1}}
    client.put_bucket_lifecycle_configuration(Bucket="locked", LifecycleConfiguration={"Rules": [rule]})
    until = moved.clock().now + timedelta(days=30)
    client.put_object(Bucket="locked", Key="k", Body=b"x", ObjectLockMode="COMPLIANCE", ObjectLockRetainUntilDate=until)
    assert advance(moved, 2) == ["create_delete_marker"]
    assert advance(moved, 10) == []
    assert len(client.list_object_versions(Bucket="locked")["Versions"]) == 1
    assert advance(moved, 30) == ["expire_noncurrent_version", "expire_delete_marker"]
    assert "Versions" not in client.list_object_versions(Bucket="locked")


def test_transitions_show_their_storage_class_everywhere(client: Any, moved: Emulator) -> None:
    client.put_object(Bucket="life", Key="k", Body=LARGE)
    client.put_object(Bucket="life", Key="small", Body=b"x")
    before = client.head_object(Bucket="life", Key="k")
    configure(client, {"Transitions": [{"Days": 30, "StorageClass": "STANDARD_IA"}, {"Days": 90, "StorageClass": "GLACIER"}]})
    assert advance(moved, 31) == ["transition"]
    head = client.head_object(Bucket="life", Key="k")
    assert (head["StorageClass"], head["ETag"], head["LastModified"]) == (
        "STANDARD_IA", before["ETag"], before["LastModified"],
    )  # fmt: skip
    attributes = client.get_object_attributes(Bucket="life", Key="k", ObjectAttributes=["StorageClass"])
    assert attributes["StorageClass"] == "STANDARD_IA"
    listed = {each["Key"]: each["StorageClass"] for each in client.list_objects_v2(Bucket="life")["Contents"]}
    assert listed == {"k": "STANDARD_IA", "small": "STANDARD"}
    assert client.get_object(Bucket="life", Key="k")["Body"].read() == LARGE
    advance(moved, 60)
    assert refusal(client.get_object, Bucket="life", Key="k") == ("InvalidObjectState", 403)


def test_an_archived_object_is_restored_for_some_days(client: Any, moved: Emulator) -> None:
    client.put_object(Bucket="life", Key="k", Body=LARGE, StorageClass="DEEP_ARCHIVE")
    request = {"Bucket": "life", "Key": "k", "RestoreRequest": {"Days": 2, "GlacierJobParameters": {"Tier": "Standard"}}}
    assert client.restore_object(**request)["ResponseMetadata"]["HTTPStatusCode"] == 202
    assert client.head_object(Bucket="life", Key="k")["Restore"] == 'ongoing-request="true"'
    assert refusal(client.restore_object, **request) == ("RestoreAlreadyInProgress", 409)
    assert advance(moved, 0.5) == ["complete_restore"]
    assert 'ongoing-request="false", expiry-date="' in client.head_object(Bucket="life", Key="k")["Restore"]
    assert client.get_object(Bucket="life", Key="k")["Body"].read() == LARGE
    listed = client.list_objects_v2(Bucket="life", OptionalObjectAttributes=["RestoreStatus"])["Contents"][0]
    assert listed["RestoreStatus"]["IsRestoreInProgress"] is False
    assert client.restore_object(**request)["ResponseMetadata"]["HTTPStatusCode"] == 200
    assert advance(moved, 3) == ["expire_restore"]
    assert refusal(client.get_object, Bucket="life", Key="k") == ("InvalidObjectState", 403)
    client.put_object(Bucket="life", Key="plain", Body=b"x")
    assert refusal(client.restore_object, **{**request, "Key": "plain"}) == ("InvalidObjectState", 403)


def test_our_client_and_boto3_see_one_restore(client: Any, moved: Emulator) -> None:
    ours = moved.client()
    ours.put("life", "k", LARGE, storage_class="GLACIER")
    assert ours.restore_object("life", "k", days=1, tier="Expedited") is False
    assert client.head_object(Bucket="life", Key="k")["Restore"] == 'ongoing-request="true"'
    moved.clock().advance(300)
    assert ours.restore_object("life", "k", days=3) is True
    assert ours.get("life", "k").body == LARGE


def test_the_aws_cli_configures_rules_and_restores(client: Any, moved: Emulator) -> None:
    environment = {**os.environ, **moved.environment()}

    def aws(*words: str) -> Any:
        command = [sys.executable, "-m", "awscli", "s3api", *words]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr + done.stdout
        return json.loads(done.stdout) if done.stdout else None

    client.put_object(Bucket="life", Key="old", Body=LARGE)
    rule = {"ID": "archive", "Filter": {}, "Status": "Enabled", "Transitions": [{"Days": 1, "StorageClass": "GLACIER"}]}
    aws(
        "put-bucket-lifecycle-configuration", "--bucket", "life",
        "--lifecycle-configuration", json.dumps({"Rules": [rule]}),
        "--transition-default-minimum-object-size", "varies_by_storage_class",
    )  # fmt: skip
    read = aws("get-bucket-lifecycle-configuration", "--bucket", "life")
    assert read["TransitionDefaultMinimumObjectSize"] == "varies_by_storage_class"
    advance(moved, 3)
    request = json.dumps({"Days": 1, "GlacierJobParameters": {"Tier": "Expedited"}})
    aws("restore-object", "--bucket", "life", "--key", "old", "--restore-request", request)
    moved.clock().advance(3600)
    head = aws("head-object", "--bucket", "life", "--key", "old")
    assert head["StorageClass"] == "GLACIER"
    assert 'ongoing-request="false"' in head["Restore"]
