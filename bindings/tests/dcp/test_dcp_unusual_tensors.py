"""Tensors and planners that are difficult for a writer that sends memory without copying it."""

from __future__ import annotations

import io
import json
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import dcp_io
import penstock
import pytest
import torch
import torch.distributed.checkpoint as dcp
from bucket_io import get
from checkpoints import Sharded
from penstock.dcp import S3StorageReader
from penstock.testing import Emulator
from torch.distributed.checkpoint.api import CheckpointException
from torch.distributed.checkpoint.default_planner import DefaultSavePlanner
from torch.distributed.checkpoint.filesystem import SerializationFormat


@pytest.fixture
def own_emulator() -> Iterator[Emulator]:
    with Emulator() as started:
        started.client().create_bucket("bucket")
        yield started


def load(emulator: Emulator, uri: str, state: dict[str, torch.Tensor], **options: Any) -> dict[str, torch.Tensor]:
    reader = S3StorageReader(emulator.region, uri, emulator.config(), endpoint=emulator.endpoint, **options)
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


def test_default_device_does_not_matter(emulator: Emulator, client: penstock.S3Client, bucket: str) -> None:
    saved = {"weight": torch.randn(321, 7), "view": torch.randn(10, 10)[:, 2:5]}
    target = {key: torch.zeros(value.shape) for key, value in saved.items()}
    with torch.device("meta"):
        dcp_io.save(emulator, f"s3://{bucket}/ck", saved)
        load(emulator, f"s3://{bucket}/ck", target)
    assert dcp_io.same(target, saved)
    dcp_io.save(emulator, f"s3://{bucket}/later", saved)  # do not keep values created with the other default
    assert dcp_io.same(dcp_io.loaded(client, bucket, "later", saved), saved)


class OneBufferPlanner(DefaultSavePlanner):
    """A planner that returns every tensor in the same memory, as one that converts tensors may."""

    buffer = torch.zeros(500_000)

    def resolve_data(self, write_item):
        data = super().resolve_data(write_item)
        self.buffer[: data.numel()].copy_(data.view(-1))
        return self.buffer[: data.numel()].view(data.shape)


@pytest.mark.parametrize("elements", [1000, 20_000, 500_000])
@pytest.mark.parametrize("thread_count", [1, 2])
def test_planner_may_reuse_its_memory(emulator: Emulator, bucket: str, elements: int, thread_count: int) -> None:
    saved = {f"t{number}": torch.full((elements,), float(number)) for number in range(6)}
    if thread_count == 1:  # one buffer cannot work with several threads
        dcp_io.save(emulator, f"s3://{bucket}/ck", saved, {"planner": OneBufferPlanner()})
    else:
        dcp_io.save(emulator, f"s3://{bucket}/ck", saved, thread_count=thread_count)
    assert dcp_io.same(load(emulator, f"s3://{bucket}/ck", {key: torch.zeros(elements) for key in saved}), saved)


def per_tensor(values: torch.Tensor, scale: float, zero_point: int) -> torch.Tensor:
    return torch.quantize_per_tensor(values, scale, zero_point, torch.quint8)


def per_channel(values: torch.Tensor, scale: float, zero_point: int) -> torch.Tensor:
    scales = torch.arange(1, values.size(0) + 1, dtype=torch.float64) * scale
    return torch.quantize_per_channel(values, scales, torch.full((values.size(0),), zero_point), 0, torch.qint8)


@pytest.mark.filterwarnings("ignore:.*quantize:UserWarning")
@pytest.mark.parametrize("quantise", [per_tensor, per_channel])
def test_quantized_tensor_is_loaded_with_its_scale(emulator: Emulator, bucket: str, quantise) -> None:
    """Regression: the target kept its own scale, which changed the meaning of the saved integers."""
    saved = quantise(torch.randn(4, 5), 0.1, 3)
    dcp_io.save(emulator, f"s3://{bucket}/ck", {"q": saved})
    loaded = load(emulator, f"s3://{bucket}/ck", {"q": quantise(torch.zeros(4, 5), 7.0, 1)})["q"]
    assert torch.equal(loaded.int_repr(), saved.int_repr())
    assert torch.equal(loaded.dequantize(), saved.dequantize())


