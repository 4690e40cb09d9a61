"""RangedS3Reader: the ranges asked for, and no more."""

from __future__ import annotations

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

DEFAULT_BUFFER_SIZE = 8 * 1024 * 1024
CHECKPOINT_BUFFER_SIZE = 64 * 1024 * 1024


class RangedS3Reader(S3Reader):
    """One ranged request per read, straight into its result; reads smaller than the buffer go through it.

    Args:
        buffer_size: Bytes; None: 8 MiB; 0: no buffer.
    """

    def __init__(
        self,
        bucket: str,
        key: str,
        get_object_info: GetObjectInfoCallable,
        get_stream: GetStreamCallable,
        buffer_size: int | None = None,
    ) -> None:
        if not bucket:
            raise ValueError("Bucket should be specified")
        self._bucket = bucket
        self._key = key
        self._get_object_info = get_object_info
        self._get_stream = get_stream
        self._buffer_size = DEFAULT_BUFFER_SIZE if buffer_size is None else buffer_size
        if self._buffer_size < 0:
            raise ValueError(f"buffer_size is {buffer_size}; it takes 0 (no buffer) or a number of bytes")
        self._buffer = bytearray()
        self._buffer_start = 0
        self._buffer_end = 0
        self._position = 0
        self._size: int | None = None

    @property
    def bucket(self) -> str:
        return self._bucket

    @property
    def key(self) -> str:
        return self._key

    def _get_size(self) -> int:
        if self._size is None:
            self._size = self._get_object_info().size
        return self._size

    def _fetch(self, start: int, view: memoryview) -> None:
        """Fills `view` with the object's bytes from `start`."""
        stream = self._get_stream(start=start, end=start + len(view))
        readinto = getattr(stream, "readinto", None)
        if readinto is not None:
            filled = readinto(view)
        else:
            filled = 0
            for block in stream:
                view[filled : filled + len(block)] = block
                filled += len(block)
        if filled != len(view):
            raise OSError(
                f"s3://{self._bucket}/{self._key}: got {filled} bytes of the {len(view)} from offset {start};"
                " the object is shorter than it was"
            )

    def _window(self, start: int) -> int:
        """How much is fetched for a small read that misses the buffer at `start`."""
        del start
        return self._buffer_size

    def _read_buffered(self, view: memoryview) -> None:
        """Fills `view` from the position through the buffer."""
        done = 0
        if self._buffer_start <= self._position < self._buffer_end:
            offset = self._position - self._buffer_start
            done = min(len(view), self._buffer_end - self._position)
            view[:done] = memoryview(self._buffer)[offset : offset + done]
        rest = len(view) - done
        if rest == 0:
            return
        start = self._position + done
        window = self._window(start)
        if rest >= window:
            self._fetch(start, view[done:])
            return
        size = min(window, self._get_size() - start)
        if len(self._buffer) < size:
            self._buffer = bytearray(size)
        self._buffer_start = self._buffer_end = 0  # nothing valid while it is being filled
        self._fetch(start, memoryview(self._buffer)[:size])
        self._buffer_start, self._buffer_end = start, start + size
        view[done:] = memoryview(self._buffer)[:rest]

    def readinto(self, buf: Any) -> int:
        view = writable_bytes(buf)
        size = max(0, min(len(view), self._get_size() - self._position))
        if size == 0:
            return 0
        self._read_buffered(view[:size])
        self._position += size
        return size

    def read(self, size: int | None = None) -> bytes:
        limit = check_size(size)
        rest = max(0, self._get_size() - self._position)
        count = rest if limit is None else min(limit, rest)
        if count == 0:
            return b""
        if count >= self._buffer_size and not self._buffer_start <= self._position < self._buffer_end:
            stream = self._get_stream(start=self._position, end=self._position + count)
            read_all = getattr(stream, "read_all", None)
            data: bytes = read_all() if read_all is not None else b"".join(stream)
            self._position += len(data)
            return data
        result = bytearray(count)
        self._read_buffered(memoryview(result))
        self._position += count
        return bytes(result)

    def readline(self, size: int | None = -1, /) -> bytes:
        return readline_from_blocks(self, size)

    def seek(self, offset: int, whence: int = SEEK_SET, /) -> int:
        target = seek_target(self._position, offset, whence, self._get_size)
        self._position = min(target, self._get_size())
        return self._position

    def tell(self) -> int:
        return self._position


class CheckpointReader(RangedS3Reader):
    """A range-based reader for files like checkpoints: a directory at the end, then large and small pieces in order.

    Its buffer begins small, so that looking around costs little, and doubles while reading goes forward: small pieces come
    in few large requests. Pieces larger than the buffer's next filling go straight to where they belong.

    Args:
        buffer_size: The most that is fetched for a small read; None: 64 MiB.
    """

    _FIRST_WINDOW = 512 * 1024
    _MOST_SKIPPED = 64 * 1024  # forward, and still in order: padding between the pieces

    def __init__(
        self,
        bucket: str,
        key: str,
        get_object_info: GetObjectInfoCallable,
        get_stream: GetStreamCallable,
        buffer_size: int | None = None,
    ) -> None:
        super().__init__(bucket, key, get_object_info, get_stream, CHECKPOINT_BUFFER_SIZE if buffer_size is None else buffer_size)
        self._current_window = min(self._FIRST_WINDOW, self._buffer_size)
        self._fetched_end = -1

    def _get_size(self) -> int:
        """Comes with the object's first bytes instead of a HEAD of its own: a small object is here at once."""
        if self._size is None and self._current_window > 0:
            stream = self._get_stream(start=0, end=self._current_window)
            read_all = getattr(stream, "read_all", None)
            self._buffer = bytearray(read_all() if read_all is not None else b"".join(stream))
            self._buffer_end = self._fetched_end = len(self._buffer)
        return super()._get_size()

    def _fetch(self, start: int, view: memoryview) -> None:
        super()._fetch(start, view)
        self._fetched_end = start + len(view)

    def _window(self, start: int) -> int:
        in_order = 0 <= start - self._fetched_end <= self._MOST_SKIPPED
        wanted = self._current_window * 2 if in_order else self._FIRST_WINDOW
        self._current_window = min(wanted, self._buffer_size)
        return self._current_window
