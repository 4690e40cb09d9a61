"""DDP with a DistributedSampler over a map dataset. Run with: torchrun --nproc-per-node 2 ddp_loading.py"""

from __future__ import annotations

import common
import torch
import torch.distributed as dist
from penstock import S3MapDataset, S3Reader
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

OBJECTS = 96


def sample(item: S3Reader) -> tuple[torch.Tensor, int]:
    return torch.frombuffer(bytearray(item.read()), dtype=torch.float32), int(item.key[-9:-4])


def main() -> None:
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    if rank == 0:
        common.make_bucket()
        for number in range(OBJECTS):
            features = torch.full((8,), number / OBJECTS)
            common.put(common.uri("features", f"{number:05}.f32"), features.numpy().tobytes())
    dist.barrier()

    dataset = S3MapDataset.from_prefix(common.uri("features") + "/", region=common.REGION, transform=sample)
    sampler = DistributedSampler(dataset, shuffle=True)
    loader = DataLoader(dataset, batch_size=8, sampler=sampler, num_workers=2)
    model = DistributedDataParallel(nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    seen = torch.zeros(OBJECTS)
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for features, numbers in loader:
            loss = nn.functional.mse_loss(model(features).squeeze(1), numbers / OBJECTS)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            seen[numbers] += 1
    dist.all_reduce(seen)
    assert torch.equal(seen, torch.full((OBJECTS,), 2.0))
    if rank == 0:
        print(f"ok: {OBJECTS} objects, each once in each of 2 epochs over {dist.get_world_size()} ranks; loss {loss.item():.4f}")
    common.end_rank()


if __name__ == "__main__":
    main()
