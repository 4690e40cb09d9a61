"""S3Client: the S3 operations that datasets, readers and checkpoints use; also for direct use."""

from __future__ import annotations

import logging
import math
import threading
from types import NoneType
from typing import TYPE_CHECKING, Any

from . import _core
from ._config import S3ClientConfig, check_callable, check_text, check_type
from ._directory_buckets import DirectoryBuckets
from ._exceptions import S3InvalidArgumentError
from ._listing import ListObjectStream
from ._objects import HeadObjectResult, ObjectInfo, RestoreStatus, checked_etag
from ._progress import ReadProgress
from ._put_stream import PutObjectStream
from ._streams import GetObjectStream, ObjectRanges, ObjectSource
from ._user_agent import UserAgent
from ._versions import ListObjectVersionsStream, checked_version, refuse_directory_bucket
from ._writer import S3Writer

if TYPE_CHECKING:
    from ._progress import ProgressCallback
    from ._streams import Checksums, Metadata
    from .s3reader import S3Reader, S3ReaderConstructorProtocol

log = logging.getLogger(__name__)

GBIT_PER_CONNECTION = 0.4  # throughput of one S3 connection, about 50 MB/s
MAX_PARALLEL_PARTS = 64
MAX_PAGE_SIZE = 2**31 - 1
# For known ranges read in order: with this many bytes in flight, S3 is fastest over many connections with small parts.
RANGES_PART_SIZE = 4 * 1024**2
RANGES_AHEAD_BYTES = 96 * 1024**2


def _check_page_size(max_keys: int) -> None:
    if isinstance(max_keys, int) and abs(max_keys) > MAX_PAGE_SIZE:
        raise S3InvalidArgumentError(f"max_keys is {max_keys}; it takes 0 to {MAX_PAGE_SIZE}")


