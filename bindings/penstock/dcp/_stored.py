"""Stored items of a checkpoint and the parts of them that a plan reads. No I/O."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch.distributed.checkpoint.metadata import TensorStorageMetadata
from torch.distributed.checkpoint.planner import LoadItemType

from .. import _core
from ._boxes import SHORT_ROW, Box, Rows, is_one_run, row_major

if TYPE_CHECKING:
    from torch.distributed.checkpoint.metadata import Metadata, MetadataIndex
    from torch.distributed.checkpoint.planner import ReadItem

    from ._claims import MemoryLease
    from ._layout import Layout
    from ._scratch import Arena

# Dtypes whose elements can be copied as bytes. Newer ones only if this version of torch has them.
_PLAIN = (
    *("float64", "float32", "float16", "bfloat16", "complex64", "complex128", "bool"),
    *("int64", "int32", "int16", "int8", "uint8", "uint16", "uint32", "uint64"),
    *("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"),
)
PLAIN = frozenset(getattr(torch, name) for name in _PLAIN if hasattr(torch, name))


class TensorSpec:
    """The properties that all stored tensors of one dtype and shape share."""

    __slots__ = ("dtype", "itemsize", "layout", "payload", "sizes", "strides")

    def __init__(self, dtype: torch.dtype, sizes: tuple[int, ...]) -> None:
        self.dtype = dtype
        self.sizes = sizes
        self.itemsize = dtype.itemsize
        self.strides = row_major(sizes)
        self.payload = math.prod(sizes) * self.itemsize
        self.layout: Layout = (str(dtype)[6:], sizes, self.strides, 0, self.payload)


class ReadTarget:
    """One read request for a stored tensor, with its target."""

    __slots__ = ("box", "lease", "request", "rows", "target")

    def __init__(self, request: ReadItem) -> None:
        self.request = request
        self.box = Box(request.storage_offsets, request.lengths)
        self.target: torch.Tensor | None = None
        self.rows: Rows | None = None  # None: read through scratch memory
        self.lease: MemoryLease | None = None


class StoredItem:
    """An item of an object, bytes [begin, begin + length), and all reads of it.

    Attributes:
        spec: The tensor; None: the content cannot be predicted, and the item is read whole.
        declared: The tensor according to the metadata, also if its position cannot be predicted. None: unknown or invalid.
        layout: The predicted layout, which is compared with the one in the item.
        crcs: CRC-32s of the pieces of the payload that have arrived; None: they cannot give the CRC-32 of the payload.
    """

    __slots__ = (
        "begin",
        "crcs",
        "declared",
        "ends",
        "extensions",
        "head",
        "head_at",
        "layout",
        "length",
        "parts",
        "path",
        "reads",
        "spec",
        "tail",
        "tail_at",
        "units",
    )  # fmt: skip

    def __init__(self, path: str, begin: int, length: int, extensions: Any) -> None:
        self.path = path
        self.begin = begin
        self.length = length
        self.extensions = extensions
        self.reads: list[ReadTarget] = []
        self.spec: TensorSpec | None = None
        self.declared: TensorSpec | None = None
        self.layout: Layout | None = None
        self.head = self.tail = 0  # bytes around the payload
        self.head_at = self.tail_at = 0  # addresses of these bytes in memory
        self.ends: torch.Tensor | None = None  # owns the memory of head and tail if they are not in an arena
        self.units = 0  # pieces in flight, plus one while more will be requested
        self.parts: list[Part] = []  # in scratch memory
        self.crcs: list[PieceCrc] | None = None

    def is_within(self, spec: TensorSpec) -> bool:
        """Whether all reads are within the bounds of the tensor."""
        for read in self.reads:
            box = read.box
            if box.lengths == spec.sizes and not any(box.offsets):  # fast path: the whole tensor
                continue
            if len(box.lengths) != len(spec.sizes):
                return False
            if any(at < 0 or at + length > size for at, length, size in zip(box.offsets, box.lengths, spec.sizes, strict=True)):
                return False
        return True

    def split_unleased(self) -> StoredItem:
        """Moves the reads without a memory lease to a new item, and returns it."""
        other = StoredItem(self.path, self.begin, self.length, self.extensions)
        other.spec = self.spec
        other.reads = [read for read in self.reads if read.lease is None]
        self.reads = [read for read in self.reads if read.lease is not None]
        return other

    @property
    def is_one_target(self) -> bool:
        """Whether the whole payload goes to the memory of one target."""
        return len(self.reads) == 1 and self.reads[0].rows is not None and self.reads[0].rows.run == self.payload

    def payload_address(self) -> int | None:
        """Returns the address of the payload; None if it is not in one memory range."""
        if self.is_one_target:
            target = self.reads[0].target
            assert target is not None
            return target.data_ptr()
        if self.spec is not None and len(self.parts) == 1 and self.parts[0].box.lengths == self.spec.sizes:
            return self.parts[0].arena.address + self.parts[0].at
        return None

    def payload_crc(self) -> int | None:
        """Combines the CRC-32s of the pieces to that of the payload; None if the pieces do not cover the payload."""
        end = crc = 0
        for piece in sorted(self.crcs or ()):
            if piece.begin > end:
                return None
            if piece.begin == end:  # skip bytes that were fetched twice
                crc = _core.crc32_combine(crc, piece.crc, piece.size)
                end += piece.size
        return crc if self.crcs is not None and end == self.payload else None

    @property
    def payload(self) -> int:
        return self.spec.payload if self.spec is not None else self.length


class PieceCrc(NamedTuple):
    """CRC-32 of bytes [begin, begin + size) of a payload."""

    begin: int
    size: int
    crc: int


class Piece(NamedTuple):
    """A contiguous byte range of a payload, starting at offset `begin`, that is fetched to `address` as `rows`."""

    stored: StoredItem
    begin: int
    rows: Rows
    address: int

    def crc(self) -> PieceCrc:
        crc = size = 0
        for _, address, run, count, _, step in self.rows.strips(0, self.address):
            for at in range(address, address + max(count * step, 1), max(step, 1)):
                crc = _core.crc32(at, run, crc)
            size += run * count
        return PieceCrc(self.begin, size, crc)


class Part:
    """A box of a stored tensor in scratch memory, row-major, at offset `at` of the arena."""

    __slots__ = ("arena", "at", "box", "read", "spec")

    def __init__(self, arena: Arena, box: Box, read: ReadTarget, spec: TensorSpec) -> None:
        self.arena = arena
        self.at = 0
        self.box = box
        self.read = read
        self.spec = spec

    def values(self) -> torch.Tensor:
        memory = self.arena.memory[self.at : self.at + self.box.elements * self.spec.itemsize]
        return memory.view(self.spec.dtype).view(self.box.lengths)


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
            stored = by_place[place] = StoredItem(info.relative_path, info.offset, info.length, extensions)
            if request.type != LoadItemType.BYTE_IO and not extensions:
                stored.spec = catalogue.spec(request.storage_index)
        stored.reads.append(ReadTarget(request))
    return [stored for _, stored in sorted(by_place.items(), key=lambda entry: entry[0])]


def is_addressable(target: torch.Tensor) -> bool:
    """Whether `target` is a plain tensor with strided memory."""
    return type(target) is torch.Tensor and target.layout is torch.strided


def _takes_bytes(target: torch.Tensor, spec: TensorSpec) -> bool:
    """Whether stored bytes can be written to the memory of `target` without conversion."""
    return (
        target.dtype == spec.dtype
        and target.device.type == "cpu"
        and is_addressable(target)
        and not target.is_conj()
        and not target.is_neg()
    )


def rows_in_place(read: ReadTarget, spec: TensorSpec) -> Rows | None:
    """Returns the rows for a read directly into the target; None if a conversion is needed or the rows are too short."""
    target = read.target
    assert target is not None
    if not _takes_bytes(target, spec):
        return None
    rows = Rows(read.box.lengths, spec.strides, target.stride(), spec.itemsize)
    return rows if not rows.levels or rows.run >= SHORT_ROW else None


def rows_of_dense(read: ReadTarget, spec: TensorSpec) -> Rows | None:
    """Returns one run if the whole tensor is read and the target is contiguous in any dimension order, else None."""
    target = read.target
    assert target is not None
    whole = read.box.lengths == spec.sizes and _takes_bytes(target, spec) and is_one_run(spec.sizes, target.stride())
    return Rows((spec.payload,), (1,), (1,), 1) if whole else None


def copy_part(part: Part) -> bool:
    """Copies the elements of a part that its read requests to the target. Returns whether the copy may still run on a device."""
    target = part.read.target
    assert target is not None
    common = part.box.intersection(part.read.box)
    if common is None:
        return False
    source = part.values()
    for dim, (start, size) in enumerate(zip(common.offsets, common.lengths, strict=True)):
        if size != source.size(dim):
            source = source.narrow(dim, start - part.box.offsets[dim], size)
        if size != target.size(dim):
            target = target.narrow(dim, start - part.read.box.offsets[dim], size)
    elsewhere = bool(target.is_cuda)
    target.copy_(source, non_blocking=elsewhere and part.arena.memory.is_pinned())
    return elsewhere


def narrowed(tensor: torch.Tensor, read: ReadTarget) -> torch.Tensor:
    for dim, (start, size) in enumerate(zip(read.box.offsets, read.box.lengths, strict=False)):
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
