"""SequentialS3Reader: reads an object from its start and keeps the received bytes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from .. import _core
from .._streams import GetObjectStream, ObjectSource
from .protocol import GetObjectInfoCallable, GetStreamCallable
from .windowed import WindowedS3Reader


class SequentialS3Reader(WindowedS3Reader):
    """Reads one stream over the whole object, opened by the first read.

    The reader keeps all received blocks, without joining or copying them: seeking back is free, and memory grows with the bytes
    read. ``read()`` of the whole object goes directly into its result. Arguments as in :class:`S3ReaderConstructorProtocol`.

    Source: ``s3torchconnector.s3reader.SequentialS3Reader``.
    """

    _stream: Iterator[bytes] | None = None

    def __init__(self, bucket: str, key: str, get_object_info: GetObjectInfoCallable, get_stream: GetStreamCallable) -> None:
        super().__init__(bucket, key, get_object_info, get_stream)
        self._blocks: list[bytes] = []
        self._ends: list[int] = []  # offset after each block

    @property
    def _received(self) -> int:
        return self._ends[-1] if self._ends else 0

    def prefetch(self) -> None:
        """Prefetches the first bytes. Later calls do nothing. The first read raises any error."""
        if self._stream is None:
            fetch_ahead = getattr(self._get_stream, "fetch_ahead", None)
            if fetch_ahead is not None:
                fetch_ahead()
            self._stream = self._get_stream()

    def _keep(self, block: bytes) -> None:
        if block:
            self._blocks.append(block)
            self._ends.append(self._received + len(block))
            if self._size is not None and self._received > self._size:
                self._size = None  # a HEAD or a listing was wrong

    def _keep_prefix(self, source: ObjectSource) -> None:
        """Keeps the CRC of the received bytes, with which the next stream verifies the object."""
        if source.checksums:
            crc = 0
            for block in self._blocks:
                crc = _core.prefix_crc(source.checksums, block, crc)
            source.set_prefix(self._received, crc)

    def _receive_until(self, end: int | None) -> None:
        """Waits until the bytes up to `end` are received; None: all of them."""
        if end is not None and self._received >= end:
            return
        if self._size is not None and self._received >= self._size and self._stream is not None:
            return
        if self._stream is None:
            self._stream = self._get_stream()
        elif isinstance(self._stream, GetObjectStream) and self._stream.tell() != self._received:
            # Ctrl-C raised after the stream advanced and before its block was kept.
            self._keep_prefix(self._stream.source)
            self._stream = self._get_stream(self._received, None)
        if end is None and not self._blocks:
            read_all = getattr(self._stream, "read_all", None)
            if read_all is not None:
                self._keep(read_all())
                self._size = self._received
                return
        while end is None or self._received < end:
            block = next(self._stream, None)
            if block is None:
                self._size = self._received
                return
            self._keep(block)

    def _slices(self, begin: int, end: int) -> Iterator[memoryview]:
        """Yields the kept bytes [begin, end) without copying them."""
        index = bisect_right(self._ends, begin)
        while begin < end:
            block = self._blocks[index]
            start = self._ends[index] - len(block)
            piece = memoryview(block)[begin - start : end - start]
            yield piece
            begin += len(piece)
            index += 1

    def _load_window(self, position: int, wanted: int) -> bool:
        del wanted
        self._receive_until(position + 1)
        if position >= self._received:
            return False
        index = bisect_right(self._ends, position)
        self._set_window(self._blocks[index], self._ends[index] - len(self._blocks[index]), position)
        return True

    def _read_rest(self) -> bytes:
        begin = self.tell()
        self._receive_until(None)
        self._move_to(self._received)
        if begin == 0 and len(self._blocks) == 1:
            return self._blocks[0]
        return b"".join(self._slices(begin, self._received))

    def _read_direct(self, position: int, count: int) -> bytes:
        raise AssertionError("all that this reader reads it keeps")

    def _readinto_direct(self, position: int, view: memoryview) -> int:
        raise AssertionError("all that this reader reads it keeps")

    def _clamp(self, target: int) -> int:
        if target <= self._received or self._listed_size_covers(target):
            return target
        return min(target, self._get_size())

    def close(self) -> None:
        """Drops the stream and the received bytes."""
        self._stream = None
        self._blocks, self._ends = [], []
        super().close()
