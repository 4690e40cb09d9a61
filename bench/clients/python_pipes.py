"""Reads lines of sharded text through S3 DataPipes and a DataLoader, and prints their rate as one JSON line.

python_pipes.py CLIENT ENDPOINT BUCKET WORKERS BATCHES; CLIENT: penstock or torchdata (their S3FileLoader), s3fs (torchdata's
FSSpecFileOpener, binary) or s3fs_text (text mode). The pipeline is that of torchdata's issue 500 and of PyTorch's announcement of
the S3 DataPipes: list, load, readlines, batches of 512; no shuffling. Requires torchdata 0.9.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
import warnings
from typing import Any

BATCH = 512
WARM_UP = 20  # batches: workers start, connections are opened


def make_pipe(client: str, endpoint: str, bucket: str) -> Any:
    warnings.simplefilter("ignore")
    from torchdata.datapipes.iter import IterableWrapper

    prefixes = IterableWrapper([f"s3://{bucket}/shards/"])
    if client.startswith("s3fs"):
        options = {"client_kwargs": {"endpoint_url": endpoint}}
        urls = prefixes.list_files_by_fsspec(**options)
        files = urls.open_files_by_fsspec(mode="r" if client == "s3fs_text" else "rb", **options)
    else:
        if client == "penstock":
            import penstock.datapipes.iter  # noqa: F401  # the functional forms
        files = prefixes.list_files_by_s3().load_files_by_s3()
    return files.readlines(return_path=False)


def main() -> None:
    client, endpoint, bucket, workers, batches = sys.argv[1:]
    from torch.utils.data import DataLoader

    loader = DataLoader(make_pipe(client, endpoint, bucket), batch_size=BATCH, num_workers=int(workers))
    iterator, rates, lines = iter(loader), [], 0
    for _ in range(WARM_UP):
        next(iterator)
    cpu, start = time.process_time(), time.perf_counter()
    last = start
    for _, batch in zip(range(int(batches)), iterator, strict=False):
        now = time.perf_counter()
        rates.append(len(batch) / (now - last))
        lines, last = lines + len(batch), now
    print(json.dumps({"rate": lines / (last - start), "p0": min(rates), "p50": statistics.median(rates), "lines": lines, "cpu_us_per_line": (time.process_time() - cpu) / lines * 1e6}))


if __name__ == "__main__":
    main()
