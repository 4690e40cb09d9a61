"""What was fetched of a checkpoint's items: verified, put right where it was not as predicted, and given to the planner."""

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
from ._items import Item, Joined, verify_item
from ._layout import Found, Tails, payload_begin, same_layout
from ._stored import Part, Stored, Want, copy_part, is_addressable, narrowed, same_quantiser

if TYPE_CHECKING:
    from torch.distributed.checkpoint.planner import LoadPlanner

    from ._claims import Claims

# What autograd goes by when it looks whether a tensor was changed in place (torch 2.4 and later).
_note_written: Callable[[torch.Tensor], None] = getattr(torch.autograd.graph, "increment_version", lambda tensor: None)


# How what follows a record begins: signature, CRC-32, the lower half of its size (APPNOTE.TXT 4.3.9).
_DESCRIPTOR = struct.Struct("<4sII")


def _hold_to_crc(stored: Stored, crc: Callable[[], int], size: int, descriptor_at: int) -> None:
    """Compares the CRC-32 of a payload of `size` bytes with the one in what follows it.

    Raises:
        S3DataLossError: They differ.
    """
    signature, expected, described = _DESCRIPTOR.unpack(ctypes.string_at(descriptor_at, _DESCRIPTOR.size))
    if signature != b"PK\7\10" or described != size & 0xFFFFFFFF or not expected:  # torch was told to write none
        return
    found = crc()
    if found != expected:
        raise S3DataLossError(
            f"{stored.path}: bytes {stored.begin} to {stored.begin + stored.length} have the CRC-32 {found:08x}, and were"
            f" saved with {expected:08x}: they changed on their way or where they are stored; load again, or another save"
        )


_COMPRESSED = (torch.sparse_csr, torch.sparse_csc, torch.sparse_bsr, torch.sparse_bsc)


