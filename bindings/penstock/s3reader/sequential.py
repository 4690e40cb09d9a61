"""SequentialS3Reader: an object from its start, kept as it arrives."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from io import SEEK_SET
from typing import Any

from .protocol import (
    GetObjectInfoCallable,
    GetStreamCallable,
    S3Reader,
    check_size,
    readline_from_blocks,
    seek_target,
    writable_bytes,
)


class SequentialS3Reader(S3Reader):
    """Reads one stream of the whole object, opened by the first read.

    Received blocks are kept (never joined or copied again), so seeking back is free and memory grows to what was read. A
    ``read()`` of everything goes straight into its result.
    """

    def __init__(self, bucket: str, key: str, get_object_info: GetObjectInfoCallable, get_stream: GetStreamCallable) -> None:
        if not bucket:
            raise ValueError("Bucket should be specified")
        self._bucket = bucket
        self._key = key
        self._get_object_info = get_object_info
        self._get_stream = get_stream
        self._stream: Iterator[bytes] | None = None
        self._blocks: list[bytes] = []
        self._ends: list[int] = []  # offset after each block
        self._position = 0
        self._size: int | None = None

    @property
    def bucket(self) -> str:
        return self._bucket

    @property
    def key(self) -> str:
        return self._key

    @property
    def _received(self) -> int:
        return self._ends[-1] if self._ends else 0

    def prefetch(self) -> None:
        """Opens the stream. Again: nothing."""
        if self._stream is None:
            self._stream = self._get_stream()

    def _get_size(self) -> int:
        if self._size is None:
            self._size = self._get_object_info().size
        return self._size

    def _keep(self, block: bytes) -> None:
        if block:
            self._blocks.append(block)
            self._ends.append(self._received + len(block))

    def _receive_until(self, end: int | None) -> None:
        """Has bytes up to `end`, or all of them, arrive."""
        if end is not None and self._received >= end:
            return
        if self._size is not None and self._received >= self._size and self._stream is not None:
            return
        self.prefetch()
        assert self._stream is not None
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
        """The kept bytes [begin, end) without copying."""
        index = bisect_right(self._ends, begin)
        while begin < end:
            block = self._blocks[index]
            start = self._ends[index] - len(block)
            piece = memoryview(block)[begin - start : end - start]
            yield piece
            begin += len(piece)
            index += 1

    def read(self, size: int | None = None) -> bytes:
        limit = check_size(size)
        end = None if limit is None else self._position + limit
        self._receive_until(end)
        stop = self._received if end is None else min(end, self._received)
        begin, self._position = self._position, max(stop, self._position)
        if begin == 0 and len(self._blocks) == 1 and stop == self._received:
            return self._blocks[0]
        return b"".join(self._slices(begin, stop))

    def readinto(self, buf: Any) -> int:
        view = writable_bytes(buf)
        self._receive_until(self._position + len(view))
        stop = min(self._position + len(view), self._received)
        filled = 0
        for piece in self._slices(self._position, stop):
            view[filled : filled + len(piece)] = piece
            filled += len(piece)
        self._position += filled
        return filled

    def readline(self, size: int | None = -1, /) -> bytes:
        return readline_from_blocks(self, size)

    def seek(self, offset: int, whence: int = SEEK_SET, /) -> int:
        target = seek_target(self._position, offset, whence, self._get_size)
        if target > self._received:
            if self._size is None:
                self._get_size()
            target = min(target, self._get_size())
        self._position = target
        return target

    def tell(self) -> int:
        return self._position

    def close(self) -> None:
        """Lets go of the stream and of what was received."""
        self._stream = None
        self._blocks, self._ends = [], []
        super().close()
