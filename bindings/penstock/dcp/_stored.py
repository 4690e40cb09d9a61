"""Stored items of a checkpoint and what a plan wants of them. No I/O."""

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

    from ._claims import Claim
    from ._layout import Layout
    from ._scratch import Arena

# Types whose elements are bytes in memory and mean the same wherever they are. Newer ones where torch has them.
_PLAIN = (
    *("float64", "float32", "float16", "bfloat16", "complex64", "complex128", "bool"),
    *("int64", "int32", "int16", "int8", "uint8", "uint16", "uint32", "uint64"),
    *("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"),
)
PLAIN = frozenset(getattr(torch, name) for name in _PLAIN if hasattr(torch, name))


class Kind:
    """What all stored tensors of one type and shape have in common."""

    __slots__ = ("dtype", "itemsize", "layout", "payload", "sizes", "strides")

    def __init__(self, dtype: torch.dtype, sizes: tuple[int, ...]) -> None:
        self.dtype = dtype
        self.sizes = sizes
        self.itemsize = dtype.itemsize
        self.strides = row_major(sizes)
        self.payload = math.prod(sizes) * self.itemsize
        self.layout: Layout = (str(dtype)[6:], sizes, self.strides, 0, self.payload)


class Want:
    """One read item of a stored tensor."""

    __slots__ = ("box", "claim", "request", "rows", "target")

    def __init__(self, request: ReadItem) -> None:
        self.request = request
        self.box = Box(request.storage_offsets, request.lengths)
        self.target: torch.Tensor | None = None
        self.rows: Rows | None = None  # lands in the target's own memory; None: by way of scratch memory
        self.claim: Claim | None = None


class Stored:
    """An item of an object, bytes [begin, begin + length), and all that is wanted of it.

    Attributes:
        kind: None where nothing about its content is known before it was read: it is read whole.
        said: What the metadata says of it, also where its place could not be predicted. None: that makes no sense.
        layout: What it is expected to say of itself.
        crcs: Of pieces of the payload that have arrived, None where their CRC-32s will not give that of the payload.
    """

    __slots__ = ("begin", "crcs", "ends", "extensions", "head", "head_at", "kind", "layout", "length", "parts", "path", "said",
                 "tail", "tail_at", "units", "wants")  # fmt: skip

    def __init__(self, path: str, begin: int, length: int, extensions: Any) -> None:
        self.path = path
        self.begin = begin
        self.length = length
        self.extensions = extensions
        self.wants: list[Want] = []
        self.kind: Kind | None = None
        self.said: Kind | None = None
        self.layout: Layout | None = None
        self.head = self.tail = 0  # bytes around the payload
        self.head_at = self.tail_at = 0  # the addresses they go to
        self.ends: torch.Tensor | None = None  # memory of its own for them
        self.units = 0  # pieces of it under way, and one while there are more to come
        self.parts: list[Part] = []  # in scratch memory
        self.crcs: list[PieceCrc] | None = None

    def is_within(self, kind: Kind) -> bool:
        """Whether all that is wanted is inside of a tensor of that shape."""
        for want in self.wants:
            box = want.box
            if box.lengths == kind.sizes and not any(box.offsets):  # most of all: the whole of a small one
                continue
            if len(box.lengths) != len(kind.sizes):
                return False
            if any(at < 0 or at + length > size for at, length, size in zip(box.offsets, box.lengths, kind.sizes, strict=True)):
                return False
        return True

    def without_claim(self) -> Stored:
        """Those wants that could not claim their memory, taken out of this."""
        other = Stored(self.path, self.begin, self.length, self.extensions)
        other.kind = self.kind
        other.wants = [want for want in self.wants if want.claim is None]
        self.wants = [want for want in self.wants if want.claim is not None]
        return other

    @property
    def is_one_target(self) -> bool:
        """Its whole payload lies in the memory of a single tensor."""
        return len(self.wants) == 1 and self.wants[0].rows is not None and self.wants[0].rows.run == self.payload

    def payload_address(self) -> int | None:
        """Where the payload lies in one run of memory; None: it does not."""
        if self.is_one_target:
            target = self.wants[0].target
            assert target is not None
            return target.data_ptr()
        if self.kind is not None and len(self.parts) == 1 and self.parts[0].box.lengths == self.kind.sizes:
            return self.parts[0].arena.address + self.parts[0].at
        return None

    def payload_crc(self) -> int | None:
        """CRC-32 of the payload, from those of its pieces; None: some of it was not fetched, or not in one run."""
        end = crc = 0
        for piece in sorted(self.crcs or ()):
            if piece.begin > end:
                return None
            if piece.begin == end:  # others were fetched twice
                crc = _core.crc32_combine(crc, piece.crc, piece.size)
                end += piece.size
        return crc if self.crcs is not None and end == self.payload else None

    @property
    def payload(self) -> int:
        return self.kind.payload if self.kind is not None else self.length


class PieceCrc(NamedTuple):
    """CRC-32 of bytes [begin, begin + size) of a payload."""

    begin: int
    size: int
    crc: int


