"""S3AppendWriter: a file-like object that appends to an object in a directory bucket."""

from __future__ import annotations

import io
import threading
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ._logs import Logger

if TYPE_CHECKING:
    from . import _core

log = Logger(__name__)

DEFAULT_BUFFER_SIZE = 8 * 1024**2


class S3AppendWriter(io.BufferedIOBase):
    """Appends to one object in a directory bucket (S3 Express One Zone).

    Written bytes are buffered. One request appends them once `buffer_size` bytes are buffered, and on :meth:`flush` and
    :meth:`close`. Appended bytes stay in the object, whatever happens later. Leaving a ``with`` block by an exception drops
    only the bytes that are still buffered.

    After an S3Exception the writer remains usable. Bytes that are not known to be in the object stay in :attr:`pending`: call
    :meth:`flush` or :meth:`close` to retry, and do not write those bytes again. No byte is appended twice: after a lost
    response, the writer checks the object's size, ETag, CRC and bytes at that offset. One exception: the first append to a
    missing object has no ETag to depend on; if its response is lost and the object is deleted or renamed before it is sent
    again, it creates the object again. A request that timed out may still reach S3; the exception says so. :attr:`unsettled`
    counts its bytes until the next retry resolves its outcome.

    If another writer changes the object, this writer fails for good with S3PreconditionFailedError or S3ConflictError ("changed
    under this writer; open another writer"), and the bytes that are not known to be in the object stay in :attr:`pending`. A
    proxy that sends a request twice has the same effect; read the end of the object before you append them again. Records are
    never torn. If another writer appended the same bytes at the same offset after a lost response, they count as this
    writer's. S3 allows 10,000 appends per object.

    Args:
        writer: The core writer, made by :meth:`S3Client.append_object`.
        buffer_size: Bytes to buffer before each append, 1 or more.

    Thread safety: use from one thread at a time.
    """

    def __init__(self, writer: _core.AppendWriter, buffer_size: int = DEFAULT_BUFFER_SIZE) -> None:
        self._writer = writer
        self._buffer_size = buffer_size
        self._buffer = bytearray()
        self._unsettled = 0
        self._closed = False
        self._lock = threading.Lock()

    def __enter__(self) -> S3AppendWriter:
        return self

    def __exit__(self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None) -> None:
        if exc_type is not None:
            log.info("Exception occurred before closing stream: %s: %s", exc_type.__name__, exc_val)
            self.abort()
        self.close()

    def __del__(self) -> None:
        # io.IOBase.__del__ calls close(), which would append the bytes of an abandoned writer.
        self._closed = True

    def write(self, data: Any) -> int:
        """Buffers a bytes-like object, and appends the buffer once it holds `buffer_size` bytes.

        Returns:
            The number of bytes written: always all of them.

        Raises:
            ValueError: The writer is closed.
            S3Exception: The append failed. The bytes of `data` and of earlier writes that are not known to be in the object
                stay in :attr:`pending`; the next write, flush or close retries.
        """
        with self._lock:
            self._check_open()
            with memoryview(data) as view:
                size = view.nbytes
                self._buffer += view.cast("B")
            if len(self._buffer) >= self._buffer_size:
                self._append()
            return size

    def flush(self) -> None:
        """Appends the buffered bytes, and resolves the outcome of an earlier failed append.

        Raises:
            ValueError: The writer is closed.
            S3Exception: As in :meth:`write`.
        """
        with self._lock:
            self._check_open()
            self._append()

    def close(self) -> None:
        """Appends the buffered bytes, resolves the outcome of an earlier failed append, and closes the writer.

        Later calls do nothing, unless this call failed and left :attr:`unsettled` bytes: then the next call retries.

        Raises:
            S3Exception: The bytes in :attr:`pending` were not appended, or their outcome is unknown. The writer is closed.
        """
        with self._lock:
            if self._closed and not self._unsettled:
                return
            self._closed = True
            self._append()

    def abort(self) -> None:
        """Drops the buffered bytes and closes the writer. Appended bytes stay in the object."""
        with self._lock:
            if self._unsettled:
                log.warning("%d bytes at offset %d may have been appended or may still arrive", self._unsettled, self.size)
            self._unsettled = 0
            self._buffer.clear()
            self._closed = True

    def _append(self) -> None:
        if not self._buffer:
            return
        before = self._writer.size
        try:
            self._writer.append(self._buffer)
        finally:
            # Also after an error: some of the bytes may already be in the object.
            del self._buffer[: self._writer.size - before]
            self._unsettled = self._writer.unsettled

    def _check_open(self) -> None:
        if self._closed:
            raise ValueError("I/O operation on closed file.")

    def tell(self) -> int:
        """Returns the object's size plus the buffered bytes: the offset of the next byte."""
        return self._writer.size + len(self._buffer)

    @property
    def size(self) -> int:
        """The object's size in bytes, without the buffered bytes."""
        return self._writer.size

    @property
    def pending(self) -> bytes:
        """A copy of the written bytes that are not known to be in the object. The first :attr:`unsettled` of them may be."""
        return bytes(self._buffer)

    @property
    def unsettled(self) -> int:
        """The number of leading bytes of :attr:`pending` that may have been appended or may still reach S3; 0: none."""
        return self._unsettled

    @property
    def etag(self) -> str | None:
        """The object's ETag in quotes, which is not an MD5; None while the object does not exist."""
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
