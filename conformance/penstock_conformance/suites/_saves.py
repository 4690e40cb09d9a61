"""Distributed saves without processes: every rank's part as torch drives it, by its planner and the client's writer."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from torch.distributed.checkpoint.default_planner import DefaultSavePlanner


def save_by_ranks(states: Sequence[Mapping[str, Any]], make_writer: Callable[[], Any], *, at_once: int = 1) -> None:
    """What ranks with these state dicts save together.

    Args:
        states: Of each rank; no two have a key in common.
        make_writer: Gives each rank its storage writer.
        at_once: Ranks that write at the same time.
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

        with ThreadPoolExecutor(at_once) as pool:
            results = list(pool.map(write, range(len(states))))
        writers[0].finish(metadata, results)


def _set_up(writer: Any, rank: int) -> None:
    """As torch's saver: what a writer does not take, it is not told."""
    if "kwargs" in inspect.signature(writer.set_up_storage_writer).parameters:
        writer.set_up_storage_writer(rank == 0, rank=rank, use_collectives=True)
    else:
        writer.set_up_storage_writer(rank == 0)
