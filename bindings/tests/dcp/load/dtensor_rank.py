"""One rank that loads DTensors from a checkpoint: what test_dcp_load_ranks starts. Arguments: rank, ranks, file, URI."""

from __future__ import annotations

import sys

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from penstock.dcp import S3StorageReader
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor

SIZE = (512, 768)


def values() -> dict[str, torch.Tensor]:
    """What was saved."""
    generator = torch.Generator().manual_seed(8)
    return {name: torch.randn(SIZE, generator=generator) for name in ("rows", "columns", "everywhere")}


def main(rank: int, ranks: int, file: str, uri: str) -> None:
    dist.init_process_group("gloo", init_method=f"file://{file}", rank=rank, world_size=ranks)
    mesh = init_device_mesh("cpu", (ranks,))
    placements = {"rows": [Shard(0)], "columns": [Shard(1)], "everywhere": [Replicate()]}
    state = {name: distribute_tensor(torch.zeros(SIZE), mesh, placements[name]) for name in placements}
    dcp.load(state, storage_reader=S3StorageReader("us-east-1", uri))
    for name, value in values().items():
        expected = distribute_tensor(value, mesh, placements[name]).to_local()
        assert torch.equal(state[name].to_local(), expected), name
    dist.destroy_process_group()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4])
