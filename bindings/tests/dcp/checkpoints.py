"""Distributed checkpoints for tests: saved by torch's own writer and uploaded, or by S3StorageWriter; sharded tensors."""

from __future__ import annotations

import itertools
import os
import pickle
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import penstock
import pytest
import torch
import torch.distributed.checkpoint as dcp
from bucket_io import put
from penstock.dcp import S3StorageReader, S3StorageWriter, _load
from penstock.testing import Emulator
from torch.distributed.checkpoint.default_planner import DefaultSavePlanner
from torch.distributed.checkpoint.filesystem import FileSystemWriter
from torch.distributed.checkpoint.metadata import (
    BytesStorageMetadata,
    ChunkStorageMetadata,
    Metadata,
    MetadataIndex,
    TensorProperties,
    TensorStorageMetadata,
)
from torch.distributed.checkpoint.planner import TensorWriteData, WriteItem, WriteItemType


class Sharded(torch.Tensor):
    """A tensor of which this process has some boxes, with the interface that torch's planners use. Has no elements itself."""

    shards: list[tuple[torch.Size, torch.Tensor]]

    @staticmethod
    def of(size: Sequence[int], dtype: torch.dtype, shards: Sequence[tuple[Sequence[int], torch.Tensor]]) -> Sharded:
        """Creates a tensor from the offsets and content of each box."""
        whole: Sharded = torch.Tensor._make_subclass(Sharded, torch.empty((), dtype=dtype).expand(tuple(size)))  # type: ignore[assignment]
        whole.shards = [(torch.Size(offsets), tensor) for offsets, tensor in shards]
        return whole

    def _chunk(self, offsets: torch.Size, tensor: torch.Tensor) -> ChunkStorageMetadata:
        return ChunkStorageMetadata(offsets=offsets, sizes=tensor.size())

    def __create_write_items__(self, fqn: str, unused: Any) -> list[WriteItem]:
        return [
            WriteItem(
                index=MetadataIndex(fqn, offsets, i),
                type=WriteItemType.SHARD,
                tensor_data=TensorWriteData(
                    chunk=self._chunk(offsets, tensor), properties=TensorProperties.create_from_tensor(tensor), size=self.size()
                ),
            )
            for i, (offsets, tensor) in enumerate(self.shards)
        ]

    def __create_chunk_list__(self) -> list[ChunkStorageMetadata]:
        return [self._chunk(offsets, tensor) for offsets, tensor in self.shards]

    def __get_tensor_shard__(self, index: MetadataIndex) -> torch.Tensor:
        return next(tensor for offsets, tensor in self.shards if offsets == index.offset)


def cut(tensor: torch.Tensor, ranks: int, dim: int = 0) -> list[list[tuple[list[int], torch.Tensor]]]:
    """Cuts a tensor into one box per rank. Returns a list for each rank, which may be empty."""
    step = -(-tensor.size(dim) // ranks)
    cuts = [(start, min(step, tensor.size(dim) - start)) for start in range(0, tensor.size(dim), max(step, 1))]
    boxes = [([start if d == dim else 0 for d in range(tensor.dim())], tensor.narrow(dim, start, n)) for start, n in cuts]
    return [boxes[rank : rank + 1] for rank in range(ranks)]


def save_by(states: Sequence[Mapping[str, Any]], folder: str | os.PathLike[str], **options: Any) -> None:
    """Saves one state dict per rank with torch's planners and writer."""
    save_through(lambda: FileSystemWriter(folder, sync_files=False, **options), states)


def save_through(make_writer: Callable[[], FileSystemWriter], states: Sequence[Mapping[str, Any]]) -> None:
    """Saves one state dict per rank, with one writer per rank."""
    planners = [DefaultSavePlanner() for _ in states]
    writers = [make_writer() for _ in states]
    plans = []
    for rank, (planner, writer, state) in enumerate(zip(planners, writers, states, strict=True)):
        planner.set_up_planner(state_dict=dict(state), is_coordinator=rank == 0)
        writer.set_up_storage_writer(rank == 0, rank=rank, use_collectives=True)
        plans.append(writer.prepare_local_plan(planner.create_local_plan()))
    plans, metadata = planners[0].create_global_plan(plans)
    plans = writers[0].prepare_global_plan(plans)
    results = [
        writer.write_data(planner.finish_plan(plan), planner).wait()
        for writer, planner, plan in zip(writers, planners, plans, strict=True)
    ]
    writers[0].finish(metadata, results)


def usages_of_loads(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, int]]:
    """Returns a list to which every load that follows appends what it requested."""
    usages: list[dict[str, int]] = []
    run = _load.Load.run

    def noted(load: _load.Load, items: list[Any]) -> dict[str, int]:
        usages.append(run(load, items))
        return usages[-1]

    monkeypatch.setattr(_load.Load, "run", noted)
    return usages


