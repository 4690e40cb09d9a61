"""S3Client: the S3 operations that datasets, readers and checkpoints use; also for direct use."""

from __future__ import annotations

from types import NoneType
from typing import TYPE_CHECKING, Any

from ._config import S3ClientConfig, check_callable, check_type
from ._core import memory_usage
from ._directory_buckets import DirectoryBuckets
from ._exceptions import S3InvalidArgumentError, count_by_type
from ._listing import ListObjectStream
from ._logs import Logger
from ._objects import HeadObjectResult, ObjectInfo, RestoreStatus, checked_etag
from ._progress import ReadProgress
from ._put_stream import PutObjectStream
from ._streams import GetObjectStream, ObjectHandle, ObjectSource
from ._user_agent import UserAgent
from ._versions import ListObjectVersionsStream, checked_version, refuse_directory_bucket
from ._writer import S3Writer
from .requests._files import Files
from .requests._requests import Requests

if TYPE_CHECKING:
    from ._metrics import ClientMetrics
    from ._progress import ProgressCallback
    from ._put_stream import Metadata
    from .s3reader import S3Reader, S3ReaderConstructorProtocol

log = Logger(__name__)

MAX_PAGE_SIZE = 2**31 - 1


def _check_page_size(max_keys: int) -> None:
    if isinstance(max_keys, int) and abs(max_keys) > MAX_PAGE_SIZE:
        raise S3InvalidArgumentError(f"max_keys must be 0 to {MAX_PAGE_SIZE}, not {max_keys}")


