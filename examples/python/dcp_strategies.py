"""Distributed checkpoints with each prefix strategy. Run with: torchrun --nproc-per-node 4 dcp_strategies.py"""

from __future__ import annotations

import common
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from penstock.dcp import (
    BinaryPrefixStrategy,
    DefaultPrefixStrategy,
    HexPrefixStrategy,
    RoundRobinPrefixStrategy,
    S3StorageReader,
    S3StorageWriter,
)


def state(rank: int) -> dict[str, torch.Tensor]:
    """A rank's state: its own tensors and a tensor that all ranks share."""
    torch.manual_seed(rank)
    mine = {f"layer{rank}.weight": torch.randn(128, 128), f"layer{rank}.bias": torch.randn(128)}
    torch.manual_seed(1000)
    return mine | {"shared": torch.randn(64)}


def main() -> None:
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    if rank == 0:
        common.make_bucket()
    dist.barrier()
    strategies = {
        "default": DefaultPrefixStrategy(),
        "round_robin": RoundRobinPrefixStrategy(["one", "two"]),
        "binary": BinaryPrefixStrategy(epoch_num=4),
        "hex": HexPrefixStrategy(),
    }
    for name, strategy in strategies.items():
        where = common.uri("dcp", name)
        saved = state(rank)
        dcp.save(saved, storage_writer=S3StorageWriter(common.REGION, where, prefix_strategy=strategy))
        loaded = {key: torch.zeros_like(value) for key, value in saved.items()}
        dcp.load(loaded, storage_reader=S3StorageReader(common.REGION, where))
        assert all(torch.equal(loaded[key], saved[key]) for key in saved)
        if rank == 0:
            bucket, _, prefix = where.removeprefix("s3://").partition("/")
            pages = common.client().list_objects(bucket, f"{prefix}/")
            keys = [info.key.removeprefix(f"{prefix}/") for page in pages for info in page.object_info]
            print(f"{name}: {' '.join(sorted(keys))}")
    dist.barrier()
    if rank == 0:
        print(f"ok: {dist.get_world_size()} ranks saved and loaded with {len(strategies)} strategies")
    common.end_rank()


if __name__ == "__main__":
    main()
