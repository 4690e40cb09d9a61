"""FSDP2: a sharded model saved by some ranks and loaded by others; each rank fetches only the rows it needs.

torchrun --nproc-per-node 4 fsdp_reshard.py save
torchrun --nproc-per-node 2 fsdp_reshard.py load
"""

from __future__ import annotations

import sys

import common
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from penstock.dcp import S3StorageReader, S3StorageWriter
from torch import nn
from torch.distributed.checkpoint.state_dict import get_model_state_dict, set_model_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard


def sharded_model(seed: int) -> nn.Module:
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 64))
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    for layer in (model[0], model[2]):
        fully_shard(layer, mesh=mesh)
    return fully_shard(model, mesh=mesh)


def total(model: nn.Module) -> float:
    """A number to compare whole models by."""
    return sum(float(parameter.full_tensor().detach().double().abs().sum()) for parameter in model.parameters())


def main() -> None:
    verb = sys.argv[1] if len(sys.argv) > 1 else ""
    if verb not in ("save", "load"):
        sys.exit(f"unknown argument {verb!r}; write fsdp_reshard.py save or fsdp_reshard.py load")
    dist.init_process_group("gloo")
    ranks, rank = dist.get_world_size(), dist.get_rank()
    where = common.uri("fsdp")
    if verb == "save":
        if rank == 0:
            common.make_bucket()
        dist.barrier()
        model = sharded_model(seed=7)
        dcp.save(get_model_state_dict(model), storage_writer=S3StorageWriter(common.REGION, where))
    else:
        model = sharded_model(seed=8)
        before = total(model)
        loaded = get_model_state_dict(model)
        dcp.load(loaded, storage_reader=S3StorageReader(common.REGION, where))
        set_model_state_dict(model, loaded)
        assert abs(total(model) - before) > 1e-3
    sum_of_all = total(model)
    if rank == 0:
        print(f"ok: {verb} by {ranks} ranks, the parameters' sum is {sum_of_all:.6f}")
    common.end_rank()


if __name__ == "__main__":
    main()
