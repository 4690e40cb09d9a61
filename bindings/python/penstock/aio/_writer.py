"""ObjectWriter: writes one object in parts. It is published by close(), whole or not at all."""

from __future__ import annotations

import asyncio
import os
import sys
import warnings
from collections import deque
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NoReturn, cast

from .. import _core
from .._exceptions import S3Exception, S3NotFoundError
from .._logs import Logger
from .._writer import CLOSE_LATER, abort_at_exit, check_process, ended, handled_exception, note_unpublished
from ._loop import abandon, until_end

if TYPE_CHECKING:
    from asyncio import Future, Task
    from collections.abc import Coroutine, Iterator
    from types import TracebackType

    from .._client import S3Client as BlockingClient
    from .._progress import ProgressCallback
    from ..requests import CompletedPart, PutResult
    from ._session import AsyncSession

    Buffer = bytes | bytearray | memoryview

log = Logger(__name__)

PART_SIZE = 8 * 1024**2
PARTS_IN_FLIGHT = 4
ABORT_TIMEOUT_S = 5.0  # of an abort without an event loop
_PARTS_PER_SIZE = 1000  # then parts double, so that 10,000 parts hold 5 TiB


class _OpenUpload:
    """A multipart upload that can be aborted without an event loop."""

    def __init__(self, client: BlockingClient, bucket: str, key: str, upload_id: str, options: dict[str, Any]) -> None:
        self._client, self._place, self._options = client, (bucket, key, upload_id), {**options, "timeout": ABORT_TIMEOUT_S}
        self._aborted = False
        abort_at_exit(self)

    def abort(self) -> None:
        if not self._aborted:
            self._aborted = True
            ended(self)
            with suppress(S3NotFoundError):  # completed or aborted
                self._client.abort_multipart_upload(*self._place, **self._options)


