"""Runs ranks of torch.distributed (gloo) as processes, and the work that tests of distributed saves do in them."""

from __future__ import annotations

import dataclasses
import multiprocessing
import os
import signal
import socket
import traceback
import warnings
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import penstock
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from penstock import S3Client
from penstock._user_agent import UserAgent
from penstock.dcp import S3FileSystem, S3StorageReader, S3StorageWriter
from torch.distributed.checkpoint.default_planner import DefaultSavePlanner
from torch.distributed.checkpoint.planner import WriteItem

TIMEOUT_S = 120
COLLECTIVE_TIMEOUT_S = 30  # timeout for the other ranks


class Access:
    """What a rank's process needs to connect to the emulator of the test process."""

    def __init__(self, emulator: Any) -> None:
        self.region, self.endpoint, self._config = emulator.region, emulator.endpoint, emulator.config()

    def config(self) -> penstock.S3ClientConfig:
        return self._config

    def writer(self, uri: str, **kwargs: Any) -> S3StorageWriter:
        return S3StorageWriter(self.region, uri, self._config, endpoint=self.endpoint, **kwargs)

    def reader(self, uri: str) -> S3StorageReader:
        return S3StorageReader(self.region, uri, self._config, endpoint=self.endpoint)

    def file_system_of(self, rank: int, **config: Any) -> S3FileSystem:
        """Returns a file system whose requests identify the rank, so that rules of the emulator can match it."""
        client = S3Client(
            self.region,
            endpoint=self.endpoint,
            user_agent=UserAgent([f"rank/{rank}"]),
            s3client_config=dataclasses.replace(self._config, **config),
        )
        return S3FileSystem(self.region, client)


_barriers: list[Any] = []  # holds the barrier of a rank's process


def meet() -> None:
    """Waits for all ranks without a collective of torch: a rank that dies afterwards blocks no collective."""
    _barriers[-1].wait(TIMEOUT_S)


def _enter(
    work: Callable[..., Any], rank: int, ranks: int, port: int, results: Any, barrier: Any, ended: Any, args: tuple[Any, ...]
) -> None:
    _barriers.append(barrier)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK=str(rank), WORLD_SIZE=str(ranks))
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    try:
        dist.init_process_group("gloo", rank=rank, world_size=ranks, timeout=timedelta(seconds=COLLECTIVE_TIMEOUT_S))
        results.put((rank, work(rank, *args)))
        ended.wait()
        dist.destroy_process_group()
    except BaseException:
        results.put((rank, "FAILED " + traceback.format_exc()))


