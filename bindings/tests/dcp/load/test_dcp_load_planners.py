"""S3StorageReader calls the planner's hooks like torch's own reader, in any order of arrival."""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import Any

import penstock
import pytest
import torch
import torch.distributed.checkpoint as dcp
from checkpoints import Checkpoints, Sharded, emptied, same_bits
from penstock.dcp import _layout, _load
from penstock.testing import Emulator
from torch.distributed.checkpoint import DefaultLoadPlanner
from torch.distributed.checkpoint.planner import LoadPlan, ReadItem


@pytest.fixture
def checkpoints(emulator: Emulator, client: penstock.S3Client, bucket: str) -> Checkpoints:
    return Checkpoints(emulator, client, bucket)


class CountingPlanner(DefaultLoadPlanner):
    def __init__(self) -> None:
        super().__init__()
        self.calls: Counter[tuple[str, str]] = Counter()

    def resolve_tensor(self, read_item: ReadItem) -> torch.Tensor:
        self.calls["resolve", read_item.dest_index.fqn] += 1
        return super().resolve_tensor(read_item)

    def commit_tensor(self, read_item: ReadItem, tensor: torch.Tensor) -> None:
        self.calls["commit", read_item.dest_index.fqn] += 1
        assert self.calls["resolve", read_item.dest_index.fqn] > 0
        super().commit_tensor(read_item, tensor)

    def load_bytes(self, read_item: ReadItem, value: Any) -> None:
        self.calls["bytes", read_item.dest_index.fqn] += 1
        super().load_bytes(read_item, value)


def test_every_hook_is_called_once_for_each_item(checkpoints: Checkpoints) -> None:
    saved = {"a": torch.randn(10), "b": torch.randn(3, 4), "step": 4, "large": torch.randn(8_000_000)}
    uri = checkpoints.save(saved)
    planner = CountingPlanner()
    state = emptied(saved) | {"b": torch.zeros(3, 4, dtype=torch.float64)}
    checkpoints.load(state, uri, planner)
    expected = {("bytes", "step"): 1}
    for name in ("a", "b", "large"):
        expected |= {("resolve", name): 1, ("commit", name): 1}
    assert planner.calls == expected
    assert state["step"] == 4


class OneBufferPlanner(DefaultLoadPlanner):
    """A planner that returns the same buffer as every target, and copies from it on commit."""

    def __init__(self) -> None:
        super().__init__()
        self.buffer = torch.zeros(1000)

    def resolve_tensor(self, read_item: ReadItem) -> torch.Tensor:
        return self.buffer[: read_item.lengths.numel()].view(read_item.lengths)

    def commit_tensor(self, read_item: ReadItem, tensor: torch.Tensor) -> None:
        self.lookup_tensor(read_item.dest_index).copy_(tensor)


def test_planner_may_return_the_same_memory_for_every_item(checkpoints: Checkpoints) -> None:
    saved = {f"tensor {i}": torch.randn(10 + i, 20) for i in range(20)}
    uri = checkpoints.save(saved)
    state = emptied(saved)
    checkpoints.load(state, uri, OneBufferPlanner())
    for name, value in saved.items():
        assert same_bits(state[name], value), name


