"""Where the bytes of a checkpoint's objects go."""

from __future__ import annotations

import ctypes
import io
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from .._writer import S3Writer


class Sink(Protocol):
    """Where the bytes go. `lend`: as write, of memory that nobody changes until settle or the end of the upload."""

    def write(self, data: Any, /) -> int: ...
    def tell(self) -> int: ...
    def lend(self, address: int, size: int, owner: object) -> None: ...
    def settle(self) -> None: ...


class WritingSink:
    """Of any file: what is lent is written."""

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

    def lend(self, address: int, size: int, owner: object) -> None:
        if size:
            self.write(memoryview((ctypes.c_char * size).from_address(address)).cast("B"))

    def settle(self) -> None:
        pass

    def flush(self) -> None:
        pass


class UploadSink:
    """Of an upload: what is lent is sent from where it lies."""

    def __init__(self, writer: S3Writer) -> None:
        self._writer = writer
        self._lent = 0

    def write(self, data: Any) -> int:
        return self._writer.write(data)

    def tell(self) -> int:
        return self._writer.tell() + self._lent

    def lend(self, address: int, size: int, owner: object) -> None:
        self._writer.stream.lend(address, size, owner)
        self._lent += size

    def settle(self) -> None:
        self._writer.stream.settle()

    def abort(self) -> None:
        """Gives the upload up, also while another thread writes."""
        self._writer.abort()

    def flush(self) -> None:
        pass


class KeptOpen(io.RawIOBase):
    """What an extension writes into: closing it, as extensions do, leaves the object open."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return self._sink.write(data)
