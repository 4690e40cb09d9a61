"""Files whose reads and writes are awaited, without a thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._exceptions import S3Exception
from ..requests._parts import merged
from ._attributes import write_attributes
from ._errors import mapped, translated
from ._store import split

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from types import TracebackType

    from fsspec import AbstractFileSystem

    from ..aio import ObjectReader, ObjectWriter
    from ._store import Store


class AsyncReadFile:
    """An object open for reading in order. Comes from ``open_async``; a context manager of ``async with``.

    The first read sends the first request, and decides which version all reads return.

    Attributes:
        fs: The file system.
        path: ``bucket/key``.
        loc: Offset of the next byte.
    """

    mode = "rb"

    def __init__(self, fs: AbstractFileSystem, path: str, reader: ObjectReader) -> None:
        self.fs, self.path, self.loc = fs, path, 0
        self._reader = reader

    @property
    def size(self) -> int | None:
        """Size in bytes; None before the first read."""
        return self._reader.metadata.size if self._reader.metadata is not None else None

    async def read(self, length: int = -1) -> bytes:
        """Returns the next `length` bytes; fewer only at the end; all remaining bytes if `length` is negative.

        Raises:
            OSError: The object does not exist, was replaced, or a request failed.
        """
        try:
            data = await self._reader.read(length)
        except S3Exception as error:
            raise translated(error, self.path) from error
        self.loc += len(data)
        return data

    async def close(self) -> None:
        """Cancels the requests in flight."""
        await self._reader.close()

    async def __aenter__(self) -> AsyncReadFile:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()


class AsyncWriteFile:
    """An object open for writing. Comes from ``open_async``; a context manager of ``async with``.

    :meth:`close` and the end of ``async with`` publish the object. An exception in the block, a cancellation, :meth:`discard`,
    and :meth:`close` while an exception is being handled abort the upload.

    Attributes:
        fs: The file system.
        path: ``bucket/key``.
        loc: Number of bytes written.
    """

    mode = "wb"

    def __init__(self, fs: AbstractFileSystem, path: str, writer: ObjectWriter) -> None:
        self.fs, self.path, self.loc = fs, path, 0
        self._writer = writer

    async def write(self, data: Any) -> int:
        """Writes all of `data`, a bytes-like object. Returns its size in bytes.

        Raises:
            OSError: The upload failed and was aborted.
        """
        try:
            written = await self._writer.write(data)
        except S3Exception as error:
            raise translated(error, self.path) from error
        self.loc += written
        return written

    def close(self) -> Coroutine[Any, Any, None]:
        """Publishes the object. While an exception is being handled, as :meth:`penstock.aio.ObjectWriter.close`.

        Raises:
            OSError: The object was not published.
        """
        return self._close(self._writer._exception_handled())

    async def _close(self, error: BaseException | None) -> None:
        if error is not None:
            await self._writer._refuse(error)
        with mapped(self.path):
            await self._writer._close(None)
        self.fs.invalidate_cache(self.path)

    async def discard(self) -> None:
        """Aborts the upload; the previous object stays unchanged."""
        with mapped(self.path):
            await self._writer.abort()

    async def __aenter__(self) -> AsyncWriteFile:
        await self._writer.__aenter__()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        await (self._close(None) if kind is None else self.discard())


def open_async(
    fs: AbstractFileSystem, store: Store, path: str, mode: str, version_id: str, options: dict[str, Any]
) -> AsyncReadFile | AsyncWriteFile:
    """Opens an object, with mode rb, wb or xb. Sends no request."""
    if mode == "rb":
        return AsyncReadFile(fs, path, store.aio.get_object(*split(path), version_id=version_id or None))
    bucket, key = store.target(path)
    attributes = merged(store.attributes, write_attributes(options))
    return AsyncWriteFile(fs, path, store.aio.put_object(bucket, key, if_none_match=mode == "xb", **attributes))