def run(
    work: Callable[..., Any],
    ranks: int,
    *args: Any,
    killed: int = 0,
    meanwhile: Callable[[list[int]], None] | None = None,
    stay: bool = False,
) -> dict[int, Any]:
    """Runs `work(rank, *args)` in each rank. Returns the results by rank.

    Args:
        work: An importable function.
        ranks: Number of ranks.
        args: Arguments of `work`.
        killed: Number of ranks that die and return nothing.
        meanwhile: Called with the process IDs of the ranks while they work.
        stay: A finished rank keeps its connections until all have finished, so that no rank detects its exit.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["torch.distributed.checkpoint", "penstock.dcp", "dcp_ranks"])
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    results = context.Queue()
    barrier, ended = context.Barrier(ranks), context.Event()
    if not stay:
        ended.set()
    shared = (ranks, port, results, barrier, ended, args)
    processes = [context.Process(target=_enter, args=(work, rank, *shared)) for rank in range(ranks)]
    for process in processes:
        process.start()
    try:
        if meanwhile is not None:
            meanwhile([process.pid for process in processes])
        return dict(results.get(timeout=TIMEOUT_S) for _ in range(ranks - killed))
    finally:
        ended.set()
        for process in processes:
            process.join(5)
            if process.is_alive():
                process.kill()
                process.join()


def state_of(rank: int, ranks: int, seed: int) -> dict[str, Any]:
    """The state of a rank: a tensor of its own, a tensor that all ranks have, and rows of a shared tensor."""
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
    """The state that one process loads from the checkpoint of all ranks."""
    rows = [torch.full((6, 50), float(seed * 100 + rank)) for rank in range(ranks)]
    return {
        **{f"of.{rank}": torch.full((300,), seed + rank / 10) for rank in range(ranks)},
        "all": torch.full((70,), float(seed)),
        "rows": torch.cat(rows),
        "step": seed,
    }


class FailingPlanner(DefaultSavePlanner):
    """A planner that kills its process by SIGKILL, or raises, in the middle of an upload."""

    def __init__(self, error: Exception | None) -> None:
        super().__init__()
        self._error = error
        self._calls = 0

    def resolve_data(self, write_item: WriteItem) -> Any:
        self._calls += 1
        if self._calls == 2:
            if self._error is not None:
                raise self._error
            os.kill(os.getpid(), signal.SIGKILL)
        return super().resolve_data(write_item)


def attempt(save: Callable[[], Any]) -> str:
    """Returns the text of the error, or "" for success."""
    try:
        save()
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    return ""


def save(rank: int, access: Access, uri: str, seed: int, writer_kwargs: dict[str, Any], save_kwargs: dict[str, Any]) -> str:
    ranks = dist.get_world_size()
    writer = access.writer(uri, **writer_kwargs)
    return attempt(lambda: dcp.save(state_of(rank, ranks, seed), storage_writer=writer, **save_kwargs))


def save_while_one_fails(rank: int, access: Access, uri: str, seed: int, failing_rank: int) -> str:
    planner = FailingPlanner(OSError("the planner of one rank")) if rank == failing_rank else DefaultSavePlanner()
    return save(rank, access, uri, seed, {}, {"planner": planner})


def save_while_one_is_killed(rank: int, access: Access, uri: str, seed: int, failing_rank: int) -> str:
    planner = FailingPlanner(None) if rank == failing_rank else DefaultSavePlanner()
    return save(rank, access, uri, seed, {}, {"planner": planner})


def save_alone(rank: int, access: Access, uri: str, seed: int, times: int) -> str:
    """Saves several times without collectives: each rank has its own checkpoint."""
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


def save_in_pieces(rank: int, access: Access, uri: str, kind: str) -> str:
    """Saves a tensor of 1 MiB of each rank, asynchronously unless `kind` is empty."""
    from torch.distributed.checkpoint.state_dict_saver import AsyncCheckpointerType

    state, writer = {f"of.{rank}": torch.full((512, 512), float(rank))}, access.writer(uri)
    if not kind:
        return attempt(lambda: dcp.save(state, storage_writer=writer))
    future = dcp.async_save(state, storage_writer=writer, async_checkpointer_type=AsyncCheckpointerType[kind])
    return attempt(future.result)


def load(rank: int, access: Access, uri: str, seed: int) -> str:
    """Returns the text of the error, or "" if all loaded values are of this seed."""
    ranks = dist.get_world_size()
    state = state_of(rank, ranks, seed + 1)
    reader = access.reader(uri)
    reader.fs = access.file_system_of(rank)

    def work() -> None:
        dcp.load(state, storage_reader=reader)
        wanted = state_of(rank, ranks, seed)
        wrong = [key for key in wanted if not _same(state[key], wanted[key])]
        assert not wrong, f"{wrong} are not of {seed}"

    return attempt(work)


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor):
        return torch.equal(*(each.to_local() if hasattr(each, "to_local") else each for each in (one, other)))
    return bool(one == other)


PART = 5 * 1024**2


def large_state_of(rank: int, seed: int) -> dict[str, torch.Tensor]:
    """A state with a tensor of each rank that is uploaded in parts."""
    return {f"large.{rank}": torch.full((PART // 2,), seed + rank / 10)}


def save_large(rank: int, access: Access, uri: str, seed: int, max_attempts: int) -> str:
    writer = access.writer(uri)
    writer.fs = access.file_system_of(rank, part_size=PART, max_attempts=max_attempts)
    return attempt(lambda: dcp.save(large_state_of(rank, seed), storage_writer=writer))
