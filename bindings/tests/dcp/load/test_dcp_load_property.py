"""Random state dicts that N ranks save with torch's own writer and M ranks load with S3StorageReader are bitwise equal.

Runs a few seeds by default, and many with PENSTOCK_LONG=1. The ID of a failed test is its seed.
"""

from __future__ import annotations

import os
import random
from typing import Any

import penstock
import pytest
import torch
from checkpoints import Checkpoints, Sharded, same_bits
from penstock.dcp import _load
from penstock.testing import Emulator
from random_tensors import empty_like, part_of, random_cuts, random_tensor
from torch.distributed.checkpoint import DefaultLoadPlanner

SEEDS = range(400 if os.environ.get("PENSTOCK_LONG") else 12)


@pytest.fixture
def checkpoints(emulator: Emulator, client: penstock.S3Client, bucket: str) -> Checkpoints:
    return Checkpoints(emulator, client, bucket)


def states_of(values: dict[str, Any], shards: dict[str, list[Any]], ranks: int) -> list[dict[str, Any]]:
    """Returns the state dict of each rank: rank 0 has the plain values, each rank has its boxes of the sharded ones."""
    states: list[dict[str, Any]] = [{} for _ in range(ranks)]
    for name, value in values.items():
        for rank in range(ranks):
            if name not in shards:
                if rank == 0 or not isinstance(value, torch.Tensor):
                    states[rank][name] = value
            elif shards[name][rank]:
                states[rank][name] = Sharded.of(value.size(), value.dtype, shards[name][rank])
    return states


@pytest.mark.parametrize("seed", SEEDS)
def test_m_ranks_load_what_n_ranks_saved(checkpoints: Checkpoints, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    generator = random.Random(seed)
    if seed % 3 == 0:  # everything in pieces
        for name, size in (("UNIT_BYTES", 700), ("PART_BYTES", 900), ("BATCH_BYTES", 3000), ("WINDOW_BYTES", 9000)):
            monkeypatch.setattr(_load, name, size)
    values: dict[str, Any] = {f"tensor {i}": random_tensor(generator, 300_000) for i in range(generator.randrange(1, 30))}
    values |= {"step": generator.randrange(1000), "nested": {"text": ["a", {"b": seed}]}}
    ranks, new_ranks = generator.randrange(1, 5), generator.randrange(1, 5)
    cuttable = [
        name for name, each in values.items() if isinstance(each, torch.Tensor) and each.numel() > 1 and generator.random() < 0.6
    ]
    shards = {name: random_cuts(generator, values[name], ranks) for name in cuttable}
    uri = checkpoints.save(
        *states_of(values, shards, ranks),
        thread_count=generator.choice((1, 1, 3)),
        single_file_per_rank=generator.random() < 0.8,
    )
    new_shards: dict[str, list[Any]] = {}
    for name in cuttable:
        cuts = random_cuts(generator, values[name], new_ranks)
        new_shards[name] = [[(offsets, empty_like(generator, part)) for offsets, part in boxes] for boxes in cuts]
    wanted = {name: empty_like(generator, value) if isinstance(value, torch.Tensor) else None for name, value in values.items()}
    wanted["nested"] = {"text": [None, {"b": None}]}
    for state in states_of(wanted | {name: values[name] for name in cuttable}, new_shards, new_ranks):
        checkpoints.load(state, uri, DefaultLoadPlanner(allow_partial_load=True))
        assert state["step"] == values["step"]
        assert state["nested"] == values["nested"]
    for name, value in values.items():
        if name in cuttable:
            for boxes in new_shards[name]:
                for offsets, part in boxes:
                    assert same_bits(part, part_of(value, offsets, list(part.size()))), (name, offsets)
        elif isinstance(value, torch.Tensor):
            assert same_bits(wanted[name], value), name
