"""Open files: one that is read, one whose close publishes, and what is put around them."""

from __future__ import annotations

import io
import logging
import sys
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .._append import S3AppendWriter
from .._exceptions import S3Exception
from ._errors import mapped, translated

if TYPE_CHECKING:
    from .._writer import S3Writer
    from ..s3reader import S3Reader
    from ._filesystem import PenstockFileSystem

log = logging.getLogger(__name__)

_MOST_FRAMES = 12


def left_by(error: BaseException | None) -> bool:
    """Whether an ``__exit__`` that leads here was handed `error`: a block is being left by it.

    ``fsspec.open``, pandas and contextlib close what they hold and keep from it why.
    """
    frame = sys._getframe(1)
    for _ in range(_MOST_FRAMES):
        if frame.f_code.co_name == "__exit__":
            for value in frame.f_locals.values():
                if value is error or (type(value) is tuple and any(item is error for item in value)):
                    return True
        if frame.f_back is None:
            break
        frame = frame.f_back
    return False


class _ThroughCache(io.RawIOBase):
    """A file's bytes by way of one of fsspec's caches of blocks."""

    def __init__(self, cache: Any, size: int) -> None:
        self._cache, self._size, self._position = cache, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        target = offset + (0, self._position, self._size)[whence]
        self._position = min(max(0, target), self._size)
        return self._position

    def readinto(self, buffer: Any, /) -> int:
        data = self._cache._fetch(self._position, min(self._position + len(buffer), self._size))
        buffer[: len(data)] = data
        self._position += len(data)
        return len(data)


class ReadFile(io.BufferedIOBase):
    """An object open for reading: an :class:`~penstock.S3Reader` that raises OSError.

    Attributes:
        fs: Where it was opened.
        path: ``bucket/key``.
        size: Bytes. Asking for it holds the file to the version that it is the size of; so does the first read.

    Comes from ``open``. Picklable: the copy is opened anew, and is where this one is. Not thread-safe.
    """

    mode = "rb"
    blocksize = 5 * 1024**2  # of fsspec's caches

    def __init__(
        self, fs: PenstockFileSystem, path: str, reader: S3Reader, details: dict[str, Any], options: dict[str, Any]
    ) -> None:
        self.fs = fs
        self.path = self.name = path
        self.details = details
        self._reader: S3Reader | io.BufferedReader = reader
        self._options = options

    @property
    def cache(self) -> Any:
        """None, or the cache of blocks that somebody (``blockcache::``) had the file read through."""
        raw = getattr(self._reader, "raw", None)
        return raw._cache if isinstance(raw, _ThroughCache) else None

    @cache.setter
    def cache(self, cache: Any) -> None:
        self._reader = io.BufferedReader(_ThroughCache(cache, self.size))

    def _fetch_range(self, start: int, end: int) -> bytes:
        """For such a cache."""
        data: bytes = self.fs.cat_file(self.path, start, end)
        return data

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopened, (self.fs, self.path, self._options, self.tell())

    @property
    def size(self) -> int:
        here = self.tell()
        try:
            return self.seek(0, io.SEEK_END)
        finally:
            self.seek(here)

    @property
    def full_name(self) -> str:
        return str(self.fs.unstrip_protocol(self.path))

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    @property
    def closed(self) -> bool:
        return self._reader.closed

    @closed.setter
    def closed(self, closed: bool) -> None:
        """fsspec's caches say so once they have closed it."""
        if closed:
            self._reader.close()

    def close(self) -> None:
        self._reader.close()

    def tell(self) -> int:
        return self._reader.tell()

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        try:
            return self._reader.seek(offset, whence)
        except S3Exception as error:
            raise translated(error, self.path) from error

    def read(self, size: int | None = -1, /) -> bytes:
        try:
            return self._reader.read(size)
        except S3Exception as error:
            raise translated(error, self.path) from error

    def read1(self, size: int = -1, /) -> bytes:
        try:
            return self._reader.read1(size)
        except S3Exception as error:
            raise translated(error, self.path) from error

    def readinto(self, buffer: Any, /) -> int:
        """Fills the buffer with what follows. Returns the bytes it got: fewer at the end of the file."""
        try:
            return self._reader.readinto(buffer)
        except S3Exception as error:
            raise translated(error, self.path) from error

    def readinto1(self, buffer: Any, /) -> int:
        """As :meth:`readinto`; may return before the buffer is full."""
        try:
            return self._reader.readinto1(buffer)
        except S3Exception as error:
            raise translated(error, self.path) from error

    def readline(self, size: int | None = -1, /) -> bytes:
        try:
            return self._reader.readline(size)
        except S3Exception as error:
            raise translated(error, self.path) from error

    def __next__(self) -> bytes:
        try:
            return next(self._reader)
        except S3Exception as error:
            raise translated(error, self.path) from error


