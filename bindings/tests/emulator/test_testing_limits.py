"""penstock.testing.Emulator: request limits, and the rate of clocks."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from penstock.testing import Emulator, Namespace


def statuses(target: Emulator | Namespace, count: int) -> list[int]:
    """The statuses of `count` sequential puts without retries."""
    config = Config(signature_version="s3v4", s3={"addressing_style": "path"}, retries={"total_max_attempts": 1})
    keys = {"aws_access_key_id": target.access_key_id, "aws_secret_access_key": target.secret_access_key}
    client = boto3.client("s3", endpoint_url=target.endpoint, region_name=target.region, config=config, **keys)
    client.create_bucket(Bucket="bucket")
    found = []
    for _ in range(count):
        try:
            client.put_object(Bucket="bucket", Key="k", Body=b"x")
            found.append(200)
        except ClientError as error:
            found.append(error.response["ResponseMetadata"]["HTTPStatusCode"])
    return found


def test_limits_are_a_preset_a_file_or_a_dict(tmp_path: Path) -> None:
    file = tmp_path / "limits.json"
    file.write_text(json.dumps({"writes_per_second": 2}))
    drawn = {"seed": 3, "latency": "s3-express"}
    for limits, want in (("aws-strict", {"preset": "aws-strict"}), (file, {"writes_per_second": 2}), (drawn, drawn)):
        with Emulator(limits=limits) as s3:
            assert s3.limits_report()["limits"] == want
    with Emulator() as s3:
        assert s3.limits_report()["limits"] == {}
    with pytest.raises(ValueError, match="limits: writes_per_second must be 1 to 4000000000 requests a second, not 0"):
        Emulator(limits={"writes_per_second": 0})


def test_each_namespace_has_its_own_limits_in_its_own_time() -> None:
    with Emulator() as s3:
        space = s3.create_namespace("mine")
        space.clock.freeze()
        space.set_limits({"writes_per_second": 10, "burst_ms": 200})
        assert statuses(space, 4) == [200, 200, 503, 503]
        space.clock.advance(0.1)
        assert statuses(space, 2) == [200, 503]
        assert statuses(s3, 4) == [200] * 4
        report = space.limits_report()
        assert report == s3.limits_report("mine")
        assert (report["admitted"], report["refused"]) == (3, 3)
        assert report["buckets"][0]["partitions"][0]["writes"] == {"tokens": 0, "admitted": 3, "refused": 3, "last_second": 0}
        s3.set_limits(None, namespace="mine")
        assert statuses(space, 3) == [200] * 3


def test_a_clock_runs_at_the_given_rate() -> None:
    with Emulator() as s3:
        clock = s3.clock()
        assert clock.rate == 1.0
        clock.freeze()
        before = clock.now
        clock.run(rate=0.001)
        assert clock.rate == 0.001
        assert timedelta(0) <= clock.now - before < timedelta(seconds=1)
        clock.run(rate=1000)
        assert clock.now - before < timedelta(hours=10)
        for rate in (0, 1001, float("nan")):
            with pytest.raises(ValueError, match=r"0\.001 to 1000"):
                clock.run(rate=rate)
        clock.restore()
        assert clock.rate == 1.0
