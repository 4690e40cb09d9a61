"""Every value that AWS's model of S3 has in a configuration document is accepted, or refused for a known reason.

botocore contains the model. A newer botocore with a new value, or a new enumeration, fails here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError
from botocore.model import ListShape, OperationModel, Shape, StructureShape

ROLE = "arn:aws:iam::123456789012:role/replication"
KEY = "arn:aws:kms:us-east-1:123456789012:key/k"
QUEUE = "arn:aws:sqs:us-east-1:123456789012:queue"
Call = tuple[str, dict[str, Any]]  # a method of the client, and its arguments besides the bucket

NEWER_CLASSES = {"SNOW", "EXPRESS_ONEZONE", "FSX_OPENZFS", "FSX_ONTAP", "AWS_BACKUP_WARM", "AWS_BACKUP_LOW_COST_WARM"}
# Values that the emulator refuses. The storage classes are not for replicas, and the algorithms are for access points of other
# services. S3 refuses grantees by e-mail too, and MFA delete without the code of a device.
REFUSED = {
    "StorageClass": NEWER_CLASSES,
    "ServerSideEncryption": {"aws:fsx", "aws:backup"},
    "ObjectLockEventHold": {"ON", "OFF"},
    "MFADelete": {"Enabled"},
    "Type": {"AmazonCustomerByEmail"},
}
# The versioning of a bucket with Object Lock is fixed, and one with grants cannot become BucketOwnerEnforced.
FOR_PLAIN_BUCKETS = {"BucketVersioningStatus", "MFADelete", "ObjectOwnership"}


def replication(bucket: str, destination: dict[str, Any], **rule: Any) -> Call:
    basis = {"Status": "Enabled", "Priority": 1, "DeleteMarkerReplication": {"Status": "Disabled"}, "Filter": {"Prefix": ""}}
    rules = [{**basis, "Destination": {"Bucket": f"arn:aws:s3:::{bucket}", **destination}, **rule}]
    return "put_bucket_replication", {"ReplicationConfiguration": {"Role": ROLE, "Rules": rules}}


def encrypted_replication(bucket: str, encryption: dict[str, Any], status: str = "Enabled") -> Call:
    criteria = {"SseKmsEncryptedObjects": {"Status": status}}
    return replication(
        bucket, {"EncryptionConfiguration": {"ReplicaKmsKeyID": KEY, **encryption}}, SourceSelectionCriteria=criteria
    )


def timed_replication(bucket: str, time: str, metrics: str) -> Call:
    timed = {"Status": time, "Time": {"Minutes": 15}}
    return replication(bucket, {"ReplicationTime": timed, "Metrics": {"Status": metrics}})


def lifecycle(**rule: Any) -> Call:
    rules = [{"Status": "Enabled", "Filter": {"Prefix": ""}, **rule}]
    return "put_bucket_lifecycle_configuration", {"LifecycleConfiguration": {"Rules": rules}}


def inventory(bucket: str, form: str = "CSV", **members: Any) -> Call:
    basis = {"Id": "x", "IsEnabled": True, "IncludedObjectVersions": "All", "Schedule": {"Frequency": "Daily"}}
    destination = {"S3BucketDestination": {"Bucket": f"arn:aws:s3:::{bucket}", "Format": form}}
    configuration = {**basis, "Destination": destination, **members}
    return "put_bucket_inventory_configuration", {"Id": "x", "InventoryConfiguration": configuration}


def analytics(bucket: str, version: str = "V_1", form: str = "CSV") -> Call:
    destination = {"S3BucketDestination": {"Format": form, "Bucket": f"arn:aws:s3:::{bucket}"}}
    analysis = {"DataExport": {"OutputSchemaVersion": version, "Destination": destination}}
    configuration = {"Id": "x", "StorageClassAnalysis": analysis}
    return "put_bucket_analytics_configuration", {"Id": "x", "AnalyticsConfiguration": configuration}


def tiering(status: str = "Enabled", tier: str = "ARCHIVE_ACCESS") -> Call:
    configuration = {"Id": "x", "Status": status, "Tierings": [{"Days": 180, "AccessTier": tier}]}
    return "put_bucket_intelligent_tiering_configuration", {"Id": "x", "IntelligentTieringConfiguration": configuration}


def logging(bucket: str, **members: Any) -> Call:
    enabled = {"TargetBucket": bucket, "TargetPrefix": "", **members}
    return "put_bucket_logging", {"BucketLoggingStatus": {"LoggingEnabled": enabled}}


GRANTEES = {
    "CanonicalUser": {"ID": "1" * 64},
    "AmazonCustomerByEmail": {"EmailAddress": "a@example.com"},
    "Group": {"URI": "http://acs.amazonaws.com/groups/global/AllUsers"},
}
EVERYONE = {"Type": "Group", **GRANTEES["Group"]}


def acl(grantee: dict[str, Any], permission: str) -> Call:
    grants = [{"Grantee": grantee, "Permission": permission}]
    return "put_bucket_acl", {"AccessControlPolicy": {"Owner": {}, "Grants": grants}}


def website(protocol: str) -> Call:
    return "put_bucket_website", {"WebsiteConfiguration": {"RedirectAllRequestsTo": {"HostName": "h", "Protocol": protocol}}}


def encryption(rule: dict[str, Any]) -> Call:
    return "put_bucket_encryption", {"ServerSideEncryptionConfiguration": {"Rules": [rule]}}


def versioning(**members: str) -> Call:
    return "put_bucket_versioning", {"VersioningConfiguration": members}


def lock(enabled: str = "Enabled", mode: str = "GOVERNANCE") -> Call:
    rule = {"DefaultRetention": {"Mode": mode, "Days": 1}}
    return "put_object_lock_configuration", {"ObjectLockConfiguration": {"ObjectLockEnabled": enabled, "Rule": rule}}


# By the name of the enumeration in the model: the request with a value in a bucket.
REQUESTS: dict[str, Callable[[str, str], Call]] = {
    "AnalyticsS3ExportFileFormat": lambda bucket, value: analytics(bucket, form=value),
    "BucketAbacStatus": lambda _, value: ("put_bucket_abac", {"AbacStatus": {"Status": value}}),
    "BucketAccelerateStatus": lambda _, value: (
        "put_bucket_accelerate_configuration",
        {"AccelerateConfiguration": {"Status": value}},
    ),
    "BucketLogsPermission": lambda bucket, value: logging(bucket, TargetGrants=[{"Grantee": EVERYONE, "Permission": value}]),
    "BucketVersioningStatus": lambda _, value: versioning(Status=value),
    "DeleteMarkerReplicationStatus": lambda bucket, value: replication(bucket, {}, DeleteMarkerReplication={"Status": value}),
    "EncryptionType": lambda _, value: encryption({"BlockedEncryptionTypes": {"EncryptionType": [value]}}),
    "Event": lambda _, value: (
        "put_bucket_notification_configuration",
        {"NotificationConfiguration": {"QueueConfigurations": [{"QueueArn": QUEUE, "Events": [value]}]}},
    ),
    "ExistingObjectReplicationStatus": lambda bucket, value: replication(bucket, {}, ExistingObjectReplication={"Status": value}),
    "ExpirationStatus": lambda _, value: lifecycle(Status=value, Expiration={"Days": 1}),
    "FilterRuleName": lambda _, value: (
        "put_bucket_notification_configuration",
        {
            "NotificationConfiguration": {
                "QueueConfigurations": [
                    {
                        "QueueArn": QUEUE,
                        "Events": ["s3:ObjectCreated:*"],
                        "Filter": {"Key": {"FilterRules": [{"Name": value, "Value": "x"}]}},
                    }
                ]
            }
        },
    ),
    "IntelligentTieringAccessTier": lambda _, value: tiering(tier=value),
    "IntelligentTieringStatus": lambda _, value: tiering(status=value),
    "InventoryFormat": lambda bucket, value: inventory(bucket, form=value),
    "InventoryFrequency": lambda bucket, value: inventory(bucket, Schedule={"Frequency": value}),
    "InventoryIncludedObjectVersions": lambda bucket, value: inventory(bucket, IncludedObjectVersions=value),
    "InventoryOptionalField": lambda bucket, value: inventory(bucket, OptionalFields=[value]),
    "MFADelete": lambda _, value: versioning(Status="Enabled", MFADelete=value),
    "MetricsStatus": lambda bucket, value: timed_replication(bucket, "Enabled", value),
    "ObjectLockEnabled": lambda _, value: lock(enabled=value),
    "ObjectLockEventHold": lambda _, value: ("put_object_retention", {"Key": "k", "Retention": {"EventHold": value}}),
    "ObjectLockLegalHoldStatus": lambda _, value: ("put_object_legal_hold", {"Key": "k", "LegalHold": {"Status": value}}),
    "ObjectLockRetentionMode": lambda _, value: lock(mode=value),
    "ObjectOwnership": lambda _, value: (
        "put_bucket_ownership_controls",
        {"OwnershipControls": {"Rules": [{"ObjectOwnership": value}]}},
    ),
    "OwnerOverride": lambda bucket, value: replication(
        bucket, {"Account": "123456789012", "AccessControlTranslation": {"Owner": value}}
    ),
    "PartitionDateSource": lambda bucket, value: logging(
        bucket, TargetObjectKeyFormat={"PartitionedPrefix": {"PartitionDateSource": value}}
    ),
    "Payer": lambda _, value: ("put_bucket_request_payment", {"RequestPaymentConfiguration": {"Payer": value}}),
    "Permission": lambda _, value: acl(EVERYONE, value),
    "Protocol": lambda _, value: website(value),
    "ReplicaModificationsStatus": lambda bucket, value: replication(
        bucket, {}, SourceSelectionCriteria={"ReplicaModifications": {"Status": value}}
    ),
    "ReplicationRuleStatus": lambda bucket, value: replication(bucket, {}, Status=value),
    "ReplicationTimeStatus": lambda bucket, value: timed_replication(bucket, value, "Enabled"),
    "ServerSideEncryption": lambda _, value: encryption({"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": value}}),
    "SseKmsEncryptedObjectsStatus": lambda bucket, value: encrypted_replication(bucket, {}, value),
    "StorageClass": lambda bucket, value: replication(bucket, {"StorageClass": value}),
    "StorageClassAnalysisSchemaVersion": lambda bucket, value: analytics(bucket, version=value),
    "TransitionStorageClass": lambda _, value: lifecycle(Transitions=[{"Days": 90, "StorageClass": value}]),
    "Type": lambda _, value: acl({"Type": value, **GRANTEES[value]}, "READ"),
    "UseSourceMultiRegionKeyStatus": lambda bucket, value: encrypted_replication(
        bucket, {"UseSourceMultiRegionKey": {"Status": value}}
    ),
}


def enumerations(shape: Shape) -> Iterator[tuple[str, list[str]]]:
    if getattr(shape, "enum", None):
        yield shape.name, shape.enum
    elif isinstance(shape, StructureShape):
        for member in shape.members.values():
            yield from enumerations(member)
    elif isinstance(shape, ListShape):
        yield from enumerations(shape.member)


def takes_configuration(operation: OperationModel) -> bool:
    return operation.name.startswith(("PutBucket", "PutObjectL", "PutObjectR", "PutPublic"))


@pytest.fixture
def configured(boto, bucket: str) -> str:
    """A bucket that may have every configuration."""
    locked = f"{bucket}-values"
    boto.create_bucket(Bucket=locked, ObjectLockEnabledForBucket=True, ObjectOwnership="ObjectWriter")
    boto.delete_public_access_block(Bucket=locked)
    boto.put_object(Bucket=locked, Key="k", Body=b"")
    return locked


def test_every_value_of_the_model_is_accepted_or_refused_for_a_known_reason(boto, bucket: str, configured: str) -> None:
    model = boto.meta.service_model
    values: dict[str, list[str]] = {}
    for name in model.operation_names:
        operation = model.operation_model(name)
        if takes_configuration(operation):
            payload = operation.input_shape.members[operation.input_shape.serialization["payload"]]
            values.update(enumerations(payload))
    assert sorted(values) == sorted(REQUESTS)
    owner = boto.get_bucket_acl(Bucket=configured)["Owner"]
    wrong = []
    for enumeration, each in values.items():
        target = bucket if enumeration in FOR_PLAIN_BUCKETS else configured
        for value in each:
            method, arguments = REQUESTS[enumeration](target, value)
            if method == "put_bucket_acl":
                arguments["AccessControlPolicy"]["Owner"] = owner
            outcome = "accepted"
            try:
                getattr(boto, method)(Bucket=target, **arguments)
            except ClientError as error:
                outcome = str(error)
            if (outcome == "accepted") == (value in REFUSED.get(enumeration, set())):
                wrong.append((enumeration, value, outcome))
    assert wrong == [], wrong


def test_replication_accepts_the_token_of_object_lock(boto, bucket: str) -> None:
    boto.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
    method, arguments = replication(bucket, {})
    getattr(boto, method)(Bucket=bucket, Token="token", **arguments)


def test_event_holds_are_not_implemented(boto, configured: str) -> None:
    period = {"Days": 1}
    default = {"Mode": "GOVERNANCE", "Days": 1, "DefaultEventHold": period}
    requests: list[Call] = [
        ("put_object_retention", {"Key": "k", "Retention": {"EventHold": "ON"}}),
        ("put_object_retention", {"Key": "k", "Retention": {"EventHoldDuration": period}}),
        ("put_object", {"Key": "k", "ObjectLockEventHold": "ON"}),
        (
            "put_object_lock_configuration",
            {"ObjectLockConfiguration": {"ObjectLockEnabled": "Enabled", "Rule": {"DefaultRetention": default}}},
        ),
    ]
    for method, arguments in requests:
        with pytest.raises(ClientError) as caught:
            getattr(boto, method)(Bucket=configured, **arguments)
        response = caught.value.response
        assert (response["Error"]["Code"], response["ResponseMetadata"]["HTTPStatusCode"]) == ("NotImplemented", 501), method
