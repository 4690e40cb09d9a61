"""Prepares tensors for an upload: makes them dense and copies them to the CPU while earlier tensors are sent."""

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

# Pinned memory for copies from devices. Same size as the arenas of a load, because torch caches pinned memory by size.
CHUNK_BYTES = 8 * 1024**2
MAX_PINNED_BYTES = 96 * 1024**2  # for all threads of a save; each thread has at least two chunks
ALIGNMENT = 64


class Staged:
    """A tensor in the form in which it is written.

    Attributes:
        item: Its item in the plan.
        tensor: The tensor on the CPU, or on the meta device if its bytes arrive in pieces from another device.
        fresh: Whether its memory was allocated for the upload, and may be freed after it has been sent.
    """

    __slots__ = ("fresh", "item", "tensor")

    def __init__(self, item: WriteItem, tensor: torch.Tensor, fresh: bool = False) -> None:
        self.item = item
        self.tensor = tensor
        self.fresh = fresh


class Settings(NamedTuple):
    """Options for staging tensors.

    Attributes:
        copy_ahead_bytes: Bytes to copy from a device before they are needed, limited to half of the chunks. 0: the copy of a
            tensor is complete before the planner is asked for the next one.
        max_chunks: Number of pinned chunks of one thread.
        row_major: Whether to write the elements in row-major order. False: in their order in memory.
    """

    copy_ahead_bytes: int
    max_chunks: int
    row_major: bool = False


