"""Stored items of a checkpoint and the parts of them that a plan reads. No I/O."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import torch
from torch.distributed.checkpoint.metadata import TensorStorageMetadata
from torch.distributed.checkpoint.planner import LoadItemType

from .._checkpoint_format._pieces import CRC32S
from ._boxes import Box, row_major

if TYPE_CHECKING:
    from torch.distributed.checkpoint.metadata import Metadata, MetadataIndex
    from torch.distributed.checkpoint.planner import ReadItem

# Dtypes whose elements can be copied as bytes. Newer ones only if this version of torch has them.
_PLAIN = (
    *("float64", "float32", "float16", "bfloat16", "complex64", "complex128", "bool"),
    *("int64", "int32", "int16", "int8", "uint8", "uint16", "uint32", "uint64"),
    *("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"),
)
PLAIN = frozenset(getattr(torch, name) for name in _PLAIN if hasattr(torch, name))


class TensorSpec:
    """The properties that all stored tensors of one dtype and shape share.

    Attributes:
        described: The properties, for the core.
    """

    __slots__ = ("described", "dtype", "itemsize", "payload", "sizes", "strides")

    def __init__(self, dtype: torch.dtype, sizes: tuple[int, ...]) -> None:
        self.dtype = dtype
        self.sizes = sizes
        self.itemsize = dtype.itemsize
        self.strides = row_major(sizes)
        self.payload = math.prod(sizes) * self.itemsize
        self.described = str(dtype)[6:], self.itemsize, sizes


class ReadTarget:
    """One read request for a stored tensor, with its target."""

    __slots__ = ("request", "target")

    def __init__(self, request: ReadItem) -> None:
        self.request = request
        self.target: torch.Tensor | None = None

    @property
    def box(self) -> Box:
        return Box(self.request.storage_offsets, self.request.lengths)


class StoredItem:
    """An item of an object, bytes [begin, begin + length), and all reads of it.

    Attributes:
        spec: The tensor according to the metadata; None: the content is unknown, and the item is read whole.
        crc32s: The CRC-32s of the tensor's pieces, as in the metadata; empty: unknown.
    """

    __slots__ = ("begin", "crc32s", "extensions", "length", "path", "reads", "spec")

    def __init__(self, path: str, begin: int, length: int, extensions: Any, crc32s: Any = b"") -> None:
        self.path = path
        self.begin = begin
        self.length = length
        self.extensions = extensions
        self.crc32s = crc32s
        self.reads: list[ReadTarget] = []
        self.spec: TensorSpec | None = None


class Catalogue:
    """Looks up the tensors that the metadata declares."""

    def __init__(self, metadata: Metadata | None) -> None:
        self._entries: dict[str, Any] = metadata.state_dict_metadata if metadata is not None else {}
        self._specs: dict[tuple[torch.dtype, tuple[int, ...]], TensorSpec] = {}

    def spec(self, index: MetadataIndex) -> TensorSpec | None:
        entry = self._entries.get(index.fqn)
        if not isinstance(entry, TensorStorageMetadata) or entry.properties.dtype not in PLAIN:
            return None
        chunks = entry.chunks
        hint = index.index
        if hint is not None and hint < len(chunks) and chunks[hint].offsets == index.offset:
            chunk = chunks[hint]
        else:
            found = [chunk for chunk in chunks if index.offset is None or chunk.offsets == index.offset]
            if len(found) != 1:
                return None
            chunk = found[0]
        key = (entry.properties.dtype, tuple(chunk.sizes))
        spec = self._specs.get(key)
        if spec is None:
            spec = self._specs[key] = TensorSpec(*key)
        return spec


def stored_items(requests: Iterable[ReadItem], storage_data: dict[Any, Any], catalogue: Catalogue) -> list[StoredItem]:
    """Groups requests by stored item. Returns the items in the order of their paths and offsets."""
    by_place: dict[tuple[str, int], StoredItem] = {}
    for request in requests:
        info = storage_data[request.storage_index]
        place = (info.relative_path, info.offset)
        stored = by_place.get(place)
        if stored is None:
            extensions = getattr(info, "transform_descriptors", None) or ()
            stored = by_place[place] = StoredItem(
                info.relative_path, info.offset, info.length, extensions, getattr(info, CRC32S, b"")
            )
            if request.type != LoadItemType.BYTE_IO and not extensions:
                stored.spec = catalogue.spec(request.storage_index)
        stored.reads.append(ReadTarget(request))
    return [stored for _, stored in sorted(by_place.items(), key=lambda entry: entry[0])]


def is_addressable(target: torch.Tensor) -> bool:
    """Whether `target` is a plain tensor with strided memory."""
    return type(target) is torch.Tensor and target.layout is torch.strided


def repeated_dims(target: torch.Tensor) -> list[int]:
    """Returns the dimensions along which an expanded tensor repeats its elements."""
    if target.layout is not torch.strided or 0 not in target.stride():
        return []
    return [
        dim for dim, (stride, size) in enumerate(zip(target.stride(), target.size(), strict=True)) if stride == 0 and size > 1
    ]


def takes_bytes(target: torch.Tensor, spec: TensorSpec) -> bool:
    """Whether stored bytes can be written to the memory of `target` without conversion. Requires an addressable target."""
    return target.dtype == spec.dtype and target.is_cpu and not target.is_conj() and not target.is_neg()


def narrowed(tensor: torch.Tensor, request: ReadItem) -> torch.Tensor:
    """Returns the part of a stored tensor that `request` reads."""
    for dim, (start, size) in enumerate(zip(request.storage_offsets, request.lengths, strict=False)):
        if size < tensor.size(dim):
            tensor = tensor.narrow(dim, start, size)
    return tensor


def same_quantiser(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two quantized tensors have the same quantization parameters."""
    if one.qscheme() != other.qscheme():
        return False
    if one.qscheme() in (torch.per_tensor_affine, torch.per_tensor_symmetric):
        return (one.q_scale(), one.q_zero_point()) == (other.q_scale(), other.q_zero_point())
    return (
        one.q_per_channel_axis() == other.q_per_channel_axis()
        and torch.equal(one.q_per_channel_scales(), other.q_per_channel_scales())
        and torch.equal(one.q_per_channel_zero_points(), other.q_per_channel_zero_points())
    )
