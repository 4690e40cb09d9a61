"""boto3 with deletions of which some fail."""

from __future__ import annotations

import boto3
from penstock.testing import emulated_s3


def test_boto3_deletes_failed_entries_with_a_second_request() -> None:
    with emulated_s3() as s3:
        client = boto3.client("s3")
        client.create_bucket(Bucket="data")
        keys = [f"{number:03}" for number in range(100)]
        for key in keys:
            client.put_object(Bucket="data", Key=key, Body=b"x")
        failure = {"code": "SlowDown", "probability": 0.3}
        s3.faults().set({"seed": 5, "rules": [{"do": {"partial_failure": failure}, "limit": {"times": 1}}]})
        entries = [{"Key": key} for key in keys]
        first = client.delete_objects(Bucket="data", Delete={"Objects": entries})
        failed = [error["Key"] for error in first["Errors"]]
        assert first["ResponseMetadata"]["HTTPStatusCode"] == 200
        assert 10 < len(failed) < 60
        assert {error["Code"] for error in first["Errors"]} == {"SlowDown"}
        assert {error["Message"] for error in first["Errors"]} == {"Please reduce your request rate."}
        assert sorted(failed + [entry["Key"] for entry in first["Deleted"]]) == keys
        assert [entry["Key"] for entry in client.list_objects_v2(Bucket="data")["Contents"]] == failed
        again = client.delete_objects(Bucket="data", Delete={"Objects": [{"Key": key} for key in failed], "Quiet": True})
        assert "Errors" not in again
        assert client.list_objects_v2(Bucket="data")["KeyCount"] == 0
        assert s3.journal().count(operations=["DeleteObjects"]) == 2