class S3Client(DirectoryBuckets, Requests, Files):
    """A client for S3. Cheap to make: all clients of a process share connections, which the first request opens.

    Picklable, and usable in forked and spawned workers: each process opens its own connections.

    Args:
        region: AWS region, such as ``"us-east-1"``, used to sign requests and to choose the endpoint.
        endpoint: URL of an S3-compatible service; None: ``AWS_ENDPOINT_URL_S3``, ``AWS_ENDPOINT_URL``, else AWS.
        user_agent: Replaces the default User-Agent text. Characters outside printable ASCII are sent as ``_``.
        s3client_config: All other settings; None: defaults.

    In every method, `bucket` is the name of a bucket or the ARN of an access point, and `key` is an object key. `prefix` selects
    the keys that begin with it. Keys with the same text between `prefix` and the next `delimiter` are listed as one common
    prefix.

    Raises:
        TypeError: `user_agent` or `s3client_config` is of another type.
        S3Exception: A request failed after all attempts, from any method that sends one. The subclass says what kind of failure.

    Thread safety: safe from any thread.
    """

    def __init__(
        self,
        region: str,
        *,
        endpoint: str | None = None,
        user_agent: UserAgent | None = None,
        s3client_config: S3ClientConfig | None = None,
    ) -> None:
        check_type("user_agent", user_agent, (UserAgent, NoneType))
        check_type("s3client_config", s3client_config, (S3ClientConfig, NoneType))
        super().__init__(region, endpoint, (user_agent or UserAgent()).prefix, s3client_config or S3ClientConfig())

    # ---- objects

    def get_object(
        self,
        bucket: str,
        key: str,
        *,
        object_info: ObjectInfo | HeadObjectResult | None = None,
        reader_constructor: S3ReaderConstructorProtocol | None = None,
        progress: ProgressCallback | None = None,
        version_id: str | None = None,
    ) -> S3Reader:
        """Returns a reader for an object. Sends no request; errors are raised by the first read.

        Args:
            object_info: The object's entry from a listing or HEAD. If the size is needed before the first read, the reader takes
                it from here, which saves a request, and reads only that version. Otherwise it reads the current version, or
                the listed one if a node cache has it.
            reader_constructor: Makes the reader; None: :meth:`S3ReaderConstructor.default`.
            progress: Called with the number of bytes received so far and the object's size in bytes (None while unknown), about
                every 100 ms during reads and once when the whole object has been read. It runs on the reading thread; an
                exception that it raises ends the read and propagates. Bytes that are fetched twice count twice.
            version_id: A version listed by :meth:`list_object_versions`; None: the current version.

        Raises:
            S3InvalidArgumentError: `version_id` is empty, or is given for an object in a directory bucket.
            TypeError: An argument is of another type.
        """
        check_type("object_info", object_info, (ObjectInfo, HeadObjectResult, NoneType))
        check_callable("reader_constructor", reader_constructor)
        check_callable("progress", progress)
        log.debug("GetObject s3://%s/%s, object_info is None=%s", bucket, key, object_info is None)
        source = ObjectSource(bucket, key, checked_version(bucket, version_id))
        if progress is not None:
            source.progress = ReadProgress(progress)
        return self._reader(source, object_info, reader_constructor)

    def _reader(
        self,
        source: ObjectSource,
        object_info: ObjectInfo | HeadObjectResult | None,
        reader_constructor: S3ReaderConstructorProtocol | None,
    ) -> S3Reader:
        if reader_constructor is None:
            from .s3reader import S3ReaderConstructor

            reader_constructor = S3ReaderConstructor.default()
        ranges = ObjectHandle(self, source, object_info)
        return reader_constructor(bucket=source.bucket, key=source.key, get_object_info=ranges.get_object_info, get_stream=ranges)

    def _get_object_stream(self, bucket: str, key: str, start: int | None = None, end: int | None = None) -> GetObjectStream:
        """Returns an iterator over the bytes [start, end) of an object. None: from the first byte, or to the last."""
        return GetObjectStream(self.core, ObjectSource(bucket, key), start, end, self.part_size, self.parallel_parts)

    def put_object(
        self,
        bucket: str,
        key: str,
        storage_class: str | None = None,
        *,
        progress: ProgressCallback | None = None,
        content_type: str | None = None,
        metadata: Metadata = (),
        if_none_match: bool = False,
    ) -> S3Writer:
        """Returns a writer for an object. The object becomes visible when the writer's ``close()`` returns.

        Args:
            storage_class: For example ``"STANDARD_IA"``; None: STANDARD.
            content_type: The ``Content-Type`` of the object; None: S3's default, ``binary/octet-stream``.
            metadata: User metadata: a mapping, or pairs, of names without ``x-amz-meta-`` to values of printable ASCII.
            if_none_match: Create the object only if none has this key; otherwise ``close()`` raises S3PreconditionFailedError.
            progress: Called inside ``write`` and ``close`` with the number of bytes passed to the connection and the total
                number of bytes (None until ``close`` knows it), about every 100 ms during transfers and once at the end. An
                exception that it raises propagates, and the ``with`` block aborts the upload; if the last call raises, the
                object already exists.

        Raises:
            TypeError: An argument is of another type.
        """
        check_callable("progress", progress)
        log.debug("PutObject s3://%s/%s", bucket, key)
        stream = PutObjectStream(
            self.core, bucket, key, storage_class, self.part_size, progress, self.parallel_parts,
            content_type=content_type, metadata=metadata, if_none_match=if_none_match,
        )  # fmt: skip
        return S3Writer(stream)

    def _upload(self, bucket: str, key: str, size_hint: int) -> S3Writer:
        """As :meth:`put_object`, for an object of about `size_hint` bytes."""
        log.debug("PutObject s3://%s/%s", bucket, key)
        return S3Writer(
            PutObjectStream(self.core, bucket, key, None, self.part_size, None, self.parallel_parts, size_hint=size_hint)
        )

    def list_objects(self, bucket: str, prefix: str = "", delimiter: str = "", max_keys: int = 1000) -> ListObjectStream:
        """Returns an iterator over the pages of a listing. Keys are in S3's order; directory buckets have no defined order.

        Args:
            max_keys: The most objects and common prefixes per page. S3 returns at most 1000, and an empty page for 0.
        """
        log.debug("ListObjects s3://%s/%s", bucket, prefix)
        _check_page_size(max_keys)
        return ListObjectStream(self.core, bucket, prefix, delimiter, max_keys)

    def list_object_versions(
        self, bucket: str, prefix: str = "", delimiter: str = "", max_keys: int = 1000
    ) -> ListObjectVersionsStream:
        """Returns an iterator over the pages of a listing of versions and delete markers.

        Keys are in S3's order; the versions of a key are listed newest first. In a bucket without versioning, each object is
        listed as its only version, ``"null"``.

        Args:
            max_keys: The most versions, delete markers and common prefixes per page; limits as in :meth:`list_objects`.

        Raises:
            S3InvalidArgumentError: `bucket` is a directory bucket, which has no versions.
        """
        log.debug("ListObjectVersions s3://%s/%s", bucket, prefix)
        refuse_directory_bucket(bucket)
        _check_page_size(max_keys)
        return ListObjectVersionsStream(self.core, bucket, prefix, delimiter, max_keys)

    def head_object(self, bucket: str, key: str, *, version_id: str | None = None) -> HeadObjectResult:
        """Returns the metadata of an object, or of one of its versions.

        Args:
            version_id: A version listed by :meth:`list_object_versions`; None: the current version.

        Raises:
            S3NotFoundError: The object or version does not exist.
        """
        log.debug("HeadObject s3://%s/%s", bucket, key)
        found = self.core.head_object(bucket, key, checked_version(bucket, version_id))
        restore = RestoreStatus.from_header(found.restore)
        return HeadObjectResult(
            f'"{found.etag}"', found.size, found.last_modified, found.storage_class or None, restore, tuple(found.checksums)
        )

    def delete_object(self, bucket: str, key: str, *, version_id: str | None = None, if_match: str | None = None) -> None:
        """Deletes an object. Deleting an object that does not exist succeeds.

        In a bucket with versioning, S3 adds a delete marker and keeps the object's versions.

        Args:
            version_id: Delete this version or delete marker permanently instead; None: delete the object.
            if_match: Delete the object only if it has this ETag; otherwise raises S3PreconditionFailedError. Some servers raise
                S3NotFoundError if there is no object. A server that ignores the condition may delete any object with this key.
        """
        log.debug("DeleteObject s3://%s/%s", bucket, key)
        self.core.delete_object(bucket, key, checked_version(bucket, version_id), checked_etag("if_match", if_match))

    def copy_object(
        self, src_bucket: str, src_key: str, dst_bucket: str, dst_key: str, *, src_version_id: str | None = None
    ) -> None:
        """Copies an object inside S3. S3 refuses objects of more than 5 GiB; :meth:`S3Checkpoint.restore` copies those too.

        Args:
            src_bucket: The bucket to copy from.
            src_key: The key of the object to copy.
            dst_bucket: The bucket to copy to.
            dst_key: The key of the copy; an existing object with this key is replaced.
            src_version_id: The version to copy; None: the current version.
        """
        log.debug("CopyObject s3://%s/%s to s3://%s/%s", src_bucket, src_key, dst_bucket, dst_key)
        self.core.copy_object(src_bucket, src_key, dst_bucket, dst_key, checked_version(src_bucket, src_version_id))

    # ---- metrics

    def metrics(self) -> ClientMetrics:
        """Returns the counters and times of this client in this process. Cheap; see :class:`ClientMetrics`."""
        metrics: Any = self.core.stats()
        metrics["failures_by_type"] = count_by_type(metrics.pop("failures_by_kind"))
        memory = memory_usage()
        metrics["memory"] = {"held": memory["held"], "limit": memory["limit"]}
        return metrics  # type: ignore[no-any-return]
