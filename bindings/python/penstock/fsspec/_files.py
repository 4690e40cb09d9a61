"""Open files: readers, writers that publish on close, and text and compression wrappers."""

from __future__ import annotations

import codecs
import io
import sys
import warnings
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any

from fsspec import AbstractFileSystem

from .._append import S3AppendWriter
from .._exceptions import S3Exception
from .._logs import Logger
from .._writer import abort_and_raise, handled_exception
from ._errors import mapped, translated

if TYPE_CHECKING:
    from .._writer import S3Writer
    from ..s3reader import S3Reader

log = Logger(__name__)


class _CachedRawIO(io.RawIOBase):
    """Reads a file through one of fsspec's block caches."""

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


class _ObjectFile(io.BufferedIOBase):
    """What open files of both directions have."""

    fs: AbstractFileSystem
    path: str
    version_id: str | None = None  # None: the current version

    @property
    def s3(self) -> AbstractFileSystem:
        """The file system, by s3fs's name."""
        return self.fs

    @property
    def bucket(self) -> str:
        return self.path.partition("/")[0]

    @property
    def key(self) -> str:
        return self.path.partition("/")[2]

    @property
    def full_name(self) -> str:
        return str(self.fs.unstrip_protocol(self.path))

    @property
    def _versioned_path(self) -> str:
        return f"{self.path}?versionId={self.version_id}" if self.version_id else self.path

    def metadata(self) -> dict[str, str]:
        """As :meth:`PenstockFileSystem.metadata`."""
        found: dict[str, str] = self.fs.metadata(self._versioned_path)
        return found

    def getxattr(self, attr_name: str) -> str | None:
        """As :meth:`PenstockFileSystem.getxattr`."""
        return self.metadata().get(attr_name.replace("_", "-"))

    def setxattr(self, copy_kwargs: dict[str, Any] | None = None, **attributes: str | None) -> None:
        """As :meth:`PenstockFileSystem.setxattr`.

        Raises:
            NotImplementedError: The file is open for writing.
        """
        if self.writable():
            raise NotImplementedError("cannot change metadata while the file is open for writing; close it first")
        self.fs.setxattr(self.path, copy_kwargs=copy_kwargs, **attributes)

    def url(self, **kwargs: Any) -> str:
        """As :meth:`PenstockFileSystem.url`."""
        return str(self.fs.url(self._versioned_path, **kwargs))


class ReadFile(_ObjectFile):
    """An object open for reading: an :class:`~penstock.S3Reader` that raises OSError.

    The file reads the object that existed when it was opened. After another one has replaced it, reads that need a request raise
    :class:`FileChangedError`, or, in a versioned bucket with ``version_aware``, return the opened version.

    Attributes:
        fs: The file system.
        path: ``bucket/key``.
        details: The object's entry, as ``info`` returns it.
        size: Size in bytes.
        version_id: The version that is read; None: the current one.

    Comes from ``open``. Picklable: unpickling opens the object again, at the same position. Not thread-safe.
    """

    mode = "rb"
    blocksize = 5 * 1024**2  # bytes; for fsspec's caches

    def __init__(
        self,
        fs: AbstractFileSystem,
        path: str,
        reader: S3Reader,
        details: dict[str, Any],
        options: dict[str, Any],
        version_id: str | None = None,
    ) -> None:
        self.fs = fs
        self.path = self.name = path
        self.details = details
        self.version_id = version_id
        self._reader: S3Reader | io.BufferedReader = reader
        self._options = options

    @property
    def cache(self) -> Any:
        """The block cache that ``blockcache::`` has assigned; None if there is none."""
        raw = getattr(self._reader, "raw", None)
        return raw._cache if isinstance(raw, _CachedRawIO) else None

    @cache.setter
    def cache(self, cache: Any) -> None:
        self._reader = io.BufferedReader(_CachedRawIO(cache, self.size))

    def _fetch_range(self, start: int, end: int) -> bytes:
        """Reads a byte range; called by the cache."""
        etag = self.details["ETag"].strip('"') or None
        data: bytes = self.fs._store.read(self.path, start, end, self.version_id or "", etag)
        return data

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopened, (self.fs, self._versioned_path, self._options, self.tell())

    @property
    def size(self) -> int:
        here = self.tell()
        try:
            return self.seek(0, io.SEEK_END)
        finally:
            self.seek(here)

    def info(self) -> dict[str, Any]:
        """Returns :attr:`details`."""
        return self.details

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    @property
    def closed(self) -> bool:
        return self._reader.closed

    @closed.setter
    def closed(self, closed: bool) -> None:
        """Closes the file. fsspec's caches set this attribute."""
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
        """Reads into the buffer. Returns the number of bytes, which is smaller than the buffer only at the end of the file."""
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


