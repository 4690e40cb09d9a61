"""Reads all objects of a bucket again and again from a cache on the local disk, and prints the rate as one JSON line.

python_cache.py CLIENT ENDPOINT BUCKET FOLDER SECONDS; CLIENT: penstock (its node cache), files (the same bytes as plain files,
which is the rate of the page cache), filecache or blockcache (fsspec's caches over s3fs). The first pass over the objects fills
the cache and is not measured. Objects below MANY bytes are read in batches of a data set.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

MANY = 1 << 20
Pass = Callable[[], int]  # reads everything once and returns the number of bytes


def read_penstock(endpoint: str, bucket: str, folder: str) -> Pass:
    import penstock

    config = penstock.S3ClientConfig(force_path_style=True, cache=folder, cache_size="4GiB")
    client = penstock.S3Client("us-east-1", endpoint=endpoint, s3client_config=config)
    infos = [info for page in client.list_objects(bucket) for info in page.object_info]
    if infos[0].size < MANY:
        dataset = penstock.S3MapDataset.from_prefix(
            f"s3://{bucket}",
            region="us-east-1",
            endpoint=endpoint,
            s3client_config=config,
            transform=lambda reader: reader.read(),
        )
        batches = [list(range(start, min(start + 128, len(dataset)))) for start in range(0, len(dataset), 128)]
        return lambda: sum(len(data) for batch in batches for data in dataset.__getitems__(batch))
    return lambda: sum(len(client.get_object(bucket, info.key, object_info=info).read()) for info in infos)


def read_files(endpoint: str, bucket: str, folder: str) -> Pass:
    import boto3

    client = boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1")
    paths = []
    for page in client.get_paginator("list_objects_v2").paginate(Bucket=bucket):
        for item in page["Contents"]:
            paths.append(Path(folder) / item["Key"].replace("/", "_"))
            paths[-1].write_bytes(client.get_object(Bucket=bucket, Key=item["Key"])["Body"].read())
    return lambda: sum(len(path.read_bytes()) for path in paths)


def read_fsspec(kind: str, endpoint: str, bucket: str, folder: str) -> Pass:
    import fsspec

    options = {"client_kwargs": {"endpoint_url": endpoint}}
    cached = fsspec.filesystem(kind, target_protocol="s3", target_options=options, cache_storage=folder, check_files=False)
    names = cached.ls(bucket, detail=False)

    def read_all() -> int:
        total = 0
        for name in names:
            with cached.open(name, "rb") as file:
                total += len(file.read())
        return total

    return read_all


def main() -> None:
    kind, endpoint, bucket, folder, seconds = sys.argv[1:]
    makers = {"penstock": read_penstock, "files": read_files}
    read_all = makers[kind](endpoint, bucket, folder) if kind in makers else read_fsspec(kind, endpoint, bucket, folder)
    read_all()
    read_all()  # the first pass over files that exist
    count, begin, cpu = 0, time.perf_counter(), time.process_time()
    while time.perf_counter() - begin < float(seconds):
        count += read_all()
    elapsed = time.perf_counter() - begin
    print(json.dumps({"rate": count / 1e9 / elapsed, "cpu": (time.process_time() - cpu) / (count / 1e9)}))


if __name__ == "__main__":
    main()
