"""Reads samples of a training format from S3 through a DataLoader, and prints their rate as one JSON line.

python_formats.py CLIENT ENDPOINT BUCKET WORKERS SECONDS; CLIENT: what reads tar shards: penstock (S3TarDataset),
penstock_webdataset (webdataset after register_webdataset) or s3fs (webdataset over s3fs); or what reads COLUMNS of Parquet files:
penstock_parquet (S3ParquetDataset), or pyarrow (ParquetFile) or pyarrow_dataset (pyarrow.dataset) over pyarrow's S3FileSystem.

Tar: each shard is read REPEATS times. The measurement starts after WARM_UP batches, and ends after SECONDS. Workers send the
length of each sample. `cpu` is the CPU time of the workers and of this process.
Parquet: this process reads all files once, with their metadata, without a DataLoader.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

BATCH = 128
REPEATS = 1000
WARM_UP = 16  # batches
COLUMNS = [f"c{number}" for number in range(0, 64, 8)]


def length(sample: dict[str, Any]) -> int:
    return len(sample["jpg"])


def open_with_s3fs(url: str, mode: str = "rb", bufsize: int = 8192) -> Any:
    import s3fs

    options = {"endpoint_url": os.environ["AWS_ENDPOINT_URL"]}
    return s3fs.S3FileSystem(client_kwargs=options).open(url, mode)  # fsspec keeps one file system for each process


def make_dataset(client: str, endpoint: str, bucket: str) -> Any:
    from penstock import S3ClientConfig
    from penstock.data import S3TarDataset, register_webdataset

    config = S3ClientConfig(force_path_style=True)
    shards = int(os.environ["PENSTOCK_BENCH_SHARDS"])
    urls = [f"s3://{bucket}/{shard:03}.tar" for shard in range(shards)] * REPEATS
    if client == "penstock":
        return S3TarDataset.from_objects(urls, region="us-east-1", endpoint=endpoint, decode=length, s3client_config=config)
    import webdataset
    from webdataset.gopen import gopen_schemes

    if client == "s3fs":
        gopen_schemes["s3"] = open_with_s3fs
    else:
        register_webdataset("us-east-1", endpoint=endpoint, s3client_config=config)
    return webdataset.WebDataset(urls, shardshuffle=False).map(length)


def cpu_seconds(loader: Any) -> float:
    total = time.process_time()
    for worker in getattr(loader, "_workers", []):
        fields = Path(f"/proc/{worker.pid}/stat").read_text().rsplit(")", 1)[1].split()
        total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return total


def read_parquet(client: str, endpoint: str, bucket: str) -> int:
    """Reads the columns of all files. Returns the number of rows."""
    if client == "penstock_parquet":
        from penstock import S3ClientConfig
        from penstock.data import S3ParquetDataset

        config = S3ClientConfig(force_path_style=True)
        dataset = S3ParquetDataset.from_prefix(
            f"s3://{bucket}/", region="us-east-1", endpoint=endpoint, columns=COLUMNS, s3client_config=config
        )
        return sum(table.num_rows for table in dataset)
    import pyarrow.parquet as pq
    from pyarrow.fs import FileSelector, S3FileSystem

    system = S3FileSystem(endpoint_override=endpoint, region="us-east-1", allow_bucket_creation=False)
    if client == "pyarrow_dataset":
        import pyarrow.dataset

        scanner = pyarrow.dataset.dataset(bucket, filesystem=system, format="parquet").scanner(columns=COLUMNS)
        return sum(batch.num_rows for batch in scanner.to_batches())
    rows = 0
    for found in system.get_file_info(FileSelector(bucket)):
        with system.open_input_file(found.path) as source:
            file = pq.ParquetFile(source, pre_buffer=True)
            rows += sum(file.read_row_group(number, columns=COLUMNS).num_rows for number in range(file.num_row_groups))
    return rows


def measure_parquet(client: str, endpoint: str, bucket: str) -> None:
    import pyarrow.dataset
    import pyarrow.parquet  # noqa: F401
    import torch  # noqa: F401  # imports are not measured

    cpu, start = time.process_time(), time.perf_counter()
    rows = read_parquet(client, endpoint, bucket)
    taken, cpu = time.perf_counter() - start, time.process_time() - cpu
    print(json.dumps({"rate": rows / taken, "cpu": cpu / rows * 1e6}), flush=True)


def main() -> None:
    client, endpoint, bucket, workers, seconds = sys.argv[1:]
    if client in ("penstock_parquet", "pyarrow", "pyarrow_dataset"):
        measure_parquet(client, endpoint, bucket)
        return
    from torch.utils.data import DataLoader

    loader = iter(DataLoader(make_dataset(client, endpoint, bucket), batch_size=BATCH, num_workers=int(workers)))
    for _ in range(WARM_UP):
        next(loader)
    count, cpu, start = 0, cpu_seconds(loader), time.perf_counter()
    while time.perf_counter() - start < float(seconds):
        count += len(next(loader))
    taken, cpu = time.perf_counter() - start, cpu_seconds(loader) - cpu
    print(json.dumps({"rate": count / taken, "cpu": cpu / count * 1e6}), flush=True)
    for worker in getattr(loader, "_workers", []):
        worker.terminate()  # it may be busy for long, and holds our output open
    os._exit(0)


if __name__ == "__main__":
    main()