@pytest.mark.filterwarnings("ignore:.*quantize:UserWarning")
def test_part_of_a_quantized_tensor_with_another_scale_raises(emulator: Emulator, bucket: str) -> None:
    saved = per_tensor(torch.randn(4, 5), 0.1, 3)
    shards = {"q": Sharded.of((4, 5), torch.uint8, [((0, 0), saved[:2]), ((2, 0), saved[2:])])}
    dcp_io.save(emulator, f"s3://{bucket}/ck", shards)
    target = {"q": per_tensor(torch.zeros(4, 5), 7.0, 1)}
    with pytest.raises(CheckpointException, match="scale and zero point that the tensor was saved with"):
        load(emulator, f"s3://{bucket}/ck", target)
    target = {"q": per_tensor(torch.zeros(4, 5), 0.1, 3)}
    assert torch.equal(load(emulator, f"s3://{bucket}/ck", target)["q"].dequantize(), saved.dequantize())


@pytest.mark.filterwarnings("ignore:.*quantize:UserWarning")
@pytest.mark.parametrize("kind", ["quantised", "conjugate"])
def test_only_the_elements_of_a_view_are_saved(emulator: Emulator, client: penstock.S3Client, bucket: str, kind: str) -> None:
    """Regression: the object of a view of two rows contained the whole storage of a megabyte."""
    if kind == "quantised":
        saved = per_tensor(torch.randn(1000, 1000), 0.1, 3)[1:3]
        target = per_tensor(torch.zeros(2, 1000), 7.0, 1)
    else:
        saved = torch.randn(100_000, dtype=torch.complex64).conj()[5:7]
        target = torch.zeros(2, dtype=torch.complex64)
    dcp_io.save(emulator, f"s3://{bucket}/ck", {"view": saved})
    assert len(get(client, bucket, "ck/__0_0.distcp")) < 10_000
    loaded = load(emulator, f"s3://{bucket}/ck", {"view": target})["view"]
    assert torch.equal(loaded.dequantize(), saved.dequantize()) if kind == "quantised" else torch.equal(loaded, saved)


@pytest.mark.filterwarnings("ignore:Sparse:UserWarning")
@pytest.mark.parametrize("layout", ["coo", "csr"])
def test_sparse_tensor_is_saved_and_loaded(emulator: Emulator, bucket: str, layout: str) -> None:
    """Regression: a sparse tensor could be saved but not loaded, because it has no address."""
    dense = torch.tensor([[0.0, 2.0], [3.0, 0.0]])
    saved, target = (
        each.to_sparse() if layout == "coo" else each.to_sparse_csr() for each in (dense, torch.tensor([[1.0, 0.0], [0.0, 1.0]]))
    )
    dcp_io.save(emulator, f"s3://{bucket}/ck", {"sparse": saved})
    assert torch.equal(load(emulator, f"s3://{bucket}/ck", {"sparse": target})["sparse"].to_dense(), dense)


SPARSE: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "coo": torch.Tensor.to_sparse,
    "csr": torch.Tensor.to_sparse_csr,
    "csc": torch.Tensor.to_sparse_csc,
    "bsr": lambda dense: dense.to_sparse_bsr((2, 2)),
    "bsc": lambda dense: dense.to_sparse_bsc((2, 4)),
    "a batch": lambda dense: torch.stack([dense, dense]).to_sparse_csr(),
}


@pytest.mark.filterwarnings("ignore:Sparse:UserWarning")
@pytest.mark.parametrize("through", [None, penstock.S3ReaderConstructor.range_based()], ids=["planned", "in order"])
@pytest.mark.parametrize("kept", ["none", "more", "double", "a parameter"])
@pytest.mark.parametrize("layout", SPARSE)
def test_sparse_tensor_loads_into_a_target_with_other_elements(
    emulator: Emulator, bucket: str, layout: str, kept: str, through: Any
) -> None:
    """torch's copy_ rejects compressed tensors with a different number of elements."""
    dense = torch.zeros(6, 8)
    dense[0, 1], dense[3, 5], dense[5, 7] = 2.0, 3.0, 9.0
    saved = SPARSE[layout](dense)
    target = SPARSE[layout](torch.zeros(6, 8) if kept == "none" else torch.eye(6, 8))
    target = torch.nn.Parameter(target) if kept == "a parameter" else target.double() if kept == "double" else target
    dcp_io.save(emulator, f"s3://{bucket}/ck", {"sparse": saved})
    loaded = load(emulator, f"s3://{bucket}/ck", {"sparse": target}, reader_constructor=through)["sparse"]
    assert loaded is target
    assert loaded.layout is saved.layout
    assert torch.equal(loaded.to_dense(), saved.to_dense().to(target.dtype))


