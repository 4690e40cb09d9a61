"""Lists a bucket, reads every key and size, and prints the cost as one JSON line.

python_list.py CLIENT ENDPOINT BUCKET ROUNDS; CLIENT: penstock, penstock_kept (the packed list of S3MapDataset), botocore or
s3torchconnector.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

REGION = "us-east-1"


def over_pages(client: Any, bucket: str) -> Callable[[], tuple[int, int]]:
    def run() -> tuple[int, int]:
        keys = size = 0
        for page in client.list_objects(bucket):
            for info in page.object_info:
                keys += bool(info.key)
                size += info.size
        return keys, size

    return run


def penstock_listing(endpoint: str, bucket: str) -> Callable[[], tuple[int, int]]:
    import penstock

    client = penstock.S3Client(REGION, endpoint=endpoint, s3client_config=penstock.S3ClientConfig(force_path_style=True))
    return over_pages(client, bucket)


def penstock_kept_listing(endpoint: str, bucket: str) -> Callable[[], tuple[int, int]]:
    import penstock
    from penstock._listing import S3BucketIterable

    client = penstock.S3Client(REGION, endpoint=endpoint, s3client_config=penstock.S3ClientConfig(force_path_style=True))
    objects = S3BucketIterable(client, bucket, "").as_list()
    print(f"{objects.memory_bytes / len(objects):.1f} bytes an object", file=sys.stderr)
    return lambda: (len(S3BucketIterable(client, bucket, "").as_list()), 0)


def botocore_listing(endpoint: str, bucket: str) -> Callable[[], tuple[int, int]]:
    import botocore.session
    from botocore.config import Config

    config = Config(s3={"addressing_style": "path"})
    client = botocore.session.get_session().create_client("s3", region_name=REGION, endpoint_url=endpoint, config=config)

    def run() -> tuple[int, int]:
        keys = size = 0
        for page in client.get_paginator("list_objects_v2").paginate(Bucket=bucket):
            for info in page["Contents"]:
                keys += bool(info["Key"])
                size += info["Size"]
        return keys, size

    return run


def s3torchconnector_listing(endpoint: str, bucket: str) -> Callable[[], tuple[int, int]]:
    from s3torchconnector import S3ClientConfig
    from s3torchconnector._s3client import S3Client

    client = S3Client(REGION, endpoint=endpoint, s3client_config=S3ClientConfig(force_path_style=True))
    return over_pages(client, bucket)


def main() -> None:
    name, endpoint, bucket, rounds = sys.argv[1:]
    run = globals()[f"{name}_listing"](endpoint, bucket)
    run()  # opens connections
    before, start = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    keys = sum(run()[0] for _ in range(int(rounds)))
    seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(json.dumps({"seconds": seconds, "cpu": cpu, "keys": keys}))


if __name__ == "__main__":
    main()
