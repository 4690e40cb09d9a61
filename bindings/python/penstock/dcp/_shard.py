"""Writes one object of a checkpoint, which contains items in torch's format or in safetensors format."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import torch
from torch.distributed.checkpoint.filesystem import _StorageInfo
from torch.distributed.checkpoint.planner import SavePlanner, WriteItem, WriteItemType
from torch.distributed.checkpoint.storage import WriteResult

from .. import _core
from .._checkpoint_format._pieces import CRC32S, crcs_of, packed, piece_bytes, piece_count
from . import _archive, _safetensors_crcs
from ._devices import CallerStreams
from ._planners import saves_own_memory
from ._sink import CopyingSink, Sink, UncloseableSink, UploadSink
from ._staging import Settings, chunks_per_thread, staged

MAX_UNDRAINED_BYTES = 96 * 1024**2  # memory allocated for an upload that may wait to be sent
FRAME_BYTES = 1600  # approximate size of the archive around a tensor

_SAFETENSORS_DTYPES = {
    "float64": "F64", "float32": "F32", "float16": "F16", "bfloat16": "BF16", "int64": "I64", "int32": "I32", "int16": "I16",
    "int8": "I8", "uint64": "U64", "uint32": "U32", "uint16": "U16", "uint8": "U8", "bool": "BOOL", "complex64": "C64",
    "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2",
}  # fmt: skip


class Shard(NamedTuple):
    """An object to write: its name, relative to the checkpoint's path, and its items."""

    name: str
    items: list[WriteItem]

    def about_bytes(self) -> int:
        return sum(item_bytes(item) + FRAME_BYTES for item in self.items if item.type != WriteItemType.BYTE_IO)


def item_bytes(item: WriteItem) -> int:
    """Returns the bytes of a dense tensor item; 0 for other items, whose stored size is unknown."""
    if item.tensor_data is None or item.tensor_data.properties.layout is not torch.strided:
        return 0
    count = 1
    for extent in item.tensor_data.chunk.sizes:
        count *= extent
    return count * item.tensor_data.properties.dtype.itemsize


def split(items: Sequence[WriteItem], count: int) -> list[list[WriteItem]]:
    """Splits items into `count` lists of about the same number of bytes. Lists may be empty. Keeps the order if `count` is 1."""
    if count == 1:
        return [list(items)]
    lists: list[list[WriteItem]] = [[] for _ in range(count)]
    sizes = [0] * count
    others = [item for item in items if item.type == WriteItemType.BYTE_IO]
    for index, item in enumerate(others):
        lists[index % count].append(item)
    for item in sorted((i for i in items if i.type != WriteItemType.BYTE_IO), key=item_bytes, reverse=True):
        least = sizes.index(min(sizes))
        lists[least].append(item)
        sizes[least] += item_bytes(item)
    return lists


