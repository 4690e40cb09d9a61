"""Reads what a load plan asks for: all of it at a time, into the tensors' own memory where it can."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from .. import _core
from .._exceptions import S3NotFoundError
from .._objects import parse_s3_uri
from ._boxes import Box, Rows, row_major
from ._claims import Claims
from ._delivery import Delivery
from ._layout import ALIGNMENT, MOST_AROUND, Tails
from ._planners import loads_own_memory
from ._scratch import ARENA_BYTES, Arena, Scratch
from ._stored import Kind, Part, Piece, Stored, Want, is_addressable, rows_in_place, rows_of_dense

if TYPE_CHECKING:
    from torch.distributed.checkpoint.planner import LoadPlanner

    from .._client import S3Client

# Tensors of a power of two, with their ends, come by requests of a power of two: hence an eighth more.
REQUEST_BYTES = 9 * 1024**2
BATCH_BYTES = 4 * REQUEST_BYTES  # what is verified and handed over together
BATCH_ITEMS = 512
UNIT_BYTES = 2 * REQUEST_BYTES  # larger tensors come in pieces
PART_BYTES = ARENA_BYTES // 2  # of them what goes through scratch memory
WINDOW_BYTES = 512 * 1024**2  # asked for and not handed over, where it lands in the state dict's own memory
UNKNOWN_WINDOW_BYTES = 128 * 1024**2  # where a planner may give memory of its own making


class Batch:
    """Strips of one object that are asked for together."""

    def __init__(self, path: str, arena: Arena) -> None:
        self.path = path
        self.arena = arena
        self.strips = array("Q")
        self.bytes = 0
        self.units: list[Stored] = []
        self.parts: list[Part] = []  # of tensors that come in pieces
        self.pieces: list[Piece] = []  # whose CRC-32s are computed when they have arrived
        self._end = (-1, -1)  # of the last strip, in the object and in memory

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

    def check_box(self, stored: Stored, box: Box, kind: Kind, rows: Rows, address: int) -> None:
        """Has the CRC-32 of a box of the payload computed when it has arrived in `rows` from `address` on."""
        if stored.crcs is not None and box.is_run(kind.sizes) and not rows.overlaps():
            self.pieces.append(Piece(stored, box.first(kind.strides) * kind.itemsize, rows, address))

    def check_part(self, stored: Stored, part: Part) -> None:
        rows = Rows((part.box.elements * part.kind.itemsize,), (1,), (1,), 1)
        self.check_box(stored, part.box, part.kind, rows, part.arena.address + part.at)


def _missing(error: S3NotFoundError) -> S3NotFoundError:
    """What a load says of an object that its metadata names and that is not there."""
    if error.code == "NoSuchBucket":
        return error
    told = S3NotFoundError(
        f"{error}; the checkpoint names this object, and may have been replaced or removed since its .metadata was read:"
        " load again, and if that fails too the checkpoint is not whole"
    )
    told.__dict__.update(error.__dict__)
    return told


class Load:
    """One pass over a plan. Hooks of the planner run on the calling thread.

    Args:
        path_of: Full path of an object, from the one in the metadata.
        decode: The bytes of an item as a stream without what extensions did to them, from (request, descriptors, stream).
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
        tails: Tails,
    ) -> None:
        self._client = client.core
        self._window = WINDOW_BYTES if loads_own_memory(planner) else min(WINDOW_BYTES, UNKNOWN_WINDOW_BYTES)
        self._path_of = path_of
        self._tails = tails
        self._reader = _core.RangeReader(
            self._client, max_gap=max_gap_size, max_request=REQUEST_BYTES if max_request_size is None else max_request_size
        )
        self._scratch = Scratch()
        self._claims = Claims()
        self._delivery = Delivery(planner, tails, self._claims, decode, self._finish_all)
        self._places: dict[str, tuple[str, str]] = {}
        self._batch: Batch | None = None
        self._under_way: dict[int, Batch] = {}
        self._token = 0
        self._bytes = 0
        self._later: list[Stored] = []  # goes where something else of the same item goes: one after the other

    def run(self, items: list[Stored]) -> None:
        try:
            for stored in items:
                self._add(stored)
            self._finish_all()
            while self._later:
                later, self._later = self._later, []
                for stored in later:
                    self._add(stored)
                    self._finish_all()
            while self._delivery.again:
                again, self._delivery.again = self._delivery.again, []
                for stored in again:
                    stored.kind = None
                    self._add_whole(stored)
                self._finish_all()
            self._scratch.wait()
        except S3NotFoundError as error:
            raise _missing(error) from error
        finally:
            # Nothing may be written any more once the caller has his tensors back.
            self._reader.cancel()
            while self._under_way and self._reader.next() is not None:
                pass

    def usage(self) -> dict[str, int]:
        return self._reader.usage()

    # ---- asking

    def _place(self, path: str) -> tuple[str, str]:
        place = self._places.get(path)
        if place is None:
            place = self._places[path] = parse_s3_uri(self._path_of(path))
        return place

    def _add(self, stored: Stored) -> None:
        kind = stored.kind
        if kind is not None and stored.is_within(kind):
            stored.said = kind
        if kind is None or stored.said is None or not self._predict(stored, kind):
            stored.kind = None
            self._add_whole(stored)
            return
        for want in stored.wants:
            self._resolve(stored, want, kind)
        if stored.kind is not None and any(want.claim is None for want in stored.wants):
            self._later.append(stored.without_claim())
        wanted = sum(want.box.elements for want in stored.wants) * kind.itemsize
        stored.crcs = [] if wanted >= kind.payload else None  # fewer cannot be the whole payload
        scratch = stored.head + stored.tail
        size = scratch
        for want in stored.wants:
            if want.rows is None:
                scratch += want.box.widened(kind.sizes, kind.itemsize).elements * kind.itemsize + ALIGNMENT
            size += want.box.elements * kind.itemsize
        if stored.kind is None:
            self._add_whole(stored)
        elif size > UNIT_BYTES or scratch > PART_BYTES:
            self._add_in_pieces(stored, kind)
        else:
            self._add_at_once(stored, kind, size, scratch)

    def _predict(self, stored: Stored, kind: Kind) -> bool:
        """Where its payload should be; False: nowhere."""
        around = stored.length - kind.payload
        if around <= ALIGNMENT or around > 2 * MOST_AROUND:
            return False
        tail = self._tails.fitting(kind.payload, around)
        if tail is None and kind.payload > UNIT_BYTES:  # a smaller one is fetched whole, which tells as well
            self._look(stored, kind)
            tail = self._tails.fitting(kind.payload, around)
        if tail is None:
            return False
        stored.tail = tail
        stored.head = around - tail
        stored.layout = kind.layout
        return True

    def _look(self, stored: Stored, kind: Kind) -> None:
        """Learns from a large item where its payload is, which its ends say."""
        bucket, key = self._place(stored.path)
        size = min(MOST_AROUND, stored.length // 2)
        head = bytearray(self._client.read(bucket, key, stored.begin, stored.begin + size)[0])
        end = stored.begin + stored.length
        tail = bytearray(self._client.read(bucket, key, end - size, end)[0])
        if len(head) < size or len(tail) < size:
            return  # the object ends early, which is said when it is read
        memory = [torch.frombuffer(each, dtype=torch.uint8) for each in (head, tail)]
        place = array("Q", (memory[0].data_ptr(), size, stored.length - 2 * size, memory[1].data_ptr(), size))
        found = self._delivery.archives.read(place)[0]
        if isinstance(found, int):
            self._tails.learn(kind.payload, stored.length - found - kind.payload)

    def _resolve(self, stored: Stored, want: Want, kind: Kind) -> None:
        """Has the planner say where it goes, and decides whether it lands there."""
        target = want.target if want.target is not None else self._delivery.resolve(want)
        if not is_addressable(target):
            stored.kind = None  # what a tensor of another class does with parts is its own affair
            return
        if target.is_cuda:
            self._scratch.pinned = True
        want.claim = self._claims.claim(want.request, target)
        if want.claim is None:
            self._finish_all()  # something else is on its way to the same memory: one after the other, as torch has it
            want.claim = self._claims.claim(want.request, target)
        if want.claim is None:
            return
        want.rows = rows_in_place(want, kind)
        if len(stored.wants) == 1 and (want.rows is None or want.rows.levels):
            dense = rows_of_dense(want, kind)
            if dense is not None:
                # Stored the way the target is: most likely it was saved from one like it.
                want.rows = dense
                stored.layout = (*kind.layout[:2], tuple(target.stride()), *kind.layout[3:])

    def _room(self, stored: Stored, size: int, scratch: int) -> Batch:
        """The open batch, or a new one, with so much scratch memory left."""
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
            while (arena := self._scratch.arena(scratch)) is None or (self._bytes + size > self._window and self._under_way):
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
        self._under_way[self._token] = batch
        self._reader.start_strips(*self._place(batch.path), batch.strips, batch, self._token)

    def _add_ends(self, batch: Batch, stored: Stored, address: int) -> None:
        stored.head_at, stored.tail_at = address, address + stored.head
        batch.add(stored.begin, stored.head_at, stored.head)
        batch.add(stored.begin + stored.length - stored.tail, stored.tail_at, stored.tail)

    def _add_at_once(self, stored: Stored, kind: Kind, size: int, scratch: int) -> None:
        batch = self._room(stored, size, scratch)
        arena = batch.arena
        payload = stored.begin + stored.head
        address = arena.address + arena.take(stored.head + stored.tail)
        stored.head_at, stored.tail_at = address, address + stored.head
        batch.add(stored.begin, stored.head_at, stored.head)
        for want in stored.wants:
            if want.rows is not None:
                assert want.target is not None
                begin = payload + want.box.first(kind.strides) * kind.itemsize
                batch.add_rows(want.rows, begin, want.target.data_ptr())
            else:
                box = want.box.widened(kind.sizes, kind.itemsize)
                stored.parts.append(self._place_part(batch, stored, Part(arena, box, want, kind)))
        batch.add(stored.begin + stored.length - stored.tail, stored.tail_at, stored.tail)
        if stored.crcs is not None and stored.payload_address() is None:
            for want in stored.wants:
                if want.rows is not None:
                    assert want.target is not None
                    batch.check_box(stored, want.box, kind, want.rows, want.target.data_ptr())
            for part in stored.parts:
                batch.check_part(stored, part)
        stored.units = 1
        batch.units.append(stored)

    @staticmethod
    def _place_part(batch: Batch, stored: Stored, part: Part) -> Part:
        kind = part.kind
        part.arena.align()
        part.at = part.arena.take(part.box.elements * kind.itemsize)
        rows = Rows(part.box.lengths, kind.strides, row_major(part.box.lengths), kind.itemsize)
        begin = stored.begin + stored.head + part.box.first(kind.strides) * kind.itemsize
        batch.add_rows(rows, begin, part.arena.address + part.at)
        return part

    def _add_in_pieces(self, stored: Stored, kind: Kind) -> None:
        stored.units = 1  # until all are asked for
        stored.ends = torch.empty(stored.head + stored.tail, dtype=torch.uint8, device="cpu")
        batch = self._room(stored, stored.head + stored.tail, 0)
        self._add_ends(batch, stored, stored.ends.data_ptr())
        self._count(batch, stored)
        for want in stored.wants:
            if want.rows is None:
                widened = want.box.widened(kind.sizes, kind.itemsize)
                for box in widened.parts(PART_BYTES // kind.itemsize):
                    size = box.elements * kind.itemsize
                    batch = self._room(stored, size, size)
                    part = self._place_part(batch, stored, Part(batch.arena, box, want, kind))
                    batch.parts.append(part)
                    batch.check_part(stored, part)
                    self._count(batch, stored)
            elif want.rows.levels:
                self._add_boxes(stored, want, kind)
            else:
                self._add_run(stored, want, kind)
        stored.units -= 1
        if stored.units == 0:
            self._delivery.take([stored])

    def _add_boxes(self, stored: Stored, want: Want, kind: Kind) -> None:
        assert want.target is not None
        strides = want.target.stride()
        for box in want.box.parts(UNIT_BYTES // kind.itemsize):
            batch = self._room(stored, box.elements * kind.itemsize, 0)
            inside = Box([at - first for at, first in zip(box.offsets, want.box.offsets, strict=True)], box.lengths)
            begin = stored.begin + stored.head + box.first(kind.strides) * kind.itemsize
            address = want.target.data_ptr() + inside.first(strides) * kind.itemsize
            rows = Rows(box.lengths, kind.strides, strides, kind.itemsize)
            batch.add_rows(rows, begin, address)
            batch.check_box(stored, box, kind, rows, address)
            self._count(batch, stored)

    def _add_run(self, stored: Stored, want: Want, kind: Kind) -> None:
        assert want.target is not None
        assert want.rows is not None
        begin = stored.begin + stored.head + want.box.first(kind.strides) * kind.itemsize
        for at in range(0, want.rows.run, UNIT_BYTES):
            size = min(UNIT_BYTES, want.rows.run - at)
            batch = self._room(stored, size, 0)
            address = want.target.data_ptr() + at
            batch.add(begin + at, address, size)
            if stored.crcs is not None and not stored.is_one_target:
                first = want.box.first(kind.strides) * kind.itemsize
                batch.pieces.append(Piece(stored, first + at, Rows((size,), (1,), (1,), 1), address))
            self._count(batch, stored)

    @staticmethod
    def _count(batch: Batch, stored: Stored) -> None:
        stored.units += 1
        batch.units.append(stored)

    def _add_whole(self, stored: Stored) -> None:
        for want in stored.wants:
            self._claims.give_back(want)
        batch = self._room(stored, stored.length, stored.length)
        stored.parts = []
        stored.head, stored.tail = stored.length, 0
        self._add_ends(batch, stored, batch.arena.address + batch.arena.take(stored.length))
        stored.units = 1
        batch.units.append(stored)

    # ---- receiving

    def _finish_all(self) -> None:
        self._flush()
        while self._under_way:
            self._finish_next()

    def _finish_next(self) -> None:
        if not self._under_way:
            self._flush()
        ended = self._reader.next()
        assert ended is not None
        token, _, error = ended
        batch = self._under_way.pop(token)
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