def _reopened(fs: PenstockFileSystem, path: str, options: dict[str, Any], position: int) -> ReadFile:
    file: ReadFile = fs.open(path, "rb", **options)
    file.seek(position)
    return file


class WriteFile(io.BufferedIOBase):
    """An object open for writing. It is published by :meth:`close`, or by the transaction's end, and by nothing else.

    Leaving a ``with`` block by an exception, :meth:`discard`, garbage collection and interpreter exit give it up. With an
    :class:`~penstock.S3AppendWriter` all that applies to what has only gathered: what has been appended stays.

    Made by ``open``.

    Args:
        fs: Where it was opened.
        path: ``bucket/key``.
        mode: That of ``open``.
        writer: What the bytes go to.
        base: Bytes that the object has before what is written.
        autocommit: Whether close publishes; else :meth:`commit` does.
        published: Called once it is, or some of it may be.
    """

    def __init__(
        self,
        fs: PenstockFileSystem,
        path: str,
        mode: str,
        writer: S3Writer | S3AppendWriter,
        *,
        base: int = 0,
        autocommit: bool = True,
        published: Callable[[], None],
    ) -> None:
        self.fs = fs
        self.path = self.name = path
        self.mode = mode
        self._writer = writer
        self._in_place = isinstance(writer, S3AppendWriter)
        self._base = base
        self._autocommit = autocommit
        self._published = published
        self._closed = False
        self._handled = sys.exc_info()[1]  # being handled while this was opened: no reason to give up

    @property
    def full_name(self) -> str:
        return str(self.fs.unstrip_protocol(self.path))

    def readable(self) -> bool:
        return False

    def writable(self) -> bool:
        return not self._closed

    def tell(self) -> int:
        return self._base + self._writer.tell()

    def flush(self, force: bool = False) -> None:
        """Does nothing, also with `force`: parts leave when they are full."""

    def write(self, data: Any, /) -> int:
        """Writes `data`, a bytes-like object, all of it; returns its bytes' number.

        Raises:
            ValueError: after close.
            OSError: the upload failed; it has been given up.
        """
        if self._closed:
            raise ValueError("I/O operation on closed file.")
        try:
            return self._writer.write(data)
        except S3Exception as error:
            raise translated(error, self.path, self._in_place) from error

    @property
    def closed(self) -> bool:
        return self._closed

    def close(self) -> None:
        """Publishes, and waits for S3's acknowledgement; in a transaction, leaves that to its end."""
        if self._closed:
            return
        self._closed = True
        error = sys.exc_info()[1]
        if error is not None and error is not self._handled and left_by(error):
            log.info("Exception occurred before closing %s: %s: %s", self.path, type(error).__name__, error)
            self.discard()
        elif self._autocommit:
            self.commit()

    def commit(self) -> None:
        """Publishes. Does nothing after a discard."""
        self._closed = True
        if self._writer.closed:
            return
        with mapped(self.path, self._in_place):
            self._writer.close()
        self._published()

    def discard(self) -> None:
        """Gives the upload up; what was there before stays. Does nothing after a commit."""
        self._closed = True
        with mapped(self.path, self._in_place):
            self._writer.abort()
        if self._in_place:
            self._published()

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None:
            self.close()
            return
        self._closed = True
        with mapped(self.path, self._in_place):
            self._writer.__exit__(kind, value, trace)
        if self._in_place:
            self._published()

    def __del__(self) -> None:
        """The writer gives itself up, with a warning; io.IOBase would close, that is publish."""


class TextWriter(io.TextIOWrapper):
    """Text over a :class:`WriteFile` (or what compresses into one), with its rule: only a close publishes."""

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        if kind is not None:
            self.buffer.__exit__(kind, value, trace)  # type: ignore[attr-defined]
        self.close()

    def discard(self) -> None:
        self.buffer.discard()  # type: ignore[attr-defined]

    def __del__(self) -> None:
        try:
            unfinished = not self.buffer.closed
        except (AttributeError, ValueError):  # was never made, or detached
            return
        if unfinished:
            self.discard()


class CompressedWriter(io.BufferedIOBase):
    """What compresses into a :class:`WriteFile`, and that: closed and given up together."""

    def __init__(self, packer: Any, file: WriteFile) -> None:
        self._packer = packer
        self._file = file
        self.path, self.mode, self.fs = file.path, file.mode, file.fs

    def writable(self) -> bool:
        return not self._file.closed

    def write(self, data: Any, /) -> int:
        if self.closed:
            raise ValueError("I/O operation on closed file.")
        written: int = self._packer.write(data)
        return written

    @property
    def closed(self) -> bool:
        return self._file.closed

    def close(self) -> None:
        if not self._file.closed:
            self._packer.close()
            self._file.close()

    def discard(self) -> None:
        self._file.discard()

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None:
            self.close()
        else:
            self._file.__exit__(kind, value, trace)

    def __del__(self) -> None:
        if not self._file.closed:
            self.discard()
