"""Distributed saves in one process: runs the save of each rank as torch does, with its planner and the client's writer."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from torch.distributed.checkpoint.default_planner import DefaultSavePlanner


def save_by_ranks(states: Sequence[Mapping[str, Any]], make_writer: Callable[[], Any], *, concurrency: int = 1) -> None:
    """Saves a distributed checkpoint.

    Args:
        states: State dict of each rank; keys are disjoint.
        make_writer: Creates the storage writer of a rank.
        concurrency: Number of ranks that write at the same time.
    """
    planners = [DefaultSavePlanner() for _ in states]
    writers = [make_writer() for _ in states]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plans = []
        for rank, (planner, writer, state) in enumerate(zip(planners, writers, states, strict=True)):
            planner.set_up_planner(dict(state), None, rank == 0)
            _set_up(writer, rank)
            plans.append(writer.prepare_local_plan(planner.create_local_plan()))
        plans, metadata = planners[0].create_global_plan(plans)
        plans = writers[0].prepare_global_plan(plans)

        def write(rank: int) -> Any:
            return writers[rank].write_data(planners[rank].finish_plan(plans[rank]), planners[rank]).wait()

        with ThreadPoolExecutor(concurrency) as pool:
            results = list(pool.map(write, range(len(states))))
        writers[0].finish(metadata, results)


def _set_up(writer: Any, rank: int) -> None:
    """Passes keyword arguments only to writers that accept them, like torch."""
    if "kwargs" in inspect.signature(writer.set_up_storage_writer).parameters:
        writer.set_up_storage_writer(rank == 0, rank=rank, use_collectives=True)
    else:
        writer.set_up_storage_writer(rank == 0)
