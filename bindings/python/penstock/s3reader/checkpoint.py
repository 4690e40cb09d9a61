"""CheckpointReader: the reader that S3Checkpoint gives to torch.load."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._exceptions import S3DataLossError
from ._zip_directory import find_directory, joined, read_directory, storages_in_load_order
from .adaptive import AdaptiveS3Reader
from .protocol import GetObjectInfoCallable, GetStreamCallable

if TYPE_CHECKING:
    from .. import _core
    from .._streams import Checksums

ZIP_MAGIC = b"PK\x03\x04"
HEAD_BYTES = 1024**2  # fetched by the first read of a file that is too large to be fetched as a whole
TAIL_BYTES = 512 * 1024  # fetched to find the zip directory; enough for about 6,000 tensors
MAX_CACHED = 64 * 1024**2  # bytes of the zip directory, and of the records before the first tensor
MAX_GAP = 64 * 1024  # bytes between two tensors that are fetched and dropped to save a request
MAX_MISSES = 3


class CheckpointReader(AdaptiveS3Reader):
    """Reads a torch.save file in the order in which torch.load reads it.

    A file of up to 8 MiB takes one request. Of a larger file, the reader first fetches and caches its beginning and its zip
    directory, usually 1.5 MiB. It then prefetches all tensors in the order in which torch.load reads them, at most 96 MiB ahead,
    in parallel requests that may span several small tensors. Each tensor is copied once, into its own memory. If S3 has a
    checksum of the whole file, the last tensor is returned only if all fetched bytes match it.

    Reads in another order, or of only some tensors, work too, but are not verified. Files of other formats are read as by
    :class:`AdaptiveS3Reader`.
    """

    def __init__(self, bucket: str, key: str, get_object_info: GetObjectInfoCallable, get_stream: GetStreamCallable) -> None:
        super().__init__(bucket, key, get_object_info, get_stream)
        self._cached: list[tuple[int, bytes]] = []  # cached parts (offset, bytes): beginning and end of the file
        self._checksums: Checksums = ()  # of the whole file
        self._plan: list[tuple[int, int]] = []  # byte ranges of the tensors, in load order
        self._tensors: _core.Stream | None = None  # prefetches the tensors of the plan
        self._misses = 0  # reads that did not follow the plan

    # ---- beginning and end of the file

    def _fetch_range(self, start: int, end: int) -> bytes:
        assert self._ranges is not None
        memory = bytearray(end - start)
        if memory:
            with self._ranges.source.doubt_size():
                self._stream_of([(start, end)]).read_into(start, memory)
        data = bytes(memory)
        self._cached.append((start, data))
        self._ranges.source.count_received(len(data))
        return data

    def _stream_of(self, ranges: list[tuple[int, int]]) -> _core.Stream:
        """Returns a stream over `ranges`. It verifies the checksum if they and the cached parts are the whole object."""
        assert self._ranges is not None
        return self._ranges.open_ranges(ranges, self._checksums, self._cached)

    def _get_size(self) -> int:
        if self._ranges is not None and not self._cached and self._known_size() is None and self._ranges.listed_size is None:
            self._fetch_head()
        return super()._get_size()

    def _fetch_head(self) -> None:
        assert self._ranges is not None
        # Only the response to a request for the whole object has its checksum. The stream is dropped after its first block.
        stream = self._ranges()
        stream.first_part = HEAD_BYTES
        head = next(stream, b"")
        self._cached.append((0, head))
        self._checksums = stream.source.checksums
        stream.keep_prefix()
        self._direct_end = self._direct_size = len(head)  # a read from there on is sequential
        if not head.startswith(ZIP_MAGIC):  # not a zip file: keep this stream, which verifies sequential reads
            self._ahead, self._ahead_start, self._consumed = stream, 0, len(head)

    def _fetch_tail(self, size: int) -> None:
        head_end = len(self._cached[0][1])
        start = max(size - TAIL_BYTES, head_end)
        tail = self._fetch_range(start, size)
        found = find_directory(tail, size)
        if found is None or found.end - found.start > MAX_CACHED:
            return
        if found.start < start:
            before = max(found.start - MAX_GAP, head_end)  # torch.save writes a small record before the directory
            tail = self._fetch_range(before, start) + tail
            start = before
        records = read_directory(tail[found.start - start : found.end - start], found.start)
        tensors = [tensor for tensor in storages_in_load_order(records) if tensor.end > head_end and tensor.start < start]
        if not tensors:
            return
        first = min(tensor.start for tensor in tensors)
        if head_end < first <= MAX_CACHED:
            self._fetch_range(head_end, first)
        self._plan = [(max(begin, head_end), min(end, start)) for begin, end in joined(tensors, MAX_GAP)]
        self._DIRECT_READ_BYTES = 1  # every read outside the cached parts consults the plan

    def _load_window(self, position: int, wanted: int) -> bool:
        if self._ranges is None:
            return super()._load_window(position, wanted)
        if not self._cached:
            self._fetch_head()
        size = self._get_size()
        head = self._cached[0][1]
        if len(self._cached) == 1 and head.startswith(ZIP_MAGIC) and size > position >= max(size - TAIL_BYTES, len(head)):
            self._fetch_tail(size)
        for start, data in self._cached:
            if start <= position < start + len(data):
                self._set_window(data, start, position)
                return True
        return super()._load_window(position, wanted)

    # ---- tensors

    def _start_tensors(self, position: int) -> bool:
        """Starts prefetching the tensors from the one at `position` on. False: the plan has no tensor there."""
        for number, (start, end) in enumerate(self._plan):
            if start <= position < end:
                self._tensors = self._stream_of([(position, end), *self._plan[number + 1 :]])
                return True
        return False

    def _fill(self, position: int, view: memoryview) -> int:
        """Copies some bytes from `position` on into `view` and returns their number; 0: none there are cached or planned."""
        for start, data in self._cached:
            if start <= position < start + len(data):
                piece = memoryview(data)[position - start : position - start + len(view)]
                view[: len(piece)] = piece
                return len(piece)
        count = 0
        if self._tensors is not None:
            count = self._tensors.read_into(position, view)
            self._misses += count == 0
        if count == 0 and self._misses < MAX_MISSES and self._start_tensors(position):
            assert self._tensors is not None
            count = self._tensors.read_into(position, view)
        assert self._ranges is not None
        self._ranges.source.count_received(count)
        return count

    def _readinto_direct(self, position: int, view: memoryview) -> int:
        count = 0
        while self._plan and count < len(view):
            assert self._ranges is not None
            try:
                with self._ranges.source.doubt_size():
                    more = self._fill(position + count, view[count:])
            except S3DataLossError:
                raise  # keep the stream, which raises again: a new stream would not verify the checksum
            except BaseException:
                self._tensors = None  # the next read starts a new stream
                raise
            if more == 0:
                if position + count >= self._get_size():
                    return count
                self._drop_plan()
            count += more
        if count == len(view):
            return count
        # The read does not follow the plan: read like any other file from here on.
        if len(view) - count >= self._DIRECT_READ_BYTES:
            return count + super()._readinto_direct(position + count, view[count:])
        while count < len(view) and self._load_window(position + count, len(view) - count):
            count += self._window.readinto(view[count:])
        return count

    def _drop_plan(self) -> None:
        self._plan, self._tensors = [], None
        self._DIRECT_READ_BYTES = AdaptiveS3Reader._LARGE

    def _read_direct(self, position: int, count: int) -> bytes:
        if not self._plan:
            return super()._read_direct(position, count)
        memory = bytearray(min(count, max(0, self._get_size() - position)))
        return bytes(memoryview(memory)[: self._readinto_direct(position, memoryview(memory))])

    def close(self) -> None:
        self._cached = []
        self._drop_plan()
        super().close()
