"""What the requests for one object return. The core creates these objects; those of other requests are in _rare_results.py.

Times are seconds since the epoch, sizes are bytes, and ETags are in quotes. None: S3 did not send the value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from .._objects import RestoreStatus

BodyT = TypeVar("BodyT", bytes, memoryview)


@dataclass(frozen=True)
class ObjectMetadata:
    """The metadata of an object version.

    Attributes:
        size: Size of the whole object, also if a range was read.
        etag: ETag, in quotes.
        last_modified: Time of the last change.
        range: The bytes that were requested, as (begin, end): those of a range or a part, else all.
        content_type: ``Content-Type``.
        storage_class: Storage class.
        version_id: Version; None: the bucket is not versioned.
        restore: ``x-amz-restore`` as sent; see :attr:`restore_status`.
        checksums: Checksums of the whole object by algorithm: ``{"crc64nvme": BASE64}``.
        metadata: User metadata, names without ``x-amz-meta-``.
        encryption: ``"AES256"``, ``"aws:kms"``, ``"aws:kms:dsse"``, ``"SSE-C"`` or ``"other"``.
        parts_count: Number of parts, if one part was requested.
        cache_control: ``Cache-Control``. The next four likewise.
        content_encoding: ``Content-Encoding``.
        content_disposition: ``Content-Disposition``.
        content_language: ``Content-Language``.
        expires: ``Expires``, as stored.
        website_redirect_location: ``x-amz-website-redirect-location``.
        sse_kms_key_id: Key of SSE-KMS or DSSE-KMS.
        bucket_key_enabled: SSE-KMS with a key of the bucket.
        sse_customer_key_md5: MD5 of the key of SSE-C.
        object_lock_mode: ``"GOVERNANCE"`` or ``"COMPLIANCE"``.
        object_lock_retain_until_date: End of the retention.
        object_lock_legal_hold: Whether there is a legal hold.
        expiration: ``x-amz-expiration``, unparsed.
        replication_status: ``"COMPLETED"``, ``"PENDING"``, ``"FAILED"`` or ``"REPLICA"``.
        archive_status: ``"ARCHIVE_ACCESS"`` or ``"DEEP_ARCHIVE_ACCESS"``.
        tag_count: Number of tags.
        missing_metadata: Number of user metadata that HTTP headers cannot carry.
    """

    size: int
    etag: str
    last_modified: float
    range: tuple[int, int]
    content_type: str | None = None
    storage_class: str = "STANDARD"
    version_id: str | None = None
    restore: str | None = None
    checksums: Mapping[str, str] = field(default_factory=dict)
    metadata: Mapping[str, str] = field(default_factory=dict)
    encryption: str | None = None
    parts_count: int | None = None
    cache_control: str | None = None
    content_encoding: str | None = None
    content_disposition: str | None = None
    content_language: str | None = None
    expires: str | None = None
    website_redirect_location: str | None = None
    sse_kms_key_id: str | None = None
    bucket_key_enabled: bool = False
    sse_customer_key_md5: str | None = None
    object_lock_mode: str | None = None
    object_lock_retain_until_date: float | None = None
    object_lock_legal_hold: bool | None = None
    expiration: str | None = None
    replication_status: str | None = None
    archive_status: str | None = None
    tag_count: int | None = None
    missing_metadata: int | None = None

    @property
    def restore_status(self) -> RestoreStatus | None:
        """State of a restore from an archive storage class; None: there is none."""
        return RestoreStatus.from_header(self.restore or "")


@dataclass(frozen=True)
class GetResult(Generic[BodyT]):
    """The bytes of an object or range, and its metadata.

    Attributes:
        body: New ``bytes``, or a ``memoryview`` of the filled part of the caller's buffer.
        metadata: The object's metadata.
    """

    body: BodyT
    metadata: ObjectMetadata


@dataclass(frozen=True)
class PutResult:
    """The result of a write.

    Attributes:
        etag: ETag, in quotes.
        version_id: The new version; None: the bucket is not versioned.
        checksums: Checksums that S3 stored, by algorithm.
        encryption: As in :class:`ObjectMetadata`.
        sse_kms_key_id: Key of SSE-KMS or DSSE-KMS.
        object_size: Size after an append (`write_offset`).
    """

    etag: str
    version_id: str | None = None
    checksums: Mapping[str, str] = field(default_factory=dict)
    encryption: str | None = None
    sse_kms_key_id: str | None = None
    object_size: int | None = None


@dataclass(frozen=True)
class CopyResult:
    """The copy of an object.

    Attributes:
        etag: ETag of the copy, in quotes.
        last_modified: Time of the copy.
        version_id: Version of the copy; None: its bucket is not versioned.
        src_version_id: Version that was copied; None: the source's bucket is not versioned.
        encryption: As in :class:`ObjectMetadata`.
    """

    etag: str
    last_modified: float
    version_id: str | None = None
    src_version_id: str | None = None
    encryption: str | None = None


@dataclass(frozen=True)
class DeleteResult:
    """A deletion.

    Attributes:
        version_id: The deleted version, or the new delete marker; None: the bucket is not versioned.
        delete_marker: Whether a delete marker was created, or the deleted version was one.
    """

    version_id: str | None = None
    delete_marker: bool = False


@dataclass(frozen=True)
class UploadFileResult:
    """The object of an uploaded file.

    Attributes:
        etag: ETag, in quotes.
        size: Size.
    """

    etag: str
    size: int
