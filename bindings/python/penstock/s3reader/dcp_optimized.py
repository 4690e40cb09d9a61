"""DCPOptimizedS3Reader: reads the planned items of a checkpoint file in order, with few requests."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from io import SEEK_CUR, SEEK_END, SEEK_SET
from typing import Any

from .._config import size_of
from .._streams import GetObjectStream, ObjectSource
from .protocol import GetObjectInfoCallable, GetStreamCallable, ItemRange, S3Reader, writable_bytes

DEFAULT_MAX_GAP_SIZE = 32 * 1024 * 1024
FIND_ITEM_ERROR_PREFIX = "DCPOptimizedS3Reader only supports sequentially accessing provided ranges: "
FALLBACK_GUIDANCE = (
    "This reader supports only the planned items, in order; see"
    " docs/how-to/troubleshooting.md#dcpoptimizeds3reader-errors.\nFor other access patterns, use the generic reader:"
    " S3StorageReader(region, path, reader_constructor=S3ReaderConstructor.default())"
)


@dataclass
class RangeGroup:
    """Items that one request fetches, with the gaps between them: bytes [start, end).

    Source: ``s3torchconnector.s3reader.RangeGroup``.
    """

    start: int
    end: int
    item_ranges: list[ItemRange]


class ItemViewBuffer:
    """The received blocks of one item, readable like a file without joining them."""

    def __init__(self) -> None:
        self._views: list[memoryview] = []
        self._starts: list[int] = []
        self._length = 0
        self._position = 0

    def append_view(self, view: memoryview) -> None:
        if len(view):
            self._views.append(view)
            self._starts.append(self._length)
            self._length += len(view)

    def seek(self, offset: int, whence: int = SEEK_SET, /) -> int:
        if whence not in (SEEK_SET, SEEK_CUR, SEEK_END):
            raise ValueError("Seek must be passed SEEK_CUR, SEEK_SET, or SEEK_END integers")
        position = offset + {SEEK_SET: 0, SEEK_CUR: self._position, SEEK_END: self._length}[whence]
        assert position >= 0, f"negative seek value {position}"
        self._position = position
        return position

    def tell(self) -> int:
        return self._position

    def pieces(self, size: int) -> Iterator[memoryview]:
        """Yields the next `size` bytes as views of the blocks, and advances the position."""
        end = min(self._position + size, self._length)
        at = bisect_right(self._starts, self._position) - 1
        while self._position < end:
            start = self._starts[at]
            piece = self._views[at][self._position - start : end - start]
            self._position += len(piece)
            at += 1
            yield piece

    def read(self, size: int | None = None) -> bytes:
        assert size is not None and size >= 0, "size must be a number of bytes: reading to the end is not supported"
        return b"".join(self.pieces(size))

    def readinto(self, buf: Any) -> int:
        assert not memoryview(buf).readonly, "the buffer is read-only"
        view = writable_bytes(buf)
        filled = 0
        for piece in self.pieces(len(view)):
            view[filled : filled + len(piece)] = piece
            filled += len(piece)
        return filled


def _checked(ranges: list[ItemRange]) -> list[ItemRange]:
    """Returns the ranges without empty and repeated ones, and checks their order."""
    kept: list[ItemRange] = []
    for each in ranges:
        if each.start == each.end:
            continue
        if each.start < 0 or each.end < each.start:
            raise ValueError(f"Invalid range: {each.start}-{each.end}")
        if kept:
            last = kept[-1]
            if each == last:
                continue
            if each.start < last.start:
                raise ValueError(f"Unsorted ranges: {last.start}-{last.end} and {each.start}-{each.end}")
            if each.start < last.end:
                raise ValueError(f"Overlapping ranges: {last.start}-{last.end} and {each.start}-{each.end}")
        kept.append(each)
    if not kept:
        raise ValueError("No non-empty ranges to read (all ranges were length 0)")
    return kept


def checked_max_gap_size(given: int | float | str) -> int | float:
    """Returns a number of bytes or infinity. Raises TypeError or ValueError if `given` is neither, nor a text such as "1MiB"."""
    max_gap_size = size_of("max_gap_size", given)
    if not isinstance(max_gap_size, (int, float)):
        raise TypeError(f"max_gap_size must be int or float or str, got {type(max_gap_size).__name__}")
    if not max_gap_size >= 0:  # NaN too
        raise ValueError(f'max_gap_size must be non-negative, not {max_gap_size}; it takes bytes, or float("inf") for no limit')
    return max_gap_size


class DCPOptimizedS3Reader(S3Reader):
    """Reads the given items in order, without skipping one. The current item may be read repeatedly. Keeps one item in memory.

    One request fetches all items with at most `max_gap_size` bytes between them; the bytes of the gaps are dropped.

    Args:
        item_ranges: Byte ranges in ascending order, without overlap; a range may be repeated.
        max_gap_size: Bytes; ``float("inf")``: one request for all items; 0: one request for each run without a gap.

    Further arguments as in :class:`S3ReaderConstructorProtocol`.

    Raises:
        ValueError: `bucket` or `key` is empty, or `item_ranges` is not as described.
        TypeError: `max_gap_size` is not a number.

    Source: ``s3torchconnector.s3reader.DCPOptimizedS3Reader``.
    """

    def __init__(
        self,
        bucket: str,
        key: str,
        item_ranges: list[ItemRange],
        get_object_info: GetObjectInfoCallable,
        get_stream: GetStreamCallable,
        max_gap_size: int | float | str = DEFAULT_MAX_GAP_SIZE,
    ) -> None:
        if not bucket:
            raise ValueError("Bucket should be specified")
        if not key:
            raise ValueError("Key should be specified")
        if not item_ranges:
            raise ValueError("item_ranges must be a non-empty List[ItemRange] object")
        self._bucket = bucket
        self._key = key
        self._get_object_info = get_object_info
        self._get_stream = get_stream
        self._max_gap_size = checked_max_gap_size(max_gap_size)
        self._item_ranges = _checked(item_ranges)
        self._range_groups = self._grouped()
        self._group_start_to_group = {group.start: group for group in self._range_groups}
        self._position = 0
        self._item = 0  # index of the current item
        self._buffer: ItemViewBuffer | None = None  # bytes of the current item; None: not read yet
        self._stream: Iterator[bytes] | None = None
        self._stream_position = -1
        self._group_end = -1  # end of the group that the stream fetches
        self._leftover = memoryview(b"")  # unread bytes of the last block
        self._version: ObjectSource | None = None
        self._closed = False

    def _grouped(self) -> list[RangeGroup]:
        groups: list[RangeGroup] = []
        for each in self._item_ranges:
            if groups and each.start - groups[-1].end <= self._max_gap_size:
                groups[-1].item_ranges.append(each)
                groups[-1].end = each.end
            else:
                groups.append(RangeGroup(each.start, each.end, [each]))
        return groups

    @property
    def bucket(self) -> str:
        return self._bucket

    @property
    def key(self) -> str:
        return self._key

    @property
    def closed(self) -> bool:
        return self._closed

    def close(self) -> None:
        """Drops the stream and the current item. Later calls do nothing."""
        self._closed = True
        self._buffer = self._stream = None
        self._leftover = memoryview(b"")

    def _check_open(self) -> None:
        if self._closed:
            raise ValueError("I/O operation on closed file.")

    # ---- position

    def seek(self, offset: int, whence: int = SEEK_SET, /) -> int:
        self._check_open()
        if not isinstance(offset, int):
            raise TypeError(f"integer argument expected, got {type(offset)!r}")
        if whence == SEEK_CUR:
            offset += self._position
        elif whence != SEEK_SET:
            raise ValueError("whence must be SEEK_CUR or SEEK_SET integers")
        if offset < 0:
            raise ValueError(f"negative seek value {offset}")
        self._position = offset
        return offset

    def tell(self) -> int:
        self._check_open()
        return self._position

    # ---- reading

    def read(self, size: int | None = None) -> bytes:
        self._check_open()
        if size is None:
            raise ValueError(f"Size cannot be None; full read not supported.\n{FALLBACK_GUIDANCE}")
        if not isinstance(size, int):
            raise TypeError(f"argument should be integer or None, not {type(size)!r}")
        if size < 0:
            raise ValueError(f"Size cannot be negative; full read not supported.\n{FALLBACK_GUIDANCE}")
        if size == 0:
            return b""
        data = self._buffer_at(size).read(size)
        self._position += len(data)
        return data

    def readinto(self, buf: Any) -> int:
        self._check_open()
        view = writable_bytes(buf)
        filled = self._buffer_at(len(view)).readinto(view)
        self._position += filled
        return filled

    def blocks(self, size: int) -> list[memoryview]:
        """Returns the next `size` bytes of one item as a list of views, without moving the position."""
        self._check_open()
        return list(self._buffer_at(size).pieces(size)) if size else []

    def _buffer_at(self, size: int) -> ItemViewBuffer:
        """Returns the buffer of the item that contains the next `size` bytes, at the current position."""
        self._find(self._position, self._position + size)
        if self._buffer is None:
            self._buffer = self._load(self._item_ranges[self._item])
        self._buffer.seek(self._position - self._item_ranges[self._item].start)
        return self._buffer

    def _find(self, start: int, end: int) -> None:
        """Makes the item that contains [start, end) current: the current item, or the next one once the current was read."""
        current = self._item_ranges[self._item]
        if current.start <= start and end <= current.end:
            return
        wanted = f"{FIND_ITEM_ERROR_PREFIX}Range {start}-{end} not contained in "
        shown = f"{current.start}-{current.end}"
        if self._buffer is None:
            raise ValueError(f"{wanted}current item {shown}.\n{FALLBACK_GUIDANCE}")
        if self._item + 1 == len(self._item_ranges):
            raise ValueError(f"{wanted}last item with range {shown}.\n{FALLBACK_GUIDANCE}")
        following = self._item_ranges[self._item + 1]
        if start < following.start or end > following.end:
            shown_next = f"{following.start}-{following.end}"
            raise ValueError(f"{wanted}current item {shown} nor the next item {shown_next}.\n{FALLBACK_GUIDANCE}")
        self._item += 1
        self._buffer = None

    # ---- receiving

    def _load(self, item: ItemRange) -> ItemViewBuffer:
        group = self._group_start_to_group.get(item.start)
        if group is not None:
            self._group_end = group.end
        if group is not None or self._stream is None:
            self._open(item.start)
        shown = f"{item.start}-{item.end}"
        buffer = ItemViewBuffer()
        try:
            while self._stream_position < item.start:
                self._next_piece(item.start - self._stream_position, f"before reaching item {shown}")
            while self._stream_position < item.end:
                buffer.append_view(self._next_piece(item.end - self._stream_position, f"while reading item {shown}"))
        except BaseException:
            self._stream = None  # the next read requests the item again
            raise
        return buffer

    def _open(self, start: int) -> None:
        self._stream = self._get_stream(start=start, end=self._group_end)
        if isinstance(self._stream, GetObjectStream):  # read all groups from the same version
            if self._version is None:
                self._version = self._stream.source
            else:
                self._stream.pin(self._version)
        self._stream_position = start
        self._leftover = memoryview(b"")

    def _next_piece(self, most: int, where: str) -> memoryview:
        """Returns up to `most` next bytes of the stream, without a copy."""
        assert self._stream is not None
        while not len(self._leftover):
            block = next(self._stream, None)
            if block is None:
                raise ValueError(f"S3 stream exhausted at position {self._stream_position} {where}")
            self._leftover = memoryview(block)
        piece, self._leftover = self._leftover[:most], self._leftover[most:]
        self._stream_position += len(piece)
        return piece
