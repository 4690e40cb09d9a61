"""S3's requests as methods of S3Client. The core has one table of them (bindings/core/requests/operations.cc)."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, cast, overload

from .._exceptions import S3ConflictError
from .._session import Session
from ._results import (
    BucketInfo,
    CompletedPart,
    CopyResult,
    DeleteObjectsResult,
    DeleteResult,
    GetObjectAttributesResult,
    GetResult,
    HeadBucketResult,
    ListMultipartUploadsResult,
    ListPartsResult,
    ObjectMetadata,
    ObjectToDelete,
    PresignedPost,
    PresignedRequest,
    PutResult,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import Buffer, CallOptions, Grantees, ObjectOptions, Pairs, PresignOptions, Range, ReadOptions, Time

log = logging.getLogger(__name__)

DELETE_AT_ONCE = 1000  # S3's limit of DeleteObjects


def batches(objects: Iterable[str | ObjectToDelete]) -> Iterator[list[str | ObjectToDelete]]:
    """Splits the argument of ``delete_objects`` into requests."""
    if isinstance(objects, (str, bytes, ObjectToDelete)):
        raise TypeError(f"objects must be an iterable of str or ObjectToDelete, not {type(objects).__name__}")
    rest = iter(objects)
    while batch := list(islice(rest, DELETE_AT_ONCE)):
        yield batch


def is_already_owned(error: S3ConflictError) -> bool:
    """Whether ``create_bucket`` failed because this account owns the bucket."""
    return error.code == "BucketAlreadyOwnedByYou"


class Requests(Session):
    """Base class of S3Client: every method but ``delete_objects`` sends one request, with retries, and waits for the response.

    In every method, `bucket` is the name of a bucket or the ARN of an access point, and `key` is an object key. None means that
    an argument is not sent. Times are datetimes with a time zone, or seconds since the epoch. ETags may be given with or
    without quotes.

    Raises:
        TypeError: An argument has another type, or a keyword is unknown.
        S3InvalidArgumentError: An argument is out of range, or arguments exclude each other. Also a ValueError.
        S3Exception: The request failed after all attempts.
    """

    def _call(self, operation: str, **arguments: Any) -> Any:
        """Runs an operation of the core's table."""
        log.debug("%s s3://%s/%s", operation, arguments.get("bucket", ""), arguments.get("key", ""))
        return self.core.call(operation, arguments)

    # ---- objects

    @overload
    def get(
        self, bucket: str, key: str, *, buffer: None = None, range: Range | None = None, version_id: str | None = None,
        part_number: int | None = None, if_match: str | None = None, if_none_match: str | None = None,
        if_modified_since: Time | None = None, if_unmodified_since: Time | None = None, sse_customer_key: bytes | None = None,
        **options: Unpack[ReadOptions],
    ) -> GetResult[bytes]: ...  # fmt: skip
    @overload
    def get(
        self, bucket: str, key: str, *, buffer: Buffer, range: Range | None = None, version_id: str | None = None,
        part_number: int | None = None, if_match: str | None = None, if_none_match: str | None = None,
        if_modified_since: Time | None = None, if_unmodified_since: Time | None = None, sse_customer_key: bytes | None = None,
        **options: Unpack[ReadOptions],
    ) -> GetResult[memoryview]: ...  # fmt: skip
    def get(
        self,
        bucket: str,
        key: str,
        *,
        buffer: Buffer | None = None,
        range: Range | None = None,
        version_id: str | None = None,
        part_number: int | None = None,
        if_match: str | None = None,
        if_none_match: str | None = None,
        if_modified_since: Time | None = None,
        if_unmodified_since: Time | None = None,
        sse_customer_key: bytes | None = None,
        **options: Unpack[ReadOptions],
    ) -> GetResult[bytes] | GetResult[memoryview]:
        """Reads an object, a range or a part with one request. :meth:`get_object` reads large objects in parallel.

        Args:
            buffer: A writable buffer for the bytes, which are then not copied; None: new ``bytes``.
            range: (begin, end), half-open, either may be None; (-n, None): the last n bytes.
            version_id: Version; None: the current one.
            part_number: Read this part of a multipart object, 1 to 10,000. Not with `range`.
            if_match: Raise S3PreconditionFailedError unless the object has this ETag.
            if_none_match: Raise S3NotModifiedError if the object has this ETag.
            if_modified_since: Raise S3NotModifiedError unless the object was modified after this time.
            if_unmodified_since: Raise S3PreconditionFailedError if the object was modified after this time.
            sse_customer_key: The key of an object with SSE-C.
            options: See :class:`penstock.requests.ReadOptions`.

        Returns:
            The bytes and the metadata.

        Raises:
            S3NotFoundError: The object or version does not exist.
            S3InvalidArgumentError: The range begins after the end of the object (InvalidRange), or `buffer` is too small.

        Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html
        """
        result = self._call(
            "get", bucket=bucket, key=key, buffer=buffer, range=range, version_id=version_id, part_number=part_number,
            if_match=if_match, if_none_match=if_none_match, if_modified_since=if_modified_since,
            if_unmodified_since=if_unmodified_since, sse_customer_key=sse_customer_key, **options,
        )  # fmt: skip
        return cast("GetResult[bytes] | GetResult[memoryview]", result)

    def head(
        self,
        bucket: str,
        key: str,
        *,
        version_id: str | None = None,
        part_number: int | None = None,
        if_match: str | None = None,
        if_none_match: str | None = None,
        if_modified_since: Time | None = None,
        if_unmodified_since: Time | None = None,
        sse_customer_key: bytes | None = None,
        **options: Unpack[ReadOptions],
    ) -> ObjectMetadata:
        """Returns all metadata of an object. Arguments as in :meth:`get`; :meth:`head_object` returns a part of it.

        Raises:
            S3NotFoundError: The object or version does not exist.

        Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_HeadObject.html
        """
        result = self._call(
            "head", bucket=bucket, key=key, version_id=version_id, part_number=part_number, if_match=if_match,
            if_none_match=if_none_match, if_modified_since=if_modified_since, if_unmodified_since=if_unmodified_since,
            sse_customer_key=sse_customer_key, **options,
        )  # fmt: skip
        return cast(ObjectMetadata, result)

    def put(
        self,
        bucket: str,
        key: str,
        data: Buffer,
        *,
        if_match: str | None = None,
        if_none_match: bool = False,
        checksum_algorithm: str | None = None,
        checksum_value: str | None = None,
        write_offset: int | None = None,
        **options: Unpack[ObjectOptions],
    ) -> PutResult:
        """Writes an object of at most 5 GiB with one request. :meth:`put_object` writes a stream, in parts.

        Args:
            data: The bytes. They are not copied, and must not change during the call.
            if_match: Raise S3PreconditionFailedError unless the key has an object with this ETag.
            if_none_match: Raise S3PreconditionFailedError if the key has an object.
            checksum_algorithm: ``"crc64nvme"``, ``"crc32c"``, ``"crc32"``, ``"sha256"``, ``"sha1"`` or ``"none"``; None: as
                configured, by default CRC64NVME.
            checksum_value: The checksum as base64; None: the client computes it.
            write_offset: Append at this offset, which must be the object's size. Directory buckets only.
            options: See :class:`penstock.requests.ObjectOptions`.

        Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObject.html
        """
        result = self._call(
            "put", bucket=bucket, key=key, data=data, if_match=if_match, if_none_match=if_none_match,
            checksum_algorithm=checksum_algorithm, checksum_value=checksum_value, write_offset=write_offset, **options,
        )  # fmt: skip
        return cast(PutResult, result)

    def delete(
        self,
        bucket: str,
        key: str,
        *,
        version_id: str | None = None,
        if_match: str | None = None,
        if_match_last_modified: Time | None = None,
        if_match_size: int | None = None,
        bypass_governance_retention: bool = False,
        **options: Unpack[CallOptions],
    ) -> DeleteResult:
        """Deletes an object or a version. Deleting what does not exist succeeds.

        Args:
            version_id: Delete this version permanently; None: the object, of which a versioned bucket keeps the versions.
            if_match: Raise S3PreconditionFailedError unless the object has this ETag.
            if_match_last_modified: Same for the time of the last change. Directory buckets only.
            if_match_size: Same for the size in bytes. Directory buckets only.
            bypass_governance_retention: Also delete a version that is retained in governance mode.
            options: See :class:`penstock.requests.CallOptions`.

        Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObject.html
        """
        result = self._call(
            "delete", bucket=bucket, key=key, version_id=version_id, if_match=if_match,
            if_match_last_modified=if_match_last_modified, if_match_size=if_match_size,
            bypass_governance_retention=bypass_governance_retention, **options,
        )  # fmt: skip
        return cast(DeleteResult, result)

    def delete_objects(
        self,
        bucket: str,
        objects: Iterable[str | ObjectToDelete],
        *,
        bypass_governance_retention: bool = False,
        **options: Unpack[CallOptions],
    ) -> DeleteObjectsResult:
        """Deletes any number of objects, 1,000 per request, one request after the other.

        If a request fails, those before it have deleted their objects.

        Args:
            objects: Keys, or :class:`penstock.requests.ObjectToDelete` for versions and conditions.
            bypass_governance_retention: Also delete versions that are retained in governance mode.
            options: See :class:`penstock.requests.CallOptions`. A timeout applies to each request.

        Returns:
            What was deleted, and what was not. A failure of one object is no exception.

        Raises:
            TypeError: `objects` is one str.

        Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjects.html
        """
        total = DeleteObjectsResult()
        for batch in batches(objects):
            result = self._call(
                "delete_objects", bucket=bucket, objects=batch, bypass_governance_retention=bypass_governance_retention, **options
            )
            total.deleted.extend(result.deleted)
            total.failures.extend(result.failures)
        return total

    def copy(
        self,
        src_bucket: str,
        src_key: str,
        dst_bucket: str,
        dst_key: str,
        *,
        src_version_id: str | None = None,
        src_if_match: str | None = None,
        src_if_none_match: str | None = None,
        src_if_modified_since: Time | None = None,
        src_if_unmodified_since: Time | None = None,
        src_sse_customer_key: bytes | None = None,
        src_expected_bucket_owner: str | None = None,
        metadata_directive: str = "COPY",
        tagging_directive: str = "COPY",
        if_match: str | None = None,
        if_none_match: bool = False,
        checksum_algorithm: str | None = None,
        **options: Unpack[ObjectOptions],
    ) -> CopyResult:
        """Copies an object of at most 5 GiB inside S3.

        Args:
            src_bucket: Bucket of the source.
            src_key: Key of the source.
            dst_bucket: Bucket of the copy.
            dst_key: Key of the copy.
            src_version_id: Version of the source; None: the current one.
            src_if_match: Raise S3PreconditionFailedError unless the source has this ETag. The next three are conditions of the
                source as in :meth:`get`, but all of them raise S3PreconditionFailedError.
            src_if_none_match: See `src_if_match`.
            src_if_modified_since: See `src_if_match`.
            src_if_unmodified_since: See `src_if_match`.
            src_sse_customer_key: The key of a source with SSE-C.
            src_expected_bucket_owner: Account id of the owner of the source's bucket.
            metadata_directive: ``"REPLACE"``: content headers and user metadata as in `options`. ``"COPY"``: as the source.
            tagging_directive: Same for tags.
            if_match: Raise S3PreconditionFailedError unless the object to replace has this ETag.
            if_none_match: Raise S3PreconditionFailedError if the key of the copy has an object.
            checksum_algorithm: As in :meth:`put`; None: that of the source.
            options: See :class:`penstock.requests.ObjectOptions`.

        Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_CopyObject.html
        """
        result = self._call(
            "copy", src_bucket=src_bucket, src_key=src_key, bucket=dst_bucket, key=dst_key, src_version_id=src_version_id,
            src_if_match=src_if_match, src_if_none_match=src_if_none_match, src_if_modified_since=src_if_modified_since,
            src_if_unmodified_since=src_if_unmodified_since, src_sse_customer_key=src_sse_customer_key,
            src_expected_bucket_owner=src_expected_bucket_owner, metadata_directive=metadata_directive,
            tagging_directive=tagging_directive, if_match=if_match, if_none_match=if_none_match,
            checksum_algorithm=checksum_algorithm, **options,
        )  # fmt: skip
        return cast(CopyResult, result)

    def get_object_attributes(
        self,
        bucket: str,
        key: str,
        *,
        version_id: str | None = None,
        part_number_marker: int = 0,
        max_parts: int = 1000,
        sse_customer_key: bytes | None = None,
        **options: Unpack[CallOptions],
    ) -> GetObjectAttributesResult:
        """Returns size, checksums and parts of an object.

        Args:
            version_id: Version; None: the current one.
            part_number_marker: List the parts after this one.
            max_parts: The most parts to list, 1 to 1000.
            sse_customer_key: The key of an object with SSE-C.
            options: See :class:`penstock.requests.CallOptions`.

        Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObjectAttributes.html
        """
        result = self._call(
            "get_object_attributes", bucket=bucket, key=key, version_id=version_id, part_number_marker=part_number_marker,
            max_parts=max_parts, sse_customer_key=sse_customer_key, **options,
        )  # fmt: skip
        return cast(GetObjectAttributesResult, result)

    def restore_object(
        self,
        bucket: str,
        key: str,
        *,
        days: int = 1,
        tier: str | None = None,
        version_id: str | None = None,
        **options: Unpack[CallOptions],
    ) -> bool:
        """Asks S3 for a readable copy of an archived object. ``head(...).restore_status`` reports the progress.

        Args:
            days: Lifetime of the copy; 0: not sent, for INTELLIGENT_TIERING.
            tier: ``"Standard"``, ``"Bulk"`` or ``"Expedited"``; None: Standard.
            version_id: Version; None: the current one.
            options: See :class:`penstock.requests.CallOptions`.

        Returns:
            Whether the copy existed, and only its lifetime was changed.

        Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_RestoreObject.html
        """
        return bool(self._call("restore_object", bucket=bucket, key=key, days=days, tier=tier, version_id=version_id, **options))

    # ---- multipart uploads

    def create_multipart_upload(
        self,
        bucket: str,
        key: str,
        *,
        checksum_algorithm: str | None = None,
        checksum_type: str | None = None,
        **options: Unpack[ObjectOptions],
    ) -> str:
        """Creates an upload in parts and returns its id. :meth:`put_object` and :meth:`upload_file` do all of it by themselves.

        Args:
            checksum_algorithm: As in :meth:`put`. With another algorithm than CRC64NVME, parts and ``complete_multipart_upload``
                need the same argument.
            checksum_type: ``"FULL_OBJECT"`` or ``"COMPOSITE"``; None: S3's default for the algorithm.
            options: See :class:`penstock.requests.ObjectOptions`.

        Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_CreateMultipartUpload.html
        """
        result = self._call(
            "create_multipart_upload", bucket=bucket, key=key, checksum_algorithm=checksum_algorithm,
            checksum_type=checksum_type, **options,
        )  # fmt: skip
        return cast(str, result)

    def upload_part(
        self,
        bucket: str,
        key: str,
        upload_id: str,
        part_number: int,
        data: Buffer,
        *,
        checksum_algorithm: str | None = None,
        checksum_value: str | None = None,
        sse_customer_key: bytes | None = None,
        **options: Unpack[CallOptions],
    ) -> CompletedPart:
        """Uploads one part.

        Args:
            upload_id: Id from :meth:`create_multipart_upload`.
            part_number: 1 to 10,000.
            data: The bytes, at least 5 MiB except in the last part, at most 5 GiB.
            checksum_algorithm: As in :meth:`create_multipart_upload`.
            checksum_value: The checksum as base64; None: the client computes it.
            sse_customer_key: The key of :meth:`create_multipart_upload`.
            options: See :class:`penstock.requests.CallOptions`.

        Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_UploadPart.html
        """
        result = self._call(
            "upload_part", bucket=bucket, key=key, upload_id=upload_id, part_number=part_number, data=data,
            checksum_algorithm=checksum_algorithm, checksum_value=checksum_value, sse_customer_key=sse_customer_key, **options,
        )  # fmt: skip
        return cast(CompletedPart, result)

    def upload_part_copy(
        self,
        bucket: str,
        key: str,
        upload_id: str,
        part_number: int,
        src_bucket: str,
        src_key: str,
        *,
        src_range: Range | None = None,
        src_version_id: str | None = None,
        src_if_match: str | None = None,
        src_sse_customer_key: bytes | None = None,
        src_expected_bucket_owner: str | None = None,
        sse_customer_key: bytes | None = None,
        **options: Unpack[CallOptions],
    ) -> CompletedPart:
        """Copies an object, or a range of it, as one part.

        Args:
            upload_id: Id from :meth:`create_multipart_upload`.
            part_number: 1 to 10,000.
            src_bucket: Bucket of the source.
            src_key: Key of the source.
            src_range: (begin, end), half-open; None: all.
            src_version_id: Version of the source; None: the current one.
            src_if_match: Raise S3PreconditionFailedError unless the source has this ETag.
            src_sse_customer_key: The key of a source with SSE-C.
            src_expected_bucket_owner: Account id of the owner of the source's bucket.
            sse_customer_key: The key of :meth:`create_multipart_upload`.
            options: See :class:`penstock.requests.CallOptions`.

        Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_UploadPartCopy.html
        """
        result = self._call(
            "upload_part_copy", bucket=bucket, key=key, upload_id=upload_id, part_number=part_number, src_bucket=src_bucket,
            src_key=src_key, src_range=src_range, src_version_id=src_version_id, src_if_match=src_if_match,
            src_sse_customer_key=src_sse_customer_key, src_expected_bucket_owner=src_expected_bucket_owner,
            sse_customer_key=sse_customer_key, **options,
        )  # fmt: skip
        return cast(CompletedPart, result)

    def complete_multipart_upload(
        self,
        bucket: str,
        key: str,
        upload_id: str,
        parts: Iterable[CompletedPart],
        *,
        object_size: int | None = None,
        if_match: str | None = None,
        if_none_match: bool = False,
        checksum_algorithm: str | None = None,
        checksum_type: str | None = None,
        checksum_value: str | None = None,
        sse_customer_key: bytes | None = None,
        **options: Unpack[CallOptions],
    ) -> PutResult:
        """Publishes the object of an upload.

        Args:
            upload_id: Id from :meth:`create_multipart_upload`.
            parts: The parts, ascending by number, from :meth:`upload_part`, :meth:`upload_part_copy` or :meth:`list_parts`.
            object_size: Size of the object in bytes, which S3 checks; None: the sum of the parts' sizes.
            if_match: Raise S3PreconditionFailedError unless the key has an object with this ETag.
            if_none_match: Raise S3PreconditionFailedError if the key has an object.
            checksum_algorithm: As in :meth:`create_multipart_upload`.
            checksum_type: As in :meth:`create_multipart_upload`.
            checksum_value: Checksum of the whole object as base64; None: not sent.
            sse_customer_key: The key of :meth:`create_multipart_upload`.
            options: See :class:`penstock.requests.CallOptions`.

        Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_CompleteMultipartUpload.html
        """
        result = self._call(
            "complete_multipart_upload", bucket=bucket, key=key, upload_id=upload_id, parts=parts, object_size=object_size,
            if_match=if_match, if_none_match=if_none_match, checksum_algorithm=checksum_algorithm, checksum_type=checksum_type,
            checksum_value=checksum_value, sse_customer_key=sse_customer_key, **options,
        )  # fmt: skip
        return cast(PutResult, result)

    def abort_multipart_upload(self, bucket: str, key: str, upload_id: str, **options: Unpack[CallOptions]) -> None:
        """Discards an upload and its parts.

        Args:
            upload_id: Id from :meth:`create_multipart_upload`.
            options: See :class:`penstock.requests.CallOptions`.

        Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_AbortMultipartUpload.html
        """
        self._call("abort_multipart_upload", bucket=bucket, key=key, upload_id=upload_id, **options)

    def list_parts(
        self,
        bucket: str,
        key: str,
        upload_id: str,
        *,
        part_number_marker: int = 0,
        sse_customer_key: bytes | None = None,
        **options: Unpack[CallOptions],
    ) -> ListPartsResult:
        """Returns one page of the parts of an upload, at most 1,000.

        Args:
            upload_id: Id from :meth:`create_multipart_upload`.
            part_number_marker: `next_part_number_marker` of the previous page.
            sse_customer_key: The key of :meth:`create_multipart_upload`.
            options: See :class:`penstock.requests.CallOptions`.

        Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListParts.html
        """
        result = self._call(
            "list_parts", bucket=bucket, key=key, upload_id=upload_id, part_number_marker=part_number_marker,
            sse_customer_key=sse_customer_key, **options,
        )  # fmt: skip
        return cast(ListPartsResult, result)

    def list_multipart_uploads(
        self,
        bucket: str,
        prefix: str = "",
        *,
        key_marker: str = "",
        upload_id_marker: str = "",
        **options: Unpack[CallOptions],
    ) -> ListMultipartUploadsResult:
        """Returns one page of the open uploads of a bucket, at most 1,000.

        Args:
            prefix: Only keys that begin with it.
            key_marker: `next_key_marker` of the previous page.
            upload_id_marker: `next_upload_id_marker` of the previous page.
            options: See :class:`penstock.requests.CallOptions`.

        Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListMultipartUploads.html
        """
        result = self._call(
            "list_multipart_uploads", bucket=bucket, prefix=prefix, key_marker=key_marker, upload_id_marker=upload_id_marker,
            **options,
        )  # fmt: skip
        return cast(ListMultipartUploadsResult, result)

    # ---- tags of objects

    def get_object_tagging(
        self, bucket: str, key: str, *, version_id: str | None = None, **options: Unpack[CallOptions]
    ) -> dict[str, str]:
        """Returns the tags of an object.

        Args:
            version_id: Version; None: the current one.
            options: See :class:`penstock.requests.CallOptions`.

        Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObjectTagging.html
        """
        return cast("dict[str, str]", self._call("get_object_tagging", bucket=bucket, key=key, version_id=version_id, **options))

    def put_object_tagging(
        self, bucket: str, key: str, tags: Pairs, *, version_id: str | None = None, **options: Unpack[CallOptions]
    ) -> str | None:
        """Replaces all tags of an object. Returns its version; None: the bucket is not versioned.

        Args:
            tags: At most 10 tags; keys of 1 to 128 and values of 0 to 256 characters.
            version_id: Version; None: the current one.
            options: See :class:`penstock.requests.CallOptions`.

        Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObjectTagging.html
        """
        result = self._call("put_object_tagging", bucket=bucket, key=key, tags=tags, version_id=version_id, **options)
        return cast("str | None", result)

    def delete_object_tagging(
        self, bucket: str, key: str, *, version_id: str | None = None, **options: Unpack[CallOptions]
    ) -> str | None:
        """Deletes all tags of an object. Returns its version; None: the bucket is not versioned.

        Args:
            version_id: Version; None: the current one.
            options: See :class:`penstock.requests.CallOptions`.

        Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjectTagging.html
        """
        return cast("str | None", self._call("delete_object_tagging", bucket=bucket, key=key, version_id=version_id, **options))

    # ---- buckets

    def create_bucket(
        self,
        bucket: str,
        *,
        acl: str | None = None,
        grant_full_control: Grantees | None = None,
        grant_read: Grantees | None = None,
        grant_read_acp: Grantees | None = None,
        grant_write: Grantees | None = None,
        grant_write_acp: Grantees | None = None,
        object_lock_enabled: bool = False,
        object_ownership: str | None = None,
        **options: Unpack[CallOptions],
    ) -> None:
        """Creates a bucket. Does nothing if this account already owns it.

        A name such as ``base--usw2-az1--x-s3`` creates a directory bucket in the named zone.

        Args:
            acl: A canned ACL. Not with grants.
            grant_full_control: Grantees: ``id="..."``, ``uri="..."`` or ``emailAddress="..."``. The other grants likewise.
            grant_read: Who may list the objects.
            grant_read_acp: Who may read the ACL.
            grant_write: Who may create objects.
            grant_write_acp: Who may write the ACL.
            object_lock_enabled: Allow retention and legal holds of objects.
            object_ownership: ``"BucketOwnerEnforced"`` (S3's default), ``"BucketOwnerPreferred"`` or ``"ObjectWriter"``.
            options: See :class:`penstock.requests.CallOptions`.

        Raises:
            S3ConflictError: Another account owns the bucket (BucketAlreadyExists).

        Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_CreateBucket.html
        """
        try:
            self._call(
                "create_bucket", bucket=bucket, acl=acl, grant_full_control=grant_full_control, grant_read=grant_read,
                grant_read_acp=grant_read_acp, grant_write=grant_write, grant_write_acp=grant_write_acp,
                object_lock_enabled=object_lock_enabled, object_ownership=object_ownership, **options,
            )  # fmt: skip
        except S3ConflictError as error:
            if not is_already_owned(error):
                raise

    def delete_bucket(self, bucket: str, **options: Unpack[CallOptions]) -> None:
        """Deletes an empty bucket.

        Args:
            options: See :class:`penstock.requests.CallOptions`.

        Raises:
            S3ConflictError: The bucket is not empty (BucketNotEmpty).
            S3NotFoundError: The bucket does not exist.

        Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteBucket.html
        """
        self._call("delete_bucket", bucket=bucket, **options)

    def head_bucket(self, bucket: str, **options: Unpack[CallOptions]) -> HeadBucketResult:
        """Checks that a bucket exists and is accessible. Returns its region.

        Args:
            options: See :class:`penstock.requests.CallOptions`.

        Raises:
            S3NotFoundError: The bucket does not exist.
            S3AccessDeniedError: It exists, but access is denied.

        Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_HeadBucket.html
        """
        return cast(HeadBucketResult, self._call("head_bucket", bucket=bucket, **options))

    def list_buckets(self, **options: Unpack[CallOptions]) -> list[BucketInfo]:
        """Returns the general purpose buckets of the account. :meth:`list_directory_buckets` returns the others.

        Args:
            options: See :class:`penstock.requests.CallOptions`.

        Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListBuckets.html
        """
        return cast("list[BucketInfo]", self._call("list_buckets", **options))

    def get_bucket_versioning(self, bucket: str, **options: Unpack[CallOptions]) -> str | None:
        """Returns ``"Enabled"``, ``"Suspended"`` or, if the bucket was never versioned, None.

        Args:
            options: See :class:`penstock.requests.CallOptions`.

        Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketVersioning.html
        """
        return cast("str | None", self._call("get_bucket_versioning", bucket=bucket, **options))

    def put_bucket_versioning(self, bucket: str, status: Literal["Enabled", "Suspended"], **options: Unpack[CallOptions]) -> None:
        """Enables or suspends versioning.

        Args:
            status: ``"Enabled"`` or ``"Suspended"``.
            options: See :class:`penstock.requests.CallOptions`.

        Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketVersioning.html
        """
        self._call("put_bucket_versioning", bucket=bucket, status=status, **options)

    def get_bucket_tagging(self, bucket: str, **options: Unpack[CallOptions]) -> dict[str, str]:
        """Returns the tags of a bucket.

        Args:
            options: See :class:`penstock.requests.CallOptions`.

        Raises:
            S3NotFoundError: The bucket has no tags (NoSuchTagSet).

        Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketTagging.html
        """
        return cast("dict[str, str]", self._call("get_bucket_tagging", bucket=bucket, **options))

    def put_bucket_tagging(self, bucket: str, tags: Pairs, **options: Unpack[CallOptions]) -> None:
        """Replaces all tags of a bucket.

        Args:
            tags: At most 50 tags.
            options: See :class:`penstock.requests.CallOptions`.

        Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketTagging.html
        """
        self._call("put_bucket_tagging", bucket=bucket, tags=tags, **options)

    # ---- signed requests for programs without credentials

    def presign(
        self,
        operation: Literal["get", "head", "put", "delete", "upload_part"],
        bucket: str,
        key: str,
        *,
        expires_in: int = 3600,
        **request: Unpack[PresignOptions],
    ) -> PresignedRequest:
        """Signs a request without sending it.

        Args:
            operation: The method of this class whose request is signed.
            expires_in: Seconds until the URL expires, 1 to 604,800. It expires earlier together with temporary credentials, and
                with the session of a directory bucket, within 5 minutes.
            request: Other arguments of that method, except its data; see :class:`penstock.requests.PresignOptions`.
                A timeout has no effect.

        Raises:
            TypeError: `operation` is unknown, or has no such argument.
            S3UnauthenticatedError: The client has no credentials.

        Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/using-presigned-url.html
        """
        if operation not in ("get", "head", "put", "delete", "upload_part"):
            raise TypeError(f"operation must be 'get', 'head', 'put', 'delete' or 'upload_part', not {operation!r}")
        result = self._call(f"presign_{operation}", bucket=bucket, key=key, expires_in=expires_in, **request)
        return cast(PresignedRequest, result)

    def presign_post(
        self,
        bucket: str,
        key: str,
        *,
        fields: Pairs | None = None,
        starts_with: Pairs | None = None,
        content_length_range: tuple[int, int] | None = None,
        expires_in: int = 3600,
    ) -> PresignedPost:
        """Signs a form for uploads by browsers. General purpose buckets only.

        Args:
            key: Key. If it ends in ``${filename}``, S3 puts the name of the uploaded file there.
            fields: Further fields with fixed values, for example ``{"Content-Type": "image/png"}``.
            starts_with: Fields that the browser fills, with the prefix that their values must have.
            content_length_range: Least and greatest size of the file in bytes.
            expires_in: Seconds until the form expires, 1 to 604,800.

        Source: https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-HTTPPOSTConstructPolicy.html
        """
        result = self._call(
            "presign_post", bucket=bucket, key=key, fields=fields, starts_with=starts_with,
            content_length_range=content_length_range, expires_in=expires_in,
        )  # fmt: skip
        return cast(PresignedPost, result)
