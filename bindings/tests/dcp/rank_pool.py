"""Processes that are ranks again and again: of one process group after another, of any size up to theirs."""

from __future__ import annotations

import itertools
import multiprocessing
import tempfile
import traceback
import warnings
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Any

import torch
import torch.distributed as dist

TIMEOUT_S = 170
COLLECTIVE_TIMEOUT_S = 60
MOST_GROUPS = 10  # of a process: torch keeps some of them for good, and each has threads of gloo
_numbers = itertools.count()


def _serve(pipe: Any) -> None:
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    while (order := pipe.recv()) is not None:
        work, rank, ranks, store, args = order
        try:
            dist.init_process_group(
                "gloo",
                init_method=f"file://{store}",
                rank=rank,
                world_size=ranks,
                timeout=timedelta(seconds=COLLECTIVE_TIMEOUT_S),
            )
            pipe.send((True, work(rank, *args)))
        except BaseException:
            pipe.send((False, traceback.format_exc()))
        finally:
            if dist.is_initialized():
                dist.destroy_process_group()


class RankPool:
    """A context manager.

    Args:
        size: Ranks of a group at most.
        preload: Modules that every process has from its start.
    """

    def __init__(self, size: int, preload: list[str]) -> None:
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(["torch.distributed.checkpoint", "penstock.dcp", *preload])
        self._size = size
        self._pipes: list[Any] = []
        self._processes: list[Any] = []

    def __enter__(self) -> RankPool:
        self._folder = tempfile.TemporaryDirectory()
        self._start()
        return self

    def _start(self) -> None:
        self._groups = 0
        for _ in range(self._size):
            ours, its = self._context.Pipe()
            process = self._context.Process(target=_serve, args=(its,))
            process.start()
            its.close()
            self._pipes.append(ours)
            self._processes.append(process)

    def _stop(self, *, at_once: bool) -> None:
        for pipe, process in zip(self._pipes, self._processes, strict=True):
            if not at_once and process.is_alive():
                pipe.send(None)
                process.join(5)
            process.kill()
            process.join()
            pipe.close()
        self._pipes, self._processes = [], []

    def run(self, ranks: int, work: Callable[..., Any], *args: Any) -> list[Any]:
        """What `work(rank, *args)` returns in each rank of a group of so many.

        Raises:
            AssertionError: It raised in one of them, or gave no result in time.
        """
        if self._groups >= MOST_GROUPS:
            self._stop(at_once=False)
            self._start()
        self._groups += 1
        store = Path(self._folder.name) / f"store-{next(_numbers)}"
        results = []
        try:
            for rank, pipe in enumerate(self._pipes[:ranks]):
                pipe.send((work, rank, ranks, store, args))
            for rank, pipe in enumerate(self._pipes[:ranks]):
                assert pipe.poll(TIMEOUT_S), f"rank {rank} of {ranks} gave no result within {TIMEOUT_S} s"
                results.append(pipe.recv())
        except BaseException:  # the next ones shall not meet what these still do
            self._stop(at_once=True)
            self._start()
            raise
        failed = [f"rank {rank} of {ranks}:\n{result}" for rank, (done, result) in enumerate(results) if not done]
        assert not failed, "\n".join(failed)
        return [result for _, result in results]

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stop(at_once=error is not None)
        self._folder.cleanup()
