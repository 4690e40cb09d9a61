"""Downloads one object several times and prints what it cost, as one JSON line.

python_get.py CLIENT ENDPOINT BUCKET KEY ROUNDS
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable


def boto3_reader(endpoint: str, bucket: str, key: str) -> Callable[[], int]:
    import boto3

    client = boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1")
    return lambda: len(client.get_object(Bucket=bucket, Key=key)["Body"].read())


def s3torchconnector_reader(endpoint: str, bucket: str, key: str) -> Callable[[], int]:
    from s3torchconnector import S3ClientConfig
    from s3torchconnector._s3client import S3Client

    client = S3Client("us-east-1", endpoint=endpoint, s3client_config=S3ClientConfig(force_path_style=True))
    return lambda: len(client.get_object(bucket, key).read())


def s3torchconnector_ranged_reader(endpoint: str, bucket: str, key: str) -> Callable[[], int]:
    from s3torchconnector import S3ClientConfig, S3ReaderConstructor
    from s3torchconnector._s3client import S3Client

    client = S3Client("us-east-1", endpoint=endpoint, s3client_config=S3ClientConfig(force_path_style=True))
    memory = bytearray(client.head_object(bucket, key).size)

    def read() -> int:
        return client.get_object(bucket, key, reader_constructor=S3ReaderConstructor.range_based()).readinto(memory)

    return read


def penstock_reader(endpoint: str, bucket: str, key: str) -> Callable[[], int]:
    import penstock

    client = penstock.S3Client("us-east-1", endpoint=endpoint, s3client_config=penstock.S3ClientConfig(force_path_style=True))
    return lambda: len(client.get_object(bucket, key).read())


def main() -> None:
    name, endpoint, bucket, key, rounds = sys.argv[1:]
    read = globals()[f"{name}_reader"](endpoint, bucket, key)
    total = read()  # connections, imports
    cpu, start = time.process_time(), time.perf_counter()
    total = sum(read() for _ in range(int(rounds)))
    cost = {
        "seconds": time.perf_counter() - start,
        "cpu": time.process_time() - cpu,
        "bytes": total,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    print(json.dumps(cost))


if __name__ == "__main__":
    main()
