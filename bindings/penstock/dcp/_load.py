"""Executes a load plan: fetches many items in parallel, directly into the memory of the target tensors where possible."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from .. import _core
from .._exceptions import S3NotFoundError
from .._objects import parse_s3_uri
from ._boxes import Box, Rows, row_major
from ._claims import MemoryLeases
from ._delivery import Delivery
from ._layout import ALIGNMENT, MAX_OVERHEAD, TrailerSizes
from ._planners import loads_own_memory
from ._scratch import ARENA_BYTES, Arena, Scratch
from ._stored import Part, Piece, ReadTarget, StoredItem, TensorSpec, is_addressable, rows_in_place, rows_of_dense

if TYPE_CHECKING:
    from torch.distributed.checkpoint.planner import LoadPlanner

    from .._client import S3Client

# 8 MiB and an eighth, so that a tensor of a power of two bytes plus its header and trailer takes a power of two requests.
REQUEST_BYTES = 9 * 1024**2
BATCH_BYTES = 4 * REQUEST_BYTES  # verified and delivered together
BATCH_ITEMS = 512
UNIT_BYTES = 2 * REQUEST_BYTES  # larger tensors are fetched in pieces
PART_BYTES = ARENA_BYTES // 2  # size of a piece that is read through scratch memory
WINDOW_BYTES = 512 * 1024**2  # requested and not yet delivered, if the targets are the memory of the state dict
UNKNOWN_WINDOW_BYTES = 128 * 1024**2  # the same if the planner may allocate the targets


class Batch:
    """Strips of one object that are requested together."""

    def __init__(self, path: str, arena: Arena) -> None:
        self.path = path
        self.arena = arena
        self.strips = array("Q")
        self.bytes = 0
        self.units: list[StoredItem] = []
        self.parts: list[Part] = []  # of tensors that are fetched in pieces
        self.pieces: list[Piece] = []  # their CRC-32s are computed on arrival
        self._end = (-1, -1)  # end of the last strip: offset in the object, address in memory

    def add(self, begin: int, address: int, size: int, count: int = 1, step: int = 0, memory_step: int = 0) -> None:
        if size == 0:
            return
        self.bytes += size * count
        if count == 1 and self._end == (begin, address):
            self.strips[-4] += size
        else:
            self.strips.extend((begin, address, size, count, step, memory_step))
        self._end = (begin + size, address + size) if count == 1 else (-1, -1)

    def add_rows(self, rows: Rows, begin: int, address: int) -> None:
        if not rows.levels:
            self.add(begin, address, rows.run)
            return
        for strip in rows.strips(begin, address):
            self.add(*strip)

    def check_box(self, stored: StoredItem, box: Box, spec: TensorSpec, rows: Rows, address: int) -> None:
        """Schedules the CRC-32 of a box of the payload, which arrives in `rows` starting at `address`."""
        if stored.crcs is not None and box.is_run(spec.sizes) and not rows.overlaps():
            self.pieces.append(Piece(stored, box.first(spec.strides) * spec.itemsize, rows, address))

    def check_part(self, stored: StoredItem, part: Part) -> None:
        rows = Rows((part.box.elements * part.spec.itemsize,), (1,), (1,), 1)
        self.check_box(stored, part.box, part.spec, rows, part.arena.address + part.at)


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
        trailer_sizes: TrailerSizes,
    ) -> None:
        self._client = client.core
        self._window = WINDOW_BYTES if loads_own_memory(planner) else min(WINDOW_BYTES, UNKNOWN_WINDOW_BYTES)
        self._path_of = path_of
        self._trailer_sizes = trailer_sizes
        self._reader = _core.RangeReader(
            self._client, max_gap=max_gap_size, max_request=REQUEST_BYTES if max_request_size is None else max_request_size
        )
        self._scratch = Scratch()
        self._leases = MemoryLeases()
        self._delivery = Delivery(planner, trailer_sizes, self._leases, decode, self._finish_all)
        self._locations: dict[str, tuple[str, str]] = {}
        self._batch: Batch | None = None
        self._in_flight: dict[int, Batch] = {}
        self._token = 0
        self._bytes = 0
        self._deferred: list[StoredItem] = []  # their target memory is leased to another read of the same item

    def run(self, items: list[StoredItem]) -> None:
        try:
            for stored in items:
                self._add(stored)
            self._finish_all()
            while self._deferred:
                deferred, self._deferred = self._deferred, []
                for stored in deferred:
                    self._add(stored)
                    self._finish_all()
            while self._delivery.refetch:
                refetch, self._delivery.refetch = self._delivery.refetch, []
                for stored in refetch:
                    stored.spec = None
                    self._add_whole(stored)
                self._finish_all()
            self._scratch.wait()
        except S3NotFoundError as error:
            raise _missing(error) from error
        finally:
            # No request may write to the tensors after this method returns.
            self._reader.cancel()
            while self._in_flight and self._reader.next() is not None:
                pass

    def usage(self) -> dict[str, int]:
        return self._reader.usage()

    # ---- requesting

    def _location(self, path: str) -> tuple[str, str]:
        location = self._locations.get(path)
        if location is None:
            location = self._locations[path] = parse_s3_uri(self._path_of(path))
        return location

    def _add(self, stored: StoredItem) -> None:
        spec = stored.spec
        if spec is not None and stored.is_within(spec):
            stored.declared = spec
        if spec is None or stored.declared is None or not self._predict(stored, spec):
            stored.spec = None
            self._add_whole(stored)
            return
        for read in stored.reads:
            self._resolve(stored, read, spec)
        if stored.spec is not None and any(read.lease is None for read in stored.reads):
            self._deferred.append(stored.split_unleased())
        wanted = sum(read.box.elements for read in stored.reads) * spec.itemsize
        stored.crcs = [] if wanted >= spec.payload else None  # fewer cannot be the whole payload
        scratch = stored.head + stored.tail
        size = scratch
        for read in stored.reads:
            if read.rows is None:
                scratch += read.box.widened(spec.sizes, spec.itemsize).elements * spec.itemsize + ALIGNMENT
            size += read.box.elements * spec.itemsize
        if stored.spec is None:
            self._add_whole(stored)
        elif size > UNIT_BYTES or scratch > PART_BYTES:
            self._add_in_pieces(stored, spec)
        else:
            self._add_at_once(stored, spec, size, scratch)

    def _predict(self, stored: StoredItem, spec: TensorSpec) -> bool:
        """Predicts the layout of the item. Returns whether it could."""
        around = stored.length - spec.payload
        if around <= ALIGNMENT or around > 2 * MAX_OVERHEAD:
            return False
        tail = self._trailer_sizes.find(spec.payload, around)
        if tail is None and spec.payload > UNIT_BYTES:  # smaller items are fetched whole
            self._probe(stored, spec)
            tail = self._trailer_sizes.find(spec.payload, around)
        if tail is None:
            return False
        stored.tail = tail
        stored.head = around - tail
        stored.layout = spec.layout
        return True

    def _probe(self, stored: StoredItem, spec: TensorSpec) -> None:
        """Learns the trailer size of a large item from its first and last bytes."""
        bucket, key = self._location(stored.path)
        size = min(MAX_OVERHEAD, stored.length // 2)
        head = bytearray(self._client.read(bucket, key, stored.begin, stored.begin + size)[0])
        end = stored.begin + stored.length
        tail = bytearray(self._client.read(bucket, key, end - size, end)[0])
        if len(head) < size or len(tail) < size:
            return  # the object ends early: reading the item raises the error
        memory = [torch.frombuffer(each, dtype=torch.uint8) for each in (head, tail)]
        place = array("Q", (memory[0].data_ptr(), size, stored.length - 2 * size, memory[1].data_ptr(), size))
        found = self._delivery.archives.read(place)[0]
        if isinstance(found, int):
            self._trailer_sizes.learn(spec.payload, stored.length - found - spec.payload)

    def _resolve(self, stored: StoredItem, read: ReadTarget, spec: TensorSpec) -> None:
        """Asks the planner for the target, and decides whether the bytes are fetched directly into it."""
        target = read.target if read.target is not None else self._delivery.resolve(read)
        if not is_addressable(target):
            stored.spec = None  # torch.load and copy_ handle tensor subclasses
            return
        if target.is_cuda:
            self._scratch.pinned = True
        read.lease = self._leases.acquire(read.request, target)
        if read.lease is None:
            self._finish_all()  # another read writes to the same memory: keep torch's sequential order
            read.lease = self._leases.acquire(read.request, target)
        if read.lease is None:
            return
        read.rows = rows_in_place(read, spec)
        if len(stored.reads) == 1 and (read.rows is None or read.rows.levels):
            dense = rows_of_dense(read, spec)
            if dense is not None:
                # Predict that the stored strides equal those of the target: it was most likely saved from such a tensor.
                read.rows = dense
                stored.layout = (*spec.layout[:2], tuple(target.stride()), *spec.layout[3:])

    def _room(self, stored: StoredItem, size: int, scratch: int) -> Batch:
        """Returns a batch with `scratch` bytes of scratch memory left: the open batch if `size` fits too, else a new one."""
        batch = self._batch
        if batch is not None and (
            batch.path != stored.path
            or batch.bytes + size > BATCH_BYTES
            or len(batch.units) >= BATCH_ITEMS
            or batch.arena.left < scratch + ALIGNMENT
        ):
            self._flush()
            batch = None
        if batch is None:
            while (arena := self._scratch.arena(scratch)) is None or (self._bytes + size > self._window and self._in_flight):
                if arena is not None:
                    self._scratch.release(arena)
                self._finish_next()
            batch = self._batch = Batch(stored.path, arena)
        return batch

    def _flush(self) -> None:
        batch, self._batch = self._batch, None
        if batch is None:
            return
        self._token += 1
        self._bytes += batch.bytes
        self._in_flight[self._token] = batch
        self._reader.start_strips(*self._location(batch.path), batch.strips, batch, self._token)

    def _add_ends(self, batch: Batch, stored: StoredItem, address: int) -> None:
        stored.head_at, stored.tail_at = address, address + stored.head
        batch.add(stored.begin, stored.head_at, stored.head)
        batch.add(stored.begin + stored.length - stored.tail, stored.tail_at, stored.tail)

    def _add_at_once(self, stored: StoredItem, spec: TensorSpec, size: int, scratch: int) -> None:
        batch = self._room(stored, size, scratch)
        arena = batch.arena
        payload = stored.begin + stored.head
        address = arena.address + arena.take(stored.head + stored.tail)
        stored.head_at, stored.tail_at = address, address + stored.head
        batch.add(stored.begin, stored.head_at, stored.head)
        for read in stored.reads:
            if read.rows is not None:
                assert read.target is not None
                begin = payload + read.box.first(spec.strides) * spec.itemsize
                batch.add_rows(read.rows, begin, read.target.data_ptr())
            else:
                box = read.box.widened(spec.sizes, spec.itemsize)
                stored.parts.append(self._place_part(batch, stored, Part(arena, box, read, spec)))
        batch.add(stored.begin + stored.length - stored.tail, stored.tail_at, stored.tail)
        if stored.crcs is not None and stored.payload_address() is None:
            for read in stored.reads:
                if read.rows is not None:
                    assert read.target is not None
                    batch.check_box(stored, read.box, spec, read.rows, read.target.data_ptr())
            for part in stored.parts:
                batch.check_part(stored, part)
        stored.units = 1
        batch.units.append(stored)

    @staticmethod
    def _place_part(batch: Batch, stored: StoredItem, part: Part) -> Part:
        spec = part.spec
        part.arena.align()
        part.at = part.arena.take(part.box.elements * spec.itemsize)
        rows = Rows(part.box.lengths, spec.strides, row_major(part.box.lengths), spec.itemsize)
        begin = stored.begin + stored.head + part.box.first(spec.strides) * spec.itemsize
        batch.add_rows(rows, begin, part.arena.address + part.at)
        return part

    def _add_in_pieces(self, stored: StoredItem, spec: TensorSpec) -> None:
        stored.units = 1  # released when all pieces have been requested
        stored.ends = torch.empty(stored.head + stored.tail, dtype=torch.uint8, device="cpu")
        batch = self._room(stored, stored.head + stored.tail, 0)
        self._add_ends(batch, stored, stored.ends.data_ptr())
        self._count(batch, stored)
        for read in stored.reads:
            if read.rows is None:
                widened = read.box.widened(spec.sizes, spec.itemsize)
                for box in widened.parts(PART_BYTES // spec.itemsize):
                    size = box.elements * spec.itemsize
                    batch = self._room(stored, size, size)
                    part = self._place_part(batch, stored, Part(batch.arena, box, read, spec))
                    batch.parts.append(part)
                    batch.check_part(stored, part)
                    self._count(batch, stored)
            elif read.rows.levels:
                self._add_boxes(stored, read, spec)
            else:
                self._add_run(stored, read, spec)
        stored.units -= 1
        if stored.units == 0:
            self._delivery.take([stored])

    def _add_boxes(self, stored: StoredItem, read: ReadTarget, spec: TensorSpec) -> None:
        assert read.target is not None
        strides = read.target.stride()
        for box in read.box.parts(UNIT_BYTES // spec.itemsize):
            batch = self._room(stored, box.elements * spec.itemsize, 0)
            inside = Box([at - first for at, first in zip(box.offsets, read.box.offsets, strict=True)], box.lengths)
            begin = stored.begin + stored.head + box.first(spec.strides) * spec.itemsize
            address = read.target.data_ptr() + inside.first(strides) * spec.itemsize
            rows = Rows(box.lengths, spec.strides, strides, spec.itemsize)
            batch.add_rows(rows, begin, address)
            batch.check_box(stored, box, spec, rows, address)
            self._count(batch, stored)

    def _add_run(self, stored: StoredItem, read: ReadTarget, spec: TensorSpec) -> None:
        assert read.target is not None
        assert read.rows is not None
        begin = stored.begin + stored.head + read.box.first(spec.strides) * spec.itemsize
        for at in range(0, read.rows.run, UNIT_BYTES):
            size = min(UNIT_BYTES, read.rows.run - at)
            batch = self._room(stored, size, 0)
            address = read.target.data_ptr() + at
            batch.add(begin + at, address, size)
            if stored.crcs is not None and not stored.is_one_target:
                first = read.box.first(spec.strides) * spec.itemsize
                batch.pieces.append(Piece(stored, first + at, Rows((size,), (1,), (1,), 1), address))
            self._count(batch, stored)

    @staticmethod
    def _count(batch: Batch, stored: StoredItem) -> None:
        stored.units += 1
        batch.units.append(stored)

    def _add_whole(self, stored: StoredItem) -> None:
        for read in stored.reads:
            self._leases.release(read)
        batch = self._room(stored, stored.length, stored.length)
        stored.parts = []
        stored.head, stored.tail = stored.length, 0
        self._add_ends(batch, stored, batch.arena.address + batch.arena.take(stored.length))
        stored.units = 1
        batch.units.append(stored)

    # ---- receiving

    def _finish_all(self) -> None:
        self._flush()
        while self._in_flight:
            self._finish_next()

    def _finish_next(self) -> None:
        if not self._in_flight:
            self._flush()
        ended = self._reader.next()
        assert ended is not None
        token, _, error = ended
        batch = self._in_flight.pop(token)
        self._bytes -= batch.bytes
        if error is not None:
            raise error
        for part in batch.parts:
            self._delivery.copy(part)
        for piece in batch.pieces:
            assert piece.stored.crcs is not None
            piece.stored.crcs.append(piece.crc())
        done = []
        for stored in batch.units:
            stored.units -= 1
            if stored.units == 0:
                done.append(stored)
        self._delivery.take(done)
        self._scratch.release(batch.arena)
