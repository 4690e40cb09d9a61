"""Verifies fetched items of a checkpoint, corrects wrong layout predictions, and delivers the items to the planner."""

from __future__ import annotations

import ctypes
import io
import struct
from array import array
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any

import torch
from torch.distributed.checkpoint.planner import LoadItemType

from .. import _core
from .._exceptions import S3DataLossError
from ._items import Item, Joined, archive_damage, verify_item
from ._layout import Found, TrailerSizes, payload_begin, same_layout
from ._stored import Part, ReadTarget, StoredItem, copy_part, is_addressable, narrowed, same_quantiser

if TYPE_CHECKING:
    from torch.distributed.checkpoint.planner import LoadPlanner

    from ._claims import MemoryLeases

# Lets autograd detect that a tensor was changed in place (torch 2.4 and later).
_increment_version: Callable[[torch.Tensor], None] = getattr(torch.autograd.graph, "increment_version", lambda tensor: None)

# Start of a zip data descriptor: signature, CRC-32, lower 32 bits of the size (APPNOTE.TXT 4.3.9).
_DESCRIPTOR = struct.Struct("<4sII")


def _check_crc(stored: StoredItem, crc: Callable[[], int], size: int, descriptor_at: int) -> None:
    """Compares the CRC-32 of a payload of `size` bytes with the one in its data descriptor.

    Raises:
        S3DataLossError: They differ.
    """
    signature, expected, described = _DESCRIPTOR.unpack(ctypes.string_at(descriptor_at, _DESCRIPTOR.size))
    if signature != b"PK\7\10" or described != size & 0xFFFFFFFF or not expected:  # 0: torch was configured to write no CRC-32
        return
    found = crc()
    if found != expected:
        raise S3DataLossError(
            f"{stored.path}: bytes {stored.begin} to {stored.begin + stored.length} have the CRC-32 {found:08x}, and were"
            f" saved with {expected:08x}: the data was corrupted in transfer or in storage; retry, or load another checkpoint"
        )


_COMPRESSED = (torch.sparse_csr, torch.sparse_csc, torch.sparse_bsr, torch.sparse_bsc)