class Delivery:
    """Hooks of the planner run on the calling thread.

    Args:
        decode: Removes what extensions did to an item: gives a stream, from (request, descriptors, stream).
        settle: Has everything that is under way arrive.
    """

    def __init__(
        self,
        planner: LoadPlanner,
        tails: Tails,
        claims: Claims,
        decode: Callable[[Any, Any, IO[bytes]], IO[bytes]],
        settle: Callable[[], None],
    ) -> None:
        self._planner = planner
        self._tails = tails
        self._claims = claims
        self._decode = decode
        self._settle = settle
        self.archives = _core.TensorArchives()
        self.again: list[Stored] = []  # was not as predicted, and is not in memory whole

    def resolve(self, want: Want) -> torch.Tensor:
        """Has the planner say where it goes."""
        target: torch.Tensor = self._planner.resolve_tensor(want.request)
        if target.layout is torch.strided and not target.is_quantized:
            target = target.detach()  # of others an alias would get the quantiser or the indices, and the planner's own not
        if tuple(target.size()) != want.box.lengths:
            raise AssertionError(
                f"req {want.request.storage_index} mismatch sizes {target.size()} vs {torch.Size(want.box.lengths)}"
            )
        want.target = target
        return target

    def take(self, items: list[Stored]) -> None:
        """Items that have arrived whole."""
        places = array("Q")
        tensors = []
        for stored in items:
            if stored.kind is not None:
                tensors.append(stored)
                places.extend((stored.head_at, stored.head, stored.kind.payload, stored.tail_at, stored.tail))
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
                self._mend(stored, found)

    @staticmethod
    def _verify(stored: Stored) -> None:
        """Compares the CRC-32 of a payload that was fetched whole, in one run of memory or in pieces."""
        size = stored.payload
        address = stored.payload_address()
        if address is not None and size:
            _hold_to_crc(stored, lambda: _core.crc32(address, size), size, stored.tail_at)
        elif (crc := stored.payload_crc()) is not None:
            _hold_to_crc(stored, lambda: crc, size, stored.tail_at)

    def copy(self, part: Part) -> None:
        if copy_part(part):
            event = torch.cuda.Event()  # type: ignore[no-untyped-call]
            assert part.want.target is not None
            event.record(torch.cuda.current_stream(part.want.target.device))
            part.arena.events.append(event)

    def _commit(self, stored: Stored) -> None:
        for want in stored.wants:
            assert want.target is not None
            if want.rows is not None and not want.target.is_inference():
                _note_written(want.target)
            self._planner.commit_tensor(want.request, want.target)
            self._claims.give_back(want)

    # ---- what was not as predicted

    def _mend(self, stored: Stored, found: Found) -> None:
        kind = stored.kind
        assert kind is not None
        if isinstance(found, int):
            self._tails.learn(kind.payload, stored.length - found - kind.payload)
        elif found is not None and self._rearrange(stored, found):
            self._commit(stored)
            return
        data = self._in_memory(stored)
        if data is None:
            for want in stored.wants:  # it is filled anew, and what waits for the same memory need not wait for that
                self._claims.give_back(want)
            self.again.append(stored)
            return
        self._take_whole(stored, data)

    @staticmethod
    def _rearrange(stored: Stored, found: tuple[Any, ...]) -> bool:
        """Where only the order of the elements is another one than the target's: from the target's own memory."""
        assert stored.layout is not None
        dtype, sizes, _, offset, size = stored.layout
        if not stored.is_one_target or (found[0], found[1], found[3], found[4]) != (dtype, sizes, offset, size):
            return False
        last = sum((length - 1) * stride for length, stride in zip(sizes, found[2], strict=True))
        target = stored.wants[0].target
        assert target is not None
        if last >= target.numel():
            return False
        Delivery._verify(stored)
        elements = target.as_strided((target.numel(),), (1,)).clone()
        target.copy_(elements.as_strided(sizes, found[2]))
        return True

    @staticmethod
    def _in_memory(stored: Stored) -> bytes | None:
        """The bytes of the item, as they were fetched; None: not all of them were, or not to one place."""
        kind = stored.kind
        assert kind is not None
        address = stored.payload_address()
        if address is None:
            return None
        head, tail = (ctypes.string_at(at, n) for at, n in ((stored.head_at, stored.head), (stored.tail_at, stored.tail)))
        return b"".join((head, ctypes.string_at(address, kind.payload) if kind.payload else b"", tail))

    # ---- items of any kind

    def _take_whole(self, stored: Stored, data: bytes) -> None:
        """Learns from an item in memory where its payload is."""
        begin = None if stored.said is None else payload_begin(data)
        if stored.said is not None and begin is not None:
            self._tails.learn(stored.said.payload, len(data) - begin - stored.said.payload)
        self.take_item(stored, Joined(data))

    def take_item(self, stored: Stored, item: Item) -> None:
        """Verifies an item and gives it to the planner, as torch's own reader does.

        Raises:
            S3DataLossError: It is not what was saved.
        """
        if not stored.extensions:
            verify_item(stored, item, stored.length)
        for want in stored.wants:
            self._take_want(stored, want, self._opened(stored, want, item))

    def _opened(self, stored: Stored, want: Want, item: Item) -> IO[bytes]:
        """The item as a seekable file; without what extensions did to it, and then verified."""
        if not stored.extensions:
            return item.open()
        decoded = Joined(self._decode(want.request, stored.extensions, item.open()).read(-1))
        verify_item(stored, decoded, len(decoded.data))
        return decoded.open()

    def _take_want(self, stored: Stored, want: Want, stream: IO[bytes]) -> None:
        request = want.request
        if request.type == LoadItemType.BYTE_IO:
            self._planner.load_bytes(request, stream if isinstance(stream, io.BytesIO) else io.BytesIO(stream.read(-1)))
            return
        tensor = narrowed(torch.load(stream, map_location="cpu", weights_only=True), want)
        target = want.target if want.target is not None else self.resolve(want)
        if target.size() != tensor.size():
            raise AssertionError(f"req {request.storage_index} mismatch sizes {target.size()} vs {tensor.size()}")
        if want.claim is None and is_addressable(target):
            want.claim = self._claims.claim(request, target)
            if want.claim is None:
                self._settle()
        self._fill(want, target, tensor)
        self._planner.commit_tensor(request, target)
        self._claims.give_back(want)

    def _fill(self, want: Want, target: torch.Tensor, tensor: torch.Tensor) -> None:
        quantised = target.is_quantized and tensor.is_quantized
        known = not quantised or same_quantiser(target, tensor)
        with torch.no_grad():
            if target.layout is tensor.layout and tensor.layout in _COMPRESSED:
                target.resize_as_sparse_(tensor)  # copy_ wants as many specified elements
            target.copy_(tensor)
        if not known and not same_quantiser(self._planner.resolve_tensor(want.request), tensor):
            raise ValueError(
                f"{want.request.dest_index.fqn}: a part of a quantised tensor takes the scale and zero point of the whole, and"
                f" these are not the ones it was saved with ({tensor.qscheme()}); make the target with the saved ones"
            )