class ShardWriter:
    """Writes shards in torch's format: each item is an archive of ``torch.save`` or plain bytes, encoded by the extensions.

    Create it in the thread that saves. Work on a device is then ordered after the work that this thread has launched, also if
    `write` is called from another thread.

    Args:
        planner: Provides the data.
        extensions: Stream transforms, applied in order.
        copy_ahead_bytes: How many bytes to copy from a device before they are needed.
        thread_count: Number of threads that write in parallel.
    """

    def __init__(self, planner: SavePlanner, extensions: Sequence[Any], copy_ahead_bytes: int, thread_count: int) -> None:
        self._planner = planner
        self._extensions = extensions
        self._keeps = saves_own_memory(planner)
        self._staging = Settings(copy_ahead_bytes if self._keeps else 0, chunks_per_thread(thread_count))
        self._streams = CallerStreams()

    def write(self, shard: Shard, sink: Sink) -> list[WriteResult]:
        self._streams.adopt()
        results = []
        undrained = 0
        for item in shard.items:
            if item.type == WriteItemType.BYTE_IO:
                results.append(self._put(shard, sink, item, self._planner.resolve_data(item), ()))
        tensors = [item for item in shard.items if item.type != WriteItemType.BYTE_IO]
        with staged(tensors, self._planner, self._staging, sink.drain) as entries:
            for entry, pieces in entries:
                results.append(self._put(shard, sink, entry.item, entry.tensor, pieces))
                if entry.fresh and _archive.is_plain(entry.tensor):  # others were copied by torch.save
                    undrained += entry.tensor.nbytes
                if undrained >= MAX_UNDRAINED_BYTES or not self._keeps:
                    sink.drain()
                    undrained = 0
        return results

    def _put(self, shard: Shard, sink: Sink, item: WriteItem, data: Any, pieces: Iterable[torch.Tensor]) -> WriteResult:
        offset = sink.tell()
        crcs: list[int] = []
        if self._extensions:
            stream: Any = UncloseableSink(sink)
            for extension in self._extensions:
                stream = extension.transform_to(stream)
            _put_data(CopyingSink(stream), data, pieces)
            stream.close()
        else:
            crcs = _put_data(sink, data, pieces)
        length = sink.tell() - offset
        info = _StorageInfo(shard.name, offset, length)
        if self._extensions:
            info.transform_descriptors = [extension.get_descriptor() for extension in reversed(self._extensions)]
        elif len(crcs) > 1 and _is_as_planned(item, data):  # the archive has the CRC-32 of a single piece
            with suppress(AttributeError):  # a version of torch that refuses further attributes
                setattr(info, CRC32S, packed(crcs))
        return WriteResult(index=item.index, size_in_bytes=length, storage_data=info)


def _put_data(sink: Sink, data: Any, pieces: Iterable[torch.Tensor]) -> list[int]:
    """Writes bytes, or a tensor whose memory consists of `pieces`. Returns the CRC-32s of the pieces of a plain tensor."""
    if isinstance(data, io.BytesIO):
        sink.write(data.getbuffer())
    elif not isinstance(data, torch.Tensor):
        raise TypeError(f"the planner returned a {type(data).__name__}; expected torch.Tensor or io.BytesIO")
    elif _archive.is_plain(data):
        return _put_plain(sink, data, pieces)
    else:
        torch.save(data, sink)  # type: ignore[arg-type]
    return []


def _put_plain(sink: Sink, data: torch.Tensor, memory: Iterable[torch.Tensor]) -> list[int]:
    frame = _archive.frame(data.dtype, tuple(data.shape), data.stride())
    sink.write(frame.head)
    step = piece_bytes(data.shape, data.element_size())
    crcs = crcs_of(_sent(sink, memory), step, _crc32, _core.crc32_combine)
    crc = 0
    for number, each in enumerate(crcs):
        crc = _core.crc32_combine(crc, each, min(step, data.nbytes - number * step)) if number else each
    sink.write(frame.tail_for(crc))
    return crcs


def _sent(sink: Sink, memory: Iterable[torch.Tensor]) -> Iterator[torch.Tensor]:
    for part in memory:
        sink.write_no_copy(part.data_ptr(), part.nbytes, part)
        yield part


def _crc32(address: int, size: int, part: torch.Tensor) -> int:
    return _core.crc32(address, size)


def _is_as_planned(item: WriteItem, data: torch.Tensor) -> bool:
    """Whether `.metadata` describes the stored tensor, and it is row-major. Only then a load reads parts of it."""
    planned = item.tensor_data
    return (
        planned is not None
        and planned.chunk.sizes == data.shape
        and planned.properties.dtype == data.dtype
        and data.is_contiguous()
    )


