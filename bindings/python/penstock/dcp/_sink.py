"""Destinations for the bytes of a checkpoint's objects."""

from __future__ import annotations

import ctypes
import io
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from .._writer import S3Writer


class Sink(Protocol):
    """A destination for bytes.

    `write_no_copy` may send the memory later: it must not change before `drain` returns or the upload ends.
    """

    def write(self, data: Any, /) -> int: ...
    def tell(self) -> int: ...
    def write_no_copy(self, address: int, size: int, owner: object) -> None: ...
    def drain(self) -> None: ...


class CopyingSink:
    """A sink that writes to a file object; `write_no_copy` writes immediately."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._position = 0

    def write(self, data: Any) -> int:
        self._stream.write(data)
        size = memoryview(data).nbytes
        self._position += size
        return size

    def tell(self) -> int:
        return self._position

    def write_no_copy(self, address: int, size: int, owner: object) -> None:
        if size:
            self.write(memoryview((ctypes.c_char * size).from_address(address)).cast("B"))

    def drain(self) -> None:
        pass

    def flush(self) -> None:
        pass


class UploadSink:
    """A sink that writes to an upload; `write_no_copy` sends the caller's memory without copying it."""

    def __init__(self, writer: S3Writer) -> None:
        self._writer = writer
        self._borrowed = 0

    def write(self, data: Any) -> int:
        return self._writer.write(data)

    def tell(self) -> int:
        return self._writer.tell() + self._borrowed

    def write_no_copy(self, address: int, size: int, owner: object) -> None:
        self._writer.stream.write_no_copy(address, size, owner)
        self._borrowed += size

    def write_no_copy_with_crc(self, address: int, size: int, owner: object) -> int:
        """As `write_no_copy`; returns the CRC64NVME of the bytes."""
        crc = self._writer.stream.write_no_copy_with_crc(address, size, owner)
        self._borrowed += size
        return crc

    def write_head(self, head: bytes) -> None:
        """Writes the first bytes of the object, which `replace_head` may replace until the upload ends."""
        self._writer.stream.reserve_head(len(head))
        self._writer.write(head)

    def replace_head(self, head: bytes) -> None:
        self._writer.stream.replace_head(head)

    def drain(self) -> None:
        self._writer.stream.drain()

    def abort(self) -> None:
        """Aborts the upload. May be called while another thread writes."""
        self._writer.abort()

    def flush(self) -> None:
        pass


class UncloseableSink(io.RawIOBase):
    """A file object for extensions, which close their output. Closing it does not close the sink."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return self._sink.write(data)
