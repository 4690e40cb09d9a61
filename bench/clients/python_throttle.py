"""Reads one object repeatedly from several threads, as fast as the service allows, and counts the reads in a window of time.

    python_throttle.py CLIENT ENDPOINT BUCKET KEY THREADS BEGIN END

The window is from BEGIN to END, in seconds since 1970. Prints the numbers of successful and failed reads as one JSON line.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable


def boto3_read(mode: str) -> Callable[[str, str, str], Callable[[], object]]:
    def make(endpoint: str, bucket: str, key: str) -> Callable[[], object]:
        import boto3
        from botocore.config import Config

        config = Config(retries={"mode": mode}, s3={"addressing_style": "path"}, max_pool_connections=64)
        client = boto3.client("s3", endpoint_url=endpoint, config=config)

        def read() -> object:
            return client.get_object(Bucket=bucket, Key=key)["Body"].read()

        return read

    return make


def connector_read(package: str) -> Callable[[str, str, str], Callable[[], object]]:
    def make(endpoint: str, bucket: str, key: str) -> Callable[[], object]:
        import importlib

        module = importlib.import_module(package)
        config = module.S3ClientConfig(force_path_style=True)
        if package == "penstock":
            client = module.S3Client("us-east-1", endpoint=endpoint, s3client_config=config)
        else:
            from s3torchconnector._s3client import S3Client

            client = S3Client("us-east-1", endpoint=endpoint, s3client_config=config)

        def read() -> object:
            return client.get_object(bucket, key).read()

        return read

    return make


CLIENTS = {
    "penstock": connector_read("penstock"),
    "s3torchconnector": connector_read("s3torchconnector"),
    "boto3 standard": boto3_read("standard"),
    "boto3 adaptive": boto3_read("adaptive"),
}


def main() -> None:
    name, endpoint, bucket, key, threads, begin, end = sys.argv[1:]
    read = CLIENTS[name](endpoint, bucket, key)
    counts = {"good": 0, "failed": 0}
    lock = threading.Lock()

    def work() -> None:
        while time.time() < float(end):
            outcome = "good"
            try:
                read()
            except Exception:
                outcome = "failed"
            if float(begin) <= time.time() < float(end):
                with lock:
                    counts[outcome] += 1

    workers = [threading.Thread(target=work, daemon=True) for _ in range(int(threads))]
    for worker in workers:
        worker.start()
    time.sleep(max(0.0, float(end) - time.time()))
    with lock:
        print(json.dumps(counts), flush=True)
    sys.exit(0)


if __name__ == "__main__":
    main()
