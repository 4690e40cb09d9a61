"""S3Client for asyncio: the requests of penstock.S3Client, awaited on the caller's event loop."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import AsyncIterator, Iterable
from functools import wraps
from typing import TYPE_CHECKING, Any

from .._client import _check_page_size as check_page_size
from .._config import check_callable
from .._exceptions import S3ConflictError
from .._objects import HeadObjectResult
from .._versions import checked_version, refuse_directory_bucket
from ..requests._buckets import is_already_owned
from ..requests._files import Files
from ..requests._objects import batches
from ..requests._rare_results import DeleteObjectsResult, ObjectToDelete
from ..requests._requests import Requests
from ._listing import ObjectPages, VersionPages
from ._loop import abandon
from ._methods import awaited, in_executor
from ._reader import ObjectReader
from ._session import AsyncSession
from ._writer import ObjectWriter

if TYPE_CHECKING:
    from asyncio import Future
    from types import TracebackType

    from typing_extensions import Unpack

    from .._progress import ProgressCallback
    from ..requests._options import CallOptions, ObjectOptions, Range

log = logging.getLogger(__name__)

_CLOSED = "this client is closed; make a new one"


class S3Client(AsyncSession):
    """A client for S3 on asyncio's event loops. Cheap to make: all clients of a process share connections and I/O threads.

    Methods have the names, arguments, results and exceptions of :class:`penstock.S3Client`. No thread waits for a call: the I/O
    threads of the process pass completions to the event loop, which handles many of them per wake-up. Only transfers of files and
    directories use the loop's executor.

    Cancelling a call (``task.cancel()``, ``asyncio.timeout``) cancels its request. The task continues when the engine no longer
    uses the call's memory, within milliseconds. S3 may have executed the request.

    In every method, `bucket` is the name of a bucket or the ARN of an access point, and `key` is an object key.

    One client may be used on several event loops and threads. Each call belongs to the loop that runs the caller. A context
    manager: ``async with`` closes the client.

    Args:
        region: AWS region, such as ``"us-east-1"``, used to sign requests and to choose the endpoint.
        endpoint: URL of an S3-compatible service; None: ``AWS_ENDPOINT_URL_S3``, ``AWS_ENDPOINT_URL``, else AWS.
        user_agent: Replaces the default User-Agent text.
        s3client_config: All other settings; None: defaults.

    Raises:
        TypeError: `user_agent` or `s3client_config` is of another type.
        S3Exception: A request failed after all attempts, from any method that sends one.
        RuntimeError: No event loop runs, it has no ``add_reader()``, or the client is closed.
    """

    # ---- requests

    get = awaited(Requests.get)
    head = awaited(Requests.head)
    put = awaited(Requests.put)
    delete = awaited(Requests.delete)
    copy = awaited(Requests.copy)
    get_object_attributes = awaited(Requests.get_object_attributes)
    restore_object = awaited(Requests.restore_object)
    create_multipart_upload = awaited(Requests.create_multipart_upload)
    upload_part = awaited(Requests.upload_part)
    upload_part_copy = awaited(Requests.upload_part_copy)
    complete_multipart_upload = awaited(Requests.complete_multipart_upload)
    abort_multipart_upload = awaited(Requests.abort_multipart_upload)
    list_parts = awaited(Requests.list_parts)
    list_multipart_uploads = awaited(Requests.list_multipart_uploads)
    get_object_tagging = awaited(Requests.get_object_tagging)
    put_object_tagging = awaited(Requests.put_object_tagging)
    delete_object_tagging = awaited(Requests.delete_object_tagging)
    delete_bucket = awaited(Requests.delete_bucket)
    head_bucket = awaited(Requests.head_bucket)
    list_buckets = awaited(Requests.list_buckets)
    get_bucket_versioning = awaited(Requests.get_bucket_versioning)
    put_bucket_versioning = awaited(Requests.put_bucket_versioning)
    get_bucket_tagging = awaited(Requests.get_bucket_tagging)
    put_bucket_tagging = awaited(Requests.put_bucket_tagging)
    get_bucket_configuration = awaited(Requests.get_bucket_configuration)
    put_bucket_configuration = awaited(Requests.put_bucket_configuration)
    delete_bucket_configuration = awaited(Requests.delete_bucket_configuration)
    get_object_configuration = awaited(Requests.get_object_configuration)
    put_object_configuration = awaited(Requests.put_object_configuration)
    upload_file = in_executor(Files.upload_file)
    download_file = in_executor(Files.download_file)
    upload_directory = in_executor(Files.upload_directory)
    download_directory = in_executor(Files.download_directory)
    presign = awaited(Requests.presign)
    presign_post = awaited(Requests.presign_post)
    _create_bucket = awaited(Requests.create_bucket)

    @wraps(Requests.create_bucket)
    async def create_bucket(self, bucket: str, **options: Any) -> None:
        try:
            await self._create_bucket(bucket, **options)
        except S3ConflictError as error:
            if not is_already_owned(error):
                raise

    @wraps(Requests.delete_objects)
    async def delete_objects(
        self,
        bucket: str,
        objects: Iterable[str | ObjectToDelete],
        *,
        bypass_governance_retention: bool = False,
        **options: Unpack[CallOptions],
    ) -> DeleteObjectsResult:
        total = DeleteObjectsResult()
        for batch in batches(objects):
            result = await self._call(
                "delete_objects", bucket=bucket, objects=batch, bypass_governance_retention=bypass_governance_retention, **options
            )
            total.deleted.extend(result.deleted)
            total.failures.extend(result.failures)
        return total

    # ---- objects, with the results of penstock.S3Client

    def get_object(
        self,
        bucket: str,
        key: str,
        *,
        range: Range | None = None,
        version_id: str | None = None,
        progress: ProgressCallback | None = None,
    ) -> ObjectReader:
        """Returns a reader for an object. Sends no request; errors are raised by the first read.

        Args:
            bucket: Bucket.
            key: Key.
            range: (begin, end), half-open, either may be None; None: the whole object.
            version_id: Version; None: the current one.
            progress: Called on the event loop with the number of bytes received so far and the object's size in bytes, about
                every 100 ms during reads. An exception that it raises ends the read. Bytes that are fetched twice count twice.
                The object is then read part by part, also by ``read()``.

        Raises:
            ValueError: `range` is invalid.
            TypeError: `progress` is not callable.
            S3InvalidArgumentError: `version_id` is empty, or is given for an object in a directory bucket.
        """
        begin, end = range or (0, None)
        begin = begin or 0
        if begin < 0 or (end is not None and end <= begin):
            raise ValueError(f"range must be (begin, end) with 0 <= begin < end, where either may be None, not {range}")
        check_callable("progress", progress)
        return ObjectReader(self, bucket, key, begin, end, checked_version(bucket, version_id), progress)

    def put_object(
        self,
        bucket: str,
        key: str,
        *,
        if_match: str | None = None,
        if_none_match: bool = False,
        progress: ProgressCallback | None = None,
        **options: Unpack[ObjectOptions],
    ) -> ObjectWriter:
        """Returns a writer for an object. The object becomes visible when ``async with`` ends, or ``close()`` returns.

        Args:
            bucket: Bucket.
            key: Key.
            if_match: Raise S3PreconditionFailedError from ``close`` unless the key has an object with this ETag.
            if_none_match: Raise S3PreconditionFailedError from ``close`` if the key has an object.
            progress: Called on the event loop with the number of bytes that S3 has and None after each part, and with the size of
                the object twice after its publication. An exception in ``write`` aborts the upload.
            options: See :class:`penstock.requests.ObjectOptions`.
        """
        check_callable("progress", progress)
        conditions = {"if_match": if_match, "if_none_match": if_none_match}
        return ObjectWriter(self, bucket, key, conditions, dict(options), progress)

    async def head_object(self, bucket: str, key: str, *, version_id: str | None = None) -> HeadObjectResult:
        """Returns the most used metadata of an object. Arguments as in :meth:`get`."""
        found = await self.head(bucket, key, version_id=checked_version(bucket, version_id) or None)
        storage_class = found.storage_class if found.storage_class != "STANDARD" else None
        return HeadObjectResult(
            found.etag, found.size, int(found.last_modified), storage_class, found.restore_status, tuple(found.checksums.items())
        )

    async def delete_object(self, bucket: str, key: str, *, version_id: str | None = None, if_match: str | None = None) -> None:
        """Deletes an object. Arguments as in :meth:`delete`."""
        await self.delete(bucket, key, version_id=checked_version(bucket, version_id) or None, if_match=if_match)

    async def copy_object(
        self, src_bucket: str, src_key: str, dst_bucket: str, dst_key: str, *, src_version_id: str | None = None
    ) -> None:
        """Copies an object inside S3. Arguments as in :meth:`copy`."""
        version = checked_version(src_bucket, src_version_id) or None
        await self.copy(src_bucket, src_key, dst_bucket, dst_key, src_version_id=version)

    def list_objects(self, bucket: str, prefix: str = "", delimiter: str = "", max_keys: int = 1000) -> ObjectPages:
        """Returns an asynchronous iterator over the pages of a listing. Keys are in S3's order, except in directory buckets.

        Args:
            bucket: Bucket.
            prefix: Only keys that begin with it.
            delimiter: Keys with the same text between `prefix` and the next `delimiter` are listed as one common prefix.
            max_keys: The most objects and common prefixes per page; S3 returns at most 1000.
        """
        check_page_size(max_keys)
        return ObjectPages(self, bucket, prefix, delimiter, max_keys)

    def list_object_versions(self, bucket: str, prefix: str = "", delimiter: str = "", max_keys: int = 1000) -> VersionPages:
        """Returns an asynchronous iterator over the pages of a listing of versions, newest first for each key.

        Arguments as in :meth:`list_objects`.
        """
        refuse_directory_bucket(bucket)
        check_page_size(max_keys)
        return VersionPages(self, bucket, prefix, delimiter, max_keys)

    # ---- many objects

    async def get_many(self, bucket: str, keys: Iterable[str], *, concurrency: int = 64) -> AsyncIterator[tuple[str, bytes]]:
        """Reads many objects, and yields their keys and bytes in the order of the keys.

        At most `concurrency` objects are in flight or wait for the caller, so memory is bounded. A failed read raises its error
        and ends the iteration. The end of the iteration cancels the reads in flight. Use ``contextlib.aclosing`` if a loop over
        it may end early.

        Args:
            bucket: Bucket.
            keys: Keys. Read as the iteration proceeds.
            concurrency: The most objects to request ahead, at least 1.

        Raises:
            ValueError: `concurrency` is less than 1.
        """
        if concurrency < 1:
            raise ValueError(f"concurrency must be at least 1, not {concurrency}")
        ahead: deque[tuple[str, Future[Any]]] = deque()
        try:
            for key in keys:
                ahead.append((key, self._read(bucket, key, 0, None)))
                if len(ahead) >= concurrency:
                    first, future = ahead.popleft()
                    yield first, (await future)[0]
            while ahead:
                first, future = ahead.popleft()
                yield first, (await future)[0]
        finally:
            for _, future in ahead:
                abandon(future)

    # ---- end

    async def __aenter__(self) -> S3Client:
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        await self.close()
