"""boto3 under low request limits: it classifies a refusal as throttling, and its retries succeed.

The emulator's clock is frozen until the first refusal, so that the burst of the limits is used up however slow the machine is.
"""

from __future__ import annotations

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from botocore.retries import standard
from penstock.testing import Emulator

OBJECTS = 12


def client(s3: Emulator, **retries: object):
    """A boto3 client; its first refused PutObject lets the emulator's clock run again."""
    made = boto3.client(
        "s3",
        endpoint_url=s3.endpoint,
        aws_access_key_id=s3.access_key_id,
        aws_secret_access_key=s3.secret_access_key,
        region_name=s3.region,
        config=Config(s3={"addressing_style": "path"}, retries=retries),
    )

    def resume_after_a_refusal(response: tuple[object, object] | None, **_: object) -> None:
        if response is not None and response[0].status_code == 503:  # type: ignore[attr-defined]
            s3.clock().resume()

    made.meta.events.register_first("needs-retry.s3.PutObject", resume_after_a_refusal)
    return made


@pytest.mark.parametrize("mode", ["legacy", "standard", "adaptive"])
def test_retries_of_boto3_succeed_under_strict_limits(mode: str) -> None:
    with Emulator(limits="aws-strict") as s3:
        boto = client(s3, mode=mode, total_max_attempts=10)
        boto.create_bucket(Bucket="bucket")
        s3.clock().freeze()
        responses = [boto.put_object(Bucket="bucket", Key=f"k{i}", Body=b"x") for i in range(OBJECTS)]
        retries = sum(response["ResponseMetadata"]["RetryAttempts"] for response in responses)
        report = s3.limits_report()
        assert report["refused"] == retries > 0
        assert report["admitted"] == OBJECTS
        assert s3.stats()["statuses"][503] == retries


@pytest.mark.parametrize("mode", ["legacy", "standard", "adaptive"])
def test_without_retries_boto3_reports_slow_down(mode: str) -> None:
    with Emulator(limits={"writes_per_second": 1}) as s3:
        boto = client(s3, mode=mode, total_max_attempts=1)
        boto.create_bucket(Bucket="bucket")
        s3.clock().freeze()
        boto.put_object(Bucket="bucket", Key="k", Body=b"x")
        with pytest.raises(ClientError) as caught:
            boto.put_object(Bucket="bucket", Key="k", Body=b"x")
        error = caught.value.response
        assert (error["Error"]["Code"], error["Error"]["Message"]) == ("SlowDown", "Please reduce your request rate.")
        assert error["ResponseMetadata"]["HTTPStatusCode"] == 503


@pytest.mark.parametrize("mode", ["standard", "adaptive"])
def test_boto3_classifies_a_refusal_as_throttling(mode: str) -> None:
    detector = standard.ThrottlingErrorDetector(standard.RetryEventAdapter())
    taken: list[bool] = []
    with Emulator(limits="aws-strict") as s3:
        boto = client(s3, mode=mode, total_max_attempts=10)
        boto.meta.events.register_first(
            "needs-retry.s3.PutObject", lambda **response: taken.append(detector.is_throttling_error(**response))
        )
        boto.create_bucket(Bucket="bucket")
        s3.clock().freeze()
        for i in range(OBJECTS):
            boto.put_object(Bucket="bucket", Key=f"k{i}", Body=b"x")
        assert taken.count(True) == s3.limits_report()["refused"] > 0
        assert taken.count(False) == OBJECTS
