"""Requests for multipart uploads."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

from .._session import Session

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import Buffer, CallOptions, ObjectOptions, Range
    from ._rare_results import CompletedPart, ListMultipartUploadsResult, ListPartsResult
    from ._results import PutResult


class MultipartRequests(Session):
    """Requests for multipart uploads."""

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
        return cast("CompletedPart", result)

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
        return cast("CompletedPart", result)

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
        return cast("PutResult", result)

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
        return cast("ListPartsResult", result)

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
        return cast("ListMultipartUploadsResult", result)
