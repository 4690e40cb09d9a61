"""Reads lines of sharded text through S3 DataPipes and a DataLoader, and prints their rate as one JSON line.

python_pipes.py CLIENT ENDPOINT BUCKET WORKERS BATCHES SECONDS; CLIENT: penstock or torchdata (their S3FileLoader), or s3fs
(torchdata's FSSpecFileOpener in its default mode, text: for each binary line, fsspec copies a whole block). Needs torchdata 0.9.

The pipeline is that of torchdata's issue 500 and of PyTorch's announcement of the S3 DataPipes: list, load, readlines, batches of
512; no shuffling. The measurement ends after BATCHES batches or SECONDS. `cpu` is the CPU time of this process. `steady` is the
slowest batch's rate divided by the median.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
import warnings
from typing import Any

BATCH = 512


def make_pipe(client: str, endpoint: str, bucket: str) -> Any:
    warnings.simplefilter("ignore")
    from torchdata.datapipes.iter import IterableWrapper

    prefixes = IterableWrapper([f"s3://{bucket}/shards/"])
    if client == "s3fs":
        options = {"client_kwargs": {"endpoint_url": endpoint}}
        urls = prefixes.list_files_by_fsspec(**options)
        files = urls.open_files_by_fsspec(**options)
    else:
        if client == "penstock":
            import penstock.datapipes.iter  # noqa: F401  # the functional forms
        files = prefixes.list_files_by_s3().load_files_by_s3()
    return files.readlines(return_path=False)


def main() -> None:
    client, endpoint, bucket, workers, batches, seconds = sys.argv[1:]
    from torch.utils.data import DataLoader

    loader = DataLoader(make_pipe(client, endpoint, bucket), batch_size=BATCH, num_workers=int(workers))
    iterator, rates, lines = iter(loader), [], 0
    next(iterator)  # workers start, connections are opened
    cpu, start = time.process_time(), time.perf_counter()
    last = start
    for _, batch in zip(range(int(batches)), iterator, strict=False):
        now = time.perf_counter()
        rates.append(len(batch) / (now - last))
        lines, last = lines + len(batch), now
        if now - start > float(seconds):
            break
    cpu = (time.process_time() - cpu) / lines * 1e6
    print(json.dumps({"rate": lines / (last - start), "cpu": cpu, "steady": min(rates) / statistics.median(rates)}), flush=True)
    for worker in getattr(iterator, "_workers", []):
        worker.terminate()  # it may be busy for long, and holds our output open
    os._exit(0)


if __name__ == "__main__":
    main()
