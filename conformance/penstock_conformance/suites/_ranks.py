"""Simulates ranks and workers in one process, by patching what torch reports about them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import torch.distributed
from torch.utils.data import _utils


@contextmanager
def as_rank(rank: int, world_size: int) -> Iterator[None]:
    """Makes torch.distributed report this rank and world size. Not thread-safe."""
    with (
        mock.patch.object(torch.distributed, "is_initialized", return_value=True),
        mock.patch.object(torch.distributed, "get_rank", side_effect=lambda *_, **__: rank),
        mock.patch.object(torch.distributed, "get_world_size", side_effect=lambda *_, **__: world_size),
    ):
        yield


@contextmanager
def as_worker(worker: int, workers: int, dataset: Any) -> Iterator[None]:
    """Makes torch.utils.data.get_worker_info() report this worker of a DataLoader; 0 workers: no worker."""
    if workers == 0:
        yield
        return
    info = _utils.worker.WorkerInfo(id=worker, num_workers=workers, seed=worker, dataset=dataset)
    with mock.patch.object(_utils.worker, "_worker_info", info):
        yield
