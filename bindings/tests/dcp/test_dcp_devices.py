"""Saves of tensors on a device with streams: the saved values are the computed ones, and pinned memory is bounded."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import dcp_io
import penstock
import pytest
import torch
import torch.distributed.checkpoint as dcp
from fake_device import DEVICES, Cuda, Device
from penstock.dcp import _shard, _staging
from penstock.testing import Emulator
from torch.distributed.checkpoint.api import CheckpointException
from torch.distributed.checkpoint.default_planner import DefaultSavePlanner

CHUNK = 64 * 1024
MIB = 1024**2


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Device | Cuda:
    return Cuda() if request.param == "cuda" else Device(monkeypatch)


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> Device:
    return Device(monkeypatch)


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_staging, "CHUNK_BYTES", CHUNK)
    monkeypatch.setattr(_staging, "MAX_PINNED_BYTES", 4 * CHUNK)


class ComputingPlanner(DefaultSavePlanner):
    """A planner that saves the result of `function` for each tensor, computed on the device."""

    def __init__(self, device: Device | Cuda, function: Callable[[torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self._device = device
        self._function = function

    def transform_object(self, write_item: Any, object: Any) -> Any:
        if isinstance(object, torch.Tensor):
            object = self._device.launch(self._function, object)
        return super().transform_object(write_item, object)


def some_tensors(count: int, elements: int) -> dict[str, torch.Tensor]:
    return {f"tensor {number}": torch.arange(elements, dtype=torch.float32) + number for number in range(count)}


def on(device: Device | Cuda, state: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {name: device.put(values) for name, values in state.items()}


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("elements", [10, 1000, 100_000])
@pytest.mark.parametrize("thread_count", [1, 3])
@pytest.mark.parametrize("stream", ["default stream", "own stream"])
def test_values_that_a_planner_computes_on_the_device_are_saved(
    emulator: Emulator,
    client: penstock.S3Client,
    bucket: str,
    device: Device | Cuda,
    elements: int,
    thread_count: int,
    stream: str,
) -> None:
    """Regression: the copy stream waited only before the first tensor, and worker threads ignored the caller's stream."""
    state = some_tensors(12, elements)
    with device.stream(device.current_stream() if stream == "default stream" else device.new_stream()):
        planner = ComputingPlanner(device, lambda values: values * 2)
        dcp_io.save(emulator, f"s3://{bucket}/ck", on(device, state), {"planner": planner}, thread_count=thread_count)
    doubled = {name: values * 2 for name, values in state.items()}
    assert dcp_io.same(dcp_io.loaded(client, bucket, "ck", doubled), doubled)


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("thread_count", [1, 3])
def test_values_computed_on_a_stream_of_the_caller_are_saved(
    emulator: Emulator, client: penstock.S3Client, bucket: str, device: Device | Cuda, thread_count: int
) -> None:
    state = some_tensors(12, 50_000)
    with device.stream(device.new_stream()):
        computed = {name: device.launch(lambda values: values + 1, each) for name, each in on(device, state).items()}
        dcp_io.save(emulator, f"s3://{bucket}/ck", computed, thread_count=thread_count)
    more = {name: values + 1 for name, values in state.items()}
    assert dcp_io.same(dcp_io.loaded(client, bucket, "ck", more), more)


@pytest.mark.usefixtures("small_chunks")
def test_planner_may_reuse_its_device_memory(
    emulator: Emulator, client: penstock.S3Client, bucket: str, simulated: Device
) -> None:
    state = some_tensors(6, 50_000)
    buffer = simulated.put(torch.zeros(50_000))

    class OneBufferPlanner(DefaultSavePlanner):
        def transform_object(self, write_item: Any, object: Any) -> Any:
            target, values = simulated.values(buffer), simulated.values(object)
            simulated.current_stream().launch(lambda: target.copy_(values))
            simulated.current_stream().synchronize()  # like a fast device
            return buffer

    dcp_io.save(emulator, f"s3://{bucket}/ck", on(simulated, state), {"planner": OneBufferPlanner()})
    assert dcp_io.same(dcp_io.loaded(client, bucket, "ck", state), state)


LAYOUTS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "transposed": lambda whole: whole.t(),
    "columns": lambda whole: whole[:, 10:90],
    "every other": lambda whole: whole[::2, ::3],
    "rows": lambda whole: whole[100:300],
    "one row expanded": lambda whole: whole[:1].expand(700, 500),
    "permuted": lambda whole: whole.view(7, 100, 500).permute(1, 2, 0),
    "scalar": lambda whole: whole[3, 4],
    "empty": lambda whole: whole[:0],
    "half": lambda whole: whole[:3, :5],
}


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int8, torch.bool, torch.complex64])
def test_every_layout_on_a_device_is_saved(
    emulator: Emulator, client: penstock.S3Client, bucket: str, simulated: Device, dtype: torch.dtype
) -> None:
    whole = torch.randn(700, 500).to(dtype)
    there = simulated.put(whole)
    expected = {name: layout(whole).clone() for name, layout in LAYOUTS.items()} | {"on the CPU": torch.arange(30_000.0)}
    state = {name: layout(there) for name, layout in LAYOUTS.items()} | {"on the CPU": torch.arange(30_000.0)}
    dcp_io.save(emulator, f"s3://{bucket}/ck", state)
    assert dcp_io.same(dcp_io.loaded(client, bucket, "ck", expected), expected)
    assert simulated.synchronous <= 1  # the empty tensor


