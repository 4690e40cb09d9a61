"""WindowedS3Reader: base class of readers that buffer a window of the object for small reads and lines."""

from __future__ import annotations

import io
import math
import sys
import threading
from abc import abstractmethod
from collections.abc import Callable
from io import SEEK_SET
from typing import Any, ParamSpec, TypeVar

from .._exceptions import S3DataLossError, S3Exception
from .protocol import GetObjectInfoCallable, GetStreamCallable, S3Reader, check_size, seek_target, writable_bytes

P = ParamSpec("P")
T = TypeVar("T")


def _too_large(bucket: str, key: str, size: int) -> S3Exception:
    error = S3Exception(
        f"the size of s3://{bucket}/{key} is {size} bytes according to the server; a reader takes at most {sys.maxsize},"
        " so check that the endpoint is S3"
    )
    error.bucket, error.key = bucket, key
    return error


class _FailedWindow(io.BytesIO):
    """A window whose next ``read`` raises `error` if the position has not changed."""

    def __init__(self, window: io.BytesIO, error: BaseException) -> None:
        super().__init__(window.getvalue())
        self._position = window.tell()
        self._error: BaseException | None = error
        self.seek(self._position)

    def read(self, size: int | None = -1, /) -> bytes:
        error, self._error = self._error, None
        if error is not None and self.tell() == self._position:
            raise error
        return super().read(size)


