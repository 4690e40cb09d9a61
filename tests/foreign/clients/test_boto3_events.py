"""boto3 programs cause events. moto, which sends them to its own SQS, is the second opinion on their form."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any
from urllib.parse import unquote_plus

import boto3
import pytest
from botocore.config import Config
from penstock_emulator import Emulator

QUEUE = "arn:aws:sqs:us-east-1:123456789012:{}"
EVENTS = ("s3:ObjectCreated:*", "s3:ObjectRemoved:*", "s3:ObjectTagging:*")
TOPIC = "arn:aws:sns:us-east-1:123456789012:topic"


def configure(client: Any, bucket: str, queue: str, *events: str, prefix: str = "") -> None:
    rule = {"Id": "rule", "QueueArn": queue, "Events": list(events)}
    rule["Filter"] = {"Key": {"FilterRules": [{"Name": "prefix", "Value": prefix}]}}
    client.put_bucket_notification_configuration(Bucket=bucket, NotificationConfiguration={"QueueConfigurations": [rule]})


def change(client: Any, bucket: str) -> None:
    client.put_object(Bucket=bucket, Key="in/two words+ä.txt", Body=b"body")
    client.put_object(Bucket=bucket, Key="out/k", Body=b"body")
    client.copy_object(Bucket=bucket, Key="in/copy", CopySource={"Bucket": bucket, "Key": "out/k"})
    upload = client.create_multipart_upload(Bucket=bucket, Key="in/parts")["UploadId"]
    part = client.upload_part(Bucket=bucket, Key="in/parts", UploadId=upload, PartNumber=1, Body=b"part")["ETag"]
    client.complete_multipart_upload(
        Bucket=bucket, Key="in/parts", UploadId=upload, MultipartUpload={"Parts": [{"ETag": part, "PartNumber": 1}]}
    )
    tags = {"TagSet": [{"Key": "a", "Value": "b"}]}
    client.put_object_tagging(Bucket=bucket, Key="in/copy", Tagging=tags)
    client.delete_object_tagging(Bucket=bucket, Key="in/copy")
    client.delete_object(Bucket=bucket, Key="in/copy")
    client.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": "in/parts"}, {"Key": "in/never"}]})


def records_of_moto(endpoint: str, bucket: str) -> list[dict[str, Any]]:
    access = {"endpoint_url": endpoint, "aws_access_key_id": "testing", "aws_secret_access_key": "testing"}
    sqs = boto3.client("sqs", region_name="us-east-1", **access)
    queue = sqs.create_queue(QueueName=bucket)["QueueUrl"]
    client = boto3.client("s3", region_name="us-east-1", config=Config(s3={"addressing_style": "path"}), **access)
    client.create_bucket(Bucket=bucket)
    configure(
        client, bucket, QUEUE.format(bucket), "s3:ObjectCreated:*", "s3:ObjectRemoved:*", "s3:ObjectTagging:*", prefix="in/"
    )
    change(client, bucket)
    records: list[dict[str, Any]] = []
    while messages := sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=10).get("Messages"):
        for message in messages:
            records += json.loads(message["Body"]).get("Records", [])
            sqs.delete_message(QueueUrl=queue, ReceiptHandle=message["ReceiptHandle"])
    return records


def names(document: Any) -> set[str]:
    """The paths of all members."""
    if not isinstance(document, dict):
        return set()
    return set(document) | {f"{name}.{inner}" for name, value in document.items() for inner in names(value)}


def by_event(records: list[dict[str, Any]]) -> dict[tuple[str, str], dict[str, Any]]:
    # moto also encodes the slashes of keys.
    for record in records:
        record["s3"]["object"]["key"] = unquote_plus(record["s3"]["object"]["key"])
    return {(record["eventName"], record["s3"]["object"]["key"]): record for record in records}


def test_events_agree_with_moto(s3: SimpleNamespace, boto: Any, bucket: str, moto_endpoint: str) -> None:
    if s3.endpoint.startswith("https"):
        pytest.skip("events do not depend on TLS")
    theirs = by_event(records_of_moto(moto_endpoint, bucket))
    configure(boto, bucket, QUEUE.format(bucket), *EVENTS, prefix="in/")
    change(boto, bucket)
    ours = by_event([record for event in s3.emulator.events() for record in event["message"].get("Records", [])])
    assert theirs, "moto sent nothing"
    # moto also reports an ObjectTagging:Put for objects without tags, and a Put for a completed upload.
    assert set(theirs) - set(ours) == {
        ("ObjectCreated:Put", "in/parts"),
        ("ObjectTagging:Put", "in/parts"),
        ("ObjectTagging:Put", "in/two words+ä.txt"),
    }
    assert set(ours) <= set(theirs)
    for event in ours:
        record = theirs[event]
        removed = event[0].startswith("ObjectRemoved:")
        missing = {"s3.object.size", "s3.object.eTag"} if removed else set()  # AWS sends neither for deletions
        assert names(record) - missing <= names(ours[event])
        for member in ("eventSource", "awsRegion", "eventName"):
            assert record[member] == ours[event][member]
        for member in set(record["s3"]["object"]) & set(ours[event]["s3"]["object"]):
            assert record["s3"]["object"][member] == ours[event]["s3"]["object"][member]
        assert record["s3"]["bucket"]["arn"] == ours[event]["s3"]["bucket"]["arn"]
        assert record["s3"]["configurationId"] == ours[event]["s3"]["configurationId"]


def test_a_consumer_follows_a_versioned_bucket(s3: SimpleNamespace, boto: Any, bucket: str) -> None:
    boto.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
    s3.emulator.remove_events()
    configuration = {"TopicConfigurations": [{"TopicArn": TOPIC, "Events": ["s3:ObjectCreated:*", "s3:ObjectRemoved:*"]}]}
    boto.put_bucket_notification_configuration(
        Bucket=bucket, NotificationConfiguration=configuration, SkipDestinationValidation=True
    )
    first = boto.put_object(Bucket=bucket, Key="a key", Body=b"1")
    marker = boto.delete_object(Bucket=bucket, Key="a key")
    boto.delete_object(Bucket=bucket, Key="a key", VersionId=first["VersionId"])
    events = s3.emulator.events(wait_s=1)
    records = [event["message"]["Records"][0] for event in events]
    assert [(record["eventName"], record["s3"]["object"]["versionId"]) for record in records] == [
        ("ObjectCreated:Put", first["VersionId"]),
        ("ObjectRemoved:DeleteMarkerCreated", marker["VersionId"]),
        ("ObjectRemoved:Delete", first["VersionId"]),
    ]
    assert {event["destination"] for event in events} == {TOPIC}
    assert {unquote_plus(record["s3"]["object"]["key"]) for record in records} == {"a key"}
    sequencers = [record["s3"]["object"]["sequencer"] for record in records]
    assert sequencers == sorted(set(sequencers))
    assert records[0]["s3"]["object"]["eTag"] == first["ETag"].strip('"')
    assert records[0]["responseElements"]["x-amz-request-id"] == first["ResponseMetadata"]["RequestId"]
    assert records[0]["responseElements"]["x-amz-id-2"] == first["ResponseMetadata"]["HostId"]


def test_lifecycle_and_restores_report_their_events() -> None:
    with Emulator(auth="off") as emulator:
        client = boto3.client(
            "s3", endpoint_url=emulator.endpoint, region_name="us-east-1", aws_access_key_id="any",
            aws_secret_access_key="any", config=Config(s3={"addressing_style": "path"}),
        )  # fmt: skip
        client.create_bucket(Bucket="life")
        names = ["s3:ObjectRestore:*", "s3:LifecycleTransition", "s3:LifecycleExpiration:*", "s3:ObjectAcl:Put"]
        topics = {"TopicConfigurations": [{"TopicArn": TOPIC, "Events": names}]}
        client.put_bucket_notification_configuration(
            Bucket="life", NotificationConfiguration=topics, SkipDestinationValidation=True
        )
        rule = {"ID": "r", "Filter": {}, "Status": "Enabled", "Expiration": {"Days": 30}}
        rule["Transitions"] = [{"Days": 1, "StorageClass": "GLACIER"}]
        client.put_bucket_lifecycle_configuration(Bucket="life", LifecycleConfiguration={"Rules": [rule]})
        client.put_object(Bucket="life", Key="k", Body=b"x" * 200_000)
        for days in (2, 0, 1, 3, 30):
            if days == 0:
                client.restore_object(Bucket="life", Key="k", RestoreRequest={"Days": 1})
            emulator.clock().advance(days * 86_400)
            emulator.run_lifecycle()
        records = {event["message"]["Records"][0]["eventName"]: event["message"]["Records"][0] for event in emulator.events()}
    assert list(records) == [
        "LifecycleTransition",
        "ObjectRestore:Post",
        "ObjectRestore:Completed",
        "ObjectRestore:Delete",
        "LifecycleExpiration:Delete",
    ]
    moved = records["LifecycleTransition"]["lifecycleEventData"]["transitionEventData"]
    assert moved == {"destinationStorageClass": "GLACIER"}
    restored = records["ObjectRestore:Completed"]["glacierEventData"]["restoreEventData"]
    assert restored["lifecycleRestoreStorageClass"] == "GLACIER"
    assert set(restored) == {"lifecycleRestorationExpiryTime", "lifecycleRestoreStorageClass"}
    assert records["LifecycleExpiration:Delete"]["requestParameters"] == {"sourceIPAddress": "s3.amazonaws.com"}