class SafetensorsWriter:
    """Writes shards as safetensors files, with the keys of torch's Hugging Face layout. Supports dense tensors only.

    The header contains checksums of all bytes (see ``_safetensors_crcs``), and is therefore sent last.

    Create it in the thread that saves, like :class:`ShardWriter`.

    Source: https://huggingface.co/docs/safetensors/index#format
    """

    def __init__(self, planner: SavePlanner, copy_ahead_bytes: int, thread_count: int) -> None:
        self._planner = planner
        self._keeps = saves_own_memory(planner)
        self._staging = Settings(copy_ahead_bytes if self._keeps else 0, chunks_per_thread(thread_count), row_major=True)
        self._streams = CallerStreams()

    def write(self, shard: Shard, sink: UploadSink) -> list[WriteResult]:
        self._streams.adopt()
        if not shard.items:
            return []
        header = _SafetensorsHeader(shard.items)
        sink.write_head(header.with_crcs([0] * header.pieces))
        results = []
        crcs: list[int] = []
        undrained = 0
        with staged(shard.items, self._planner, self._staging, sink.drain) as entries:
            for entry, pieces in entries:
                item = entry.item
                size = header.size_of(item)
                if not _archive.has_memory(entry.tensor):
                    kind = type(entry.tensor).__name__
                    raise ValueError(f"{item.index.fqn!r} is a {kind} without strided memory; save with TORCH_SAVE")
                if entry.tensor.nbytes != size:
                    raise ValueError(f"{item.index.fqn} has {entry.tensor.nbytes} bytes; the plan expects {size}")
                offset = sink.tell()
                step = header.piece_bytes_of(item)
                crcs += crcs_of(pieces, step, sink.write_no_copy_with_crc, _core.crc64nvme_combine)
                results.append(WriteResult(item.index, size, _StorageInfo(shard.name, offset, size)))
                undrained += size if entry.fresh else 0
                if undrained >= MAX_UNDRAINED_BYTES or not self._keeps:
                    sink.drain()
                    undrained = 0
        sink.replace_head(header.with_crcs(crcs))
        return results


class _SafetensorsHeader:
    """The header of a file with these tensors in this order.

    Attributes:
        pieces: Number of pieces that have a checksum.

    Raises:
        ValueError: An item cannot be stored in a safetensors file.
    """

    def __init__(self, items: Sequence[WriteItem]) -> None:
        self.pieces = 0
        self._tensors: dict[str, Any] = {}
        self._sharding: dict[str, Any] = {}
        self._piece_bytes: dict[str, int] = {}
        self._end = 0
        for item in items:
            self._add(item)

    def _add(self, item: WriteItem) -> None:
        name = item.index.fqn
        if item.tensor_data is None:
            raise ValueError(f"{name!r} is not a tensor; safetensors supports tensors only: remove it, or save with TORCH_SAVE")
        if name in self._tensors:
            raise ValueError(f"{name!r} is twice in one safetensors file; save with one shard of a tensor per rank")
        dtype = item.tensor_data.properties.dtype
        dtype_name = str(dtype).removeprefix("torch.")
        layout = item.tensor_data.properties.layout
        if dtype_name not in _SAFETENSORS_DTYPES or layout is not torch.strided:
            kind = dtype_name if layout is torch.strided else str(layout).removeprefix("torch.")
            raise ValueError(f"{name!r} is {kind}, which safetensors does not support; save with TORCH_SAVE")
        chunk = item.tensor_data.chunk
        begin, self._end = self._end, self._end + item_bytes(item)
        offsets = [begin, self._end]
        self._tensors[name] = {"dtype": _SAFETENSORS_DTYPES[dtype_name], "shape": list(chunk.sizes), "data_offsets": offsets}
        self._sharding[name] = {"saved_offsets": list(chunk.offsets)}
        self._piece_bytes[name] = piece_bytes(chunk.sizes, dtype.itemsize)
        self.pieces += piece_count(chunk.sizes, dtype.itemsize)

    def with_crcs(self, crcs: Sequence[int]) -> bytes:
        """Returns the header with the CRC64NVMEs of all pieces, which do not affect its length."""
        about = {"DCP_SHARDING_INFO": json.dumps(self._sharding), "DCP_VERSION": "1.0", "format": "pt"}
        return _safetensors_crcs.header_with(about, self._tensors, crcs)

    def size_of(self, item: WriteItem) -> int:
        begin, end = self._tensors[item.index.fqn]["data_offsets"]
        return int(end - begin)

    def piece_bytes_of(self, item: WriteItem) -> int:
        return self._piece_bytes[item.index.fqn]
