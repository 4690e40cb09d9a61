"""Delivers loaded items of a checkpoint to the planner, and those that are not plain tensors through ``torch.load``."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any

import torch
from torch.distributed.checkpoint.planner import LoadItemType

from ._items import Item, Joined, archive_damage, verify_item
from ._stored_items import ReadTarget, StoredItem, narrowed, repeated_dims, same_quantiser

if TYPE_CHECKING:
    from torch.distributed.checkpoint.planner import LoadPlanner

# Lets autograd detect that a tensor was changed in place (torch 2.4 and later).
_increment_version: Callable[[torch.Tensor], None] = getattr(torch.autograd.graph, "increment_version", lambda tensor: None)

_COMPRESSED = (torch.sparse_csr, torch.sparse_csc, torch.sparse_bsr, torch.sparse_bsc)


class Delivery:
    """Delivers items to the planner, whose hooks run on the calling thread.

    Args:
        decode: Reverts the transforms of extensions. Takes (request, descriptors, stream) and returns a stream.
    """

    def __init__(self, planner: LoadPlanner, decode: Callable[[Any, Any, IO[bytes]], IO[bytes]]) -> None:
        self._planner = planner
        self._decode = decode

    def resolve(self, read: ReadTarget) -> torch.Tensor:
        """Asks the planner for the target tensor."""
        target: torch.Tensor = self._planner.resolve_tensor(read.request)
        needs_alias = target.requires_grad or type(target) is not torch.Tensor
        if needs_alias and target.layout is torch.strided and not target.is_quantized:
            target = target.detach()  # not for others: copy_ would set the quantizer or the indices of the alias only
        if target.size() != read.request.lengths:
            raise AssertionError(
                f"req {read.request.storage_index} mismatch sizes {target.size()} vs {torch.Size(read.request.lengths)}"
            )
        read.target = target
        return target

    def commit(self, read: ReadTarget) -> None:
        """Hands a target whose elements are in its memory to the planner."""
        target = read.target
        assert target is not None
        if not target.is_inference():
            _increment_version(target)
        self._planner.commit_tensor(read.request, target)

    def take_item(self, stored: StoredItem, item: Item, reads: list[ReadTarget]) -> None:
        """Verifies an item and delivers `reads` of it to the planner, as torch's own reader does.

        Raises:
            S3DataLossError: A CRC-32 does not match, or torch cannot read the archive.
        """
        if not stored.extensions:
            verify_item(stored, item, stored.length)
        try:
            for read in reads:
                self._deliver_read(read, self._opened(stored, read, item))
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

    def _deliver_read(self, read: ReadTarget, stream: IO[bytes]) -> None:
        request = read.request
        if request.type == LoadItemType.BYTE_IO:
            self._planner.load_bytes(request, stream if isinstance(stream, io.BytesIO) else io.BytesIO(stream.read(-1)))
            return
        tensor = narrowed(torch.load(stream, map_location="cpu", weights_only=True), read.request)
        target = read.target if read.target is not None else self.resolve(read)
        if target.size() != tensor.size():
            raise AssertionError(f"req {request.storage_index} mismatch sizes {target.size()} vs {tensor.size()}")
        self._fill(read, target, tensor)
        self._planner.commit_tensor(request, target)

    def _fill(self, read: ReadTarget, target: torch.Tensor, tensor: torch.Tensor) -> None:
        quantised = target.is_quantized and tensor.is_quantized
        known = not quantised or same_quantiser(target, tensor)
        with torch.no_grad():
            if target.layout is tensor.layout and tensor.layout in _COMPRESSED:
                target.resize_as_sparse_(tensor)  # copy_ requires the same number of specified elements
            _copy(target, tensor)
        if not known and not same_quantiser(self._planner.resolve_tensor(read.request), tensor):
            raise ValueError(
                f"{read.request.dest_index.fqn}: the target of a part of a quantized tensor must have the scale and zero point"
                f" that the tensor was saved with ({tensor.qscheme()}); create the target with these"
            )


def _copy(target: torch.Tensor, tensor: torch.Tensor) -> None:
    """Copies `tensor` to `target`. An expanded target takes equal elements; for others, copy_ raises RuntimeError."""
    once, single = target, tensor
    for dim in repeated_dims(target) if tensor.layout is torch.strided else ():
        once, single = once.narrow(dim, 0, 1), single.narrow(dim, 0, 1)
    if once is not target and torch.equal(single.expand_as(tensor), tensor):
        once.copy_(single)
    else:
        target.copy_(tensor)
