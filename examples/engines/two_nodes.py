"""torchrun on two nodes: DDP and FSDP2 over sharded tar shards, a checkpoint in the middle of an epoch, and its resume.

On each of two nodes, with HOST the name of the first one:

torchrun --nnodes 2 --nproc-per-node 2 --rdzv-backend c10d --rdzv-endpoint HOST:29400 two_nodes.py train
torchrun --nnodes 2 --nproc-per-node 1 --rdzv-backend c10d --rdzv-endpoint HOST:29400 two_nodes.py resume
"""

from __future__ import annotations

import io
import json
import sys
import tarfile
from collections.abc import Callable, Iterable
from typing import Any

import comparison
import s3torchconnector
import s3torchconnector.dcp
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from comparison import common
from penstock.data import S3TarDataset, merge_states
from penstock.dcp import S3StorageReader, S3StorageWriter
from torch import nn
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel
from torchdata.stateful_dataloader import StatefulDataLoader

SHARDS, SAMPLES, BATCH = 8, 24, 4
FEATURES = 64


def write_shards() -> None:
    common.make_bucket()
    for shard in range(SHARDS):
        memory = io.BytesIO()
        with tarfile.open(fileobj=memory, mode="w") as archive:
            for number in range(shard * SAMPLES, (shard + 1) * SAMPLES):
                info = tarfile.TarInfo(f"{number:05}.f32")
                data = torch.full((FEATURES,), number / (SHARDS * SAMPLES)).numpy().tobytes()
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
        common.put(common.uri("two_nodes/shards", f"{shard:03}.tar"), memory.getvalue())


def decode(sample: dict[str, Any]) -> tuple[torch.Tensor, int]:
    return torch.frombuffer(bytearray(sample["f32"]), dtype=torch.float32), int(sample["__key__"])


def shards() -> S3TarDataset:
    """Each rank reads its own shards; `num_streams` makes the order the same for 1, 2, 4 and 8 ranks."""
    return S3TarDataset.from_prefix(
        common.uri("two_nodes/shards") + "/",
        region=common.REGION, decode=decode, shuffle_shards=True, shuffle_buffer=16, seed=1, num_streams=SHARDS,
    )  # fmt: skip


def steps(model: nn.Module, optimizer: torch.optim.Optimizer, batches: Iterable[Any], seen: torch.Tensor, most: int) -> None:
    """Trains on at most `most` batches, and counts their samples."""
    for number, (features, samples) in enumerate(batches, start=1):
        loss = (model(features) - features.mean(dim=1, keepdim=True)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seen[samples] += 1
        if number == most:
            return


def check_each_once(seen: torch.Tensor, what: str) -> None:
    total = seen.clone()
    dist.all_reduce(total)
    assert torch.equal(total, torch.ones(SHARDS * SAMPLES)), f"{what}: {total}"
    if dist.get_rank() == 0:
        print(f"{what}: {len(total)} samples, each once over {dist.get_world_size()} ranks", flush=True)


def ddp_epoch() -> None:
    model = DistributedDataParallel(nn.Linear(FEATURES, 1))
    seen = torch.zeros(SHARDS * SAMPLES)
    loader = StatefulDataLoader(shards(), batch_size=BATCH)
    # Equal shards give all ranks the same number of batches, which DDP requires.
    steps(model, torch.optim.SGD(model.parameters(), lr=0.01), loader, seen, most=sys.maxsize)
    check_each_once(seen, "DDP")


def sharded_model() -> tuple[nn.Module, torch.optim.Optimizer]:
    torch.manual_seed(7)
    model = nn.Sequential(nn.Linear(FEATURES, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 1))
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    for layer in model:
        if isinstance(layer, nn.Linear):
            fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    return model, torch.optim.AdamW(model.parameters(), lr=1e-4)


def state_of(model: nn.Module, optimizer: torch.optim.Optimizer, data: str, seen: torch.Tensor) -> dict[str, Any]:
    parameters, moments = get_state_dict(model, optimizer)
    return {"model": parameters, "optimizer": moments, "data": data, "seen": seen}


def compare_with_connector(what: str, work: dict[str, Callable[[], Any]]) -> None:
    """Compares on rank 0; the other ranks take part in the same order."""
    if dist.get_rank() == 0:
        comparison.compare(what, work)
    else:
        for function in work.values():
            function()


def train() -> None:
    if dist.get_rank() == 0:
        write_shards()
    dist.barrier()
    ddp_epoch()

    model, optimizer = sharded_model()
    seen = torch.zeros(SHARDS * SAMPLES)
    loader = StatefulDataLoader(shards(), batch_size=BATCH, snapshot_every_n_steps=1)
    steps(model, optimizer, loader, seen, most=SHARDS * SAMPLES // BATCH // dist.get_world_size() // 2)  # half an epoch
    states: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(states, loader.state_dict())
    dist.all_reduce(seen)
    state = state_of(model, optimizer, json.dumps(merge_states(states)), seen)
    config = s3torchconnector.S3ClientConfig(force_path_style=True)
    reference = s3torchconnector.dcp.S3StorageWriter(common.REGION, common.uri("two_nodes/reference"), s3client_config=config)
    ours = S3StorageWriter(common.REGION, common.uri("two_nodes/half"))
    compare_with_connector(
        "FSDP2 save",
        {
            "penstock": lambda: dcp.save(state, storage_writer=ours),
            "s3torchconnector": lambda: dcp.save(state, storage_writer=reference),
        },
    )
    if dist.get_rank() == 0:
        print(f"ok: saved by {dist.get_world_size()} ranks after {int(seen.sum())} samples", flush=True)


def resume() -> None:
    model, optimizer = sharded_model()
    state = state_of(model, optimizer, "", torch.zeros(SHARDS * SAMPLES))
    config = s3torchconnector.S3ClientConfig(force_path_style=True)
    reference = s3torchconnector.dcp.S3StorageReader(common.REGION, common.uri("two_nodes/reference"), s3client_config=config)
    ours = S3StorageReader(common.REGION, common.uri("two_nodes/half"))
    compare_with_connector(
        "FSDP2 load",
        {
            "s3torchconnector": lambda: dcp.load(state, storage_reader=reference),
            "penstock": lambda: dcp.load(state, storage_reader=ours),
        },
    )
    set_state_dict(model, optimizer, model_state_dict=state["model"], optim_state_dict=state["optimizer"])
    seen = state["seen"] if dist.get_rank() == 0 else torch.zeros(SHARDS * SAMPLES)
    half = int(state["seen"].sum())
    dataset = shards()
    dataset.load_state_dict(json.loads(state["data"]))
    steps(model, optimizer, StatefulDataLoader(dataset, batch_size=BATCH), seen, most=sys.maxsize)
    check_each_once(seen, "FSDP2")
    if dist.get_rank() == 0:
        print(f"ok: resumed by {dist.get_world_size()} ranks after {half} samples", flush=True)


def main() -> None:
    verbs = {"train": train, "resume": resume}
    verb = sys.argv[1] if len(sys.argv) > 1 else ""
    if verb not in verbs:
        sys.exit(f"unknown argument {verb!r}; write two_nodes.py train or two_nodes.py resume")
    dist.init_process_group("gloo")
    verbs[verb]()
    common.end_rank()


if __name__ == "__main__":
    main()
