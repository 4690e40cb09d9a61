"""Does one kind of work for as long as each line of standard input says, and prints what it did as one JSON line each.

python_scale.py WORK CLIENT ENDPOINT ARGUMENTS...; CLIENT: penstock or s3torchconnector. WORK and its arguments:

    read BUCKET KEY THREADS      each thread reads the object by readinto() into memory of its own
    write BUCKET KEY BYTES       writes the object again and again
    load BUCKET WORKERS          a DataLoader over the objects in data/ (python_data.py)
    dcp VERB URI SHAPE DEVICE THREADS
                                 VERB: save, load or stall (async_save); RANK and WORLD_SIZE from the environment

It prints `ready` after a first run of the work. A line of standard input has the seconds of one measurement; the end of the input
ends the program. `units` are objects (load), nanoseconds until async_save returns (stall), or bytes.
"""

from __future__ import annotations

import functools
import importlib
import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

Work = Callable[[float], int]  # works until this time.monotonic(); returns its units


def config_of(module: Any) -> Any:
    """The client's configuration: its defaults, or the target of PENSTOCK_BENCH_TARGET_GBPS."""
    target = os.environ.get("PENSTOCK_BENCH_TARGET_GBPS")
    return module.S3ClientConfig(force_path_style=True, **({"throughput_target_gbps": float(target)} if target else {}))


def client_of(name: str, endpoint: str) -> Any:
    module = importlib.import_module(name)
    kind = module.S3Client if name == "penstock" else importlib.import_module(f"{name}._s3client").S3Client
    return kind("us-east-1", endpoint=endpoint, s3client_config=config_of(module))


def until(end: float, once: Callable[[], int]) -> int:
    total = once()
    while time.monotonic() < end:
        total += once()
    return total


def read(name: str, endpoint: str, bucket: str, key: str, threads: str) -> Work:
    client = client_of(name, endpoint)
    ranges = importlib.import_module(name).S3ReaderConstructor.range_based()
    memories = [bytearray(client.head_object(bucket, key).size) for _ in range(int(threads))]
    pool = ThreadPoolExecutor(len(memories))

    def one(end: float, memory: bytearray) -> int:
        return until(end, lambda: int(client.get_object(bucket, key, reader_constructor=ranges).readinto(memory)))

    return lambda end: sum(pool.map(functools.partial(one, end), memories))


def write(name: str, endpoint: str, bucket: str, key: str, size: str) -> Work:
    client, data = client_of(name, endpoint), os.urandom(int(size))

    def once() -> int:
        with client.put_object(bucket, key) as writer:
            writer.write(data)
        return len(data)

    return lambda end: until(end, once)


def load(name: str, endpoint: str, bucket: str, workers: str) -> Work:
    from python_data import make_loader

    loader = make_loader(importlib.import_module(name), "iter", endpoint, bucket, int(workers))

    def work(end: float) -> int:
        count = 0
        while True:
            for batch in loader:
                count += len(batch)
                if time.monotonic() >= end:
                    return count

    return work


def dcp(name: str, endpoint: str, verb: str, uri: str, shape: str, device: str, threads: str) -> Work:
    import torch
    import torch.distributed as dist
    from python_dcp import make_state
    from torch.distributed import checkpoint

    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    os.environ["AWS_ENDPOINT_URL"] = endpoint
    storage = importlib.import_module(f"{name}.dcp")
    config = config_of(importlib.import_module(name))
    count, size = (int(each) for each in shape.split("x"))
    state = make_state(count, size, dist.get_rank(), dist.get_world_size(), -1.0 if verb == "load" else None)
    if device != "cpu":
        state = {key: value.to_local().to(device) for key, value in state.items()}  # one rank: it has whole tensors
    go_on = torch.zeros(1)

    def writer() -> Any:
        return storage.S3StorageWriter("us-east-1", uri, s3client_config=config, thread_count=int(threads))

    def once() -> int:
        if verb == "stall":
            start = time.perf_counter_ns()
            saved = checkpoint.async_save(state, storage_writer=writer())
            stall = time.perf_counter_ns() - start
            saved.result()
            return stall
        if verb == "save":
            checkpoint.save(state, storage_writer=writer())
        else:
            checkpoint.load(state, storage_reader=storage.S3StorageReader("us-east-1", uri, s3client_config=config))
        if device != "cpu":
            torch.cuda.synchronize()
        return count * size // dist.get_world_size()

    def work(end: float) -> int:
        total = 0
        while True:  # rank 0 decides for all: a step of a checkpoint needs every rank
            total += once()
            go_on[0] = time.monotonic() < end
            dist.broadcast(go_on, 0)
            if not go_on.item():
                return total

    return work


def main() -> None:
    warnings.filterwarnings("ignore", category=UserWarning, module="torch")  # a checkpoint replaces an older one
    kind, *arguments = sys.argv[1:]
    work: Work = {"read": read, "write": write, "load": load, "dcp": dcp}[kind](*arguments)
    work(0.0)  # opens connections, starts workers, imports modules
    print("ready", flush=True)
    for line in sys.stdin:
        start = time.monotonic()
        units = work(start + float(line))
        print(json.dumps({"units": units, "seconds": time.monotonic() - start}), flush=True)


if __name__ == "__main__":
    main()
