"""Iterates over the lines of one object and prints the cost as one JSON line.

python_lines.py CLIENT ENDPOINT BUCKET KEY ROUNDS; CLIENT: penstock or s3torchconnector, each with its default reader.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any


def make_client(name: str, endpoint: str) -> Any:
    if name == "penstock":
        import penstock

        return penstock.S3Client("us-east-1", endpoint=endpoint, s3client_config=penstock.S3ClientConfig(force_path_style=True))
    from s3torchconnector import S3ClientConfig
    from s3torchconnector._s3client import S3Client

    return S3Client("us-east-1", endpoint=endpoint, s3client_config=S3ClientConfig(force_path_style=True))


def main() -> None:
    name, endpoint, bucket, key, rounds = sys.argv[1:]
    client = make_client(name, endpoint)
    sum(len(line) for line in client.get_object(bucket, key))  # opens connections, imports modules
    cpu, start, lines = time.process_time(), time.perf_counter(), 0
    for _ in range(int(rounds)):
        for _line in client.get_object(bucket, key):
            lines += 1
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    print(json.dumps({"seconds": seconds, "cpu": cpu, "lines": lines}))


if __name__ == "__main__":
    main()
