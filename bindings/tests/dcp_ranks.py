"""Several ranks of torch.distributed (gloo) as processes of their own, and what the tests of distributed saves have them do."""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import penstock
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from penstock.dcp import S3StorageWriter
from torch.distributed.checkpoint.default_planner import DefaultSavePlanner
from torch.distributed.checkpoint.planner import WriteItem

TIMEOUT_S = 120


class Access:
    """What a process needs to reach the emulator of another."""

    def __init__(self, emulator: Any) -> None:
        self.region, self.endpoint, self._config = emulator.region, emulator.endpoint, emulator.config()

    def config(self) -> penstock.S3ClientConfig:
        return self._config

    def writer(self, uri: str, **kwargs: Any) -> S3StorageWriter:
        return S3StorageWriter(self.region, uri, self._config, endpoint=self.endpoint, **kwargs)


def _enter(work: Callable[..., Any], rank: int, ranks: int, port: int, results: Any, args: tuple[Any, ...]) -> None:
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK=str(rank), WORLD_SIZE=str(ranks))
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    try:
        dist.init_process_group("gloo", rank=rank, world_size=ranks)
        results.put((rank, work(rank, *args)))
        dist.destroy_process_group()
    except BaseException:
        results.put((rank, "FAILED " + traceback.format_exc()))


def run(work: Callable[..., Any], ranks: int, *args: Any, killed: int = 0) -> dict[int, Any]:
    """What `work(rank, *args)` returns in each of so many ranks; `killed`: of them do not live to return anything."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["torch.distributed.checkpoint", "penstock.dcp", "dcp_ranks"])
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    results = context.Queue()
    processes = [context.Process(target=_enter, args=(work, rank, ranks, port, results, args)) for rank in range(ranks)]
    for process in processes:
        process.start()
    try:
        return dict(results.get(timeout=TIMEOUT_S) for _ in range(ranks - killed))
    finally:
        for process in processes:
            process.join(5)
            if process.is_alive():
                process.kill()
                process.join()


def state_of(rank: int, ranks: int, seed: int) -> dict[str, Any]:
    """A rank's share: a tensor of each rank, one that all have, and one that is cut in rows."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import DTensor, Shard

    rows = torch.full((6, 50), float(seed * 100 + rank))
    return {
        f"of.{rank}": torch.full((300,), seed + rank / 10),
        "all": torch.full((70,), float(seed)),
        "rows": DTensor.from_local(rows, init_device_mesh("cpu", (ranks,)), [Shard(0)]),
        "step": seed,
    }


def whole_state(ranks: int, seed: int) -> dict[str, Any]:
    """The same as one process loads it."""
    rows = [torch.full((6, 50), float(seed * 100 + rank)) for rank in range(ranks)]
    return {
        **{f"of.{rank}": torch.full((300,), seed + rank / 10) for rank in range(ranks)},
        "all": torch.full((70,), float(seed)),
        "rows": torch.cat(rows),
        "step": seed,
    }


class Dying(DefaultSavePlanner):
    """Dies of SIGKILL, or of an error, in the midst of an upload."""

    def __init__(self, error: Exception | None) -> None:
        super().__init__()
        self._error = error
        self._asked = 0

    def resolve_data(self, write_item: WriteItem) -> Any:
        self._asked += 1
        if self._asked == 2:
            if self._error is not None:
                raise self._error
            os.kill(os.getpid(), signal.SIGKILL)
        return super().resolve_data(write_item)


def attempt(save: Callable[[], Any]) -> str:
    """The error's text, or none."""
    try:
        save()
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    return ""


def save(rank: int, access: Access, uri: str, seed: int, writer_kwargs: dict[str, Any], save_kwargs: dict[str, Any]) -> str:
    ranks = dist.get_world_size()
    writer = access.writer(uri, **writer_kwargs)
    return attempt(lambda: dcp.save(state_of(rank, ranks, seed), storage_writer=writer, **save_kwargs))


def save_while_one_fails(rank: int, access: Access, uri: str, seed: int, victim: int) -> str:
    planner = Dying(OSError("the planner of one rank")) if rank == victim else DefaultSavePlanner()
    return save(rank, access, uri, seed, {}, {"planner": planner})


def save_while_one_is_killed(rank: int, access: Access, uri: str, seed: int, victim: int) -> str:
    planner = Dying(None) if rank == victim else DefaultSavePlanner()
    return save(rank, access, uri, seed, {}, {"planner": planner})


def save_alone(rank: int, access: Access, uri: str, seed: int, times: int) -> str:
    """Without collectives: each rank a checkpoint of its own, several times."""
    texts = []
    for time in range(times):
        state = {"mine": torch.full((200,), float(rank + seed + time)), "step": rank}
        writer = access.writer(uri)
        texts.append(attempt(lambda state=state, writer=writer: dcp.save(state, storage_writer=writer, use_collectives=False)))
    return "".join(texts)


def save_async(rank: int, access: Access, uri: str, seed: int, kind: str) -> str:
    from torch.distributed.checkpoint.state_dict_saver import AsyncCheckpointerType

    state = {f"of.{rank}": torch.full((300,), seed + rank / 10), "all": torch.full((70,), float(seed))}
    writer = access.writer(uri)
    future = dcp.async_save(state, storage_writer=writer, async_checkpointer_type=AsyncCheckpointerType[kind])
    state["all"].zero_()  # training goes on
    return attempt(future.result)
