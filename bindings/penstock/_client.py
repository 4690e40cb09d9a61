"""S3Client: the verbs that datasets, readers and checkpoints stand on, usable directly."""

from __future__ import annotations

import logging
from types import NoneType
from typing import TYPE_CHECKING, Any

from ._config import S3ClientConfig, check_callable, check_type
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
    from ._put_stream import Metadata
    from .s3reader import S3Reader, S3ReaderConstructorProtocol

log = logging.getLogger(__name__)

MAX_PAGE_SIZE = 2**31 - 1


def _check_page_size(max_keys: int) -> None:
    if isinstance(max_keys, int) and abs(max_keys) > MAX_PAGE_SIZE:
        raise S3InvalidArgumentError(f"max_keys is {max_keys}; it takes 0 to {MAX_PAGE_SIZE}")


class S3Client(DirectoryBuckets):
    """Talks to S3. Cheap to make: connections are shared by the whole process and opened by the first request.

    Picklable, and usable in forked and spawned workers: each process builds its own connections.

    Args:
        region: AWS region, such as ``"us-east-1"``; signs requests and chooses the endpoint.
        endpoint: URL of an S3-compatible service; None: ``AWS_ENDPOINT_URL_S3``, ``AWS_ENDPOINT_URL``, then AWS itself.
        user_agent: Replaces the default User-Agent text; what is not printable ASCII is sent as ``_``.
        s3client_config: Everything else; None: defaults.

    `bucket` is, in every method, a bucket's name or the ARN of an access point, `key` an object's key as text. `prefix` selects
    the keys that begin with it; those with the same text from there to the next `delimiter` come as one common prefix.

    Raises:
        TypeError: `user_agent` or `s3client_config` is of another type.
        S3Exception: From every method that asks S3, once all attempts are used up; its sub-classes say what can be done.

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
        """A reader of an object. Costs no request; errors come with the first read.

        Args:
            object_info: What a listing or HEAD said; saves a request where the reader is asked for the size before anything was
                read, and then holds it to that version. Otherwise the object is read as it is now.
            reader_constructor: Which reader; None: :meth:`S3ReaderConstructor.default`.
            progress: Called while reads run, about every 100 ms, and when the whole object has been read, with the bytes
                brought so far and the object's size (None while unknown). On the reading thread; what it raises ends the
                read and is raised there. Bytes that are fetched twice count twice.
            version_id: Which version, as :meth:`list_object_versions` names them; None: the object as it is now.

        Raises:
            S3InvalidArgumentError: A version of an object in a directory bucket, or an empty version id.
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

    def _get_object_stream(self, bucket: str, key: str, start: int | None = None, end: int | None = None) -> GetObjectStream:
        """The bytes [start, end) of an object as an iterator; None: the object's ends."""
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
        """A writer of an object; nothing is visible before its ``close()`` returns.

        Args:
            storage_class: Such as ``"STANDARD_IA"``; None: STANDARD.
            content_type: None: S3's default, ``binary/octet-stream``.
            metadata: A mapping, or pairs, of a name, without ``x-amz-meta-``, and a value of printable ASCII.
            if_none_match: Publish only where no object has that key; else ``close()`` raises S3PreconditionFailedError.
            progress: Called inside ``write`` and ``close``, about every 100 ms while bytes move and once at the end, with the
                bytes handed to the connection and those in all (None before ``close`` knows). What it raises is raised there, and
                the ``with`` block gives the upload up; but when the last call raises, the object exists.

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
        """As :meth:`put_object`, of about `size_hint` bytes."""
        log.debug("PutObject s3://%s/%s", bucket, key)
        return S3Writer(
            PutObjectStream(self.core, bucket, key, None, self.part_size, None, self.parallel_parts, size_hint=size_hint)
        )

    def list_objects(self, bucket: str, prefix: str = "", delimiter: str = "", max_keys: int = 1000) -> ListObjectStream:
        """Pages of the objects below a prefix, in S3's order; a directory bucket has none.

        Args:
            max_keys: Objects and common prefixes of a page. S3 sends 1000 at most, whatever is asked for, and of 0 an empty page.
        """
        log.debug("ListObjects s3://%s/%s", bucket, prefix)
        _check_page_size(max_keys)
        return ListObjectStream(self.core, bucket, prefix, delimiter, max_keys)

    def list_object_versions(
        self, bucket: str, prefix: str = "", delimiter: str = "", max_keys: int = 1000
    ) -> ListObjectVersionsStream:
        """Pages of the versions and delete markers of the objects below a prefix: keys in S3's order, of each the newest first.

        In a bucket that keeps no versions each object is its own version ``"null"``.

        Args:
            max_keys: Versions, delete markers and common prefixes of a page; as of :meth:`list_objects`.

        Raises:
            S3InvalidArgumentError: a directory bucket, which has no versions.
        """
        log.debug("ListObjectVersions s3://%s/%s", bucket, prefix)
        refuse_directory_bucket(bucket)
        _check_page_size(max_keys)
        return ListObjectVersionsStream(self.core, bucket, prefix, delimiter, max_keys)

    def head_object(self, bucket: str, key: str, *, version_id: str | None = None) -> HeadObjectResult:
        """What S3 says of an object, or of one of its versions.

        Args:
            version_id: Which version, as :meth:`list_object_versions` names them; None: the object as it is now.

        Raises:
            S3NotFoundError: There is no such object or version.
        """
        log.debug("HeadObject s3://%s/%s", bucket, key)
        found = self.core.head_object(bucket, key, checked_version(bucket, version_id))
        restore = RestoreStatus.from_header(found.restore)
        return HeadObjectResult(f'"{found.etag}"', found.size, found.last_modified, found.storage_class or None, restore)

    def delete_object(self, bucket: str, key: str, *, version_id: str | None = None, if_match: str | None = None) -> None:
        """Deletes an object; deleting what is not there succeeds.

        Where the bucket keeps versions the object's versions stay, below a delete marker.

        Args:
            version_id: This version, or delete marker, is removed for good instead; None: the object.
            if_match: Delete only the object of this ETag; another raises S3PreconditionFailedError and stays, and a server may
                raise S3NotFoundError where there is none. Servers that do not know the condition may delete whatever is there.
        """
        log.debug("DeleteObject s3://%s/%s", bucket, key)
        self.core.delete_object(bucket, key, checked_version(bucket, version_id), checked_etag("if_match", if_match))

    def copy_object(
        self, src_bucket: str, src_key: str, dst_bucket: str, dst_key: str, *, src_version_id: str | None = None
    ) -> None:
        """Copies inside S3. Objects above 5 GiB are refused by S3; :meth:`S3Checkpoint.restore` copies those too.

        Args:
            src_bucket: The bucket to copy from.
            src_key: The object to copy.
            dst_bucket: The bucket to copy to.
            dst_key: What the copy is called; an object of that key is replaced.
            src_version_id: Which version of the source; None: the object as it is now.
        """
        log.debug("CopyObject s3://%s/%s to s3://%s/%s", src_bucket, src_key, dst_bucket, dst_key)
        self.core.copy_object(src_bucket, src_key, dst_bucket, dst_key, checked_version(src_bucket, src_version_id))

    # ---- buckets

    def create_bucket(self, bucket: str) -> None:
        """Makes a bucket; one that this account already owns is left as it is.

        A name such as ``base--usw2-az1--x-s3`` makes a directory bucket, in the zone that it names.
        """
        from ._exceptions import S3ConflictError

        try:
            self.core.create_bucket(bucket)
        except S3ConflictError as error:
            if error.code != "BucketAlreadyOwnedByYou":
                raise

    def delete_bucket(self, bucket: str) -> None:
        """Removes an empty bucket.

        Raises:
            S3ConflictError: it is not empty (BucketNotEmpty).
            S3NotFoundError: it is not there.
        """
        self.core.delete_bucket(bucket)

    # ---- counters

    def stats(self) -> dict[str, Any]:
        """What this client has counted in this process since it was made. Cheap; times are in seconds.

        Returns:
            A new dict. ``requests``: attempts by operation. ``retries``; ``throttled``: attempts that S3 answered with "slow
            down"; ``failures``: calls of S3 that ended in an error: a read or write makes one for each range or part, so a
            failed one may count several times. ``bytes_sent``, ``bytes_received``: of bodies.
            ``connections``: by data plane (``"direct"``, ``"curl"``) how many requests ``opened`` one and ``reused`` one.
            ``operations``: by operation ``requests`` and two distributions, ``first_byte`` (from sending to the first byte
            of the answer, connecting included) and ``duration`` (of the whole attempt, failed ones included). A distribution
            has ``count``, ``sum``, ``p50``, ``p90``, ``p99`` (within an eighth) and ``buckets``, a list of
            ``(begin, end, count)``.
        """
        return self.core.stats()
