"""Reads a dataset through a DataLoader and prints the cost as one JSON line.

python_data.py CLIENT STYLE ENDPOINT BUCKET WORKERS EPOCHS; CLIENT: penstock or s3torchconnector; STYLE: iter or map.

`cpu` is the CPU time of this process and its workers.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import sys
import time
from pathlib import Path
from typing import Any

BATCH = 128
SEED = 1


def length(reader: Any) -> int:
    """The transform: reads every byte, and sends one number from the worker to the trainer."""
    return len(reader.read())


def make_loader(module: Any, style: str, endpoint: str, bucket: str, workers: int) -> Any:
    import torch
    from torch.utils.data import DataLoader

    options: dict[str, Any] = {"transform": length, "s3client_config": module.S3ClientConfig(force_path_style=True)}
    if style == "iter":
        dataset = module.S3IterableDataset.from_prefix(
            f"s3://{bucket}/data/", region="us-east-1", endpoint=endpoint, enable_sharding=True, **options
        )
        return DataLoader(dataset, batch_size=BATCH, num_workers=workers, persistent_workers=True)
    dataset = module.S3MapDataset.from_prefix(f"s3://{bucket}/data/", region="us-east-1", endpoint=endpoint, **options)
    generator = torch.Generator().manual_seed(SEED)
    return DataLoader(dataset, batch_size=BATCH, shuffle=True, generator=generator, num_workers=workers, persistent_workers=True)


def cpu_seconds() -> float:
    """CPU time of this process and of its ended workers."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def worker_cpu_seconds(loader: Any) -> float:
    """CPU time of the running workers."""
    total = 0.0
    for worker in getattr(loader._iterator, "_workers", []):
        fields = Path(f"/proc/{worker.pid}/stat").read_text().rsplit(")", 1)[1].split()
        total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return total


def main() -> None:
    name, style, endpoint, bucket, workers, epochs = sys.argv[1:]
    loader = make_loader(importlib.import_module(name), style, endpoint, bucket, int(workers))
    sum(len(batch) for batch in loader)  # starts workers, imports modules, opens connections, lists
    cpu, start = cpu_seconds() + worker_cpu_seconds(loader), time.perf_counter()
    sizes = [int(size) for _ in range(int(epochs)) for batch in loader for size in batch]
    seconds = time.perf_counter() - start
    cpu = cpu_seconds() + worker_cpu_seconds(loader) - cpu
    print(json.dumps({"seconds": seconds, "cpu": cpu, "objects": len(sizes), "bytes": sum(sizes)}))


if __name__ == "__main__":
    main()
