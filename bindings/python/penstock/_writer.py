"""S3Writer: a write-only file object. Only close() publishes the object."""

from __future__ import annotations

import atexit
import contextlib
import io
import os
import sys
import threading
import time
import warnings
import weakref
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from . import _core  # noqa: F401  its function for the exit must be registered before, so that it runs after, _abort_all
from ._logs import Logger

if TYPE_CHECKING:
    from ._put_stream import PutObjectStream

log = Logger(__name__)

_ROUNDS_AT_EXIT = 20  # daemon threads may begin uploads while those of the round before are aborted
_EXIT_S = 20.0  # then no further abort begins; each takes up to 30 s
_open: weakref.WeakSet[_Upload] = weakref.WeakSet()  # uploads that the end of the interpreter aborts


class _Upload(Protocol):
    def abort(self) -> None: ...


def abort_at_exit(upload: _Upload) -> None:
    """Calls ``upload.abort()`` when the interpreter exits, unless the object was destroyed or :func:`ended` was called before.

    The call may come from another thread than the one that uses the upload.
    """
    _open.add(upload)


def ended(upload: _Upload) -> None:
    """The upload was published or aborted."""
    _open.discard(upload)


def check_process(process: int) -> None:
    """Raises RuntimeError unless this is the process with the id `process`. An upload belongs to the process that created it."""
    if os.getpid() != process:
        raise RuntimeError(
            f"this writer was made in process {process} and cannot be used after fork(); make a new one in this process"
        )


CLOSE_LATER = "Call close() after the except or finally block."


def handled_exception(handled: BaseException | None) -> BaseException | None:
    """Returns the exception that this thread handles, unless it is `handled`, which it handled before the writer was opened."""
    error = sys.exc_info()[1]
    return None if error is handled else error


def note_unpublished(error: BaseException, name: str, advice: str, log: Logger) -> None:
    """Adds to `error`, and logs, that the object was not published because `close()` was called while `error` was handled."""
    text = f"{name} was not published: close() was called while {type(error).__name__} was being handled. {advice}"
    log.warning("%s", text)
    if hasattr(error, "add_note"):  # Python 3.11
        error.add_note(text)


def abort_and_raise(
    file: contextlib.AbstractContextManager[Any], error: BaseException, name: str, advice: str, log: Logger
) -> NoReturn:
    """Aborts the upload of a file whose `close()` was called while its thread handles `error`, and raises the error again."""
    note_unpublished(error, name, advice, log)
    file.__exit__(type(error), error, error.__traceback__)
    raise error


