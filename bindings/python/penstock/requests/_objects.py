"""Requests for objects and their tags."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, cast, overload

from .._session import Session

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import Buffer, CallOptions, ObjectOptions, Pairs, Range, ReadOptions, Time
    from ._rare_results import DeleteObjectsResult, GetObjectAttributesResult, ObjectToDelete
    from ._results import CopyResult, DeleteResult, GetResult, ObjectMetadata, PutResult


DELETE_AT_ONCE = 1000  # S3's limit of DeleteObjects


def batches(objects: Iterable[str | ObjectToDelete]) -> Iterator[list[str | ObjectToDelete]]:
    """Splits the argument of ``delete_objects`` into requests."""
    from ._rare_results import ObjectToDelete

    if isinstance(objects, (str, bytes, ObjectToDelete)):
        raise TypeError(f"objects must be an iterable of str or ObjectToDelete, not {type(objects).__name__}")
    rest = iter(objects)
    while batch := list(islice(rest, DELETE_AT_ONCE)):
        yield batch


class ObjectRequests(Session):
    """Requests for objects and their tags."""

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
        return cast("ObjectMetadata", result)

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
        return cast("PutResult", result)

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
        return cast("DeleteResult", result)

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
            What was deleted, and what was not. A failure of one object does not raise.

        Raises:
            TypeError: `objects` is one str.

        Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjects.html
        """
        from ._rare_results import DeleteObjectsResult

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
        return cast("CopyResult", result)

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
        return cast("GetObjectAttributesResult", result)

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
