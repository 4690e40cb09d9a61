"""Tensors on their way to an upload: on the CPU, dense, and copied from a device while earlier ones are being sent."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from typing import Any, NamedTuple

import torch
from torch.distributed.checkpoint.planner import SavePlanner, WriteItem

from ._archive import has_memory, is_plain
from ._boxes import Box, is_one_run
from ._devices import stream_module

# Tensors on devices are copied into pinned chunks. They have the size of a load's arenas: torch caches pinned memory by size.
CHUNK_BYTES = 8 * 1024**2
MAX_PINNED_BYTES = 96 * 1024**2  # of all threads of a save; each thread has at least two chunks
ALIGNMENT = 64


class Staged:
    """A tensor as it is written.

    Attributes:
        item: What the plan says of it.
        tensor: On the CPU, or on the meta device where its bytes come in pieces from another device.
        fresh: Its memory was allocated for the upload, and may be freed once it has been sent.
    """

    __slots__ = ("fresh", "item", "tensor")

    def __init__(self, item: WriteItem, tensor: torch.Tensor, fresh: bool = False) -> None:
        self.item = item
        self.tensor = tensor
        self.fresh = fresh


class Settings(NamedTuple):
    """How tensors are staged.

    Attributes:
        copy_ahead_bytes: How much is copied from a device before it is needed, within half of the chunks. 0: the copy of a
            tensor is complete before the planner is asked for the next one.
        max_chunks: Pinned chunks of one thread.
        row_major: The elements are written in row-major order. False: in the order that the tensor has in memory.
    """

    copy_ahead_bytes: int
    max_chunks: int
    row_major: bool = False


def chunks_per_thread(thread_count: int) -> int:
    return max(2, MAX_PINNED_BYTES // CHUNK_BYTES // thread_count)


@contextmanager
def staged(
    items: Iterable[WriteItem], planner: SavePlanner, settings: Settings, settle: Callable[[], None]
) -> Iterator[Iterable[tuple[Staged, Iterator[torch.Tensor]]]]:
    """The items' tensors in order, each with its bytes: tensors on the CPU whose bytes follow each other.

    The pieces of a tensor end with the step to the next tensor. No copy from a device is under way after the block.

    Args:
        items: Tensors of a plan.
        planner: Gives the data, on the calling thread.
        settings: How they are staged.
        settle: Returns when no piece that was given out is read any more.
    """
    with closing(_Pipeline(planner, settings, settle).run(items)) as arriving:
        yield ((first.entry, _pieces(first, arriving)) for first in arriving)


def _pieces(arrival: _Arrival, arriving: Iterator[_Arrival]) -> Iterator[torch.Tensor]:
    """Of one tensor. Does not look at the next tensor: the planner may give it in the same memory."""
    while True:
        yield arrival.piece
        if arrival.last:
            return
        arrival = next(arriving)


def dense(item: WriteItem, tensor: torch.Tensor, fresh: bool = False) -> Staged:
    """As it is where its bytes are one run of memory, else a copy that keeps the order of its dimensions."""
    if tensor.layout is not torch.strided:
        return Staged(item, tensor, fresh)
    stored = tensor.untyped_storage().nbytes()
    # torch.save, which writes what is not plain, writes the whole storage of a view.
    if tensor.is_contiguous() and (stored <= tensor.nbytes or is_plain(tensor)):
        return Staged(item, tensor, fresh)
    # Equal sizes alone do not tell: an expanded tensor may be as large as its storage and have one element of it.
    if stored == tensor.nbytes and is_one_run(tensor.shape, tensor.stride()):
        return Staged(item, tensor, fresh)
    return Staged(item, tensor.clone(), True)


class _Chunk:
    """Pinned memory that is filled from its begin.

    Attributes:
        used: Bytes that are in use.
        waiting: Pieces in it that were not given out yet.
    """

    __slots__ = ("memory", "used", "waiting")

    def __init__(self) -> None:
        try:
            self.memory = torch.empty(CHUNK_BYTES, dtype=torch.uint8, device="cpu", pin_memory=True)
        except RuntimeError:  # the device does not pin memory, or no more can be pinned: copies are slower
            self.memory = torch.empty(CHUNK_BYTES, dtype=torch.uint8, device="cpu")
        self.used = 0
        self.waiting = 0

    def take(self, size: int) -> torch.Tensor:
        piece = self.memory[self.used : self.used + size]
        self.used += -(-size // ALIGNMENT) * ALIGNMENT
        self.waiting += 1
        return piece


class _Chunks:
    """A bounded pool of chunks. Chunks are reused in the order in which they were filled, after `settle`."""

    def __init__(self, max_chunks: int, settle: Callable[[], None]) -> None:
        self._left = max_chunks
        self._settle = settle
        self._filled: deque[_Chunk] = deque()  # the last one may have room
        self._free: list[_Chunk] = []

    def _last_has(self, size: int) -> bool:
        return bool(self._filled) and self._filled[-1].used + size <= CHUNK_BYTES

    def has_room(self, size: int) -> bool:
        """Whether `take` finds memory. It always does when all pieces were given out."""
        return self._last_has(size) or bool(self._free) or self._left > 0 or self._filled[0].waiting == 0

    def take(self, size: int) -> tuple[_Chunk, torch.Tensor]:
        """Memory for a piece of at most CHUNK_BYTES, and the chunk that it is in."""
        if not self._last_has(size):
            self._filled.append(self._next())
        return self._filled[-1], self._filled[-1].take(size)

    def _next(self) -> _Chunk:
        if not self._free and self._left > 0:
            self._left -= 1
            return _Chunk()
        if not self._free:
            self._settle()
            while self._filled and self._filled[0].waiting == 0:
                self._filled[0].used = 0
                self._free.append(self._filled.popleft())
        return self._free.pop()


class _Arrival(NamedTuple):
    """A piece on its way.

    Attributes:
        entry: The tensor that it belongs to.
        piece: Where it arrives.
        last: It is the last one of the tensor.
        event: Happens when the copy is complete; None: it is.
        chunk: Holds the piece; None: it is the memory of a tensor on the CPU.
        source: Memory on the device that the copy reads. While it is held, torch does not reuse that memory.
    """

    entry: Staged
    piece: torch.Tensor
    last: bool = True
    event: Any = None
    chunk: _Chunk | None = None
    source: torch.Tensor | None = None


class _Pipeline:
    """Copies tensors from devices on streams of its own, so that computing and uploading go on meanwhile."""

    def __init__(self, planner: SavePlanner, settings: Settings, settle: Callable[[], None]) -> None:
        self._planner = planner
        self._settings = settings
        self._chunks = _Chunks(settings.max_chunks, settle)
        self._streams: dict[torch.device, Any] = {}
        self._ahead: deque[_Arrival] = deque()
        self._ahead_bytes = 0
        # The other half of the chunks is being sent.
        self._max_ahead_bytes = min(settings.copy_ahead_bytes, settings.max_chunks // 2 * CHUNK_BYTES)

    def run(self, items: Iterable[WriteItem]) -> Generator[_Arrival, None, None]:
        try:
            for item in items:
                yield from self._add(item)
            while self._ahead:
                yield self._next()
        finally:
            for arrival in self._ahead:  # after an error: the copies still use the chunks and the tensors
                if arrival.event is not None:
                    arrival.event.synchronize()

    def _add(self, item: WriteItem) -> Iterator[_Arrival]:
        data = self._planner.resolve_data(item)
        if not isinstance(data, torch.Tensor):
            raise TypeError(f"the planner gave a {type(data).__name__} for {item.index.fqn}; it takes torch.Tensor")
        tensor = data.detach()
        module, stream = self._stream_for(tensor)
        if stream is None:
            entry = self._on_cpu(item, tensor)
            while entry.fresh and self._ahead:  # a copy in memory of its own: one at a time, since no limit counts it
                yield self._next()
            if not self._ahead:
                yield _Arrival(entry, entry.tensor)
            else:
                self._ahead.append(_Arrival(entry, entry.tensor))
            return
        produced = module.Event()
        produced.record(module.current_stream(tensor.device))
        stream.wait_event(produced)
        like, ordered, boxes = _in_boxes(tensor, self._settings.row_major)
        entry = Staged(item, like)
        for number, box in enumerate(boxes, 1):
            source = _box_of(ordered, box)
            while self._ahead and not self._chunks.has_room(source.nbytes):
                yield self._next()
            self._ahead.append(self._copy(entry, source, module, stream)._replace(last=number == len(boxes)))
            self._ahead_bytes += source.nbytes
            while self._ahead_bytes > self._max_ahead_bytes:
                yield self._next()

    def _on_cpu(self, item: WriteItem, tensor: torch.Tensor) -> Staged:
        moved = tensor.device.type != "cpu"
        tensor = tensor.cpu() if moved else tensor  # synchronous, on the current stream
        if self._settings.row_major and has_memory(tensor):
            plain = tensor.resolve_conj().resolve_neg().contiguous()
            tensor, moved = plain, moved or plain is not tensor
        return dense(item, tensor, moved)

    def _stream_for(self, tensor: torch.Tensor) -> tuple[Any, Any]:
        """The module of its device and the stream to copy it on; no stream: it is copied whole, or is on the CPU.

        Other than plain tensors are saved by torch.save, which needs them whole. Their classes say how they are copied.
        """
        device = tensor.device
        if device.type == "cpu" or not is_plain(tensor) or tensor.numel() == 0:
            return None, None
        module = stream_module(device.type)
        if module is not None and device not in self._streams:
            try:
                self._streams[device] = module.Stream(device)
            except RuntimeError:  # a device without streams
                self._streams[device] = None
        return module, self._streams.get(device)

    def _copy(self, entry: Staged, source: torch.Tensor, module: Any, stream: Any) -> _Arrival:
        chunk, piece = self._chunks.take(source.nbytes)
        with module.stream(stream):
            piece.view(source.dtype).view(source.shape).copy_(source, non_blocking=True)
            event = module.Event()
            event.record(stream)
        return _Arrival(entry, piece, event=event, chunk=chunk, source=source)

    def _next(self) -> _Arrival:
        arrival = self._ahead[0]
        if arrival.event is not None:
            arrival.event.synchronize()
        self._ahead.popleft()
        if arrival.chunk is not None:
            arrival.chunk.waiting -= 1
            self._ahead_bytes -= arrival.piece.nbytes
        return arrival


def _in_boxes(tensor: torch.Tensor, row_major: bool) -> tuple[torch.Tensor, torch.Tensor, list[Box]]:
    """How a tensor on a device is copied.

    Returns:
        What it will be on the CPU, on the meta device; the tensor with its dimensions in the order of that memory; and boxes of
        it, of at most CHUNK_BYTES, each one run of that memory.
    """
    layout = torch.contiguous_format if row_major else torch.preserve_format
    like = torch.empty_like(tensor, device="meta", memory_format=layout)
    strides = like.stride()
    order = range(len(strides)) if row_major else sorted(range(len(strides)), key=lambda dim: strides[dim], reverse=True)
    ordered = tensor.permute(tuple(order))
    if ordered.is_contiguous():
        ordered = ordered.view(-1)
    whole = Box([0] * ordered.dim(), ordered.shape)
    return like, ordered, list(whole.parts(CHUNK_BYTES // tensor.element_size()))


def _box_of(tensor: torch.Tensor, box: Box) -> torch.Tensor:
    for dim, (offset, length) in enumerate(zip(box.offsets, box.lengths, strict=True)):
        if length != tensor.size(dim):
            tensor = tensor.narrow(dim, offset, length)
    return tensor