class S3Writer(io.BufferedIOBase):
    """Writes one object to S3 in parallel parts. Not seekable.

    The complete object becomes visible when :meth:`close` returns. The upload is aborted, and any previous object with this key
    stays, when

    - a ``with`` block of this writer is left by an exception,
    - :meth:`close` is called while the thread handles an exception (``sys.exc_info()``) that it did not handle when the writer
      was made or its ``with`` block began, for example by ``io.TextIOWrapper``, whose block an exception leaves; :meth:`close`
      raises that exception again,
    - :meth:`abort` is called,
    - the writer, or a wrapper such as ``io.TextIOWrapper``, is garbage collected without :meth:`close`,
    - the interpreter exits.

    Args:
        stream: The upload, made by ``S3Client.put_object`` or ``S3Checkpoint.writer``.

    Thread safety: call ``close`` and ``abort`` from any thread, ``write`` from one thread at a time. A progress callback may
    call ``abort``; there, ``write`` and ``close`` raise ValueError and have no effect.

    Source: ``s3torchconnector.S3Writer``.
    """

    def __init__(self, stream: PutObjectStream) -> None:
        self.stream = stream
        self._position = 0
        self._closed = False
        self._closing = False  # a thread is in close()
        self._failure: BaseException | None = None  # the first exception that a write raised
        self._lock = threading.Lock()
        self._handled = sys.exc_info()[1]  # already handled now: does not abort. Released on close, with its frames
        abort_at_exit(self)

    def __enter__(self) -> S3Writer:
        self._handled = sys.exc_info()[1]
        return self

    def __exit__(self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None) -> None:
        if exc_type is None:
            self._publish()
            return
        log.info("Exception occurred before closing stream: %s: %s", exc_type.__name__, exc_val)
        try:
            self._abort(interrupted=isinstance(self._failure, KeyboardInterrupt))
        except Exception:
            log.exception("aborting an upload failed")  # the exception of the with block takes precedence
        failure, self._failure = self._failure, None  # drop the reference: its traceback keeps the written data alive
        # torch.save converts any exception of a write, KeyboardInterrupt too, to a RuntimeError: raise the original.
        if failure is not None and type(exc_val) is RuntimeError and _was_caused_by(exc_val, failure):
            raise failure

    def __del__(self) -> None:
        # io.IOBase.__del__ calls close(), which would publish an unfinished object.
        self._dealloc_warn(self)

    def _dealloc_warn(self, source: Any) -> None:
        """The io module calls this when a wrapper of this writer is garbage collected, before the wrapper closes this writer."""
        if getattr(self, "_closed", True):
            return
        warnings.warn(f"{source!r} was garbage-collected without close(); its upload is aborted", ResourceWarning, stacklevel=2)
        try:
            self.abort()
        except Exception:
            log.exception("aborting an upload failed")

    def write(self, data: Any) -> int:
        """Writes a bytes-like object. Blocks while the maximum number of parts is in flight.

        Returns:
            The number of bytes written: always all of them.

        Raises:
            ValueError: The writer is closed.
            S3Exception: The upload failed and was aborted.
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
        """Publishes the object and waits for S3's acknowledgement. Later calls, and calls after :meth:`abort`, do nothing.

        ``io.TextIOWrapper``, ``io.BufferedWriter``, ``contextlib.closing`` and others call this method also when an exception
        leaves their block, and do not pass the exception on. Therefore, while the thread handles an exception that it did not
        handle when the writer was made or its ``with`` block began, this method aborts the upload and raises the exception
        again, with a note. To publish, leave the ``except`` or ``finally`` block first.

        Raises:
            S3Exception: The object was not published.
        """
        error = handled_exception(self._handled)
        if error is None or self._closed or self._in_callback:
            self._publish()
            return
        name = f"s3://{self.stream.bucket}/{self.stream.key}" if hasattr(self.stream, "bucket") else "the object"
        abort_and_raise(self, error, name, CLOSE_LATER, log)

    def _publish(self) -> None:
        if self._in_callback:
            self.stream.close()  # raises
        with self._lock:
            if self._closed:
                return
            self._closed = self._closing = True
            self._handled = None
            try:
                self.stream.close()
            finally:
                self._closing = False
                ended(self)

    def abort(self) -> None:
        """Cancels the upload. Does nothing after close.

        A ``write`` or ``close`` in progress ends and raises, unless S3 has already acknowledged the whole upload. It may be in
        another thread, or in this one if a progress callback calls ``abort``. If the request that publishes the object has been
        sent, S3 may still execute it: then ``close`` raises, and the object may exist. ``abort`` returns after ``close`` has
        ended. The ``close`` of an fsspec file that appends to a large object cannot be cancelled.

        Raises:
            S3Exception: The parts could not be removed within 30 s.
        """
        self._abort()

    def _abort(self, interrupted: bool = False) -> None:
        """As :meth:`abort`. `interrupted`: Ctrl-C ended a write, which removes the parts in the background by itself."""
        if self._in_callback:
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
            self._handled = None
            ended(self)
            if abort is not None and not interrupted:
                abort()

    @property
    def _in_callback(self) -> bool:
        """Whether this thread is in a progress callback or a signal handler during a call of this writer."""
        return getattr(self.stream, "inside", False) is True

    def _checkClosed(self) -> None:  # noqa: N802  (io's own name)
        if self._closed:
            raise ValueError("I/O operation on closed file.")

    @property
    def closed(self) -> bool:
        return self._closed

    def flush(self) -> None:
        """Does nothing: the writer uploads each part when it is full."""

    def readable(self) -> bool:
        return False

    def writable(self) -> bool:
        return not self._closed

    def tell(self) -> int:
        return self._position


def _was_caused_by(error: BaseException, cause: BaseException) -> bool:
    """Whether `error` was raised while `cause` was being handled, directly or through other exceptions."""
    seen: BaseException | None = error
    for _ in range(100):
        if seen is None or seen is cause:
            break
        seen = seen.__context__
    return seen is cause


def _open_now() -> list[_Upload]:
    while True:
        with contextlib.suppress(RuntimeError):  # a daemon thread began or ended an upload meanwhile
            return list(_open)


def _abort_all() -> None:
    until = time.monotonic() + _EXIT_S
    for _ in range(_ROUNDS_AT_EXIT):
        uploads = _open_now()
        if not uploads:
            return
        for upload in uploads:
            if time.monotonic() > until:
                return
            if upload not in _open:
                continue  # aborted with another one
            ended(upload)  # an abort that fails is not repeated
            try:
                upload.abort()
            except Exception:
                log.exception("aborting an upload at exit failed")


atexit.register(_abort_all)
os.register_at_fork(after_in_child=_open.clear)  # they belong to the parent
