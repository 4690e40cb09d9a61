"""Tensors and planners that torch's own writer saves right, and that a writer which lends memory could get wrong."""

from __future__ import annotations

import dcp_io
import penstock
import pytest
import torch
import torch.distributed.checkpoint as dcp
from penstock.dcp import S3StorageReader
from penstock.testing import Emulator
from torch.distributed.checkpoint.default_planner import DefaultSavePlanner


def load(emulator: Emulator, uri: str, state: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    reader = S3StorageReader(emulator.region, uri, emulator.config(), endpoint=emulator.endpoint)
    dcp.load(state, storage_reader=reader)
    return state


OVERLAPPING = {
    "expanded": torch.arange(4.0)[1].expand(4),
    "rows of one": torch.arange(6.0)[3:].expand(2, 3),
    "windows": torch.arange(4.0).as_strided((2, 2), (1, 1)),
    "windows from the middle": torch.arange(4.0).as_strided((2, 2), (1, 1), 1),
    "transposed": torch.arange(6.0).view(2, 3).t(),
    "one by one": torch.arange(1.0).expand(1, 1),
}


@pytest.mark.parametrize("name", OVERLAPPING)
def test_tensors_whose_elements_share_memory(emulator: Emulator, client: penstock.S3Client, bucket: str, name: str) -> None:
    saved = {"tensor": OVERLAPPING[name]}
    dcp_io.save(emulator, f"s3://{bucket}/ck", saved)
    wanted = saved["tensor"].contiguous()
    assert torch.equal(load(emulator, f"s3://{bucket}/ck", {"tensor": torch.zeros(wanted.shape)})["tensor"], wanted)
    assert torch.equal(dcp_io.loaded(client, bucket, "ck", {"tensor": wanted})["tensor"], wanted)


def test_another_default_device_changes_nothing(emulator: Emulator, client: penstock.S3Client, bucket: str) -> None:
    saved = {"weight": torch.randn(321, 7), "view": torch.randn(10, 10)[:, 2:5]}
    target = {key: torch.zeros(value.shape) for key, value in saved.items()}
    with torch.device("meta"):
        dcp_io.save(emulator, f"s3://{bucket}/ck", saved)
        load(emulator, f"s3://{bucket}/ck", target)
    assert dcp_io.same(target, saved)
    dcp_io.save(emulator, f"s3://{bucket}/later", saved)  # what was made meanwhile is not kept
    assert dcp_io.same(dcp_io.loaded(client, bucket, "later", saved), saved)


class OneBuffer(DefaultSavePlanner):
    """Gives every tensor in the same memory, as a planner that converts may."""

    buffer = torch.zeros(500_000)

    def resolve_data(self, write_item):
        data = super().resolve_data(write_item)
        self.buffer[: data.numel()].copy_(data.view(-1))
        return self.buffer[: data.numel()].view(data.shape)


@pytest.mark.parametrize("elements", [1000, 20_000, 500_000])
@pytest.mark.parametrize("thread_count", [1, 2])
def test_a_planner_may_use_its_memory_again(emulator: Emulator, bucket: str, elements: int, thread_count: int) -> None:
    saved = {f"t{number}": torch.full((elements,), float(number)) for number in range(6)}
    if thread_count == 1:  # with several threads a planner of one buffer is wrong by itself
        dcp_io.save(emulator, f"s3://{bucket}/ck", saved, {"planner": OneBuffer()})
    else:
        dcp_io.save(emulator, f"s3://{bucket}/ck", saved, thread_count=thread_count)
    assert dcp_io.same(load(emulator, f"s3://{bucket}/ck", {key: torch.zeros(elements) for key in saved}), saved)
