"""A training job with Penstock, as traffic for the console: `python training_job.py SECONDS SCRATCH`, settings in `AWS_*`.

Four ranks read a dataset, and save and load distributed checkpoints. Two ranks then load the last one with other shards.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import penstock
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from penstock.dcp import S3StorageReader, S3StorageWriter
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Shard, distribute_tensor

REGION = "us-east-1"
DATASET, CHECKPOINTS = "datasets", "checkpoints"
IMAGES, IMAGE_BYTES = 128, 48_000
RANKS = 4
TIMEOUT_S = 120


def store() -> None:
    """Stores the images and a configuration."""
    client = penstock.S3Client(REGION)
    for bucket in (DATASET, CHECKPOINTS):
        client.create_bucket(bucket)
    for number in range(IMAGES):
        client.put(DATASET, f"train/class-{number % 8}/{number:05}.jpg", os.urandom(IMAGE_BYTES))
    client.put(DATASET, "train.yaml", b"model: mlp\nlayers: 12\nwidth: 512\nbatch_size: 32\nlearning_rate: 0.001\n")


def model(ranks: int, dimension: int) -> dict[str, torch.Tensor]:
    """The tensors of twelve layers, each divided among the ranks at one dimension."""
    mesh = init_device_mesh("cpu", (ranks,))
    return {f"layers.{n}.weight": distribute_tensor(torch.ones(512, 256), mesh, [Shard(dimension)]) for n in range(12)}


def train(rank: int, seconds: float) -> None:
    """Epochs until the time is over, with a checkpoint after each. Rank 0 prints the seconds."""
    images = penstock.S3MapDataset.from_prefix(f"s3://{DATASET}/train/", region=REGION)
    state = model(RANKS, 0)
    weight = torch.eye(256)
    start, step = time.monotonic(), 0
    while True:
        for index in range(rank, len(images), RANKS):
            assert len(images[index].read()) == IMAGE_BYTES
            for _ in range(8):  # takes about as long as the read
                weight = weight @ weight
        step += 100
        dcp.save(state, storage_writer=S3StorageWriter(REGION, f"s3://{CHECKPOINTS}/run-1/step-{step:04}"))
        passed = torch.tensor([time.monotonic() - start])
        dist.broadcast(passed, 0)
        if rank == 0:
            print(passed.item(), flush=True)
        if passed.item() >= seconds:
            return


def load(rank: int, seconds: float) -> None:
    """Loads the first checkpoint with shards of columns instead of rows."""
    state = model(RANKS // 2, 1)
    dcp.load(state, storage_reader=S3StorageReader(REGION, f"s3://{CHECKPOINTS}/run-1/step-0100"))
    assert state["layers.3.weight"].to_local().sum() == 512 * 256 / (RANKS // 2)


def run_rank(work: Callable[[int, float], None], rank: int, ranks: int, meeting: Path, seconds: float) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=ranks)
    work(rank, seconds)
    dist.barrier()
    dist.destroy_process_group()
    sys.stdout.flush()
    os._exit(0)  # Gloo's threads can abort an interpreter that ends normally


def run(work: Callable[[int, float], None], ranks: int, meeting: Path, seconds: float) -> None:
    context = multiprocessing.get_context("fork")  # the ranks need not import torch again
    started = [context.Process(target=run_rank, args=(work, rank, ranks, meeting, seconds)) for rank in range(ranks)]
    for process in started:
        process.start()
    for process in started:
        process.join(seconds + TIMEOUT_S)
    codes = [process.exitcode for process in started]
    for process in started:
        process.kill()
    if any(codes):
        raise SystemExit(f"training_job: the ranks ended with {codes}")


if __name__ == "__main__":
    seconds, scratch = float(sys.argv[1]), Path(sys.argv[2])
    store()
    run(train, RANKS, scratch / "train", seconds)
    run(load, RANKS // 2, scratch / "load", 0)