class ObjectWriter:
    """Writes an object. Comes from :meth:`S3Client.put_object`.

    Use it in ``async with``: the object is published when the block ends, and discarded if an exception or a cancellation leaves
    the block. Without ``async with``, ``close`` publishes the object unless an exception is being handled.

    Objects of up to one part take one request. Larger ones are multipart uploads with at most four parts in flight. ``write``
    waits while there are more, and while parts in flight exceed the memory limit of the process
    (:func:`penstock.set_memory_limit`).

    An error or a cancellation in ``write`` or ``close`` aborts the upload: nothing is published. If the writer is destroyed
    without ``close``, it starts to abort the upload and publishes nothing. One task may use a writer at a time.

    Attributes:
        result: What S3 stored; None before ``close`` has succeeded.
    """

    def __init__(
        self,
        session: AsyncSession,
        bucket: str,
        key: str,
        conditions: dict[str, Any],
        options: dict[str, Any],
        progress: ProgressCallback | None = None,
    ) -> None:
        self.bucket = bucket
        self.key = key
        self.result: PutResult | None = None
        self._session = session
        self._part_size = session.part_size or PART_SIZE
        self._conditions = conditions  # of the request that publishes the object
        self._options = options
        self._buffer = bytearray()
        self._creating: Future[str] | None = None  # returns the id of the multipart upload
        self._parts: list[CompletedPart] = []
        self._in_flight: deque[tuple[Future[Any], Any]] = deque()  # uploads of parts, with their share of the memory limit
        self._part_number = 0
        self._written = 0
        self._progress = progress
        self._stored = 0  # bytes of the parts that S3 has
        self._aborting: Task[None] | None = None
        self._open: _OpenUpload | None = None  # the upload until it is published or aborted
        self._used = False
        self._process = os.getpid()
        self._handled = sys.exc_info()[1]  # already handled now: does not abort. Released at the end, with its frames

    # ---- writing

    async def write(self, data: Buffer) -> int:
        """Writes all bytes of the buffer `data`, which may change after the return. Returns their number.

        Raises:
            S3Exception: A part could not be uploaded. The upload is aborted.
        """
        with self._use():
            view = memoryview(data).cast("B")
            size = len(view)
            try:
                while view:
                    if not self._buffer and isinstance(data, bytes) and len(view) > self._next_size():
                        count = self._next_size()
                        await self._send(view[:count])  # bytes do not change, so they are not copied
                    else:
                        count = min(len(view), self._next_size() - len(self._buffer))
                        if count == 0:
                            await self._send_buffer()
                        self._buffer += view[:count]
                    view = view[count:]
                self._written += size
            except BaseException:
                await self._abort()
                raise
            return size

    def tell(self) -> int:
        """Returns the number of bytes written."""
        return self._written

    def close(self) -> Coroutine[Any, Any, PutResult]:
        """Publishes the object. A second call returns the same result.

        If this is called while an exception is being handled that was not being handled when the writer was made or its block
        began, for example in a ``finally`` that an exception or a cancellation passes, it aborts the upload instead and raises
        the exception again, with a note. To publish, leave the ``except`` or ``finally`` block first.

        Raises:
            S3PreconditionFailedError: A condition of :meth:`S3Client.put_object` did not hold.
            S3Exception: The object could not be published. The upload is aborted.
        """
        return self._close(self._exception_handled())  # checked by the call, because the coroutine may run in another task

    def _exception_handled(self) -> BaseException | None:
        """Returns the exception because of which ``close`` must not publish."""
        return handled_exception(self._handled) if self.result is None else None

    async def _close(self, error: BaseException | None) -> PutResult:
        if error is not None:
            await self._refuse(error)
        if self.result is not None:
            return self.result
        with self._use():
            self._handled = None
            try:
                self.result = await self._publish()
            except BaseException:
                await self._abort()
                raise
            if self._progress is not None:
                self._progress(self._written, self._written)
            return self.result

    async def _refuse(self, error: BaseException) -> NoReturn:
        """Aborts the upload and raises `error` again."""
        if self._aborting is None:
            note_unpublished(error, f"s3://{self.bucket}/{self.key}", CLOSE_LATER, log)
        try:
            await self.abort()
        except S3Exception:
            log.exception("aborting an upload failed")  # the exception that passes takes precedence
        raise error

    async def abort(self) -> None:
        """Discards the upload. Does nothing after ``close``. It ends only when the upload is aborted, also if it is cancelled."""
        check_process(self._process)
        if self.result is None:
            await self._abort()

    async def __aenter__(self) -> ObjectWriter:
        self._handled = sys.exc_info()[1]
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        if exc_type is None:
            if self._aborting is None:
                await self._close(None)
        else:
            await self.abort()

    def __del__(self) -> None:
        for future, _ in getattr(self, "_in_flight", ()):
            abandon(future)
        creating = getattr(self, "_creating", None)
        if creating is None or self._aborting is not None or self.result is not None:
            return
        if os.getpid() != self._process:  # the parent continues the upload
            return
        warnings.warn(
            f"the upload of s3://{self.bucket}/{self.key} was neither closed nor aborted; use `async with`, or await close()",
            ResourceWarning, stacklevel=1, source=self,
        )  # fmt: skip
        if not creating.done() or creating.cancelled() or creating.exception() is not None:
            return
        try:
            self._abort_call().add_done_callback(abandon)
        except RuntimeError:  # no event loop runs any more
            with suppress(S3Exception):
                if self._open is not None:
                    self._open.abort()

    # ---- requests

    @contextmanager
    def _use(self) -> Iterator[None]:
        check_process(self._process)
        if self._used:
            raise RuntimeError("a writer was used by two tasks at a time; use one writer per task")
        if self._aborting is not None:
            raise ValueError("this upload was aborted; write the object again with a new put_object()")
        if self.result is not None:
            raise ValueError("this object is already published; write it again with a new put_object()")
        self._used = True
        try:
            yield
        finally:
            self._used = False

    def _next_size(self) -> int:
        """Returns the size of the next part."""
        return self._part_size << self._part_number // _PARTS_PER_SIZE

    async def _send_buffer(self) -> None:
        buffer, self._buffer = self._buffer, bytearray()
        await self._send(buffer)

    async def _send(self, data: bytearray | memoryview) -> None:
        if self._creating is None:
            self._creating = self._call("create_multipart_upload", **self._options)
        upload_id = await asyncio.shield(self._creating)  # an upload that S3 created must be known, so that it can be aborted
        if self._open is None:
            self._open = _OpenUpload(self._session.blocking, self.bucket, self.key, upload_id, self._upload_options)
        parallel = self._session.parallel_parts or PARTS_IN_FLIGHT
        share = _core.try_take_memory(len(data))
        while self._in_flight and (share is None or len(self._in_flight) >= parallel):
            await self._end_part()
            share = share or _core.try_take_memory(len(data))
        self._part_number += 1
        future = self._call_of_upload("upload_part", part_number=self._part_number, data=data, **self._key)
        self._in_flight.append((future, share))

    async def _end_part(self) -> None:
        future, share = self._in_flight[0]
        part = await future
        self._parts.append(part)
        self._in_flight.popleft()
        if share is not None:
            share.release()
        self._stored += part.size
        if self._progress is not None and self._stored < self._written:
            self._progress(self._stored, None)

    async def _publish(self) -> PutResult:
        if self._creating is None:
            return cast("PutResult", await self._call("put", data=self._buffer, **self._conditions, **self._options))
        if self._buffer:
            await self._send_buffer()
        while self._in_flight:
            await self._end_part()
        completed = await self._call_of_upload("complete_multipart_upload", parts=self._parts, **self._key, **self._conditions)
        self._open = None
        return cast("PutResult", completed)

    def _call(self, operation: str, **arguments: Any) -> Future[Any]:
        return self._session._call(operation, bucket=self.bucket, key=self.key, **arguments)

    def _call_of_upload(self, operation: str, **arguments: Any) -> Future[Any]:
        """Starts a request of the multipart upload, which exists."""
        assert self._creating is not None
        return self._call(operation, upload_id=self._creating.result(), **self._upload_options, **arguments)

    @property
    def _upload_options(self) -> dict[str, Any]:
        names = ("expected_bucket_owner", "requester_pays", "timeout")
        return {name: self._options[name] for name in names if name in self._options}

    @property
    def _key(self) -> dict[str, Any]:
        return {"sse_customer_key": self._options.get("sse_customer_key")}

    async def _abort(self) -> None:
        self._handled = None
        if self._aborting is None:
            self._aborting = asyncio.ensure_future(self._discard())
        await until_end(self._aborting)

    async def _discard(self) -> None:
        futures = [future for future, _ in self._in_flight]
        for future in futures:
            abandon(future)
        if futures:
            await asyncio.wait(futures)  # S3 may store a part that arrives after the abort
        self._in_flight.clear()
        self._buffer = bytearray()
        if self._creating is None:
            return
        try:
            await self._creating
        except S3Exception:
            return  # no upload was created
        closed_before = self._session.closed
        with suppress(S3NotFoundError):  # completed or aborted
            try:
                await self._abort_call()
            except S3Exception:
                if closed_before or not self._session.closed:
                    raise
                await self._abort_call()  # the client was closed meanwhile, which cancelled the first call
        self._open = None

    def _abort_call(self) -> Future[Any]:
        return self._call_of_upload("abort_multipart_upload", also_closed=True)
