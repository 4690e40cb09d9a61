"""Executes a load plan with the core's item loader: many items in parallel, directly into the tensors where possible."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch.distributed.checkpoint.planner import LoadItemType
from torch.utils.dlpack import to_dlpack  # type: ignore[attr-defined]

from .. import _core
from .._exceptions import S3NotFoundError
from .._objects import parse_s3_uri
from ._delivery import Delivery
from ._items import Joined
from ._planners import loads_own_memory
from ._stored_items import PLAIN, is_addressable, repeated_dims, takes_bytes

if TYPE_CHECKING:
    from torch.distributed.checkpoint.planner import LoadPlanner

    from .._client import S3Client
    from ._layout import TrailerSizes
    from ._stored_items import ReadTarget, StoredItem

# 8 MiB and an eighth, so that a tensor of a power of two bytes plus its header and trailer takes a power of two requests.
REQUEST_BYTES = 9 * 1024**2
BATCH_BYTES = 4 * REQUEST_BYTES  # verified and delivered together
BATCH_ITEMS = 512
UNIT_BYTES = 2 * REQUEST_BYTES  # larger tensors are fetched in pieces
PART_BYTES = 4 * 1024**2  # size of a piece that is read through scratch memory
WINDOW_BYTES = 512 * 1024**2  # requested and not yet delivered, if the targets are the memory of the state dict
UNKNOWN_WINDOW_BYTES = 128 * 1024**2  # the same if the planner may allocate the targets

# Dtypes that DLPack has. Tensors of others are passed as bytes.
_NO_DLPACK = frozenset(dtype for dtype in PLAIN if str(dtype).startswith("torch.float8"))


def capsule_of(tensor: torch.Tensor) -> object:
    """Returns a DLPack capsule of the memory of `tensor`; None if its device has no memory that DLPack describes."""
    try:
        return to_dlpack(tensor.view(torch.uint8) if tensor.dtype in _NO_DLPACK else tensor)
    except (RuntimeError, BufferError, TypeError):
        return None


class Arena:
    """Scratch memory of the item loader.

    Attributes:
        events: Recorded after copies to other devices, which read this memory.
    """

    def __init__(self, size: int, pinned: bool) -> None:
        self.memory = torch.empty(size, dtype=torch.uint8, device="cpu", pin_memory=pinned)
        self.events: list[Any] = []

    @property
    def capsule(self) -> object:
        return to_dlpack(self.memory)

    def wait(self) -> None:
        """Waits until the copies have completed."""
        for event in self.events:
            event.synchronize()
        self.events.clear()


class _Arenas:
    """Allocates arenas.

    Attributes:
        pinned: New arenas use pinned memory, which can be copied to other devices asynchronously.
    """

    def __init__(self) -> None:
        self.pinned = False

    def __call__(self, size: int) -> Arena:
        return Arena(size, self.pinned)


def _missing(error: S3NotFoundError) -> S3NotFoundError:
    """Returns the error for a missing object that the metadata refers to."""
    if error.code == "NoSuchBucket":
        return error
    explained = S3NotFoundError(
        f"{error}; the checkpoint names this object, and may have been replaced or removed since its .metadata was read:"
        " load again; if that fails too, the checkpoint is incomplete"
    )
    explained.__dict__.update(error.__dict__)
    return explained


class Load:
    """One execution of a load plan. The planner's hooks run on the calling thread.

    Args:
        path_of: Returns the full path of an object from its path in the metadata.
        decode: Reverts the transforms of extensions. Takes (request, descriptors, stream) and returns a stream.
    """

    def __init__(
        self,
        client: S3Client,
        planner: LoadPlanner,
        path_of: Callable[[str], str],
        decode: Callable[[Any, Any, Any], Any],
        *,
        max_gap_size: int | None,
        max_request_size: int | None,
        verify_all: bool,
        trailer_sizes: TrailerSizes,
    ) -> None:
        self._path_of = path_of
        self._arenas = _Arenas()
        self._loader = _core.ItemLoader(
            client.core,
            trailer_sizes,
            self._arenas,
            batch_bytes=BATCH_BYTES,
            batch_items=BATCH_ITEMS,
            unit_bytes=UNIT_BYTES,
            part_bytes=PART_BYTES,
            window_bytes=WINDOW_BYTES if loads_own_memory(planner) else min(WINDOW_BYTES, UNKNOWN_WINDOW_BYTES),
            max_gap=max_gap_size,
            max_request=REQUEST_BYTES if max_request_size is None else max_request_size,
            parallel=client.parallel_parts,
            verify_all=verify_all,
        )
        self._delivery = Delivery(planner, decode)
        self._locations: dict[str, tuple[str, str]] = {}

    def run(self, items: list[StoredItem]) -> dict[str, int]:
        """Loads the items. Returns what it requested."""
        loader = self._loader
        try:
            for token, stored in enumerate(items):
                full = self._add(token, stored)
                while full:
                    self._take(items, loader.next(False))
                    full = loader.full
            while not loader.idle:
                self._take(items, loader.next(True))
            loader.clear_scratch()
            return loader.usage()
        except S3NotFoundError as error:
            raise _missing(error) from error
        finally:
            loader.close()  # no request may write to the tensors after this method returns

    def _add(self, token: int, stored: StoredItem) -> bool:
        targets = [self._target_of(read) for read in stored.reads]
        spec = None if any(target is None for target in targets) else stored.spec
        reads: list[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], object, tuple[int, ...], bool]] = []
        for read, target in zip(stored.reads, targets, strict=True):
            if target is None:
                reads.append((*_box_of(read), None, (), False))
                continue
            direct = spec is not None and takes_bytes(target, spec)
            reads.append((*_box_of(read), capsule_of(target), target.stride(), direct))
        location = self._locations.get(stored.path)
        if location is None:
            location = self._locations[stored.path] = parse_s3_uri(self._path_of(stored.path))
        name = stored.reads[0].request.storage_index.fqn
        described, crc32s = ((), b"") if spec is None else (spec.described, stored.crc32s)
        return self._loader.add(token, name, *location, stored.begin, stored.length, described, reads, crc32s)

    def _target_of(self, read: ReadTarget) -> torch.Tensor | None:
        """Asks the planner for the target. Returns None for what only torch.load and copy_ handle."""
        if read.request.type == LoadItemType.BYTE_IO:
            return None
        target = self._delivery.resolve(read)
        if not is_addressable(target) or repeated_dims(target):
            return None
        if target.is_cuda:
            self._arenas.pinned = True
        return target

    def _take(self, items: list[StoredItem], events: list[tuple[Any, ...]]) -> None:
        for event in events:
            stored = items[event[0]]
            if len(event) > 3:
                _copy_part(stored, *event[1:])
            elif event[2] is None:
                for index in event[1]:
                    self._delivery.commit(stored.reads[index])
            else:
                self._delivery.take_item(stored, Joined(event[2]), [stored.reads[index] for index in event[1]])


def _box_of(read: ReadTarget) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    request = read.request
    return request.storage_offsets, request.lengths, request.dest_offsets


def _copy_part(
    stored: StoredItem,
    index: int,
    arena: Arena,
    at: int,
    lengths: tuple[int, ...],
    in_part: tuple[int, ...],
    in_read: tuple[int, ...],
    sizes: tuple[int, ...],
) -> None:
    """Copies elements from scratch memory to the target of a read."""
    target, spec = stored.reads[index].target, stored.spec
    assert target is not None
    assert spec is not None
    source = arena.memory[at : at + math.prod(lengths) * spec.itemsize].view(spec.dtype).view(lengths)
    for dim, size in enumerate(sizes):
        if size != source.size(dim):
            source = source.narrow(dim, in_part[dim], size)
        if size != target.size(dim):
            target = target.narrow(dim, in_read[dim], size)
    target.copy_(source, non_blocking=target.is_cuda and arena.memory.is_pinned())
    if target.is_cuda:
        event = torch.cuda.Event()  # type: ignore[no-untyped-call]
        event.record(torch.cuda.current_stream(target.device))
        arena.events.append(event)
