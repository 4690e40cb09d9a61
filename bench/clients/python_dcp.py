"""Saves or loads a distributed checkpoint with several gloo ranks and prints the cost as one JSON line.

python_dcp.py CLIENT VERB ENDPOINT URI RANKS SHAPE ROUNDS; CLIENT: penstock or s3torchconnector; VERB: save or load; SHAPE:
COUNTxBYTES: the number of tensors of all ranks, and the size of each. Tensors of 1 MiB and more are sharded by rows; each
smaller tensor belongs to one rank.

`seconds` is the time of the slowest rank, `cpu` the CPU time of all ranks, `peak_mib` the largest growth of a rank's memory
above its tensors.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from cost import memory_kib

SHARDED_BYTES = 1 << 20
COLUMNS = 1024


def make_state(count: int, size: int, rank: int, ranks: int, value: float | None) -> dict[str, Any]:
    """The state dict of this rank. All elements are `value`; None: the number of the tensor."""
    import torch
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import DTensor, Shard

    def filled(number: int, *shape: int) -> torch.Tensor:
        return torch.full(shape, float(number) if value is None else value)

    if size < SHARDED_BYTES:
        return {f"small.{i}": filled(i, size // 4) for i in range(rank, count, ranks)}
    mesh = init_device_mesh("cpu", (ranks,))
    rows = size // 4 // COLUMNS // ranks
    return {f"layer.{i}": DTensor.from_local(filled(i, rows, COLUMNS), mesh, [Shard(0)]) for i in range(count)}


def local(value: Any) -> Any:
    return value.to_local() if hasattr(value, "to_local") else value


def work(name: str, verb: str, endpoint: str, uri: str, ranks: int, shape: str, rounds: int) -> None:
    import torch
    import torch.distributed as dist
    import torch.distributed.checkpoint as dcp

    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    os.environ["AWS_ENDPOINT_URL"] = endpoint
    storage = importlib.import_module(f"{name}.dcp")
    count, size = (int(each) for each in shape.split("x"))
    state = make_state(count, size, rank, ranks, None if verb == "save" else -1.0)

    def run() -> None:
        if verb == "save":
            dcp.save(state, storage_writer=storage.S3StorageWriter("us-east-1", uri))
        else:
            dcp.load(state, storage_reader=storage.S3StorageReader("us-east-1", uri))

    run()  # opens connections, imports modules
    if verb == "load":
        for key, value in state.items():
            assert bool((local(value) == float(key.rpartition(".")[2])).all()), key
    dist.barrier()
    before = memory_kib("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    used, start = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    for _ in range(rounds):
        run()
    seconds = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime
    gathered: list[Any] = [None] * ranks
    dist.all_gather_object(gathered, (seconds, cpu, (memory_kib("VmHWM") - before) / 1024))
    if rank == 0:
        slowest, together, peak = max(g[0] for g in gathered), sum(g[1] for g in gathered), max(g[2] for g in gathered)
        print(json.dumps({"seconds": slowest, "cpu": together, "bytes": count * size * rounds, "peak_mib": peak}))
    dist.barrier()  # a rank that ends earlier would break the collectives of the others
    dist.destroy_process_group()


def main() -> None:
    name, verb, endpoint, uri, ranks, shape, rounds = sys.argv[1:]
    if "RANK" in os.environ:
        return work(name, verb, endpoint, uri, int(ranks), shape, int(rounds))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    world = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": ranks, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, *sys.argv]
    started = [subprocess.Popen(command, env=os.environ | world | {"RANK": str(rank)}) for rank in range(int(ranks))]
    failed = [process.args for process in started if process.wait() != 0]
    if failed:
        sys.exit(f"{len(failed)} of {ranks} ranks failed")
    return None


if __name__ == "__main__":
    main()
