"""Enables versioning of a bucket with boto3."""

from __future__ import annotations

import boto3
from botocore.config import Config
from penstock.testing import Emulator


def boto_client(emulator: Emulator):
    return boto3.client(
        "s3",
        endpoint_url=emulator.endpoint,
        region_name=emulator.region,
        aws_access_key_id=emulator.access_key_id,
        aws_secret_access_key=emulator.secret_access_key,
        config=Config(s3={"addressing_style": "path"}, retries={"max_attempts": 1}),
    )


def keep_versions(emulator: Emulator, bucket: str, status: str = "Enabled") -> None:
    boto_client(emulator).put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": status})