def chunks_per_thread(thread_count: int) -> int:
    return max(2, MAX_PINNED_BYTES // CHUNK_BYTES // thread_count)


@contextmanager
def staged(
    items: Iterable[WriteItem], planner: SavePlanner, settings: Settings, drain: Callable[[], None]
) -> Iterator[Iterable[tuple[Staged, Iterator[torch.Tensor]]]]:
    """Yields the tensors of the items in order, each with an iterator over the pieces of its bytes: contiguous CPU tensors.

    The pieces of a tensor are valid until the caller advances to the next tensor. All copies from devices have completed when
    the block ends.

    Args:
        items: Tensor items of a plan.
        planner: Provides the data, on the calling thread.
        settings: How to stage the tensors.
        drain: Waits until no piece that was yielded is in use.
    """
    with closing(_Pipeline(planner, settings, drain).run(items)) as arriving:
        yield ((first.entry, _pieces(first, arriving)) for first in arriving)


def _pieces(arrival: _Arrival, arriving: Iterator[_Arrival]) -> Iterator[torch.Tensor]:
    """Yields the pieces of one tensor. Does not advance to the next tensor, which may use the same memory."""
    while True:
        yield arrival.piece
        if arrival.last:
            return
        arrival = next(arriving)


def dense(item: WriteItem, tensor: torch.Tensor, fresh: bool = False) -> Staged:
    """Returns the tensor itself if its bytes are contiguous, else a copy that keeps the order of its dimensions."""
    if tensor.layout is not torch.strided:
        return Staged(item, tensor, fresh)
    stored = tensor.untyped_storage().nbytes()
    # torch.save handles tensors that are not plain, and writes the whole storage of a view.
    if tensor.is_contiguous() and (stored <= tensor.nbytes or is_plain(tensor)):
        return Staged(item, tensor, fresh)
    # Equal sizes are not sufficient: an expanded tensor can be as large as its storage but use one element of it.
    if stored == tensor.nbytes and is_one_run(tensor.shape, tensor.stride()):
        return Staged(item, tensor, fresh)
    return Staged(item, tensor.clone(), True)


class _Chunk:
    """Pinned memory that is filled from start to end.

    Attributes:
        used: Bytes in use.
        waiting: Number of pieces that have not been yielded yet.
    """

    __slots__ = ("memory", "used", "waiting")

    def __init__(self) -> None:
        try:
            self.memory = torch.empty(CHUNK_BYTES, dtype=torch.uint8, device="cpu", pin_memory=True)
        except RuntimeError:  # pinned memory is unsupported or exhausted: copies are slower
            self.memory = torch.empty(CHUNK_BYTES, dtype=torch.uint8, device="cpu")
        self.used = 0
        self.waiting = 0

    def take(self, size: int) -> torch.Tensor:
        piece = self.memory[self.used : self.used + size]
        self.used += -(-size // ALIGNMENT) * ALIGNMENT
        self.waiting += 1
        return piece


class _Chunks:
    """A bounded pool of chunks. Chunks are reused in the order in which they were filled, after `drain`."""

    def __init__(self, max_chunks: int, drain: Callable[[], None]) -> None:
        self._left = max_chunks
        self._drain = drain
        self._filled: deque[_Chunk] = deque()  # only the last one may have room
        self._free: list[_Chunk] = []

    def _last_has(self, size: int) -> bool:
        return bool(self._filled) and self._filled[-1].used + size <= CHUNK_BYTES

    def has_room(self, size: int) -> bool:
        """Whether `take` finds memory. Always true if all pieces have been yielded."""
        return self._last_has(size) or bool(self._free) or self._left > 0 or self._filled[0].waiting == 0

    def take(self, size: int) -> tuple[_Chunk, torch.Tensor]:
        """Allocates memory for a piece of at most CHUNK_BYTES. Returns the chunk and the memory."""
        if not self._last_has(size):
            self._filled.append(self._next())
        return self._filled[-1], self._filled[-1].take(size)

    def _next(self) -> _Chunk:
        if not self._free and self._left > 0:
            self._left -= 1
            return _Chunk()
        if not self._free:
            self._drain()
            while self._filled and self._filled[0].waiting == 0:
                self._filled[0].used = 0
                self._free.append(self._filled.popleft())
        return self._free.pop()


class _Arrival(NamedTuple):
    """A piece of a tensor, whose copy from a device may be in progress.

    Attributes:
        entry: The tensor that the piece belongs to.
        piece: CPU memory of the piece.
        last: Whether this is the last piece of the tensor.
        event: Recorded after the copy; None: there is no copy to wait for.
        chunk: The chunk that contains the piece; None: the piece is the memory of a CPU tensor.
        source: Device memory that the copy reads. This reference prevents torch from reusing it.
    """

    entry: Staged
    piece: torch.Tensor
    last: bool = True
    event: Any = None
    chunk: _Chunk | None = None
    source: torch.Tensor | None = None


class _Pipeline:
    """Copies tensors from devices on separate streams, in parallel with computation and uploads."""

    def __init__(self, planner: SavePlanner, settings: Settings, drain: Callable[[], None]) -> None:
        self._planner = planner
        self._settings = settings
        self._chunks = _Chunks(settings.max_chunks, drain)
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
            for arrival in self._ahead:  # after an error, copies may still use the chunks and the tensors
                if arrival.event is not None:
                    arrival.event.synchronize()

    def _add(self, item: WriteItem) -> Iterator[_Arrival]:
        data = self._planner.resolve_data(item)
        if not isinstance(data, torch.Tensor):
            raise TypeError(f"the planner returned a {type(data).__name__} for {item.index.fqn}; expected torch.Tensor")
        tensor = data.detach()
        module, stream = self._stream_for(tensor)
        if stream is None:
            entry = self._on_cpu(item, tensor)
            while entry.fresh and self._ahead:  # a copy outside the chunks, which no limit counts: one at a time
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
        """Returns the torch module of the tensor's device and the stream for the copy. No stream: do not copy in pieces.

        Only plain tensors are copied in pieces. torch.save writes other tensors, and their classes implement the copy.
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
    """Splits a tensor on a device into boxes to copy.

    Returns:
        A meta tensor with the layout of the CPU copy; the tensor with its dimensions in the order of that memory; and boxes of
        it of at most CHUNK_BYTES, each contiguous in that memory.
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