@pytest.mark.filterwarnings("ignore:Sparse:UserWarning")
def test_size_hint_of_a_sparse_tensor_is_not_its_dense_size(own_emulator: Emulator) -> None:
    """Regression: a size hint of 4 TB caused a multipart upload of an object of a few KB."""
    indices = torch.tensor([[0, 999_999], [3, 7]])
    saved = torch.sparse_coo_tensor(indices, torch.tensor([1.0, 2.0]), (1_000_000, 1_000_000)).coalesce()
    uri = "s3://bucket/ck"
    dcp_io.save(own_emulator, uri, {"sparse": saved})
    own_emulator.journal().assert_count(0, operations="CreateMultipartUpload")
    target = torch.sparse_coo_tensor(torch.zeros(2, 0, dtype=torch.int64), torch.zeros(0), saved.size()).coalesce()
    loaded = load(own_emulator, uri, {"sparse": target})["sparse"].coalesce()
    assert torch.equal(loaded.indices(), indices)
    assert torch.equal(loaded.values(), saved.values())


class Wrapper(torch.Tensor):
    """A wrapper subclass without memory of its own, like torchao's quantized tensors."""

    inner: torch.Tensor

    @staticmethod
    def __new__(cls, inner: torch.Tensor) -> Wrapper:
        made: Wrapper = torch.Tensor._make_wrapper_subclass(cls, inner.size(), dtype=torch.float32, device=inner.device)  # type: ignore[assignment]
        made.inner = inner
        return made

    def __repr__(self, **unused: Any) -> str:
        return f"Wrapper({self.inner})"

    def __tensor_flatten__(self) -> tuple[list[str], None]:
        return ["inner"], None

    @staticmethod
    def __tensor_unflatten__(tensors: dict[str, torch.Tensor], *unused: Any) -> Wrapper:
        return Wrapper(tensors["inner"])

    @classmethod
    def __torch_dispatch__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if function in (torch.ops.aten.detach.default, torch.ops.aten.clone.default, torch.ops.aten._to_copy.default):
            return Wrapper(function(args[0].inner, *args[1:], **(kwargs or {})))
        if function is torch.ops.aten.is_pinned.default:
            return False
        raise NotImplementedError(function)


def test_wrapper_subclass_is_saved_by_torch_save(own_emulator: Emulator) -> None:
    """It has no memory that could be sent directly."""
    saved = Wrapper(torch.arange(12, dtype=torch.int8).view(3, 4))
    dcp_io.save(own_emulator, "s3://bucket/ck", {"wrapped": saved, "plain": torch.ones(3)})
    client = own_emulator.client()
    metadata = pickle.loads(get(client, "bucket", "ck/.metadata"))
    info = next(info for index, info in metadata.storage_data.items() if index.fqn == "wrapped")
    data = get(client, "bucket", "ck/__0_0.distcp")[info.offset : info.offset + info.length]
    loaded = torch.load(io.BytesIO(data), weights_only=False)
    assert type(loaded) is Wrapper
    assert torch.equal(loaded.inner, saved.inner)


@pytest.mark.filterwarnings("ignore:Sparse:UserWarning")
@pytest.mark.parametrize("kind", ["wrapper", "sparse"])
def test_safetensors_rejects_tensors_without_strided_memory(own_emulator: Emulator, kind: str) -> None:
    """Regression: a wrapper subclass has the address 0, from which it was sent."""
    values = torch.eye(4)
    state = {"first": values, "other": Wrapper(values.to(torch.int8)) if kind == "wrapper" else values.to_sparse()}
    with pytest.raises(CheckpointException, match=r"'other' is .*; save with TORCH_SAVE"):
        dcp_io.save(own_emulator, "s3://bucket/ck", state, serialization_format=SerializationFormat.SAFETENSORS)
    assert [name for name in dcp_io.names(own_emulator.client(), "bucket", "ck") if not name.endswith(".saving")] == []


def test_safetensors_contains_the_values_of_a_conjugated_tensor(own_emulator: Emulator) -> None:
    """Regression: the values before the conjugation were written."""
    saved = {"conjugated": torch.full((3,), 1 + 2j).to(torch.complex64).conj(), "negated": torch.full((3,), 1 + 2j).conj().imag}
    assert saved["negated"].is_neg()
    dcp_io.save(own_emulator, "s3://bucket/ck", saved, serialization_format=SerializationFormat.SAFETENSORS)
    data = get(own_emulator.client(), "bucket", "ck/__0_0.distcp")
    begin = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:begin])
    for name, values in saved.items():
        first, end = header[name]["data_offsets"]
        assert data[begin + first : begin + end] == values.resolve_conj().resolve_neg().numpy().tobytes(), name
