"""RangedS3Reader: the ranges asked for, and no more."""

from __future__ import annotations

from .protocol import GetObjectInfoCallable, GetStreamCallable
from .windowed import WindowedS3Reader

DEFAULT_BUFFER_SIZE = 8 * 1024 * 1024
LINE_BUFFER_SIZE = 256 * 1024


class RangedS3Reader(WindowedS3Reader):
    """One ranged request per read, straight into its result; reads smaller than the buffer go through it.

    Args:
        buffer_size: Bytes; None: 8 MiB; 0: no buffer, but lines are looked for in 256 KiB at a time.
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
        self._buffer_size = DEFAULT_BUFFER_SIZE if buffer_size is None else buffer_size
        if self._buffer_size < 0:
            raise ValueError(f"buffer_size is {buffer_size}; it takes 0 (no buffer) or a number of bytes")
        self._PAST_WINDOW = self._buffer_size

    def _load(self, position: int, wanted: int) -> bool:
        del wanted
        count = min(self._buffer_size or LINE_BUFFER_SIZE, self._get_size() - position)
        if count <= 0:
            return False
        self._show(self._read_past(position, count), position, position)
        return True

    def _read_past(self, position: int, count: int) -> bytes:
        count = min(count, self._get_size() - position)
        if count <= 0:
            return b""
        stream = self._get_stream(start=position, end=position + count)
        read_all = getattr(stream, "read_all", None)
        data: bytes = read_all() if read_all is not None else b"".join(stream)
        self._check(position, count, len(data))
        return data

    def _readinto_past(self, position: int, view: memoryview) -> int:
        count = max(0, min(len(view), self._get_size() - position))
        if count == 0:
            return 0
        stream = self._get_stream(start=position, end=position + count)
        readinto = getattr(stream, "readinto", None)
        if readinto is not None:
            filled: int = readinto(view[:count])
        else:
            filled = 0
            for block in stream:
                view[filled : filled + len(block)] = block
                filled += len(block)
        self._check(position, count, filled)
        return count

    def _check(self, position: int, count: int, got: int) -> None:
        if got != count:
            raise OSError(
                f"s3://{self._bucket}/{self._key}: got {got} bytes of the {count} from offset {position};"
                " the object is shorter than it was"
            )

    def _read_rest(self) -> bytes:
        return self.read(max(0, self._get_size() - self.tell()))

    def _clamp(self, target: int) -> int:
        return min(target, self._get_size())
