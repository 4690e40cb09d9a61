"""RangedS3Reader: the ranges asked for, and no more."""

from __future__ import annotations

from collections.abc import Iterator
from types import NoneType

from .._config import check_type
from .._streams import GetObjectStream, ObjectRanges, ObjectSource
from .protocol import GetObjectInfoCallable, GetStreamCallable
from .windowed import WindowedS3Reader

DEFAULT_BUFFER_SIZE = 8 * 1024 * 1024
LINE_BUFFER_SIZE = 256 * 1024


class RangedS3Reader(WindowedS3Reader):
    """One ranged request per read, straight into its result; reads smaller than the buffer go through it.

    Further arguments as in :class:`S3ReaderConstructorProtocol`.

    Args:
        buffer_size: Bytes; None: 8 MiB; 0: no buffer, but lines are looked for in 256 KiB at a time.

    Raises:
        ValueError: buffer_size is negative.
        TypeError: It is neither an int nor None.

    Source: ``s3torchconnector.s3reader.RangedS3Reader``.
    """

    def __init__(
        self,
        bucket: str,
        key: str,
        get_object_info: GetObjectInfoCallable,
        get_stream: GetStreamCallable,
        buffer_size: int | None = None,
    ) -> None:
        super().__init__(bucket, key, get_object_info, get_stream)
        check_type("buffer_size", buffer_size, (int, NoneType))
        self._buffer_size = DEFAULT_BUFFER_SIZE if buffer_size is None else buffer_size
        if self._buffer_size < 0:
            raise ValueError(f"buffer_size is {buffer_size}; it takes 0 (no buffer) or a number of bytes")
        self._PAST_WINDOW = self._buffer_size
        self._version: ObjectSource | None = None  # what the client's own streams have learned of the object

    def _open(self, start: int, end: int | None) -> Iterator[bytes]:
        """A stream of the version that the first one read."""
        stream = self._get_stream(start=start, end=end)
        if isinstance(stream, GetObjectStream):
            if self._version is None:
                self._version = stream.source
            else:
                stream.pin(self._version)
        return stream

    def _there(self, position: int, count: int) -> int:
        """How many of `count` bytes from `position` on to ask for: all while only a listing has told the size, which the answer
        then corrects."""
        if self._size is None and isinstance(self._get_stream, ObjectRanges) and self._get_stream.listed_size is not None:
            return count
        return max(0, min(count, self._get_size() - position))

    def _load(self, position: int, wanted: int) -> bool:
        del wanted
        data = self._read_past(position, self._buffer_size or LINE_BUFFER_SIZE)
        if data:
            self._show(data, position, position)
        return bool(data)

    def _read_past(self, position: int, count: int) -> bytes:
        count = self._there(position, count)
        if count == 0:
            return b""
        stream = self._open(position, position + count)
        read_all = getattr(stream, "read_all", None)
        data: bytes = read_all() if read_all is not None else b"".join(stream)
        self._check(position, count, len(data))
        return data

    def _readinto_past(self, position: int, view: memoryview) -> int:
        count = self._there(position, len(view))
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
        count = self._there(position, asked)
        if got != count:
            raise OSError(
                f"s3://{self._bucket}/{self._key}: got {got} bytes of the {count} from offset {position};"
                " the object is shorter than it was"
            )

    def _read_rest(self) -> bytes:
        position = self.tell()
        if self._listed_to_reach(position):  # and nothing is here yet
            stream = self._open(position, None)
            assert isinstance(stream, GetObjectStream)
            data = stream.read_all()
            self._go(position + len(data))
            return data
        rest = max(0, self._get_size() - position)
        data = self._window.read(rest)
        return data if len(data) == rest else self._read_on(data, rest)

    def _clamp(self, target: int) -> int:
        if self._listed_to_reach(target):
            return target
        if self._size is None and isinstance(self._get_stream, ObjectRanges) and self._get_stream.listed_size is not None:
            self._size = self._get_stream.present_size()  # beyond what was listed: it may have grown
        return min(target, self._get_size())