def test_same_memory_may_receive_several_parts_of_one_item(checkpoints: Checkpoints, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = torch.randn(60, 10)
    uri = checkpoints.save({"w": whole})
    for pieces in (False, True):
        if pieces:
            monkeypatch.setattr(_load, "UNIT_BYTES", 100)
        parts = [torch.zeros(20, 10) for _ in range(4)]
        starts = (0, 20, 40, 10)
        boxes = [((start, 0), part) for start, part in zip(starts, parts, strict=True)]
        checkpoints.load({"w": Sharded.of(whole.size(), whole.dtype, boxes)}, uri, OneBufferPlanner())
        for start, part in zip(starts, parts, strict=True):
            assert same_bits(part, whole[start : start + 20])


def test_target_is_loaded_again_after_a_wrong_prediction(checkpoints: Checkpoints, monkeypatch: pytest.MonkeyPatch) -> None:
    right = _layout._tail_of_this_torch
    monkeypatch.setattr(_layout, "_tail_of_this_torch", lambda payload: right(payload) + 64)
    saved = {f"tensor {i}": torch.randn(60, 10 + i) for i in range(3)}
    uri = checkpoints.save(saved)
    state: dict[str, torch.Tensor] = {}
    expected: list[tuple[torch.Tensor, torch.Tensor]] = []
    for name, whole in saved.items():
        parts = [torch.zeros(20, whole.size(1)) for _ in range(3)]
        expected += [(part, whole[start : start + 20]) for start, part in zip((0, 30, 10), parts, strict=True)]
        boxes = [((start, 0), part) for start, part in zip((0, 30, 10), parts, strict=True)]
        state[name] = Sharded.of(whole.size(), whole.dtype, boxes)
    checkpoints.load(state, uri, OneBufferPlanner())
    assert all(same_bits(part, value) for part, value in expected)


def test_autograd_detects_the_change_of_a_tensor(checkpoints: Checkpoints) -> None:
    uri = checkpoints.save({"w": torch.ones(3)})
    weight = torch.zeros(3, requires_grad=True)
    loss = (weight * weight).sum()
    checkpoints.load({"w": weight}, uri)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_plan_beyond_the_bounds_of_a_tensor_raises(checkpoints: Checkpoints) -> None:
    class OutOfBoundsPlanner(DefaultLoadPlanner):
        def finish_plan(self, new_plan: LoadPlan) -> LoadPlan:
            items = [
                dataclasses.replace(item, storage_offsets=torch.Size([5]), lengths=torch.Size([8])) for item in new_plan.items
            ]
            return dataclasses.replace(new_plan, items=items)

        def resolve_tensor(self, read_item: ReadItem) -> torch.Tensor:
            return torch.zeros(read_item.lengths)

    uri = checkpoints.save({"w": torch.ones(10), "v": torch.ones(10)})
    with pytest.raises(dcp.CheckpointException, match="exceeds dimension size"):
        checkpoints.load({"w": torch.zeros(10), "v": torch.zeros(10)}, uri, OutOfBoundsPlanner())


def test_two_names_of_one_tensor_load_one_of_both_values(checkpoints: Checkpoints) -> None:
    saved = {"a": torch.full((1000,), 1.0), "b": torch.full((1000,), 2.0)}
    uri = checkpoints.save(saved)
    shared = torch.zeros(1000)
    checkpoints.load({"a": shared, "b": shared}, uri)
    assert shared[0] in (1.0, 2.0)
    assert (shared == shared[0]).all()  # one of both values, never a mixture


class LatePlanner(DefaultLoadPlanner):
    """A planner that changes its plan after the reader has prepared it."""

    def finish_plan(self, new_plan: LoadPlan) -> LoadPlan:
        items = [item for item in new_plan.items if item.dest_index.fqn != "b"]
        again = [dataclasses.replace(item) for item in items if item.dest_index.fqn == "a"]
        return dataclasses.replace(new_plan, items=[*reversed(items), *again])


def test_finish_plan_may_change_the_plan(checkpoints: Checkpoints) -> None:
    saved = {name: torch.randn(2000) for name in "abcd"}
    uri = checkpoints.save(saved)
    state = emptied(saved)
    untouched = state["b"].clone()
    checkpoints.load(state, uri, LatePlanner())
    assert all(same_bits(state[name], saved[name]) for name in "acd")
    assert same_bits(state["b"], untouched)


class AllocatingPlanner(DefaultLoadPlanner):
    """A planner that allocates memory for each item, and copies from it in `commit_tensor`."""

    def __init__(self) -> None:
        super().__init__()
        self.held = self.peak_held = 0

    def resolve_tensor(self, read_item: ReadItem) -> torch.Tensor:
        memory = torch.empty(read_item.lengths)
        self.held += memory.nbytes
        self.peak_held = max(self.peak_held, self.held)
        return memory

    def commit_tensor(self, read_item: ReadItem, tensor: torch.Tensor) -> None:
        self.held -= tensor.nbytes
        self.lookup_tensor(read_item.dest_index).copy_(tensor)


def test_memory_that_a_planner_allocates_is_bounded(checkpoints: Checkpoints, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_load, "UNKNOWN_WINDOW_BYTES", 2_000_000)
    monkeypatch.setattr(_load, "BATCH_BYTES", 500_000)
    saved = {f"tensor {i}": torch.randn(100_000) for i in range(40)}
    uri = checkpoints.save(saved)
    state = emptied(saved)
    planner = AllocatingPlanner()
    checkpoints.load(state, uri, planner)
    assert all(same_bits(state[name], saved[name]) for name in saved)
    assert planner.held == 0
    assert 1_000_000 < planner.peak_held <= 3_000_000


def test_exception_of_a_hook_ends_the_load(checkpoints: Checkpoints, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_load, "BATCH_ITEMS", 2)

    class RaisingPlanner(DefaultLoadPlanner):
        def commit_tensor(self, read_item: ReadItem, tensor: torch.Tensor) -> None:
            raise RuntimeError("out of memory")

    saved = {f"tensor {i}": torch.randn(1000) for i in range(20)}
    uri = checkpoints.save(saved)
    with pytest.raises(dcp.CheckpointException, match="out of memory"):
        checkpoints.load(emptied(saved), uri, RaisingPlanner())


def test_target_of_another_size_raises_the_error_of_torch(checkpoints: Checkpoints) -> None:
    class WrongSizePlanner(DefaultLoadPlanner):
        def resolve_tensor(self, read_item: ReadItem) -> torch.Tensor:
            return torch.zeros(7)

    uri = checkpoints.save({"a": torch.ones(3)})
    with pytest.raises(dcp.CheckpointException, match=r"mismatch sizes torch.Size\(\[7\]\) vs torch.Size\(\[3\]\)"):
        checkpoints.load({"a": torch.zeros(3)}, uri, WrongSizePlanner())


def test_sharded_and_plain_tensor(checkpoints: Checkpoints) -> None:
    whole = torch.randn(40, 40)
    uri = checkpoints.save({"w": whole, "v": whole * 2})
    one, two, plain = torch.zeros(20, 40), torch.zeros(20, 40), torch.zeros(40, 40)
    state = {"w": Sharded.of(whole.size(), whole.dtype, [((0, 0), one), ((20, 0), two)]), "v": plain}
    checkpoints.load(state, uri)
    assert same_bits(torch.cat((one, two)), whole)
    assert same_bits(plain, whole * 2)
