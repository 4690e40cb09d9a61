"""WindowedS3Reader: what our readers share, reading and lines through a window of the object's bytes."""

from __future__ import annotations

import io
import math
import sys
import threading
from abc import abstractmethod
from io import SEEK_SET
from typing import Any

from .._exceptions import S3Exception
from .protocol import GetObjectInfoCallable, GetStreamCallable, S3Reader, check_size, seek_target, writable_bytes


def _too_large(bucket: str, key: str, size: int) -> S3Exception:
    error = S3Exception(
        f"the size announced for s3://{bucket}/{key} is {size} bytes; a reader takes at most {sys.maxsize},"
        " so check that the endpoint is S3"
    )
    error.bucket, error.key = bucket, key
    return error


class _FailedWindow(io.BytesIO):
    """A window whose next ``read`` raises `error` if it is at the position where this window was made."""

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
    """A reader whose position is inside a window of bytes that are here, so that small reads and lines cost no request.

    The window is a ``BytesIO`` over a block as it arrived: it is not copied, and searched and read in C. Its position is the
    reader's. A subclass says how a window comes to where it is needed, and what is read past it.

    A read that fails leaves the position where it was. After ``close()`` every use raises ValueError.

    Thread safety: for one thread at a time. A call that needs bytes from S3 while another call waits for some raises
    RuntimeError.
    """

    _PAST_WINDOW: float = math.inf
    """Reads of so many bytes or more, that the window does not hold, go straight to their result."""

    # Of the class until they change: most readers are made, read once and let go of.
    _start: int = 0  # the window's place in the object
    _end: int = 0
    _read: int = 0  # bytes that the reader was given, up to where it last jumped; not those it passed over
    _mark: int = 0  # where it has read on from since
    _left: tuple[io.BytesIO, int, int] | None = None  # the window that a seek left, for when it comes back
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
        # torch.load calls `read` while the error of a failed `readinto` is still set. CPython then finds only the attributes in
        # the dictionary of the object's own class: its search stops at the first class that has no such attribute.
        if "read" not in cls.__dict__:
            cls.read = cls.read  # type: ignore[method-assign]

    # ---- what a subclass says

    @abstractmethod
    def _load(self, position: int, wanted: int) -> bool:
        """Has a window come that holds the byte at `position`; False: the object ends there. `wanted` bytes are asked for."""

    @abstractmethod
    def _read_past(self, position: int, count: int) -> bytes:
        """The object's bytes [position, position + count), fewer at its end."""

    @abstractmethod
    def _readinto_past(self, position: int, view: memoryview) -> int:
        """The same into memory; returns the bytes read."""

    @abstractmethod
    def _read_rest(self) -> bytes:
        """Everything from the position on."""

    @abstractmethod
    def _clamp(self, target: int) -> int:
        """`target`, or the object's size where that is smaller."""

    # ---- one call at a time

    def _begin_waiting(self) -> None:
        """Takes `_waiting`, which the caller releases.

        Raises:
            RuntimeError: Another call has it: of another thread, or the one whose progress callback this is.
        """
        if not self._waiting.acquire(blocking=False):
            raise RuntimeError(
                "a reader was used by its own progress callback or by two threads at a time; give each its own reader"
            )

    # ---- the window

    def _jump(self, position: int) -> None:
        """What is between here and `position` is not read."""
        self._read += self.tell() - self._mark
        self._mark = position

    def _show(self, block: bytes, start: int, position: int) -> None:
        """Makes `block`, which is at `start` in the object, the window, and goes to `position` in it."""
        self._jump(position)
        self._window = io.BytesIO(block)
        self._start, self._end = start, start + len(block)
        self._window.seek(position - start)
        self._left = None

    def _go(self, position: int) -> None:
        """Moves to any position, without a request."""
        self._jump(position)
        if not self._start <= position <= self._end:
            here, self._left = self._left, (self._window, self._start, self._end) if self._end > self._start else self._left
            if here is not None and here[1] <= position < here[2]:
                self._window, self._start, self._end = here
            else:
                self._window, self._start, self._end = io.BytesIO(), position, position
        self._window.seek(position - self._start)

    def _listed_to_reach(self, target: int) -> bool:
        """Whether the object reaches `target` according to its listing, where nothing else has told: nobody is held to that."""
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
        self._begin_waiting()
        try:
            return self._get_size()
        finally:
            self._waiting.release()

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
            self._begin_waiting()
            try:
                target = self._clamp(target)
            finally:
                self._waiting.release()
        self._go(target)
        return target

    def read(self, size: int | None = None) -> bytes:
        limit = check_size(size)
        if limit is not None:
            data = self._window.read(limit)
            if len(data) == limit:
                return data
        self._begin_waiting()
        try:
            return self._read_rest() if limit is None else self._read_on(data, limit)
        finally:
            self._waiting.release()

    def _read_on(self, first: bytes, limit: int) -> bytes:
        """`first`, which ended the window, and what follows, up to `limit` bytes in all."""
        begin = self._end - len(first)
        pieces, missing = [first] if first else [], limit - len(first)
        try:
            while missing > 0:
                position = self._end
                if missing >= self._PAST_WINDOW:
                    pieces.append(self._read_past(position, missing))
                    self._go(position + len(pieces[-1]))
                    break
                if not self._load(position, missing):
                    break
                pieces.append(self._window.read(missing))
                missing -= len(pieces[-1])
        except BaseException:
            self._go(begin)
            raise
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def read1(self, size: int | None = -1, /) -> bytes:
        """What is here, up to `size` bytes; one request where nothing is."""
        data = self._window.read(size)
        if data or size == 0:
            return data
        self._begin_waiting()
        try:
            return self._window.read(size) if self._load(self._end, 1) else data
        finally:
            self._waiting.release()

    def readinto(self, buf: Any) -> int:
        view = writable_bytes(buf)
        count = self._window.readinto(view)
        if count == len(view):
            return count
        self._begin_waiting()
        try:
            return self._readinto_on(view, count)
        finally:
            self._waiting.release()

    def _readinto_on(self, view: memoryview, count: int) -> int:
        begin = self._end - count
        try:
            while count < len(view):
                position = self._end
                if len(view) - count >= self._PAST_WINDOW:
                    more = self._readinto_past(position, view[count:])
                    self._go(position + more)
                    return count + more
                if not self._load(position, len(view) - count):
                    break
                count += self._window.readinto(view[count:])
        except BaseException as error:
            self._go(begin)
            if view.obj is None:  # memory of C's, perhaps torch's
                self._fail_next_read(error)
            raise
        return count

    def _fail_next_read(self, error: BaseException) -> None:
        """Has a ``read(size)`` that follows at the same position raise `error` too.

        torch.load takes a failed ``readinto`` for a missing one, and then calls ``read`` at the same position.
        """
        self._window = _FailedWindow(self._window, error)

    def readline(self, size: int | None = -1, /) -> bytes:
        line = self._window.readline(size)
        if line[-1:] == b"\n" or len(line) == size:
            return line
        self._begin_waiting()
        try:
            return self._finish_line(line, size)
        finally:
            self._waiting.release()

    def __next__(self) -> bytes:
        line = self._window.readline()
        if line[-1:] != b"\n":
            self._begin_waiting()
            try:
                line = self._finish_line(line, None)
            finally:
                self._waiting.release()
            if not line:
                raise StopIteration
        return line

    def _finish_line(self, first: bytes, size: int | None) -> bytes:
        """`first`, which ended the window before its line did, and what follows of the line."""
        begin = self._end - len(first)
        pieces, got = [first], len(first)
        limit = -1 if size is None or size < 0 else size
        try:
            while pieces[-1][-1:] != b"\n" and got != limit and self._load(self._end, 1):
                pieces.append(self._window.readline(-1 if limit < 0 else limit - got))
                got += len(pieces[-1])
        except BaseException:
            self._go(begin)
            raise
        return b"".join(pieces)

    def __del__(self) -> None:
        # io calls close(), which does nothing here that letting go of the reader does not do; a subclass's own may.
        if not type(self).__module__.startswith("penstock."):
            super().__del__()

    def close(self) -> None:
        """Lets go of what was received. Twice is once."""
        self._window.close()
        self._left = None
        super().close()
