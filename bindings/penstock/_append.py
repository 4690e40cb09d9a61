"""S3AppendWriter: a file-like object that appends to an object of a directory bucket."""

from __future__ import annotations

import io
import logging
import threading
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import _core

log = logging.getLogger(__name__)

DEFAULT_BUFFER_SIZE = 8 * 1024**2


class S3AppendWriter(io.BufferedIOBase):
    """Appends to one object of a directory bucket (S3 Express One Zone).

    What is written gathers until `buffer_size` bytes are there, and is then appended by one request; so do :meth:`flush` and
    :meth:`close`. What has been appended stays, whatever happens after. Leaving a ``with`` block by an exception drops what
    has only been gathered.

    Nothing is appended twice: where an answer was lost, the object is looked at. Another writer of the same object ends this
    one (S3PreconditionFailedError or S3ConflictError), and no record is torn. S3 takes 10,000 appends per object.

    Args:
        writer: The core's; made by :meth:`S3Client.append_object`.
        buffer_size: Bytes, 1 or more.

    Thread safety: one thread at a time.
    """

    def __init__(self, writer: _core.AppendWriter, buffer_size: int = DEFAULT_BUFFER_SIZE) -> None:
        self._writer = writer
        self._buffer_size = buffer_size
        self._gathered = bytearray()
        self._closed = False
        self._lock = threading.Lock()

    def __enter__(self) -> S3AppendWriter:
        return self

    def __exit__(self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None) -> None:
        if exc_type is not None:
            log.info("Exception occurred before closing stream: %s: %s", exc_type.__name__, exc_val)
            self._gathered.clear()
        self.close()

    def __del__(self) -> None:
        # io.IOBase would close, that is append, what nobody asked for any more.
        self._closed = True

    def write(self, data: Any) -> int:
        """Gathers a bytes-like object, and appends where enough has gathered.

        Returns:
            Number of bytes written, always all of them.

        Raises:
            ValueError: after close.
            S3Exception: What had gathered was not appended, and is kept for the next try; the exception says where it cannot
                be known, and then every further write raises S3ConflictError.
        """
        with self._lock:
            self._check_open()
            with memoryview(data) as view:
                size = view.nbytes
                self._gathered += view.cast("B")
            if len(self._gathered) >= self._buffer_size:
                self._append()
            return size

    def flush(self) -> None:
        """Appends what has gathered."""
        with self._lock:
            self._check_open()
            self._append()

    def close(self) -> None:
        """Appends what has gathered. Later calls do nothing.

        Raises:
            S3Exception: It was not appended; the writer is closed all the same.
        """
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._append()

    def _append(self) -> None:
        if self._gathered:
            self._writer.append(self._gathered)
            self._gathered.clear()

    def _check_open(self) -> None:
        if self._closed:
            raise ValueError("I/O operation on closed file.")

    def tell(self) -> int:
        """The position of the next byte in the object: its size, and what has gathered."""
        return self._writer.size + len(self._gathered)

    @property
    def size(self) -> int:
        """Bytes of the object, without what has only gathered."""
        return self._writer.size

    @property
    def etag(self) -> str | None:
        """The object's, with its quotes; None while there is no object. Not an MD5."""
        etag = self._writer.etag
        return None if etag is None else f'"{etag}"'

    @property
    def closed(self) -> bool:
        return self._closed

    def writable(self) -> bool:
        return not self._closed

    def readable(self) -> bool:
        return False

    def seekable(self) -> bool:
        return False