class WindowedS3Reader(S3Reader):
    """Base class of readers with a window: a received block of the object, from which small reads and lines need no request.

    The window is a ``BytesIO`` over the block, without a copy; reads and line searches in it run in C. The position of the
    ``BytesIO`` is the position of the reader. Subclasses define how windows are loaded, and how large reads bypass them.

    A failed read leaves the position unchanged. After ``close()``, every method raises ValueError.

    Thread safety: for one thread at a time. A call that needs bytes from S3 while another call waits for bytes raises
    RuntimeError.
    """

    _DIRECT_READ_BYTES: float = math.inf
    """Reads of at least this many bytes outside the window go directly into their result."""

    # Class attributes until they change: most readers are read once and dropped, so this saves work in the constructor.
    _start: int = 0  # the window is the object's bytes [_start, _end)
    _end: int = 0
    _consumed: int = 0  # bytes read before the current sequential run, without those that seeks skipped
    _run_start: int = 0  # the offset at which the current sequential run began
    _previous: tuple[io.BytesIO, int, int] | None = None  # the window before the last seek, in case a seek returns to it
    _size: int | None = None

    def __init__(self, bucket: str, key: str, get_object_info: GetObjectInfoCallable, get_stream: GetStreamCallable) -> None:
        if not bucket:
            raise ValueError("Bucket should be specified")
        self._bucket = bucket
        self._key = key
        self._get_object_info = get_object_info
        self._get_stream = get_stream
        self._window = io.BytesIO()
        self._waiting = threading.Lock()  # held by a call that needs bytes which are not in the window

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        # torch.load calls `read` while the exception of a failed `readinto` is still set. CPython's attribute lookup then stops
        # at the first class that lacks the attribute, so `read` must be in the dictionary of the class itself.
        if "read" not in cls.__dict__:
            cls.read = cls.read  # type: ignore[method-assign]

    # ---- implemented by subclasses

    @abstractmethod
    def _load_window(self, position: int, wanted: int) -> bool:
        """Loads a window that contains the byte at `position`, for a read of `wanted` bytes. False: the object ends there."""

    @abstractmethod
    def _read_direct(self, position: int, count: int) -> bytes:
        """Returns the object's bytes [position, position + count), fewer at its end."""

    @abstractmethod
    def _readinto_direct(self, position: int, view: memoryview) -> int:
        """Reads the object's bytes from `position` on into `view`. Returns the number of bytes, less only at the end."""

    @abstractmethod
    def _read_rest(self) -> bytes:
        """Returns all bytes from the current position on."""

    @abstractmethod
    def _clamp(self, target: int) -> int:
        """Returns `target`, or the object's size if it is smaller."""

    # ---- one call at a time

    def _check_alone(self, window: io.BytesIO | None = None, taken: int = 0) -> None:
        """Checks that no other call waits for bytes. If another thread begins to wait after this, the later call waits for it.

        Args:
            window: The window that the call has read from.
            taken: Bytes that the call has read from it. An error makes them unread.

        Raises:
            RuntimeError: Another call waits: of another thread, or the one whose progress callback this is.
        """
        if self._waiting.locked():
            if window is not None:
                window.seek(-taken, io.SEEK_CUR)
            raise RuntimeError(
                "a reader was used from its own progress callback or by two threads at once; use a separate reader for each"
            )

    def _receive(self, receive: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Calls `receive` with the lock. Forgets the size after S3DataLossError, as it may be wrong."""
        # Not acquire() and a try: an exception of a signal handler between them would leave the lock taken.
        with self._waiting:
            try:
                return receive(*args, **kwargs)
            except S3DataLossError:
                self._size = None
                raise

    # ---- the window

    def _start_run(self, position: int) -> None:
        """Starts a sequential run at `position`, and counts the bytes of the current one as read."""
        self._consumed += self.tell() - self._run_start
        self._run_start = position

    def _set_window(self, block: bytes, start: int, position: int) -> None:
        """Makes `block`, which is at offset `start` of the object, the window, and moves to `position` in it."""
        self._start_run(position)
        self._window = io.BytesIO(block)
        self._start, self._end = start, start + len(block)
        self._window.seek(position - start)
        self._previous = None

    def _move_to(self, position: int) -> None:
        """Moves to `position` without a request: in the window, back to the previous one, or to an empty one."""
        self._start_run(position)
        if not self._start <= position <= self._end:
            previous = self._previous
            if self._end > self._start:
                self._previous = (self._window, self._start, self._end)
            if previous is not None and previous[1] <= position < previous[2]:
                self._window, self._start, self._end = previous
            else:
                self._window, self._start, self._end = io.BytesIO(), position, position
        self._window.seek(position - self._start)

    def _listed_size_covers(self, target: int) -> bool:
        """Whether `target` is within the size from the listing, while no response has given the size. Pins no version."""
        listed = getattr(self._get_stream, "listed_size", None) if self._size is None else None
        return listed is not None and target <= listed

    def _get_size(self) -> int:
        if self._size is None:
            size = self._get_object_info().size
            if size > sys.maxsize:
                raise _too_large(self._bucket, self._key, size)
            self._size = size
        return self._size

    def _get_size_alone(self) -> int:
        if self._size is not None:
            return self._size
        self._check_alone()
        with self._waiting:
            return self._get_size()

    def __reduce__(self) -> str:
        raise TypeError(f"cannot pickle {type(self).__name__!r} object: open a reader in the process that reads")

    # ---- io

    @property
    def bucket(self) -> str:
        return self._bucket

    @property
    def key(self) -> str:
        return self._key

    def tell(self) -> int:
        return self._start + self._window.tell()

    def seek(self, offset: int, whence: int = SEEK_SET, /) -> int:
        target = seek_target(self.tell(), offset, whence, self._get_size_alone)
        if not self._start <= target <= self._end:
            self._check_alone()
            with self._waiting:
                target = self._clamp(target)
        self._move_to(target)
        return target

    def read(self, size: int | None = None) -> bytes:
        limit = check_size(size)
        window, data = self._window, b""
        if limit is not None:
            data = window.read(limit)
            if len(data) == limit:
                return data
        self._check_alone(window, len(data))
        return self._receive(self._read_rest) if limit is None else self._receive(self._read_across_windows, data, limit)

    def _read_across_windows(self, first: bytes, limit: int) -> bytes:
        """Returns `first`, the last bytes of the window, and the bytes that follow, `limit` bytes in total."""
        begin = self._end - len(first)
        pieces, missing = [first] if first else [], limit - len(first)
        try:
            while missing > 0:
                position = self._end
                if missing >= self._DIRECT_READ_BYTES:
                    pieces.append(self._read_direct(position, missing))
                    self._move_to(position + len(pieces[-1]))
                    break
                if not self._load_window(position, missing):
                    break
                pieces.append(self._window.read(missing))
                missing -= len(pieces[-1])
        except BaseException:
            self._move_to(begin)
            raise
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def read1(self, size: int | None = -1, /) -> bytes:
        """Returns up to `size` bytes of the window, after loading a new window if none are left."""
        data = self._window.read(size)
        if data or size == 0:
            return data
        self._check_alone()
        return self._window.read(size) if self._receive(self._load_window, self._end, 1) else data

    def readinto(self, buf: Any) -> int:
        view = writable_bytes(buf)
        window = self._window
        count = window.readinto(view)
        if count == len(view):
            return count
        try:
            self._check_alone(window, count)
        except RuntimeError as error:
            if view.obj is None:  # memory passed from C, for example by torch.load
                self._fail_next_read(error)
            raise
        return self._receive(self._readinto_across_windows, view, count)

    def _readinto_across_windows(self, view: memoryview, count: int) -> int:
        begin = self._end - count
        try:
            while count < len(view):
                position = self._end
                if len(view) - count >= self._DIRECT_READ_BYTES:
                    more = self._readinto_direct(position, view[count:])
                    self._move_to(position + more)
                    return count + more
                if not self._load_window(position, len(view) - count):
                    break
                count += self._window.readinto(view[count:])
        except BaseException as error:
            self._move_to(begin)
            if view.obj is None:  # memory passed from C, for example by torch.load
                self._fail_next_read(error)
            raise
        return count

    def _fail_next_read(self, error: BaseException) -> None:
        """Makes the next ``read(size)`` raise `error` if it is at the same position.

        After a failed ``readinto``, torch.load assumes that the method is missing and calls ``read`` at the same position.
        """
        self._window = _FailedWindow(self._window, error)

    def readline(self, size: int | None = -1, /) -> bytes:
        window = self._window
        line = window.readline(size)
        if line[-1:] == b"\n" or len(line) == size:
            return line
        self._check_alone(window, len(line))
        return self._receive(self._finish_line, line, size)

    def __next__(self) -> bytes:
        window = self._window
        line = window.readline()
        if line[-1:] != b"\n":
            self._check_alone(window, len(line))
            line = self._receive(self._finish_line, line, None)
            if not line:
                raise StopIteration
        return line

    def readlines(self, hint: int | None = -1, /) -> list[bytes]:
        """Returns the next lines: more than `hint` bytes, fewer at the end; all remaining lines if `hint` is None or below 1."""
        begin = self.tell()
        lines: list[bytes] = []
        missing = hint + 1 if hint is not None and hint > 0 else -1  # as io.BufferedReader counts
        try:
            while missing:
                window = self._window
                more = window.readlines(missing)
                if not more or more[-1][-1:] != b"\n":
                    first = more.pop() if more else b""
                    self._check_alone(window, len(first))
                    last = self._receive(self._finish_line, first, None)
                    more.append(last)
                    if not last:
                        return lines + more[:-1]
                lines += more
                if missing > 0:
                    missing = max(0, missing - sum(map(len, more)))
        except BaseException:
            if not self.closed:
                self._move_to(begin)
            raise
        return lines

    def _finish_line(self, first: bytes, size: int | None) -> bytes:
        """Returns `first`, the last bytes of the window without a line end, and the rest of the line."""
        begin = self._end - len(first)
        pieces, got = [first], len(first)
        limit = -1 if size is None or size < 0 else size
        try:
            while pieces[-1][-1:] != b"\n" and got != limit and self._load_window(self._end, 1):
                pieces.append(self._window.readline(-1 if limit < 0 else limit - got))
                got += len(pieces[-1])
        except BaseException:
            self._move_to(begin)
            raise
        return b"".join(pieces)

    def __del__(self) -> None:
        # io's __del__ calls close(). For readers of this package that has no effect; a user's subclass may override close().
        if not type(self).__module__.startswith("penstock."):
            super().__del__()

    def close(self) -> None:
        """Drops the received bytes. Later calls do nothing."""
        self._window.close()
        self._previous = None
        super().close()
