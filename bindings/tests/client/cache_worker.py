"""A process that reads objects through a node cache, for tests that run several of them or kill one.

Usage: cache_worker.py ENDPOINT CACHE BUCKET PREFIX ROUNDS. Prints one line with a digest for each object and round. The kill
tests end it at any moment.
"""

from __future__ import annotations

import hashlib
import sys

import penstock


def main() -> None:
    endpoint, cache, bucket, prefix, rounds = sys.argv[1:]
    config = penstock.S3ClientConfig(force_path_style=True, cache=cache, cache_size="256MiB", hedge_reads=False)
    client = penstock.S3Client("us-east-1", endpoint=endpoint, s3client_config=config)
    infos = [info for page in client.list_objects(bucket, prefix) for info in page.object_info]
    for _ in range(int(rounds)):
        for info in infos:
            data = client.get_object(bucket, info.key, object_info=info).read()
            print(info.key, hashlib.sha256(data).hexdigest(), flush=True)


if __name__ == "__main__":
    main()
