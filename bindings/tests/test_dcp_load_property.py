"""Random state dicts, saved by N ranks with torch's own writer and loaded by M with ours, are equal bit for bit.

The gate takes a few seeds; PENSTOCK_LONG=1 takes many. A failure's id is its seed.
"""

from __future__ import annotations

import itertools
import os
import random
from typing import Any

import penstock
import pytest
import torch
from checkpoints import Checkpoints, Sharded, same_bits
from penstock.dcp import _load
from penstock.testing import Emulator
from torch.distributed.checkpoint import DefaultLoadPlanner

SEEDS = range(400 if os.environ.get("PENSTOCK_LONG") else 12)
DTYPES = (
    *(torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2),
    *(torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64, torch.uint16, torch.bool),
    *(torch.complex64, torch.complex128),
)


@pytest.fixture
def checkpoints(emulator: Emulator, client: penstock.S3Client, bucket: str) -> Checkpoints:
    return Checkpoints(emulator, client, bucket)


def random_tensor(generator: random.Random, most: int) -> torch.Tensor:
    """Of any type and up to four dimensions, among them views, transposed ones, scalars and those without elements."""
    dtype = generator.choice(DTYPES)
    sizes = [generator.choice((0, 1, 2, 3, 7, 16, 33)) for _ in range(generator.randrange(5))]
    if generator.random() < 0.2:
        sizes = [generator.randrange(most)]
    elements = 1
    for size in sizes:
        elements *= size
    values = torch.frombuffer(bytearray(generator.randbytes(elements * dtype.itemsize + 1)), dtype=torch.uint8)[:-1]
    if dtype == torch.bool:
        values = values & 1
    tensor = values.clone().view(dtype).reshape(sizes)
    shape = generator.random()
    if shape < 0.2 and tensor.dim() > 1:
        tensor = tensor.transpose(0, tensor.dim() - 1)
    elif shape < 0.3 and tensor.dim() and tensor.size(0) > 2:
        tensor = tensor[1:-1]
    elif shape < 0.4 and tensor.dim() == 4:
        tensor = tensor.to(memory_format=torch.channels_last)
    return tensor


def random_cuts(generator: random.Random, tensor: torch.Tensor, ranks: int) -> list[list[tuple[list[int], torch.Tensor]]]:
    """Boxes that make up the tensor, spread over the ranks: cut along one dimension or two."""
    boxes: list[tuple[list[int], torch.Tensor]] = [([0] * tensor.dim(), tensor)]
    for _ in range(generator.choice((1, 1, 2))):
        dim = generator.randrange(tensor.dim())
        size = tensor.size(dim)
        cuts = sorted({0, size, *(generator.randrange(1, size) for _ in range(generator.randrange(ranks + 1)) if size > 1)})
        boxes = [
            ([offset + start * (d == dim) for d, offset in enumerate(offsets)], part.narrow(dim, start, end - start))
            for offsets, part in boxes
            for start, end in itertools.pairwise(cuts)
            if part.size(dim) == size
        ] or boxes
    spread: list[list[tuple[list[int], torch.Tensor]]] = [[] for _ in range(ranks)]
    for box in boxes:
        generator.choice(spread).append(box)
    return spread


def empty_like(generator: random.Random, tensor: torch.Tensor) -> torch.Tensor:
    """Of its size and type; sometimes with other strides."""
    kind = generator.random()
    if kind < 0.2 and tensor.dim() > 1:
        return torch.zeros(tensor.transpose(0, -1).size(), dtype=tensor.dtype).transpose(0, -1)
    if kind < 0.3 and tensor.dim():
        room = torch.zeros((*tensor.size()[:-1], tensor.size(-1) + 5), dtype=tensor.dtype)
        return room[..., 2 : 2 + tensor.size(-1)]
    return torch.zeros(tensor.size(), dtype=tensor.dtype)


def states_of(values: dict[str, Any], shards: dict[str, list[Any]], ranks: int) -> list[dict[str, Any]]:
    """Each rank's state dict: plain values with the first, its boxes of the others where it has any."""
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
def test_what_n_ranks_saved_m_ranks_load(checkpoints: Checkpoints, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
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
                    expected = value
                    for dim, offset in enumerate(offsets):
                        expected = expected.narrow(dim, offset, part.size(dim))
                    assert same_bits(part, expected), (name, offsets)
        elif isinstance(value, torch.Tensor):
            assert same_bits(wanted[name], value), name
