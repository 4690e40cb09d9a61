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

    After an S3Exception the writer goes on, and what is not known to be in the object is kept (:attr:`pending`): call
    :meth:`flush` or :meth:`close` to try again, and do not write those bytes again. Nothing is appended twice: where no
    answer came, the object's size, ETag and bytes at that place decide. A request whose answer did not come in time may
    still arrive at S3, and the exception says so. Until the next try settles it, :attr:`unsettled` counts those bytes.

    A change of the object by another writer ends this one: S3PreconditionFailedError or S3ConflictError, "changed under this
    writer; open another writer", and what is not in the object stays in :attr:`pending`. No record is torn. The same bytes,
    appended at the same place by another writer after an answer was lost, pass for this one's. S3 takes 10,000 appends per
    object.

    Args:
        writer: The core's; made by :meth:`S3Client.append_object`.
        buffer_size: Bytes, 1 or more.

    Thread safety: one thread at a time.
    """

    def __init__(self, writer: _core.AppendWriter, buffer_size: int = DEFAULT_BUFFER_SIZE) -> None:
        self._writer = writer
        self._buffer_size = buffer_size
        self._gathered = bytearray()
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
        # io.IOBase would close, that is append, what nobody asked for any more.
        self._closed = True

    def write(self, data: Any) -> int:
        """Gathers a bytes-like object, and appends where enough has gathered.

        Returns:
            Number of bytes written, always all of them.

        Raises:
            ValueError: after close.
            S3Exception: `data` and what had gathered before are kept in :attr:`pending`, as far as they are not known to be
                in the object; the next write, flush or close tries again.
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
        """Appends what has gathered, and settles what an earlier try left open.

        Raises:
            ValueError: after close.
            S3Exception: As in :meth:`write`.
        """
        with self._lock:
            self._check_open()
            self._append()

    def close(self) -> None:
        """Appends what has gathered, and settles what an earlier try left open. Later calls do nothing, but for one case:
        where this one raised and left bytes :attr:`unsettled`, the next tries again.

        Raises:
            S3Exception: What is in :attr:`pending` was not appended, or is unsettled; the writer takes no more bytes.
        """
        with self._lock:
            if self._closed and not self._unsettled:
                return
            self._closed = True
            self._append()

    def abort(self) -> None:
        """Drops what has only been gathered, and closes. What has been appended stays."""
        with self._lock:
            if self._unsettled:
                log.warning("%d bytes behind the first %d may have been appended or may still arrive", self._unsettled, self.size)
            self._unsettled = 0
            self._gathered.clear()
            self._closed = True

    def _append(self) -> None:
        if not self._gathered:
            return
        before = self._writer.size
        try:
            self._writer.append(self._gathered)
        finally:
            # After an error too: some of it may have been found in the object.
            del self._gathered[: self._writer.size - before]
            self._unsettled = self._writer.unsettled

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
    def pending(self) -> bytes:
        """A copy of what was written and is not known to be in the object; its first :attr:`unsettled` bytes may be there."""
        return bytes(self._gathered)

    @property
    def unsettled(self) -> int:
        """How many of the first bytes of :attr:`pending` may have been appended or may still arrive; 0: none."""
        return self._unsettled

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