@pytest.mark.parametrize("thread_count", [1, 3, 40])
def test_pinned_memory_is_bounded(
    emulator: Emulator, client: penstock.S3Client, bucket: str, simulated: Device, small_chunks: None,
    monkeypatch: pytest.MonkeyPatch, thread_count: int
) -> None:  # fmt: skip
    """Regression: each tensor was pinned completely, in one block of its rounded size."""
    lock = threading.Lock()
    pinned: list[int] = []
    empty = torch.empty

    def recording_empty(*args: Any, **kwargs: Any) -> torch.Tensor:
        if kwargs.pop("pin_memory", False):
            with lock:
                pinned.append(args[0])
        return empty(*args, **kwargs)

    monkeypatch.setattr(torch, "empty", recording_empty)
    state = some_tensors(60, 100_000)
    dcp_io.save(emulator, f"s3://{bucket}/ck", on(simulated, state), thread_count=thread_count)
    monkeypatch.undo()
    assert dcp_io.same(dcp_io.loaded(client, bucket, "ck", state), state)
    assert set(pinned) == {CHUNK}
    assert sum(pinned) <= max(4 * CHUNK, 2 * CHUNK * thread_count)


def test_defaults_pin_no_more_than_documented() -> None:
    for threads in range(1, 64):
        size = _staging.CHUNK_BYTES * _staging.chunks_per_thread(threads) * threads
        assert size <= max(96 * MIB, 16 * MIB * threads), threads


@pytest.mark.usefixtures("small_chunks")
def test_no_copy_runs_after_a_failure(
    emulator: Emulator, bucket: str, simulated: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_flight = []

    def fail(*unused: Any) -> None:
        in_flight.append(simulated.in_flight)
        raise RuntimeError("failed on purpose")

    monkeypatch.setattr(_shard, "_put_data", fail)
    with pytest.raises(CheckpointException, match="failed on purpose"):
        dcp_io.save(emulator, f"s3://{bucket}/ck", on(simulated, some_tensors(12, 100)))
    assert in_flight[0] > 0
    assert simulated.in_flight == 0


@pytest.mark.filterwarnings("ignore:Sparse:UserWarning", "ignore:.*quantize:UserWarning", "ignore:.*sparse:UserWarning")
@pytest.mark.parametrize("layout", ["coo", "csr", "csc", "bsr", "bsc"])
def test_sparse_tensor_on_a_device_is_saved(
    emulator: Emulator, client: penstock.S3Client, bucket: str, device: Device | Cuda, layout: str
) -> None:
    """Regression: the save failed in `record_stream`; `nbytes` of a sparse tensor raises an error."""
    values = torch.tensor([[0.0, 2.0, 0, 0], [3.0, 0.0, 0, 0]])
    layouts: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
        "coo": lambda each: each.to_sparse().coalesce(),
        "csr": lambda each: each.to_sparse_csr(),
        "csc": lambda each: each.to_sparse_csc(),
        "bsr": lambda each: each.to_sparse_bsr((1, 2)),
        "bsc": lambda each: each.to_sparse_bsc((1, 2)),
    }
    sparse = layouts[layout](values)
    state = {"before": device.put(values), "sparse": device.put_whole(sparse), "cpu": sparse, "after": device.put(values)}
    dcp_io.save(emulator, f"s3://{bucket}/ck", state)
    dense = {"before": values, "after": values}
    assert dcp_io.same(dcp_io.loaded(client, bucket, "ck", dense), dense)
    loaded = {name: layouts[layout](torch.where(values == 0, 0.0, -1.0)) for name in ("sparse", "cpu")}
    dcp_io.load(emulator, f"s3://{bucket}/ck", loaded)
    for name, found in loaded.items():
        assert found.layout is sparse.layout, name
        assert torch.equal(found.to_dense(), values), name


QUANTISED: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "per tensor": lambda values: torch.quantize_per_tensor(values, 0.25, 3, torch.quint8),
    "per channel": lambda values: torch.quantize_per_channel(
        values, torch.tensor([0.25, 0.5]), torch.tensor([1, 2]), 0, torch.qint8
    ),
}


@pytest.mark.filterwarnings("ignore:.*quantize:UserWarning", "ignore:.*sparse:UserWarning")
@pytest.mark.parametrize("kind", QUANTISED)
def test_quantised_tensor_on_a_device_is_saved(emulator: Emulator, bucket: str, device: Device | Cuda, kind: str) -> None:
    """Regression: the save failed in `record_stream`."""
    values = torch.arange(8.0).view(2, 4)
    quantised = QUANTISED[kind](values)
    state = {"before": device.put(values), "quantised": device.put_whole(quantised), "after": device.put(values)}
    dcp_io.save(emulator, f"s3://{bucket}/ck", state)
    loaded = {"before": torch.zeros(2, 4), "quantised": QUANTISED[kind](torch.zeros(2, 4)), "after": torch.zeros(2, 4)}
    dcp_io.load(emulator, f"s3://{bucket}/ck", loaded)
    assert torch.equal(loaded["before"], values)
    assert torch.equal(loaded["after"], values)
    assert torch.equal(loaded["quantised"].int_repr(), quantised.int_repr())
    assert torch.equal(loaded["quantised"].dequantize(), values)


@pytest.mark.parametrize("thread_count", [1, 3])
def test_asynchronous_save_contains_values_that_its_planner_computes(
    emulator: Emulator, client: penstock.S3Client, bucket: str, device: Device | Cuda, thread_count: int
) -> None:
    class MovingPlanner(ComputingPlanner):
        def lookup_object(self, index: Any) -> Any:
            return device.put(super().lookup_object(index))

    state = some_tensors(12, 50_000)
    writer = dcp_io.writer_of(emulator, f"s3://{bucket}/ck", thread_count=thread_count)
    dcp.async_save(dict(state), storage_writer=writer, planner=MovingPlanner(device, lambda values: values * 2)).result(60)
    doubled = {name: values * 2 for name, values in state.items()}
    assert dcp_io.same(dcp_io.loaded(client, bucket, "ck", doubled), doubled)
