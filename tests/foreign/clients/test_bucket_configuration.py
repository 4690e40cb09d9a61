"""boto3 puts, gets and deletes every bucket configuration, over http and https, with signatures verified."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone

import pytest
from botocore.exceptions import ClientError

UTC = timezone.utc
ROLE = "arn:aws:iam::123456789012:role/replication"
QUEUE = "arn:aws:sqs:us-east-1:123456789012:queue"


def refusal(call, **arguments) -> tuple[str, int]:
    with pytest.raises(ClientError) as caught:
        call(**arguments)
    response = caught.value.response
    return response["Error"]["Code"], response["ResponseMetadata"]["HTTPStatusCode"]


def test_unset_configurations_return_their_documented_errors_and_defaults(boto, bucket):
    unset = {
        "get_bucket_tagging": "NoSuchTagSet",
        "get_bucket_policy": "NoSuchBucketPolicy",
        "get_bucket_policy_status": "NoSuchBucketPolicy",
        "get_bucket_cors": "NoSuchCORSConfiguration",
        "get_bucket_lifecycle_configuration": "NoSuchLifecycleConfiguration",
        "get_bucket_website": "NoSuchWebsiteConfiguration",
        "get_object_lock_configuration": "ObjectLockConfigurationNotFoundError",
        "get_bucket_replication": "ReplicationConfigurationNotFoundError",
    }
    for method, code in unset.items():
        assert refusal(getattr(boto, method), Bucket=bucket) == (code, 404)
    assert boto.get_bucket_request_payment(Bucket=bucket)["Payer"] == "BucketOwner"
    for method, element in [
        ("get_bucket_logging", "LoggingEnabled"),
        ("get_bucket_accelerate_configuration", "Status"),
        ("get_bucket_notification_configuration", "QueueConfigurations"),
    ]:
        assert element not in getattr(boto, method)(Bucket=bucket)
    block = boto.get_public_access_block(Bucket=bucket)["PublicAccessBlockConfiguration"]
    assert list(block.values()) == [True] * 4
    rules = boto.get_bucket_ownership_controls(Bucket=bucket)["OwnershipControls"]["Rules"]
    assert rules == [{"ObjectOwnership": "BucketOwnerEnforced"}]


def test_cors(boto, bucket):
    rule = {
        "AllowedMethods": ["GET", "PUT"],
        "AllowedOrigins": ["https://example.com"],
        "AllowedHeaders": ["*"],
        "MaxAgeSeconds": 9,
    }
    boto.put_bucket_cors(Bucket=bucket, CORSConfiguration={"CORSRules": [rule]})
    assert boto.get_bucket_cors(Bucket=bucket)["CORSRules"] == [rule]
    boto.delete_bucket_cors(Bucket=bucket)
    assert refusal(boto.get_bucket_cors, Bucket=bucket) == ("NoSuchCORSConfiguration", 404)


def test_lifecycle(boto, bucket):
    rule = {
        "ID": "r",
        "Filter": {"And": {"Prefix": "logs/", "Tags": [{"Key": "k", "Value": "v"}], "ObjectSizeGreaterThan": 5}},
        "Status": "Enabled",
        "Transitions": [{"Days": 30, "StorageClass": "STANDARD_IA"}],
        "Expiration": {"Days": 365},
        "NoncurrentVersionExpiration": {"NoncurrentDays": 7, "NewerNoncurrentVersions": 2},
    }
    response = boto.put_bucket_lifecycle_configuration(Bucket=bucket, LifecycleConfiguration={"Rules": [rule]})
    assert response["TransitionDefaultMinimumObjectSize"] == "all_storage_classes_128K"
    got = boto.get_bucket_lifecycle_configuration(Bucket=bucket)
    assert got["Rules"] == [rule]
    assert got["TransitionDefaultMinimumObjectSize"] == "all_storage_classes_128K"
    bad = {"Rules": [{**rule, "Expiration": {"Days": 0}}]}
    assert refusal(boto.put_bucket_lifecycle_configuration, Bucket=bucket, LifecycleConfiguration=bad) == ("InvalidArgument", 400)
    boto.delete_bucket_lifecycle(Bucket=bucket)
    assert refusal(boto.get_bucket_lifecycle_configuration, Bucket=bucket) == ("NoSuchLifecycleConfiguration", 404)


def test_a_lifecycle_sets_the_expiration_of_objects_and_uploads(boto, bucket):
    rules = [
        {"ID": "after ten years", "Filter": {"Prefix": ""}, "Status": "Enabled", "Expiration": {"Days": 3650}},
        {
            "ID": "at a date",
            "Filter": {"Prefix": "k"},
            "Status": "Enabled",
            "Expiration": {"Date": datetime(2035, 1, 1, tzinfo=UTC)},
        },
        {"ID": "old uploads", "Filter": {}, "Status": "Enabled", "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 7}},
    ]
    boto.put_bucket_lifecycle_configuration(Bucket=bucket, LifecycleConfiguration={"Rules": rules})
    expiration = 'expiry-date="Mon, 01 Jan 2035 00:00:00 GMT", rule-id="at%20a%20date"'
    assert boto.put_object(Bucket=bucket, Key="k", Body=b"body")["Expiration"] == expiration
    assert boto.get_object(Bucket=bucket, Key="k")["Expiration"] == expiration
    assert boto.head_object(Bucket=bucket, Key="k")["Expiration"] == expiration
    copied = boto.copy_object(Bucket=bucket, Key="to", CopySource={"Bucket": bucket, "Key": "k"})
    assert copied["Expiration"].endswith('00:00:00 GMT", rule-id="after%20ten%20years"')

    upload = boto.create_multipart_upload(Bucket=bucket, Key="k")
    midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    assert upload["AbortDate"] - midnight in (timedelta(days=7), timedelta(days=8))  # 7 where midnight has just passed
    assert upload["AbortRuleId"] == "old uploads"
    address = {"Bucket": bucket, "Key": "k", "UploadId": upload["UploadId"]}
    part = boto.upload_part(**address, PartNumber=1, Body=b"body")
    listed = boto.list_parts(**address)
    assert (listed["AbortDate"], listed["AbortRuleId"]) == (upload["AbortDate"], "old uploads")
    parts = {"Parts": [{"PartNumber": 1, "ETag": part["ETag"]}]}
    assert boto.complete_multipart_upload(**address, MultipartUpload=parts)["Expiration"] == expiration


def test_policy(boto, bucket):
    everybody = {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": f"arn:aws:s3:::{bucket}/*"}
    public = json.dumps({"Version": "2012-10-17", "Statement": [everybody]})
    assert refusal(boto.put_bucket_policy, Bucket=bucket, Policy=public) == ("AccessDenied", 403)
    boto.delete_public_access_block(Bucket=bucket)
    assert refusal(boto.get_public_access_block, Bucket=bucket) == ("NoSuchPublicAccessBlockConfiguration", 404)
    boto.put_bucket_policy(Bucket=bucket, Policy=public)
    assert boto.get_bucket_policy(Bucket=bucket)["Policy"] == public
    assert boto.get_bucket_policy_status(Bucket=bucket)["PolicyStatus"] == {"IsPublic": True}
    assert refusal(boto.put_bucket_policy, Bucket=bucket, Policy="{}") == ("MalformedPolicy", 400)
    everybody["Action"] = ["s3:GetObject", "s3:HeadObject"]
    with pytest.raises(ClientError) as refused:
        boto.put_bucket_policy(Bucket=bucket, Policy=json.dumps({"Statement": [everybody]}))
    error = refused.value.response["Error"]
    assert (error["Code"], error["Message"]) == ("MalformedPolicy", "Policy has invalid action")
    assert error["Detail"] == "s3:HeadObject"
    assert boto.get_bucket_policy(Bucket=bucket)["Policy"] == public
    boto.delete_bucket_policy(Bucket=bucket)
    assert refusal(boto.get_bucket_policy, Bucket=bucket) == ("NoSuchBucketPolicy", 404)


def test_ownership_and_acls(boto, bucket):
    boto.put_object(Bucket=bucket, Key="k", Body=b"x")
    owner = boto.get_bucket_acl(Bucket=bucket)["Owner"]["ID"]
    grants = boto.get_object_acl(Bucket=bucket, Key="k")["Grants"]
    assert [(g["Grantee"]["ID"], g["Permission"]) for g in grants] == [(owner, "FULL_CONTROL")]
    assert refusal(boto.put_bucket_acl, Bucket=bucket, ACL="private") == ("AccessControlListNotSupported", 400)
    boto.put_bucket_ownership_controls(Bucket=bucket, OwnershipControls={"Rules": [{"ObjectOwnership": "ObjectWriter"}]})
    boto.put_bucket_acl(Bucket=bucket, ACL="log-delivery-write")
    assert [g["Permission"] for g in boto.get_bucket_acl(Bucket=bucket)["Grants"]] == ["FULL_CONTROL", "WRITE", "READ_ACP"]
    other = {"Grantee": {"Type": "CanonicalUser", "ID": "b" * 64}, "Permission": "READ"}
    boto.put_object_acl(Bucket=bucket, Key="k", AccessControlPolicy={"Owner": {"ID": owner}, "Grants": [other]})
    assert boto.get_object_acl(Bucket=bucket, Key="k")["Grants"] == [other]
    boto.delete_bucket_ownership_controls(Bucket=bucket)
    assert refusal(boto.get_bucket_ownership_controls, Bucket=bucket) == ("OwnershipControlsNotFoundError", 404)


def test_public_access_block(boto, bucket):
    boto.put_public_access_block(Bucket=bucket, PublicAccessBlockConfiguration={"BlockPublicAcls": True})
    assert boto.get_public_access_block(Bucket=bucket)["PublicAccessBlockConfiguration"] == {
        "BlockPublicAcls": True,
        "IgnorePublicAcls": False,
        "BlockPublicPolicy": False,
        "RestrictPublicBuckets": False,
    }


def test_tagging(boto, bucket):
    tags = [{"Key": "a", "Value": "1"}, {"Key": "b", "Value": ""}]
    boto.put_bucket_tagging(Bucket=bucket, Tagging={"TagSet": tags})
    assert boto.get_bucket_tagging(Bucket=bucket)["TagSet"] == tags
    twice = {"TagSet": [tags[0], tags[0]]}
    assert refusal(boto.put_bucket_tagging, Bucket=bucket, Tagging=twice) == ("InvalidTag", 400)
    boto.delete_bucket_tagging(Bucket=bucket)
    assert refusal(boto.get_bucket_tagging, Bucket=bucket) == ("NoSuchTagSet", 404)


def test_website(boto, bucket):
    website = {
        "IndexDocument": {"Suffix": "index.html"},
        "ErrorDocument": {"Key": "error.html"},
        "RoutingRules": [{"Condition": {"KeyPrefixEquals": "a/"}, "Redirect": {"ReplaceKeyPrefixWith": "b/"}}],
    }
    boto.put_bucket_website(Bucket=bucket, WebsiteConfiguration=website)
    got = boto.get_bucket_website(Bucket=bucket)
    assert {name: got[name] for name in website} == website
    boto.delete_bucket_website(Bucket=bucket)
    assert refusal(boto.get_bucket_website, Bucket=bucket) == ("NoSuchWebsiteConfiguration", 404)


def test_logging_notification_accelerate_payment(boto, bucket):
    enabled = {"TargetBucket": bucket, "TargetPrefix": "logs/"}
    boto.put_bucket_logging(Bucket=bucket, BucketLoggingStatus={"LoggingEnabled": enabled})
    assert boto.get_bucket_logging(Bucket=bucket)["LoggingEnabled"] == enabled
    boto.put_bucket_logging(Bucket=bucket, BucketLoggingStatus={})
    assert "LoggingEnabled" not in boto.get_bucket_logging(Bucket=bucket)
    queue = {
        "Id": "q",
        "QueueArn": QUEUE,
        "Events": ["s3:ObjectCreated:*"],
        "Filter": {"Key": {"FilterRules": [{"Name": "Prefix", "Value": "a/"}]}},
    }
    boto.put_bucket_notification_configuration(Bucket=bucket, NotificationConfiguration={"QueueConfigurations": [queue]})
    assert boto.get_bucket_notification_configuration(Bucket=bucket)["QueueConfigurations"] == [queue]
    boto.put_bucket_accelerate_configuration(Bucket=bucket, AccelerateConfiguration={"Status": "Suspended"})
    assert boto.get_bucket_accelerate_configuration(Bucket=bucket)["Status"] == "Suspended"
    boto.put_bucket_request_payment(Bucket=bucket, RequestPaymentConfiguration={"Payer": "Requester"})
    assert boto.get_bucket_request_payment(Bucket=bucket)["Payer"] == "Requester"


def test_configurations_with_ids(boto, bucket):
    out = f"arn:aws:s3:::{bucket}"
    export = {"OutputSchemaVersion": "V_1", "Destination": {"S3BucketDestination": {"Format": "CSV", "Bucket": out}}}
    configurations = {
        "analytics": {"Id": "one", "StorageClassAnalysis": {"DataExport": export}},
        "metrics": {"Id": "one", "Filter": {"Prefix": "p"}},
        "inventory": {
            "Id": "one",
            "IsEnabled": True,
            "IncludedObjectVersions": "All",
            "Schedule": {"Frequency": "Daily"},
            "OptionalFields": ["Size", "ETag"],
            "Destination": {"S3BucketDestination": {"Bucket": out, "Format": "CSV"}},
        },
        "intelligent_tiering": {"Id": "one", "Status": "Enabled", "Tierings": [{"Days": 90, "AccessTier": "ARCHIVE_ACCESS"}]},
    }
    for kind, configuration in configurations.items():
        name = "".join(word.capitalize() for word in kind.split("_")) + "Configuration"
        one = {"Bucket": bucket, "Id": "one"}
        assert refusal(getattr(boto, f"get_bucket_{kind}_configuration"), **one) == ("NoSuchConfiguration", 404)
        getattr(boto, f"put_bucket_{kind}_configuration")(**one, **{name: configuration})
        assert getattr(boto, f"get_bucket_{kind}_configuration")(**one)[name] == configuration
        listed = getattr(boto, f"list_bucket_{kind}_configurations")(Bucket=bucket)
        assert (listed[name + "List"], listed["IsTruncated"]) == ([configuration], False)
        getattr(boto, f"delete_bucket_{kind}_configuration")(**one)
        assert name + "List" not in getattr(boto, f"list_bucket_{kind}_configurations")(Bucket=bucket)


def test_replication_and_object_lock(boto, bucket):
    rule = {
        "ID": "r",
        "Priority": 1,
        "Filter": {"Prefix": "p"},
        "Status": "Enabled",
        "DeleteMarkerReplication": {"Status": "Disabled"},
        "Destination": {"Bucket": f"arn:aws:s3:::{bucket}"},
    }
    configuration = {"Role": ROLE, "Rules": [rule]}
    arguments = {"Bucket": bucket, "ReplicationConfiguration": configuration}
    assert refusal(boto.put_bucket_replication, **arguments) == ("InvalidRequest", 400)
    boto.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
    boto.put_bucket_replication(**arguments)
    assert boto.get_bucket_replication(Bucket=bucket)["ReplicationConfiguration"] == configuration
    suspend = {"Bucket": bucket, "VersioningConfiguration": {"Status": "Suspended"}}
    assert refusal(boto.put_bucket_versioning, **suspend) == ("InvalidBucketState", 409)
    boto.delete_bucket_replication(Bucket=bucket)
    assert refusal(boto.get_bucket_replication, Bucket=bucket) == ("ReplicationConfigurationNotFoundError", 404)
    lock = {"ObjectLockEnabled": "Enabled", "Rule": {"DefaultRetention": {"Mode": "GOVERNANCE", "Days": 1}}}
    boto.put_object_lock_configuration(Bucket=bucket, ObjectLockConfiguration=lock)
    assert boto.get_object_lock_configuration(Bucket=bucket)["ObjectLockConfiguration"] == lock
    assert refusal(boto.put_bucket_versioning, **suspend) == ("InvalidBucketState", 409)


def test_buckets_of_other_regions_are_found_by_redirect(boto):
    boto.create_bucket(Bucket="far-away", CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
    boto.put_object(Bucket="far-away", Key="k", Body=b"x")
    assert boto.get_object(Bucket="far-away", Key="k")["Body"].read() == b"x"
    assert boto.head_bucket(Bucket="far-away")["BucketRegion"] == "eu-west-1"
    assert boto.get_bucket_location(Bucket="far-away")["LocationConstraint"] == "eu-west-1"
    boto.delete_object(Bucket="far-away", Key="k")
    boto.delete_bucket(Bucket="far-away")


def test_a_bucket_is_created_with_ownership_lock_and_tags(boto):
    boto.create_bucket(
        Bucket="with-everything",
        ObjectOwnership="BucketOwnerPreferred",
        ObjectLockEnabledForBucket=True,
        CreateBucketConfiguration={"Tags": [{"Key": "a", "Value": "b"}]},
    )
    assert boto.get_bucket_tagging(Bucket="with-everything")["TagSet"] == [{"Key": "a", "Value": "b"}]
    assert boto.get_bucket_versioning(Bucket="with-everything")["Status"] == "Enabled"
    controls = boto.get_bucket_ownership_controls(Bucket="with-everything")["OwnershipControls"]
    assert controls["Rules"] == [{"ObjectOwnership": "BucketOwnerPreferred"}]
    listed = boto.list_buckets(Prefix="with-every")["Buckets"]
    assert [(b["Name"], b["BucketRegion"]) for b in listed] == [("with-everything", "us-east-1")]
    assert refusal(boto.create_bucket, Bucket="Upper_Case") == ("InvalidBucketName", 400)
