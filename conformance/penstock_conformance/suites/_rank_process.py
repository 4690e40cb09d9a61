"""One rank of a process group: run with ``python -m``; reads a job as JSON from standard input.

Prints the keys of its share, or why the client cannot run the job. The job contains credentials and is therefore not on the
command line, which other users of the machine can read.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import torch.distributed
from torch.utils.data import DataLoader

from .._access import Access
from .._verdict import NotRun
from ..clients import find


def key_of(reader: Any) -> str:
    return str(reader.key)


def main(job: dict[str, Any]) -> None:
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{job['rendezvous']}", rank=job["rank"], world_size=job["world_size"]
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
