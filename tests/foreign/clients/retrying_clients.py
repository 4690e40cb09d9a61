"""Reads each given key with one S3 client, or writes it where it begins with "put-", and ignores the result.

    retrying_clients.py CLIENT BUCKET KEY...

The endpoint and the credentials are in the environment. Clients that wait in Python do not wait here: the test counts attempts.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from collections.abc import Callable

ATTEMPTS = 4  # of clients whose waits cannot be disabled; their default is 10
BODY = b"0123456789"
_sleep = asyncio.sleep


def boto(mode: str) -> Callable[[str, str], object]:
    import boto3
    from botocore.config import Config

    client = boto3.client("s3", config=Config(retries={"mode": mode}))

    def call(bucket: str, key: str) -> object:
        if key.startswith("put-"):
            return client.put_object(Bucket=bucket, Key=key, Body=BODY)
        return client.get_object(Bucket=bucket, Key=key)["Body"].read()

    return call


def aws_cli() -> Callable[[str, str], object]:
    from awscli.clidriver import create_clidriver

    def call(bucket: str, key: str) -> object:
        uri = f"s3://{bucket}/{key}"
        if key.startswith("put-"):
            return create_clidriver().main(["s3", "cp", "--quiet", __file__, uri])
        return create_clidriver().main(["s3api", "get-object", "--bucket", bucket, "--key", key, "/dev/null"])

    return call


def s3fs() -> Callable[[str, str], object]:
    import s3fs

    filesystem = s3fs.S3FileSystem(skip_instance_cache=True)

    def call(bucket: str, key: str) -> object:
        if key.startswith("put-"):
            return filesystem.pipe_file(f"{bucket}/{key}", BODY)
        return filesystem.cat_file(f"{bucket}/{key}")

    return call


def connector() -> Callable[[str, str], object]:
    from s3torchconnector import S3ClientConfig
    from s3torchconnector._s3client import S3Client

    client = S3Client("us-east-1", s3client_config=S3ClientConfig(max_attempts=ATTEMPTS))

    def call(bucket: str, key: str) -> object:
        if not key.startswith("put-"):
            return client.get_object(bucket, key).read()
        with client.put_object(bucket, key) as writer:
            return writer.write(BODY)

    return call


def penstock() -> Callable[[str, str], object]:
    import penstock

    client = penstock.S3Client("us-east-1", s3client_config=penstock.S3ClientConfig(max_attempts=ATTEMPTS))

    def call(bucket: str, key: str) -> object:
        if not key.startswith("put-"):
            return client.get_object(bucket, key).read()
        with client.put_object(bucket, key) as writer:
            return writer.write(BODY)

    return call


CLIENTS = {
    "boto3-legacy": lambda: boto("legacy"),
    "boto3-standard": lambda: boto("standard"),
    "boto3-adaptive": lambda: boto("adaptive"),
    "aws-cli": aws_cli,
    "s3fs": s3fs,
    "s3torchconnector": connector,
    "penstock": penstock,
}


def main() -> None:
    name, bucket, *keys = sys.argv[1:]
    time.sleep = lambda seconds: None
    asyncio.sleep = lambda delay, result=None: _sleep(0, result)
    call = CLIENTS[name]()
    for key in keys:
        with contextlib.suppress(Exception):
            call(bucket, key)


if __name__ == "__main__":
    main()
