"""What requests for several objects, for uploads, buckets, attributes and presigned URLs return. Units are those of _results.py.

Making these classes takes several milliseconds, so programs that do not use them do not import them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


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
        expires_at: Time at which the URL expires; one for a directory bucket expires with its session, within 5 minutes, which
            is included.
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
