"""A program like a pre-training framework: a checkpoint manager with asynchronous saves that keeps the newest checkpoints."""

import functools
import io
import sys

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from s3torchconnector._s3client import S3Client
from s3torchconnector.dcp import HexPrefixStrategy, S3StorageReader, S3StorageWriter
from torch.distributed.checkpoint.state_dict import (
    get_model_state_dict,
    get_optimizer_state_dict,
    set_model_state_dict,
    set_optimizer_state_dict,
)
from torch.distributed.checkpoint.stateful import Stateful
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

REGION = "us-east-1"
KEEP = 2


class ModelAndOptimizer(Stateful):
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer

    def state_dict(self):
        return {"model": get_model_state_dict(self.model), "optimizer": get_optimizer_state_dict(self.model, self.optimizer)}

    def load_state_dict(self, state):
        set_model_state_dict(self.model, state["model"])
        set_optimizer_state_dict(self.model, self.optimizer, state["optimizer"])


class TrainState(Stateful):
    def __init__(self):
        self.step = 0
        self.losses = []

    def state_dict(self):
        losses = io.BytesIO()
        torch.save(self.losses, losses)
        return {"step": torch.tensor(self.step), "losses": losses}

    def load_state_dict(self, state):
        self.step = int(state["step"])
        state["losses"].seek(0)
        self.losses = torch.load(state["losses"], weights_only=False)


class CheckpointManager:
    def __init__(self, bucket, states):
        self.bucket, self.states = bucket, states
        self.client = S3Client(REGION)
        self.pending = None
        self.group = dist.new_group(backend="gloo")  # saves run while the training uses its own group

    def path(self, step):
        return f"s3://{self.bucket}/run/step-{step:06}"

    def steps(self):
        pages = self.client.list_objects(self.bucket, "run/")
        keys = [info.key for page in pages for info in page.object_info]
        return sorted({int(key.split("/")[1][5:]) for key in keys if key.endswith("/.metadata")})

    def save(self, step):
        self.wait()
        writer = S3StorageWriter(REGION, self.path(step), prefix_strategy=HexPrefixStrategy(epoch_num=step))
        self.pending = dcp.async_save(self.states, storage_writer=writer, process_group=self.group)

    def wait(self):
        if self.pending is not None:
            self.pending.result()
            self.pending = None
            dist.barrier()
            if dist.get_rank() == 0:
                for old in self.steps()[:-KEEP]:
                    prefix = self.path(old).removeprefix(f"s3://{self.bucket}/") + "/"
                    keys = [info.key for page in self.client.list_objects(self.bucket, prefix) for info in page.object_info]
                    for key in sorted(keys, key=lambda key: not key.endswith(".metadata")):
                        self.client.delete_object(self.bucket, key)
            dist.barrier()

    def load(self):
        steps = self.steps()
        if steps:
            dcp.load(self.states, storage_reader=S3StorageReader(REGION, self.path(steps[-1])))
        return bool(steps)


def main():
    bucket, until = sys.argv[1], int(sys.argv[2])
    dist.init_process_group("cpu:gloo")
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    fully_shard(model, mesh=mesh)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    progress = TrainState()
    manager = CheckpointManager(bucket, {"app": ModelAndOptimizer(model, optimizer), "train_state": progress})
    resumed = manager.load()
    batch = functools.partial(torch.randn, 8, 16)
    while progress.step < until:
        torch.manual_seed(progress.step)
        loss = (model(batch()) - 1).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        progress.step += 1
        progress.losses.append(float(loss))
        if progress.step % 2 == 0:
            manager.save(progress.step)
    manager.wait()
    if dist.get_rank() == 0:
        print(f"resumed {resumed}, steps {manager.steps()}, losses {' '.join(f'{each:.5f}' for each in progress.losses)}")
    dist.barrier()  # no rank exits while another still communicates with it
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
