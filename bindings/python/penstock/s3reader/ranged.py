"""RangedS3Reader: fetches only the ranges that are read."""

from __future__ import annotations

from collections.abc import Iterator
from types import NoneType

from .. import _core
from .._config import check_type, size_of
from .._streams import GetObjectStream, ObjectHandle, ObjectSource
from .protocol import GetObjectInfoCallable, GetStreamCallable
from .windowed import WindowedS3Reader

DEFAULT_BUFFER_SIZE = 8 * 1024 * 1024
LINE_BUFFER_SIZE = 256 * 1024


class RangedS3Reader(WindowedS3Reader):
    """Sends one ranged request per read, directly into the result. Reads that are smaller than the buffer use the buffer.

    Further arguments as in :class:`S3ReaderConstructorProtocol`.

    Args:
        buffer_size: Bytes, or a text such as ``"1MiB"``; None: 8 MiB; 0: no buffer, except that line reads fetch
            256 KiB at a time.

    Raises:
        ValueError: `buffer_size` is negative, or a text that is not a size.
        TypeError: `buffer_size` is not an int, a str or None.

    Source: ``s3torchconnector.s3reader.RangedS3Reader``.
    """

    def __init__(
        self,
        bucket: str,
        key: str,
        get_object_info: GetObjectInfoCallable,
        get_stream: GetStreamCallable,
        buffer_size: int | str | None = None,
    ) -> None:
        super().__init__(bucket, key, get_object_info, get_stream)
        check_type("buffer_size", buffer_size, (int, str, NoneType))
        size = size_of("buffer_size", buffer_size)
        self._buffer_size: int = DEFAULT_BUFFER_SIZE if size is None else size
        if self._buffer_size < 0:
            raise ValueError(f"buffer_size must be 0 (no buffer) or a number of bytes, not {buffer_size}")
        self._DIRECT_READ_BYTES = self._buffer_size
        self._version: ObjectSource | None = None  # the version that all streams of this reader are pinned to
        self._requested_checksums = False

    def _open(self, start: int, end: int | None) -> Iterator[bytes]:
        """Opens a stream over the same version as the first one."""
        stream = self._get_stream(start=start, end=end)
        if isinstance(stream, GetObjectStream):
            if self._version is None:
                self._version = stream.source
            else:
                stream.pin(self._version)
        return stream

    def _available(self, position: int, count: int) -> int:
        """Returns how many of `count` bytes from `position` on to request.

        While the size is known only from a listing, that is all of them: the response gives the actual size.
        """
        if self._size is None and isinstance(self._get_stream, ObjectHandle) and self._get_stream.listed_size is not None:
            return count
        return max(0, min(count, self._get_size() - position))

    def _request_checksums(self, position: int, count: int) -> None:
        """Requests the checksums of a listed object once it is read in order from its start, beyond the first window.

        The response to a range has them only if the range is the whole object. A reader of the start of an object sends no such
        request.
        """
        ranges = self._get_stream
        if self._requested_checksums or not isinstance(ranges, ObjectHandle) or ranges.source.checksums:
            return
        size = ranges.listed_size or ranges.source.size or 0
        after_window = self._start == 0 and position == self._end and 0 < position < size
        large_part = position == 0 and self._buffer_size > 0 and self._buffer_size < count < size
        if after_window or large_part:
            self._requested_checksums = True
            ranges.request_checksums()
            if after_window and ranges.source.checksums:
                ranges.source.set_prefix(position, _core.prefix_crc(ranges.source.checksums, self._window.getvalue()))

    def _load_window(self, position: int, wanted: int) -> bool:
        del wanted
        data = self._read_direct(position, self._buffer_size or LINE_BUFFER_SIZE)
        if data:
            self._set_window(data, position, position)
        return bool(data)

    def _read_direct(self, position: int, count: int) -> bytes:
        self._request_checksums(position, count)
        count = self._available(position, count)
        if count == 0:
            return b""
        stream = self._open(position, position + count)
        read_all = getattr(stream, "read_all", None)
        data: bytes = read_all() if read_all is not None else b"".join(stream)
        self._check(position, count, len(data))
        return data

    def _readinto_direct(self, position: int, view: memoryview) -> int:
        self._request_checksums(position, len(view))
        count = self._available(position, len(view))
        if count == 0:
            return 0
        stream = self._open(position, position + count)
        readinto = getattr(stream, "readinto", None)
        if readinto is not None:
            filled: int = readinto(view[:count])
        else:
            filled = 0
            for block in stream:
                view[filled : filled + len(block)] = block
                filled += len(block)
        self._check(position, count, filled)
        return filled

    def _check(self, position: int, asked: int, got: int) -> None:
        count = self._available(position, asked)
        if got != count:
            size, self._size = self._size, None
            if self._version is not None:
                self._version.size = None
            raise OSError(
                f"s3://{self._bucket}/{self._key}: received {got} of {count} bytes from offset {position};"
                f" the object is shorter than the {size} bytes of an earlier response"
            )

    def _read_rest(self) -> bytes:
        position = self.tell()
        if self._listed_size_covers(position):  # nothing has been read yet
            stream = self._open(position, None)
            assert isinstance(stream, GetObjectStream)
            data = stream.read_all()
            self._move_to(position + len(data))
            return data
        rest = max(0, self._get_size() - position)
        data = self._window.read(rest)
        return data if len(data) == rest else self._read_across_windows(data, rest)

    def _clamp(self, target: int) -> int:
        if self._listed_size_covers(target):
            return target
        if self._size is None and isinstance(self._get_stream, ObjectHandle) and self._get_stream.listed_size is not None:
            self._size = self._get_stream.current_size()  # the object may have grown since the listing
        return min(target, self._get_size())
