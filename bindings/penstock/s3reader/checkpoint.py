"""CheckpointReader: what torch.load reads through."""

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
HEAD_BYTES = 1024**2  # fetched with the first read, where the file is not small enough to come whole
TAIL_BYTES = 512 * 1024  # fetched when the directory is looked for: one of about 6,000 tensors
MOST_KEPT = 64 * 1024**2  # of a directory, and of what comes before the first tensor
MOST_BETWEEN = 64 * 1024  # fetched in vain between two tensors rather than asking twice
MOST_MISSES = 3


class CheckpointReader(AdaptiveS3Reader):
    """Reads a torch.save file the way torch.load asks for it.

    A file of up to 8 MiB is one request. Of a larger one begin and directory are fetched first and kept, 1.5 MiB for most.
    From then on all tensors come ahead, in the order torch.load asks for them and 96 MiB at most, in parallel requests,
    however small the tensors are; what it asks for is copied once, into the tensor's own memory. Where S3 has a checksum of
    the whole file, the last tensor comes only if all that was fetched amounts to it.

    Who asks in another order, or only for some, gets those, unverified; files of other formats are read as by
    :class:`AdaptiveS3Reader`.
    """

    def __init__(self, bucket: str, key: str, get_object_info: GetObjectInfoCallable, get_stream: GetStreamCallable) -> None:
        super().__init__(bucket, key, get_object_info, get_stream)
        self._kept: list[tuple[int, bytes]] = []  # begin and end of the file
        self._checksums: Checksums = ()  # of the whole file
        self._plan: list[tuple[int, int]] = []  # where the tensors are, in the order they will be asked for
        self._tensors: _core.Stream | None = None  # fetches them
        self._misses = 0  # times that something else was asked for

    # ---- begin and end of the file

    def _keep_range(self, start: int, end: int) -> bytes:
        memory = bytearray(end - start)
        if memory:
            self._stream_of([(start, end)]).read_into(start, memory)
        data = bytes(memory)
        self._kept.append((start, data))
        assert self._ranges is not None
        self._ranges.source.brought(len(data))
        return data

    def _stream_of(self, ranges: list[tuple[int, int]]) -> _core.Stream:
        """Verifies the object where `ranges` are all of it that is not kept."""
        assert self._ranges is not None
        return self._ranges.in_order(ranges, self._checksums, self._kept)

    def _get_size(self) -> int:
        if self._ranges is not None and self._known_size() is None and self._ranges.listed_size is None:
            self._keep_head()
        return super()._get_size()

    def _keep_head(self) -> None:
        assert self._ranges is not None
        stream = self._ranges()  # of everything, since that answer tells the checksum; let go of after its first block
        stream.first_part = HEAD_BYTES
        head = next(stream, b"")
        self._kept.append((0, head))
        self._checksums = stream.checksums
        self._reached = self._reached_with = len(head)  # who reads on from there reads in order
        if not head.startswith(ZIP_MAGIC):  # read in order, and verified as a whole: by the stream that began it
            self._ahead, self._opened, self._read = stream, 0, len(head)

    def _keep_tail(self, size: int) -> None:
        head_end = len(self._kept[0][1])
        start = max(size - TAIL_BYTES, head_end)
        tail = self._keep_range(start, size)
        found = find_directory(tail, size)
        if found is None or found.end - found.start > MOST_KEPT:
            return
        if found.start < start:
            before = max(found.start - MOST_BETWEEN, head_end)  # torch.save puts a small record there
            tail = self._keep_range(before, start) + tail
            start = before
        records = read_directory(tail[found.start - start : found.end - start], found.start)
        tensors = [tensor for tensor in storages_in_load_order(records) if tensor.end > head_end and tensor.start < start]
        if not tensors:
            return
        first = min(tensor.start for tensor in tensors)
        if head_end < first <= MOST_KEPT:
            self._keep_range(head_end, first)
        self._plan = [(max(begin, head_end), min(end, start)) for begin, end in joined(tensors, MOST_BETWEEN)]
        self._PAST_WINDOW = 1  # every read that is not among the kept is looked up in the plan

    def _load(self, position: int, wanted: int) -> bool:
        if self._ranges is None:
            return super()._load(position, wanted)
        if not self._kept:
            self._keep_head()
        size = self._get_size()
        head = self._kept[0][1]
        if len(self._kept) == 1 and head.startswith(ZIP_MAGIC) and size > position >= max(size - TAIL_BYTES, len(head)):
            self._keep_tail(size)
        for start, data in self._kept:
            if start <= position < start + len(data):
                self._show(data, start, position)
                return True
        return super()._load(position, wanted)

    # ---- tensors

    def _start_tensors(self, position: int) -> bool:
        """Begins to fetch the tensors from the one at `position` on; False: the plan knows none there."""
        for number, (start, end) in enumerate(self._plan):
            if start <= position < end:
                self._tensors = self._stream_of([(position, end), *self._plan[number + 1 :]])
                return True
        return False

    def _fill(self, position: int, view: memoryview) -> int:
        """Some bytes from `position` on into `view`; 0: none is kept or planned there."""
        for start, data in self._kept:
            if start <= position < start + len(data):
                piece = memoryview(data)[position - start : position - start + len(view)]
                view[: len(piece)] = piece
                return len(piece)
        count = 0
        if self._tensors is not None:
            count = self._tensors.read_into(position, view)
            self._misses += count == 0
        if count == 0 and self._misses < MOST_MISSES and self._start_tensors(position):
            assert self._tensors is not None
            count = self._tensors.read_into(position, view)
        assert self._ranges is not None
        self._ranges.source.brought(count)
        return count

    def _readinto_past(self, position: int, view: memoryview) -> int:
        count = 0
        while self._plan and count < len(view):
            try:
                more = self._fill(position + count, view[count:])
            except S3DataLossError:
                raise  # and again: a new start would not notice
            except BaseException:
                self._tensors = None  # the next read starts them anew
                raise
            if more == 0:
                if position + count >= self._get_size():
                    return count
                self._forget_plan()
            count += more
        if count == len(view):
            return count
        # Not as planned: as any other file from here on.
        if len(view) - count >= self._PAST_WINDOW:
            return count + super()._readinto_past(position + count, view[count:])
        while count < len(view) and self._load(position + count, len(view) - count):
            count += self._window.readinto(view[count:])
        return count

    def _forget_plan(self) -> None:
        self._plan, self._tensors = [], None
        self._PAST_WINDOW = AdaptiveS3Reader._LARGE

    def _read_past(self, position: int, count: int) -> bytes:
        if not self._plan:
            return super()._read_past(position, count)
        memory = bytearray(min(count, max(0, self._get_size() - position)))
        return bytes(memoryview(memory)[: self._readinto_past(position, memoryview(memory))])

    def close(self) -> None:
        self._kept = []
        self._forget_plan()
        super().close()