class Delivery:
    """Verifies items and delivers them to the planner, whose hooks run on the calling thread.

    Args:
        decode: Reverts the transforms of extensions. Takes (request, descriptors, stream) and returns a stream.
        drain: Waits until all requests in flight have completed.
    """

    def __init__(
        self,
        planner: LoadPlanner,
        trailer_sizes: TrailerSizes,
        leases: MemoryLeases,
        decode: Callable[[Any, Any, IO[bytes]], IO[bytes]],
        drain: Callable[[], None],
    ) -> None:
        self._planner = planner
        self._trailer_sizes = trailer_sizes
        self._leases = leases
        self._decode = decode
        self._drain = drain
        self.archives = _core.TensorArchives()
        self.refetch: list[StoredItem] = []  # the prediction was wrong, and not all bytes of the item are in memory

    def resolve(self, read: ReadTarget) -> torch.Tensor:
        """Asks the planner for the target tensor."""
        target: torch.Tensor = self._planner.resolve_tensor(read.request)
        if target.layout is torch.strided and not target.is_quantized:
            target = target.detach()  # not for others: copy_ would set the quantizer or the indices of the alias only
        if tuple(target.size()) != read.box.lengths:
            raise AssertionError(
                f"req {read.request.storage_index} mismatch sizes {target.size()} vs {torch.Size(read.box.lengths)}"
            )
        read.target = target
        return target

    def take(self, items: list[StoredItem]) -> None:
        """Processes items of which all requested bytes have arrived."""
        places = array("Q")
        tensors = []
        for stored in items:
            if stored.spec is not None:
                tensors.append(stored)
                places.extend((stored.head_at, stored.head, stored.spec.payload, stored.tail_at, stored.tail))
            else:
                self._take_whole(stored, ctypes.string_at(stored.head_at, stored.length))
        for stored, found in zip(tensors, self.archives.read(places), strict=True):
            layout = stored.layout
            if found == layout or (isinstance(found, tuple) and layout is not None and same_layout(found, layout)):
                self._verify(stored)
                for part in stored.parts:
                    self.copy(part)
                stored.parts = []
                self._commit(stored)
            else:
                self._handle_mismatch(stored, found)

    @staticmethod
    def _verify(stored: StoredItem) -> None:
        """Compares the CRC-32 of a payload that was fetched completely, into one memory range or in pieces."""
        size = stored.payload
        address = stored.payload_address()
        if address is not None and size:
            _check_crc(stored, lambda: _core.crc32(address, size), size, stored.tail_at)
        elif (crc := stored.payload_crc()) is not None:
            _check_crc(stored, lambda: crc, size, stored.tail_at)

    def copy(self, part: Part) -> None:
        if copy_part(part):
            event = torch.cuda.Event()  # type: ignore[no-untyped-call]
            assert part.read.target is not None
            event.record(torch.cuda.current_stream(part.read.target.device))
            part.arena.events.append(event)

    def _commit(self, stored: StoredItem) -> None:
        for read in stored.reads:
            assert read.target is not None
            if read.rows is not None and not read.target.is_inference():
                _increment_version(read.target)
            self._planner.commit_tensor(read.request, read.target)
            self._leases.release(read)

    # ---- wrong predictions

    def _handle_mismatch(self, stored: StoredItem, found: Found) -> None:
        spec = stored.spec
        assert spec is not None
        if isinstance(found, int):
            self._trailer_sizes.learn(spec.payload, stored.length - found - spec.payload)
        elif found is not None and self._reorder(stored, found):
            self._commit(stored)
            return
        data = self._in_memory(stored)
        if data is None:
            for read in stored.reads:  # the item is fetched again later; other reads may use the memory until then
                self._leases.release(read)
            self.refetch.append(stored)
            return
        self._take_whole(stored, data)

    @staticmethod
    def _reorder(stored: StoredItem, found: tuple[Any, ...]) -> bool:
        """Reorders the target in place if the stored tensor differs only in its strides. Returns whether it did."""
        assert stored.layout is not None
        dtype, sizes, _, offset, size = stored.layout
        if not stored.is_one_target or (found[0], found[1], found[3], found[4]) != (dtype, sizes, offset, size):
            return False
        last = sum((length - 1) * stride for length, stride in zip(sizes, found[2], strict=True))
        target = stored.reads[0].target
        assert target is not None
        if last >= target.numel():
            return False
        Delivery._verify(stored)
        elements = target.as_strided((target.numel(),), (1,)).clone()
        target.copy_(elements.as_strided(sizes, found[2]))
        return True

    @staticmethod
    def _in_memory(stored: StoredItem) -> bytes | None:
        """Returns the bytes of the item; None if the payload was not fetched completely into one memory range."""
        spec = stored.spec
        assert spec is not None
        address = stored.payload_address()
        if address is None:
            return None
        head, tail = (ctypes.string_at(at, n) for at, n in ((stored.head_at, stored.head), (stored.tail_at, stored.tail)))
        return b"".join((head, ctypes.string_at(address, spec.payload) if spec.payload else b"", tail))

    # ---- items of any kind

    def _take_whole(self, stored: StoredItem, data: bytes) -> None:
        """Learns the trailer size from an item in memory, then delivers the item."""
        begin = None if stored.declared is None else payload_begin(data)
        if stored.declared is not None and begin is not None:
            self._trailer_sizes.learn(stored.declared.payload, len(data) - begin - stored.declared.payload)
        self.take_item(stored, Joined(data))

    def take_item(self, stored: StoredItem, item: Item) -> None:
        """Verifies an item and delivers it to the planner, as torch's own reader does.

        Raises:
            S3DataLossError: A CRC-32 does not match, or torch cannot read the archive.
        """
        if not stored.extensions:
            verify_item(stored, item, stored.length)
        try:
            for read in stored.reads:
                self._deliver_read(stored, read, self._opened(stored, read, item))
        except RuntimeError as error:
            damage = archive_damage(stored, error)
            if damage is None:
                raise
            raise damage from error

    def _opened(self, stored: StoredItem, read: ReadTarget, item: Item) -> IO[bytes]:
        """Returns the item as a seekable file. Items with extensions are decoded and verified first."""
        if not stored.extensions:
            return item.open()
        decoded = Joined(self._decode(read.request, stored.extensions, item.open()).read(-1))
        verify_item(stored, decoded, len(decoded.data))
        return decoded.open()

    def _deliver_read(self, stored: StoredItem, read: ReadTarget, stream: IO[bytes]) -> None:
        request = read.request
        if request.type == LoadItemType.BYTE_IO:
            self._planner.load_bytes(request, stream if isinstance(stream, io.BytesIO) else io.BytesIO(stream.read(-1)))
            return
        tensor = narrowed(torch.load(stream, map_location="cpu", weights_only=True), read)
        target = read.target if read.target is not None else self.resolve(read)
        if target.size() != tensor.size():
            raise AssertionError(f"req {request.storage_index} mismatch sizes {target.size()} vs {tensor.size()}")
        if read.lease is None and is_addressable(target):
            read.lease = self._leases.acquire(request, target)
            if read.lease is None:
                self._drain()
        self._fill(read, target, tensor)
        self._planner.commit_tensor(request, target)
        self._leases.release(read)

    def _fill(self, read: ReadTarget, target: torch.Tensor, tensor: torch.Tensor) -> None:
        quantised = target.is_quantized and tensor.is_quantized
        known = not quantised or same_quantiser(target, tensor)
        with torch.no_grad():
            if target.layout is tensor.layout and tensor.layout in _COMPRESSED:
                target.resize_as_sparse_(tensor)  # copy_ requires the same number of specified elements
            target.copy_(tensor)
        if not known and not same_quantiser(self._planner.resolve_tensor(read.request), tensor):
            raise ValueError(
                f"{read.request.dest_index.fqn}: the target of a part of a quantized tensor must have the scale and zero point"
                f" that the tensor was saved with ({tensor.qscheme()}); create the target with these"
            )
