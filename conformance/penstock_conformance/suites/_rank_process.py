"""One rank of a real process group: ``python -m`` this with a job as JSON on its standard input.

It prints the keys of its share, or what its client lacks for this. The job has the key to the endpoint in it, and a command
line is for everybody to read.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import torch.distributed
from torch.utils.data import DataLoader

from .._bench import Access
from .._suite import NotRun
from ..clients import find


def key_of(reader: Any) -> str:
    return str(reader.key)


def main(job: dict[str, Any]) -> None:
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{job['meeting']}", rank=job["rank"], world_size=job["world_size"]
    )
    client = find(job["client"])(Access(**job["access"]))
    try:
        dataset = client.dataset(job["uri"], key_of, sharded=True)
        found: dict[str, Any] = {"keys": list(DataLoader(dataset, batch_size=None, num_workers=job["workers"]))}
    except NotRun as missing:
        found = {"not run": str(missing)}
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()
    print(json.dumps(found))


if __name__ == "__main__":
    main(json.load(sys.stdin))
