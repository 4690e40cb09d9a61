"""What the requests of S3Client return. The core creates these objects.

Times are seconds since the epoch, sizes are bytes, and ETags are in quotes. None: S3 did not send the value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

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


class ObjectToDelete(NamedTuple):
    """An object for ``delete_objects``. Conditions that do not hold are failures of the object.

    Attributes:
        key: The object's key.
        version_id: Delete this version permanently; None: the current version.
        if_match: Only if the object has this ETag.
        if_match_last_modified: Only if it was last modified at this time, in seconds. Directory buckets only.
        if_match_size: Only if it has this size. Directory buckets only.
    """

    key: str
    version_id: str | None = None
    if_match: str | None = None
    if_match_last_modified: float | None = None
    if_match_size: int | None = None


@dataclass(frozen=True)
class DeletedObject:
    """An object that was deleted.

    Attributes:
        key: Key.
        version_id: Version of the request.
        delete_marker: Whether a delete marker was created or deleted.
        delete_marker_version_id: Version of that delete marker.
    """

    key: str
    version_id: str | None = None
    delete_marker: bool = False
    delete_marker_version_id: str | None = None


@dataclass(frozen=True)
class DeleteFailure:
    """An object that was not deleted.

    Attributes:
        key: Key.
        version_id: Version of the request.
        code: S3's error code, for example ``"AccessDenied"``.
        message: S3's message.
    """

    key: str
    version_id: str | None
    code: str
    message: str


@dataclass(frozen=True)
class DeleteObjectsResult:
    """The result of ``delete_objects``.

    Attributes:
        deleted: The objects that were deleted or did not exist.
        failures: All others.
    """

    deleted: list[DeletedObject] = field(default_factory=list)
    failures: list[DeleteFailure] = field(default_factory=list)


@dataclass(frozen=True)
class CompletedPart:
    """A part of a multipart upload.

    Attributes:
        part_number: 1 to 10,000.
        etag: ETag, in quotes.
        size: Size; None: a copy of a whole object.
        checksum_algorithm: ``"crc64nvme"``, or the algorithm that the caller chose; None: the part has no checksum.
        checksum_value: The checksum as base64.
    """

    part_number: int
    etag: str
    size: int | None = None
    checksum_algorithm: str | None = None
    checksum_value: str | None = None


@dataclass(frozen=True)
class ListPartsResult:
    """One page of the parts of an upload.

    Attributes:
        parts: Ascending by number.
        next_part_number_marker: The `part_number_marker` of the next page; 0: this is the last page.
    """

    parts: list[CompletedPart]
    next_part_number_marker: int = 0


@dataclass(frozen=True)
class MultipartUpload:
    """A multipart upload that is neither completed nor aborted.

    Attributes:
        key: Key of the future object.
        upload_id: Id of the upload.
        initiated: Time of its creation.
    """

    key: str
    upload_id: str
    initiated: float


@dataclass(frozen=True)
class ListMultipartUploadsResult:
    """One page of open uploads.

    Attributes:
        uploads: Ascending by key.
        next_key_marker: The `key_marker` of the next page; empty: this is the last page.
        next_upload_id_marker: The `upload_id_marker` of the next page.
    """

    uploads: list[MultipartUpload]
    next_key_marker: str = ""
    next_upload_id_marker: str = ""


@dataclass(frozen=True)
class HeadBucketResult:
    """A bucket that exists.

    Attributes:
        region: Region of the bucket; None: the service did not name it.
    """

    region: str | None = None


@dataclass(frozen=True)
class BucketInfo:
    """A bucket of the account.

    Attributes:
        name: Name.
        creation_date: Time of its creation.
    """

    name: str
    creation_date: float


@dataclass(frozen=True)
class ObjectPart:
    """A part of an object.

    Attributes:
        part_number: Number.
        size: Size.
        checksums: Checksums of the part, by algorithm.
    """

    part_number: int
    size: int
    checksums: Mapping[str, str]


@dataclass(frozen=True)
class GetObjectAttributesResult:
    """Attributes of an object, with its parts.

    Attributes:
        etag: ETag, in quotes.
        size: Size.
        storage_class: Storage class.
        version_id: Version; None: the bucket is not versioned.
        last_modified: Time of the last change.
        checksums: Checksums of the whole object, by algorithm.
        checksum_type: ``"FULL_OBJECT"`` or ``"COMPOSITE"``; None: no checksum.
        parts_count: Number of parts; 0: not uploaded in parts.
        parts: Parts. S3 lists them only if they have checksums.
        next_part_number_marker: The `part_number_marker` of the next page; 0: this is the last page.
    """

    etag: str
    size: int
    storage_class: str
    version_id: str | None
    last_modified: float
    checksums: Mapping[str, str]
    checksum_type: str | None
    parts_count: int
    parts: list[ObjectPart]
    next_part_number_marker: int = 0


@dataclass(frozen=True)
class PresignedRequest:
    """A signed request. The URL is a secret until it expires, so ``repr`` does not show it.

    Attributes:
        method: ``"GET"``, ``"HEAD"``, ``"PUT"`` or ``"DELETE"``.
        url: The URL.
        headers: Headers that must be sent with exactly these values.
        expires_at: Time at which the URL expires; one for a directory bucket expires with its session, within 5 minutes.
    """

    method: str
    url: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    expires_at: float


@dataclass(frozen=True)
class PresignedPost:
    """A form for uploads by browsers. Its fields are secrets until they expire, so ``repr`` does not show them.

    Attributes:
        url: Target of the form.
        fields: Names and values of the fields before the last one, ``file``.
    """

    url: str
    fields: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True)
class UploadFileResult:
    """The object of an uploaded file.

    Attributes:
        etag: ETag, in quotes.
        size: Size.
    """

    etag: str
    size: int


@dataclass(frozen=True)
class FileFailure:
    """A file of a directory that was not transferred.

    Attributes:
        path: Path of the file.
        key: Key of the object.
        error: What happened.
    """

    path: str
    key: str
    error: Exception


@dataclass(frozen=True)
class DirectoryResult:
    """The result of a directory transfer.

    Attributes:
        files: Number of transferred files.
        bytes: Their size.
        failures: Files that were not transferred, in the order in which they failed.
        skipped: Of an upload: symbolic links that were not followed, devices, sockets and pipes.
    """

    files: int
    bytes: int
    failures: list[FileFailure] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
