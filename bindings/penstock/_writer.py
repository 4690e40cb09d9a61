"""S3Writer: a file-like object whose close() publishes, and nothing else does."""

from __future__ import annotations

import atexit
import io
import logging
import threading
import warnings
import weakref
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._put_stream import PutObjectStream

log = logging.getLogger(__name__)

_open_writers: weakref.WeakSet[S3Writer] = weakref.WeakSet()


class S3Writer(io.BufferedIOBase):
    """Writes one object to S3, in parts and in parallel, without seeking.

    The object appears when :meth:`close` returns, whole. Leaving a ``with`` block by an exception, :meth:`abort`, garbage
    collection and interpreter exit give the upload up: what was there before stays.

    Args:
        stream: The upload; made by ``S3Client.put_object`` or ``S3Checkpoint.writer``.

    Thread safety: ``close`` and ``abort`` from any thread; ``write`` from one at a time. A progress callback may call ``abort``;
    ``write`` and ``close`` raise ValueError there and have no effect.

    Source: ``s3torchconnector.S3Writer``.
    """

    def __init__(self, stream: PutObjectStream) -> None:
        self.stream = stream
        self._position = 0
        self._closed = False
        self._closing = False  # a thread is in close()
        self._failure: BaseException | None = None  # the first that a write raised
        self._lock = threading.Lock()
        _open_writers.add(self)

    def __enter__(self) -> S3Writer:
        return self

    def __exit__(self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None) -> None:
        if exc_type is None:
            self.close()
            return
        log.info("Exception occurred before closing stream: %s: %s", exc_type.__name__, exc_val)
        try:
            self.abort()
        except Exception:
            log.exception("giving up an upload failed")  # the block's own exception is the one to raise
        failure, self._failure = self._failure, None  # its traceback holds what was written
        # torch.save raises a RuntimeError of its own out of whatever a write raised, Ctrl-C too.
        if failure is not None and type(exc_val) is RuntimeError and _came_of(exc_val, failure):
            raise failure

    def __del__(self) -> None:
        # io.IOBase would close, that is publish, a writer that nobody finished.
        if getattr(self, "_closed", True):
            return
        warnings.warn(f"{self!r} was dropped without close(); its upload is given up", ResourceWarning, stacklevel=2)
        try:
            self.abort()
        except Exception:
            log.exception("giving up an upload failed")

    def write(self, data: Any) -> int:
        """Writes a bytes-like object; blocks while enough parts are in flight.

        Returns:
            Number of bytes written, always all of them.

        Raises:
            ValueError: after close.
            S3Exception: the upload failed; it has been given up.
        """
        self._checkClosed()
        try:
            written = self.stream.write(data)
        except BaseException as error:
            self._failure = self._failure or error
            raise
        size = written if isinstance(written, int) else len(data)
        self._position += size
        return size

    def close(self) -> None:
        """Publishes the object and waits for S3's acknowledgement. Later calls do nothing.

        Raises:
            S3Exception: the object was not published.
        """
        if self._inside:
            self.stream.close()  # raises
        with self._lock:
            if self._closed:
                return
            self._closed = self._closing = True
            _open_writers.discard(self)
            try:
                self.stream.close()
            finally:
                self._closing = False

    def abort(self) -> None:
        """Cancels the upload. Does nothing after close.

        A ``write`` or ``close`` under way, in another thread or in this one where a progress callback calls ``abort``, ends and
        raises, unless S3 has acknowledged everything already. If the request that publishes is on its way, S3 may still carry
        it out: then ``close`` raises, and the object is there or not. ``abort`` returns after ``close`` has ended. A ``close``
        of an fsspec file that appends to a large object cannot be cancelled.
        """
        if self._inside:
            self._closed = True
            self.stream.abort()
            return
        abort = getattr(self.stream, "abort", None)
        if self._closing and abort is not None:
            abort()
        with self._lock:
            if self._closed:
                return
            self._closed = True
            _open_writers.discard(self)
            if abort is not None:
                abort()

    @property
    def _inside(self) -> bool:
        """Whether this is a progress callback, or a signal handler, during a call of this writer."""
        return getattr(self.stream, "inside", False) is True

    def _checkClosed(self) -> None:  # noqa: N802  (io's own name)
        if self._closed:
            raise ValueError("I/O operation on closed file.")

    @property
    def closed(self) -> bool:
        return self._closed

    def flush(self) -> None:
        """Does nothing: parts leave when they are full."""

    def readable(self) -> bool:
        return False

    def writable(self) -> bool:
        return not self._closed

    def tell(self) -> int:
        return self._position


def _came_of(error: BaseException, cause: BaseException) -> bool:
    """Whether `error` was raised while `cause` was being handled."""
    seen: BaseException | None = error
    for _ in range(100):
        if seen is None or seen is cause:
            break
        seen = seen.__context__
    return seen is cause


def _abort_all() -> None:
    for writer in list(_open_writers):
        try:
            writer.abort()
        except Exception:
            log.exception("giving up an upload at exit failed")


atexit.register(_abort_all)