_numbers = itertools.count()


class Checkpoints:
    """Saves checkpoints to a bucket of an emulator and loads them.

    Args:
        emulator: The server.
        client: A client of it.
        bucket: An existing bucket.
        by_penstock: True: S3StorageWriter saves them. False: torch's FileSystemWriter does.
    """

    def __init__(self, emulator: Emulator, client: penstock.S3Client, bucket: str, *, by_penstock: bool = False) -> None:
        self.emulator = emulator
        self.client = client
        self.bucket = bucket
        self.by_penstock = by_penstock

    def save(self, *states: Mapping[str, Any], **options: Any) -> str:
        """Saves one state dict per rank to a new path. Returns its URI."""
        prefix = f"checkpoint-{next(_numbers)}"
        if self.by_penstock:
            save_through(lambda: self.writer(f"s3://{self.bucket}/{prefix}", **options), states)
            return f"s3://{self.bucket}/{prefix}"
        with tempfile.TemporaryDirectory() as folder:
            save_by(states, folder, **options)
            self.emulator.seed(self.bucket, folder, f"{prefix}/")
        return f"s3://{self.bucket}/{prefix}"

    def save_without_crcs(self, *states: Mapping[str, Any]) -> str:
        """Saves like `save`, but without CRC-32s in the records."""
        before = torch.serialization.get_crc32_options()
        torch.serialization.set_crc32_options(False)
        try:
            return self.save(*states)
        finally:
            torch.serialization.set_crc32_options(before)

    def handmade(self, items: Mapping[str, tuple[torch.Tensor | None, bytes]]) -> str:
        """Creates a checkpoint with one object from items: the tensor in the metadata (None: bytes), and the stored bytes."""
        from torch.distributed.checkpoint.filesystem import _StorageInfo

        entries: dict[str, Any] = {}
        places: dict[MetadataIndex, Any] = {}
        content = b""
        for name, (tensor, data) in items.items():
            if tensor is None:
                entries[name] = BytesStorageMetadata()
                index = MetadataIndex(name)
            else:
                offsets = torch.Size([0] * tensor.dim())
                chunk = ChunkStorageMetadata(offsets=offsets, sizes=tensor.size())
                entries[name] = TensorStorageMetadata(
                    properties=TensorProperties.create_from_tensor(tensor), size=tensor.size(), chunks=[chunk]
                )
                index = MetadataIndex(name, offsets)
            places[index] = _StorageInfo("__0_0.distcp", len(content), len(data))
            content += data
        prefix = f"checkpoint-{next(_numbers)}"
        put(self.client, self.bucket, f"{prefix}/__0_0.distcp", content)
        metadata = Metadata(state_dict_metadata=entries, planner_data={}, storage_data=places)
        put(self.client, self.bucket, f"{prefix}/.metadata", pickle.dumps(metadata))
        return f"s3://{self.bucket}/{prefix}"

    def writer(self, uri: str, **options: Any) -> S3StorageWriter:
        config = self.client.s3client_config
        return S3StorageWriter(self.client.region, uri, config, endpoint=self.client.endpoint, **options)

    def reader(self, uri: str | Path, **options: Any) -> S3StorageReader:
        options.setdefault("s3client_config", self.client.s3client_config)
        return S3StorageReader(self.client.region, uri, endpoint=self.client.endpoint, **options)

    def load(self, state: dict[str, Any], uri: str, planner: Any = None, **options: Any) -> S3StorageReader:
        reader = self.reader(uri, **options)
        dcp.load(state, storage_reader=reader, planner=planner, no_dist=True)
        return reader


def same_bits(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether both have the same dtype, shape and element bytes. Strides may differ."""
    if one.dtype != other.dtype or one.size() != other.size():
        return False
    if one.is_quantized:
        return torch.equal(one.int_repr(), other.int_repr()) and one.qscheme() == other.qscheme()
    flat = [torch.empty(each.numel(), dtype=each.dtype).copy_(each.detach().reshape(-1)) for each in (one, other)]
    return torch.equal(flat[0].view(torch.uint8), flat[1].view(torch.uint8))


def emptied(value: Any) -> Any:
    """Returns a target for a load: tensors with the same strides and other content; None for other values."""
    if isinstance(value, dict):
        return {key: emptied(each) for key, each in value.items()}
    if isinstance(value, list):
        return [emptied(each) for each in value]
    if not isinstance(value, torch.Tensor):
        return None
    if value.is_quantized:
        return torch.quantize_per_tensor(torch.zeros(value.size()), value.q_scale(), value.q_zero_point(), value.dtype)
    copy = torch.empty_strided(value.size(), value.stride(), dtype=value.dtype)
    copy.untyped_storage().copy_(torch.full((copy.untyped_storage().nbytes(),), 0xA5, dtype=torch.uint8).untyped_storage())
    return copy