class Piece(NamedTuple):
    """Bytes of a payload that are one run there, from `begin` on, and are fetched to `address`, in such rows."""

    stored: Stored
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
    """A box of a stored tensor in scratch memory, row-major, from `at` on."""

    __slots__ = ("arena", "at", "box", "kind", "want")

    def __init__(self, arena: Arena, box: Box, want: Want, kind: Kind) -> None:
        self.arena = arena
        self.at = 0
        self.box = box
        self.want = want
        self.kind = kind

    def values(self) -> torch.Tensor:
        memory = self.arena.memory[self.at : self.at + self.box.elements * self.kind.itemsize]
        return memory.view(self.kind.dtype).view(self.box.lengths)


class Catalogue:
    """What the metadata says of stored tensors."""

    def __init__(self, metadata: Metadata | None) -> None:
        self._entries: dict[str, Any] = metadata.state_dict_metadata if metadata is not None else {}
        self._kinds: dict[tuple[torch.dtype, tuple[int, ...]], Kind] = {}

    def kind(self, index: MetadataIndex) -> Kind | None:
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
        kind = self._kinds.get(key)
        if kind is None:
            kind = self._kinds[key] = Kind(*key)
        return kind


def stored_items(requests: Iterable[ReadItem], storage_data: dict[Any, Any], catalogue: Catalogue) -> list[Stored]:
    """In the order they have in their objects; one for all requests for the same item."""
    by_place: dict[tuple[str, int], Stored] = {}
    for request in requests:
        info = storage_data[request.storage_index]
        place = (info.relative_path, info.offset)
        stored = by_place.get(place)
        if stored is None:
            extensions = getattr(info, "transform_descriptors", None) or ()
            stored = by_place[place] = Stored(info.relative_path, info.offset, info.length, extensions)
            if request.type != LoadItemType.BYTE_IO and not extensions:
                stored.kind = catalogue.kind(request.storage_index)
        stored.wants.append(Want(request))
    return [stored for _, stored in sorted(by_place.items(), key=lambda entry: entry[0])]


def is_addressable(target: torch.Tensor) -> bool:
    """Whether it has memory of its own in which its elements lie by strides. Sparse ones have not."""
    return type(target) is torch.Tensor and target.layout is torch.strided


def _takes_bytes(target: torch.Tensor, kind: Kind) -> bool:
    """Whether stored bytes mean the same in its memory."""
    return (
        target.dtype == kind.dtype
        and target.device.type == "cpu"
        and is_addressable(target)
        and not target.is_conj()
        and not target.is_neg()
    )


def rows_in_place(want: Want, kind: Kind) -> Rows | None:
    """How what is wanted lies in the target's memory; None: it cannot, or not in rows worth it."""
    target = want.target
    assert target is not None
    if not _takes_bytes(target, kind):
        return None
    rows = Rows(want.box.lengths, kind.strides, target.stride(), kind.itemsize)
    return rows if not rows.levels or rows.run >= SHORT_ROW else None


def rows_of_dense(want: Want, kind: Kind) -> Rows | None:
    """One run where the whole tensor is wanted and the target has its elements together, in whatever order."""
    target = want.target
    assert target is not None
    whole = want.box.lengths == kind.sizes and _takes_bytes(target, kind) and is_one_run(kind.sizes, target.stride())
    return Rows((kind.payload,), (1,), (1,), 1) if whole else None


def copy_part(part: Part) -> bool:
    """Copies what its want has of a part to the target. Returns whether the copy is still going on, on another device."""
    target = part.want.target
    assert target is not None
    common = part.box.common(part.want.box)
    if common is None:
        return False
    source = part.values()
    for dim, (start, size) in enumerate(zip(common.offsets, common.lengths, strict=True)):
        if size != source.size(dim):
            source = source.narrow(dim, start - part.box.offsets[dim], size)
        if size != target.size(dim):
            target = target.narrow(dim, start - part.want.box.offsets[dim], size)
    elsewhere = bool(target.is_cuda)
    target.copy_(source, non_blocking=elsewhere and part.arena.memory.is_pinned())
    return elsewhere


def narrowed(tensor: torch.Tensor, want: Want) -> torch.Tensor:
    for dim, (start, size) in enumerate(zip(want.box.offsets, want.box.lengths, strict=False)):
        if size < tensor.size(dim):
            tensor = tensor.narrow(dim, start, size)
    return tensor


def same_quantiser(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two quantised tensors give the same integers the same meaning."""
    if one.qscheme() != other.qscheme():
        return False
    if one.qscheme() in (torch.per_tensor_affine, torch.per_tensor_symmetric):
        return (one.q_scale(), one.q_zero_point()) == (other.q_scale(), other.q_zero_point())
    return (
        one.q_per_channel_axis() == other.q_per_channel_axis()
        and torch.equal(one.q_per_channel_scales(), other.q_per_channel_scales())
        and torch.equal(one.q_per_channel_zero_points(), other.q_per_channel_zero_points())
    )
