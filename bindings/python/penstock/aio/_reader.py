"""ObjectReader: reads one object in order, with prefetching."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from .. import _core
from .._exceptions import S3DataLossError
from .._progress import ReadProgress
from ._loop import abandon
from ._verification import Verification, usable

if TYPE_CHECKING:
    from asyncio import Future
    from collections.abc import AsyncIterator, Iterator
    from types import TracebackType

    from .._progress import ProgressCallback
    from ._session import AsyncSession

    Buffer = bytes | bytearray | memoryview

PART_SIZE = 8 * 1024**2
READ_AHEAD_PARTS = 4


class ObjectReader:
    """Reads an object, or a range of it, in order. Comes from :meth:`S3Client.get_object`.

    The first read sends the first request. All reads are pinned to the version that it returned. Parts that follow are prefetched
    within the memory limit of the process (:func:`penstock.set_memory_limit`), at most four at a time. A reader that is not read
    requests nothing more, so a slow consumer holds a bounded number of bytes.

    If the whole object is read in order and S3 has a CRC64NVME, CRC32C or CRC32 for it, the bytes are verified; a mismatch raises
    S3DataLossError before the last bytes are returned.

    Cancelling a read cancels the requests of the reader. After a read that was cancelled or failed, the next one begins at the
    same position. One task may use a reader at a time.

    Attributes:
        metadata: The metadata of the object; None before the first read. Objects of more than one part have no checksums here.
    """

    def __init__(
        self,
        session: AsyncSession,
        bucket: str,
        key: str,
        start: int,
        end: int | None,
        version_id: str,
        progress: ProgressCallback | None = None,
    ) -> None:
        self.bucket = bucket
        self.key = key
        self.metadata: _core.ObjectMetadata | None = None
        self._session = session
        self._version_id = version_id
        self._part_size = session.part_size or PART_SIZE
        self._position = start  # of the next byte to return
        self._asked = start  # bytes before this offset are requested
        self._end = end
        self._parts: deque[tuple[Future[Any], Any]] = deque()  # requests in flight, with their share of the memory limit
        self._block = memoryview(b"")  # received and not returned
        self._window = 1  # parts that may be in flight; it grows as blocks are read
        self._received = memoryview(b"")  # the whole block, and its offset
        self._received_start = start
        # None: the bytes are not compared with the checksum of the object, or have been.
        self._verification = Verification() if start == 0 and end is None else None
        self._head: Future[Any] | None = None  # fetches the checksums of an object of several parts
        self._progress = None if progress is None else ReadProgress(progress)
        self._error: S3DataLossError | None = None
        self._closed = False
        self._used = False

    # ---- reading

    async def read(self, size: int = -1) -> bytes:
        """Returns the next `size` bytes; fewer only at the end; all remaining bytes if `size` is negative.

        Raises:
            S3NotFoundError: The object does not exist.
            S3PreconditionFailedError: The object changed since the first read.
            S3DataLossError: The bytes do not match the object's checksum.
        """
        with self._use(), self._all_or_nothing():
            if size < 0 and self.metadata is None and not self._parts and self._progress is None:
                return await self._read_all()
            pieces: list[memoryview] = []
            while size != 0 and await self._fill():
                piece = self._block if size < 0 else self._block[:size]
                pieces.append(piece)
                self._take(len(piece))
                size = size if size < 0 else size - len(piece)
            await self._check_end()
            return b"".join(pieces)

    async def readinto(self, buffer: Buffer) -> int:
        """Fills a writable `buffer`, and returns the number of bytes; fewer than its size only at the end.

        A large rest is received into the buffer directly, with parallel requests. A cancelled call ends when nothing writes to
        the buffer any more.
        """
        with self._use(), self._all_or_nothing(), memoryview(buffer).cast("B") as view:
            filled = 0
            while filled < len(view):
                wanted = len(view) - filled
                if not self._block and not self._parts and wanted >= self._part_size:
                    count = await self._receive(view[filled:])
                elif await self._fill():
                    count = min(wanted, len(self._block))
                    view[filled : filled + count] = self._block[:count]
                    self._take(count)
                else:
                    count = 0
                if count == 0:
                    break
                filled += count
            await self._check_end()
            return filled

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._blocks()

    async def _blocks(self) -> AsyncIterator[bytes]:
        while True:
            with self._use(), self._all_or_nothing():
                if not await self._fill():
                    return
                block = bytes(self._block)
                self._take(len(block))
                await self._check_end()
            yield block

    def tell(self) -> int:
        """Returns the offset in the object of the next byte."""
        return self._position

    # ---- end

    async def close(self) -> None:
        """Cancels the requests in flight and releases the data."""
        self._closed = True
        self._forget()

    async def __aenter__(self) -> ObjectReader:
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        await self.close()

    def __del__(self) -> None:
        for future, _ in getattr(self, "_parts", ()):
            abandon(future)
        head = getattr(self, "_head", None)
        if head is not None:
            abandon(head)

    # ---- requests

    @contextmanager
    def _use(self) -> Iterator[None]:
        if self._used:
            raise RuntimeError("a reader was used by two tasks at a time; use one reader per task")
        if self._closed:
            raise ValueError("this reader is closed; get a new one from get_object()")
        if self._error is not None:
            raise self._error
        self._used = True
        try:
            yield
        finally:
            self._used = False

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Returns to the position before a call that does not end normally: its caller gets none of the bytes."""
        before = self._position
        verification = None if self._verification is None else self._verification.copy()
        received, start = self._received, self._received_start
        try:
            yield
        except BaseException:
            if self._position != before:
                self._block = memoryview(b"")
                self._position = before
                self._verification = verification
                if verification is not None:
                    verification.add(received[verification.end - start : before - start])
                self._forget()
            raise

    def _take(self, count: int) -> None:
        self._block = self._block[count:]
        self._position += count

    async def _read_all(self) -> bytes:
        data, metadata = await self._session._read(self.bucket, self.key, self._position, self._end, version_id=self._version_id)
        self._set_version(metadata)
        self._verification = None  # the engine has compared the object
        self._position += len(data)
        self._end = self._asked = self._position
        return cast(bytes, data)

    async def _receive(self, view: memoryview) -> int:
        """Reads into the caller's memory. At most one part if the bytes are compared and the version is unknown."""
        first = self._verification is not None and self.metadata is None
        most = min(len(view), self._part_size) if first else len(view)
        rest = most if self._end is None else max(0, min(most, self._end - self._position))
        if rest == 0:
            return 0
        self._absorb()
        if not first:
            await self._learn()
        checked = self._verification
        checksums, prefix_crc = (None, None) if checked is None else (checked.checksums, checked.crc)
        size, etag = self._version
        try:
            count, metadata, crc = await self._session._read_into(
                self.bucket, self.key, view[:rest], self._position, size=size, etag=etag, version_id=self._version_id,
                checksums=checksums, prefix_crc=prefix_crc,
            )  # fmt: skip
        except S3DataLossError as error:
            self._error = error
            raise
        self._set_version(metadata)
        self._count(count)
        if first and count == metadata.size:
            self._verification = None  # one response had the whole object, and the engine has compared it
        elif first:
            await self._learn()
            if self._verification is not None:
                self._verification.add(view[:count])
        elif checked is not None and crc is not None:
            checked.advance(count, crc)
        else:
            self._verification = None
        self._position += count
        self._asked = self._position
        return cast(int, count)

    def _set_version(self, metadata: _core.ObjectMetadata) -> None:
        if self.metadata is None:
            self.metadata = metadata
            self._end = metadata.size if self._end is None else min(self._end, metadata.size)

    @property
    def _version(self) -> tuple[int | None, str | None]:
        return (None, None) if self.metadata is None else (self.metadata.size, self.metadata.etag or None)

    async def _fill(self) -> bool:
        """Makes the next block available. Returns False at the end."""
        if self._block:
            return True
        self._absorb()
        self._request()
        if not self._parts:
            return False
        future, share = self._parts.popleft()
        try:
            data, metadata = await future
            self._set_version(metadata)
            self._window = min(2 * self._window, READ_AHEAD_PARTS)
            self._request()
            self._count(len(data))
            if self._verification is not None:
                await self._expect(len(data), metadata.size)
        except BaseException as error:
            self._forget()
            if isinstance(error, S3DataLossError):
                self._error = error
            raise
        finally:
            if share is not None:
                share.release()
        self._block = self._received = memoryview(data)
        self._received_start = self._position
        return len(data) > 0

    def _request(self) -> None:
        """Requests the next parts, as far as the memory limit allows."""
        size, etag = self._version
        while len(self._parts) < self._window:
            end = self._asked + self._part_size
            if self._end is not None:
                end = min(end, self._end)
            if end <= self._asked or (self._parts and size is None):
                return
            share = _core.try_take_memory(end - self._asked)
            if share is None and self._parts:
                return
            future = self._session._read(
                self.bucket, self.key, self._asked, end, size=size, etag=etag, version_id=self._version_id
            )
            self._parts.append((future, share))
            self._asked = end

    def _forget(self) -> None:
        """Cancels the requests in flight. The next read requests the bytes again."""
        for future, _ in self._parts:
            abandon(future)
        self._parts.clear()
        self._asked = self._position + len(self._block)
        self._window = 1

    def _count(self, received: int) -> None:
        if self._progress is not None and self.metadata is not None:
            self._progress.size = self.metadata.size
            self._progress.add(received)

    # ---- checksums

    def _absorb(self) -> None:
        """Adds the bytes of the received block that were returned."""
        checked = self._verification
        if checked is not None and checked.end < self._position:
            begin = checked.end - self._received_start
            checked.add(self._received[begin : self._position - self._received_start])

    async def _expect(self, received: int, size: int) -> None:
        """Requests the checksums after the first block, and waits for them after the second one."""
        if self._position == 0 and received == size:
            self._verification = None  # one response had the whole object, and the engine has compared it
        elif self._head is None:
            self._request_head()
        else:
            await self._learn()

    def _request_head(self) -> Future[Any]:
        assert self.metadata is not None
        self._head = self._session._call(
            "head", bucket=self.bucket, key=self.key, version_id=self._version_id or None, if_match=self.metadata.etag
        )
        return self._head

    async def _learn(self) -> None:
        """Waits for the checksums of the object. Without any, its bytes are not compared."""
        checked = self._verification
        if checked is None or checked.checksums is not None:
            return
        head = self._head or self._request_head()
        await asyncio.wait([head])
        known = not head.cancelled() and head.exception() is None
        checksums = usable(head.result().checksums) if known else []
        if checksums:
            checked.learn(checksums)
        else:
            self._verification = None

    async def _check_end(self) -> None:
        """Compares the bytes with the checksum if all of them were returned."""
        if self._verification is None or self.metadata is None or self._position != self.metadata.size:
            return
        self._absorb()
        await self._learn()
        if self._verification is None:
            return
        try:
            self._verification.check(self.bucket, self.key)
        except S3DataLossError as error:
            self._error = error
            raise
        self._verification = None