class S3Client(DirectoryBuckets):
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
        self._region = region
        self._endpoint = endpoint
        self._user_agent_prefix = (user_agent or UserAgent()).prefix
        self._s3client_config = s3client_config or S3ClientConfig()
        self._core_client: _core.Client | None = None
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_core_client", "_lock")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._core_client = None
        self._lock = threading.Lock()

    @property
    def region(self) -> str:
        return self._region

    @property
    def endpoint(self) -> str | None:
        return self._endpoint

    @property
    def s3client_config(self) -> S3ClientConfig:
        return self._s3client_config

    @property
    def user_agent_prefix(self) -> str:
        return self._user_agent_prefix

    @property
    def _client(self) -> _core.Client:
        client = self._core_client
        if client is None:
            with self._lock:
                if self._core_client is None:
                    self._core_client = self._client_builder()
                client = self._core_client
        return client

    def _client_builder(self) -> _core.Client:
        config = self._s3client_config
        config.validate()
        check_type("region", self._region, (str,))
        check_type("endpoint", self._endpoint, (str, NoneType))
        check_text("region", self._region)
        check_text("endpoint", self._endpoint)
        settings: dict[str, Any] = {
            "region": self._region,
            "endpoint": self._endpoint or "",
            "force_path_style": config.force_path_style,
            "unsigned": config.unsigned,
            "profile": config.profile or "",
            "max_attempts": config.max_attempts,
            "requester_pays": config.requester_pays,
            "user_agent": UserAgent.on_the_wire(self._user_agent_prefix),
            "access_key_id": config.access_key_id or "",
            "secret_access_key": config.secret_access_key or "",
            "session_token": config.session_token or "",
            "flags": config._flags,
            "retry_mode": config.retry_mode or "",
            "attempt_timeout": config.attempt_timeout or 0.0,
            "operation_timeout": config.operation_timeout or 0.0,
            "low_speed_limit": config.low_speed_limit,
            "connect_timeout": config.connect_timeout or 0.0,
            "idle_timeout": config.idle_timeout or 0.0,
        }
        try:
            return _core.Client(**settings)
        except (TypeError, UnicodeError):
            pass  # pybind11's message contains every argument, secrets included: do not chain this exception
        raise TypeError("a client setting has the wrong type; check region, endpoint and s3client_config")

    @property
    def _part_size(self) -> int | None:
        """Bytes per ranged GET; None: chosen per transfer."""
        return self._s3client_config.part_size

    @property
    def _parallel_parts(self) -> int | None:
        """Concurrent requests for one object; None: chosen per transfer."""
        target = self._s3client_config.throughput_target_gbps
        return None if target is None else max(1, min(math.ceil(target / GBIT_PER_CONNECTION), MAX_PARALLEL_PARTS))

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
                it from here, which saves a request, and reads only that version. Otherwise it reads the current version.
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
        ranges = ObjectRanges(self, source, object_info)
        return reader_constructor(bucket=source.bucket, key=source.key, get_object_info=ranges.get_object_info, get_stream=ranges)

    def _fetch_ahead(self, source: ObjectSource, limit: int) -> None:
        """Prefetches the first `limit` bytes of an object."""
        source.ahead = _core.Fetch(
            self._client, source.bucket, source.key, limit, source.size, source.etag, self._part_size, self._parallel_parts,
            source.version_id,
        )  # fmt: skip

    def _get_object_stream(self, bucket: str, key: str, start: int | None = None, end: int | None = None) -> GetObjectStream:
        """Returns an iterator over the bytes [start, end) of an object. None: from the first byte, or to the last."""
        return GetObjectStream(self._client, ObjectSource(bucket, key), start, end, self._part_size, self._parallel_parts)

    def _open_stream(self, source: ObjectSource, start: int | None = None, end: int | None = None) -> GetObjectStream:
        stream = self._get_object_stream(source.bucket, source.key, start, end)
        stream.pin(source)  # all streams of one reader read the same version
        return stream

    def _open_ranges(
        self, source: ObjectSource, ranges: list[tuple[int, int]], checksums: Checksums, already_read: list[tuple[int, bytes]]
    ) -> _core.Stream:
        part_size = self._part_size or RANGES_PART_SIZE
        return _core.Stream(
            self._client, source.bucket, source.key, size=source.size, etag=source.etag, part_size=part_size,
            read_ahead=max(1, RANGES_AHEAD_BYTES // part_size), ranges=ranges, checksums=checksums, elsewhere=already_read,
            version_id=source.version_id,
        )  # fmt: skip

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
            self._client, bucket, key, storage_class, self._part_size, progress, self._parallel_parts,
            content_type=content_type, metadata=metadata, if_none_match=if_none_match,
        )  # fmt: skip
        return S3Writer(stream)

    def _upload(self, bucket: str, key: str, size_hint: int) -> S3Writer:
        """As :meth:`put_object`, for an object of about `size_hint` bytes."""
        log.debug("PutObject s3://%s/%s", bucket, key)
        return S3Writer(
            PutObjectStream(self._client, bucket, key, None, self._part_size, None, self._parallel_parts, size_hint=size_hint)
        )

    def list_objects(self, bucket: str, prefix: str = "", delimiter: str = "", max_keys: int = 1000) -> ListObjectStream:
        """Returns an iterator over the pages of a listing. Keys are in S3's order; directory buckets have no defined order.

        Args:
            max_keys: The most objects and common prefixes per page. S3 returns at most 1000, and an empty page for 0.
        """
        log.debug("ListObjects s3://%s/%s", bucket, prefix)
        _check_page_size(max_keys)
        return ListObjectStream(self._client, bucket, prefix, delimiter, max_keys)

    def _list_items(self, bucket: str, prefix: str, step: int, first: int, page_size: int) -> _core.ObjectItems:
        """Lists the object at index `first` below a prefix, and every `step`-th object after it."""
        log.debug("ListObjects s3://%s/%s", bucket, prefix)
        return _core.ObjectItems(self._client, bucket, prefix, step, first, page_size)

    def _list_all(self, bucket: str, prefix: str, page_size: int) -> _core.ObjectList:
        """Lists all objects below a prefix."""
        log.debug("ListObjects s3://%s/%s", bucket, prefix)
        objects = _core.ObjectList(self._client, bucket, prefix, self._s3client_config.listing_delimiter or "", page_size)
        log.info("Listed %d objects below s3://%s/%s in %d bytes of memory", len(objects), bucket, prefix, objects.memory_bytes)
        return objects

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
        return ListObjectVersionsStream(self._client, bucket, prefix, delimiter, max_keys)

    def head_object(self, bucket: str, key: str, *, version_id: str | None = None) -> HeadObjectResult:
        """Returns the metadata of an object, or of one of its versions.

        Args:
            version_id: A version listed by :meth:`list_object_versions`; None: the current version.

        Raises:
            S3NotFoundError: The object or version does not exist.
        """
        log.debug("HeadObject s3://%s/%s", bucket, key)
        found = self._client.head_object(bucket, key, checked_version(bucket, version_id))
        restore = RestoreStatus.from_header(found.restore)
        return HeadObjectResult(f'"{found.etag}"', found.size, found.last_modified, found.storage_class or None, restore)

    def delete_object(self, bucket: str, key: str, *, version_id: str | None = None, if_match: str | None = None) -> None:
        """Deletes an object. Deleting an object that does not exist succeeds.

        In a bucket with versioning, S3 adds a delete marker and keeps the object's versions.

        Args:
            version_id: Delete this version or delete marker permanently instead; None: delete the object.
            if_match: Delete the object only if it has this ETag; otherwise raises S3PreconditionFailedError. Some servers raise
                S3NotFoundError if there is no object. A server that ignores the condition may delete any object with this key.
        """
        log.debug("DeleteObject s3://%s/%s", bucket, key)
        self._client.delete_object(bucket, key, checked_version(bucket, version_id), checked_etag("if_match", if_match))

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
        self._client.copy_object(src_bucket, src_key, dst_bucket, dst_key, checked_version(src_bucket, src_version_id))

    # ---- buckets

    def create_bucket(self, bucket: str) -> None:
        """Creates a bucket. Does nothing if this account already owns it.

        A name such as ``base--usw2-az1--x-s3`` creates a directory bucket in the named zone.
        """
        from ._exceptions import S3ConflictError

        try:
            self._client.create_bucket(bucket)
        except S3ConflictError as error:
            if error.code != "BucketAlreadyOwnedByYou":
                raise

    def delete_bucket(self, bucket: str) -> None:
        """Deletes an empty bucket.

        Raises:
            S3ConflictError: The bucket is not empty (BucketNotEmpty).
            S3NotFoundError: The bucket does not exist.
        """
        self._client.delete_bucket(bucket)

    # ---- counters

    def stats(self) -> dict[str, Any]:
        """Returns the counters of this client in this process. Cheap; times are in seconds.

        Returns:
            A new dict with these members:

            - ``requests``: attempts by operation.
            - ``retries``: attempts after the first.
            - ``throttled``: attempts that S3 answered with SlowDown.
            - ``failures``: S3 calls that ended in an error. A read or write makes one call per range or part, so that one
              failed read may count several times.
            - ``bytes_sent``, ``bytes_received``: body bytes.
            - ``connections``: by data plane (``"direct"``, ``"curl"``), the requests that ``opened`` and ``reused`` a connection.
            - ``operations``: by operation, ``requests`` and two distributions: ``first_byte`` (from sending, connecting
              included, to the first byte of the response) and ``duration`` (of the whole attempt, failed attempts included).

            A distribution has ``count``, ``sum``, ``p50``, ``p90``, ``p99`` (accurate to 12.5 %) and ``buckets``, a list of
            ``(begin, end, count)``.
        """
        return self._client.stats()