def _reopened(fs: AbstractFileSystem, path: str, options: dict[str, Any], position: int) -> ReadFile:
    file: ReadFile = fs.open(path, "rb", **options)
    file.seek(position)
    return file


class WriteFile(_ObjectFile):
    """An object open for writing.

    The object is published by the end of a ``with`` block of this file, by :meth:`close`, by :meth:`commit`, and by the end of
    the transaction that the file was opened in. The upload is aborted, and the previous object stays unchanged, when

    - a ``with`` block of this file is left by an exception,
    - :meth:`close` is called while the thread handles an exception (``sys.exc_info()``) that it did not handle when the file
      was opened; :meth:`close` then raises that exception again,
    - :meth:`discard` is called,
    - the file, or a wrapper such as ``io.TextIOWrapper``, is garbage collected without :meth:`close`,
    - the interpreter exits.

    With an :class:`~penstock.S3AppendWriter`, only buffered bytes are discarded; bytes that have been appended stay.

    Created by ``open``.

    Args:
        fs: The file system.
        path: ``bucket/key``.
        mode: The mode of ``open``.
        writer: Receives the bytes.
        base: Size of the existing content that is appended to, in bytes.
        autocommit: Whether :meth:`close` publishes; otherwise only :meth:`commit` does.
        published: Called after publishing, also if only a part may be published.
    """

    def __init__(
        self,
        fs: AbstractFileSystem,
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
        self.appends = base + writer.tell() > 0
        self._autocommit = autocommit
        self._published = published
        self._closed = False
        self._handled = sys.exc_info()[1]  # already handled at open: does not abort. Released on close, with its frames

    def readable(self) -> bool:
        return False

    def writable(self) -> bool:
        return not self._closed

    def tell(self) -> int:
        return self._base + self._writer.tell()

    def flush(self, force: bool = False) -> None:
        """Does nothing, also with `force`: full parts are sent without it."""

    def write(self, data: Any, /) -> int:
        """Writes all of `data`, a bytes-like object. Returns its size in bytes.

        Raises:
            ValueError: The file is closed.
            OSError: The upload failed and was aborted.
        """
        if self._closed:
            raise ValueError("I/O operation on closed file.")
        try:
            return self._writer.write(data)
        except S3Exception as error:
            raise translated(error, self.path, self._in_place) from error
        except (TypeError, ValueError, BufferError):  # a wrong argument: nothing was written
            raise
        except BaseException:  # Ctrl-C: io's wrappers call close() after a write that failed, outside of its exception
            self.discard()
            raise

    @property
    def closed(self) -> bool:
        return self._closed

    def close(self) -> None:
        """Publishes the object and waits for the response of S3. In a transaction, its end publishes. Later calls do nothing.

        ``fsspec.open``, ``io.TextIOWrapper``, pandas, pyarrow and ``contextlib.closing`` call this method also when an exception
        leaves their block, and do not pass the exception on. Therefore, while the thread handles an exception that it did not
        handle when the file was opened, this method aborts the upload and raises the exception again, with a note. Use
        :meth:`commit` to publish in an ``except`` or ``finally`` block.

        Raises:
            OSError: The object was not published.
        """
        if self._closed:
            return
        error = handled_exception(self._handled)
        if error is None:
            self._finish()
            return
        abort_and_raise(self, error, f"s3://{self.path}", "Call commit() to publish in an except or finally block.", log)

    def _finish(self) -> None:
        self._closed, self._handled = True, None
        if self._autocommit:
            self.commit()

    def commit(self) -> None:
        """Publishes, whether or not an exception is being handled. Does nothing after a discard.

        Raises:
            OSError: The object was not published.
        """
        self._closed = True
        if self._writer.closed:
            return
        with mapped(self.path, self._in_place), self._writer:
            pass  # the end of this block publishes, also while an exception is being handled
        self._published()

    def discard(self) -> None:
        """Aborts the upload; the previous object stays unchanged. Does nothing after a commit."""
        self._closed = True
        with mapped(self.path, self._in_place):
            self._writer.abort()
        if self._in_place:
            self._published()

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None:
            if not self._closed:
                self._finish()
            return
        self._closed, self._handled = True, None
        with mapped(self.path, self._in_place):
            self._writer.__exit__(kind, value, trace)
        if self._in_place:
            self._published()

    def _dealloc_warn(self, source: Any) -> None:
        """The io module calls this when a wrapper of this file is garbage collected, before the wrapper closes this file."""
        warnings.warn(f"{source!r} was dropped without close(); {self.path} is not published", ResourceWarning, stacklevel=2)
        self.discard()

    def __del__(self) -> None:
        """Overrides ``io.IOBase.__del__``, which would publish by closing. The writer aborts the upload, with a warning."""


class TextWriter(io.TextIOWrapper):
    """Writes text to a :class:`WriteFile` or :class:`CompressedWriter`. The same rules decide whether the object is published."""

    def close(self) -> None:
        """As :meth:`WriteFile.close`. Aborts the upload if the remaining text cannot be written."""
        if not self.closed:
            self._flush_or_discard()  # io.TextIOWrapper.close closes the buffer also after a failed flush
        super().close()

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None and not self.closed:
            self._flush_or_discard()
        self.buffer.__exit__(kind, value, trace)  # type: ignore[attr-defined]

    def commit(self) -> None:
        """Publishes, whether or not an exception is being handled. Does nothing after a discard."""
        if not self.closed:
            self._flush_or_discard()
        self.buffer.commit()  # type: ignore[attr-defined]

    def discard(self) -> None:
        """Aborts the upload. Does nothing after a commit."""
        self.buffer.discard()  # type: ignore[attr-defined]

    def _flush_or_discard(self) -> None:
        try:
            self.flush()
        except BaseException:
            self.discard()
            raise

    def __del__(self) -> None:
        try:
            unfinished = not self.buffer.closed
        except (AttributeError, ValueError):  # __init__ failed, or the buffer was detached
            return
        if unfinished:
            self.discard()


class MarkedTextWriter(TextWriter):
    """Writes text in an encoding with a byte order mark. The first write adds the mark, unless the file is appended to.

    :class:`io.TextIOWrapper` omits the mark of UTF-16 and UTF-32 in files that cannot seek.
    """

    def __init__(self, buffer: WriteFile | CompressedWriter, **text: Any) -> None:
        super().__init__(buffer, **text)  # type: ignore[arg-type]
        self._mark = b"" if buffer.appends else "".encode(self.encoding)

    def write(self, text: str, /) -> int:
        if self._mark and isinstance(text, str):
            self.buffer.write(self._mark)
            self._mark = b""
        return super().write(text)


def text_writer(buffer: WriteFile | CompressedWriter, **text: Any) -> TextWriter:
    """Returns a text writer over `buffer`. Further arguments are those of :class:`io.TextIOWrapper`."""
    encoding = text.get("encoding") or ""
    marked = codecs.lookup(encoding).name in ("utf-16", "utf-32") if encoding else False
    return (MarkedTextWriter if marked else TextWriter)(buffer, **text)  # type: ignore[arg-type]


class CompressedWriter(io.BufferedIOBase):
    """Writes compressed data to a :class:`WriteFile`. The same rules decide whether the object is published."""

    def __init__(self, packer: Any, file: WriteFile) -> None:
        self._packer = packer
        self._file = file
        self.path, self.mode, self.fs, self.appends = file.path, file.mode, file.fs, file.appends

    def writable(self) -> bool:
        return not self._file.closed

    def write(self, data: Any, /) -> int:
        if self.closed:
            raise ValueError("I/O operation on closed file.")
        try:
            written: int = self._packer.write(data)
        except (TypeError, ValueError, BufferError):  # a wrong argument: nothing was written
            raise
        except BaseException:  # the compressor may have lost some of the data
            self.discard()
            raise
        return written

    @property
    def closed(self) -> bool:
        return self._file.closed

    def close(self) -> None:
        """As :meth:`WriteFile.close`."""
        if not self._file.closed:
            self._end_stream()
            self._file.close()

    def commit(self) -> None:
        """Publishes, whether or not an exception is being handled. Does nothing after a discard."""
        if not self._file.closed:
            self._end_stream()
        self._file.commit()

    def discard(self) -> None:
        """Aborts the upload. Does nothing after a commit."""
        self._file.discard()

    def _end_stream(self) -> None:
        try:
            self._packer.close()
        except BaseException:
            self.discard()
            raise

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None and not self._file.closed:
            self._end_stream()
        self._file.__exit__(kind, value, trace)

    def _dealloc_warn(self, source: Any) -> None:
        self._file._dealloc_warn(source)

    def __del__(self) -> None:
        if not self._file.closed:
            self.discard()
