"""Keyword arguments that many methods of S3Client share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TypeAlias, TypedDict

Pairs: TypeAlias = Mapping[str, str] | Iterable[tuple[str, str]]
Time: TypeAlias = datetime | float  # a datetime with a time zone, or seconds since the epoch
Range: TypeAlias = tuple[int | None, int | None]
Grantees: TypeAlias = str | Sequence[str]
Buffer: TypeAlias = bytes | bytearray | memoryview


class CallOptions(TypedDict, total=False):
    """Keyword arguments of every request. None: not set.

    Attributes:
        expected_bucket_owner: Account id of the bucket's owner. For any other owner S3 raises S3AccessDeniedError. Requests
            without a bucket, and ``create_bucket``, raise S3InvalidArgumentError.
        requester_pays: The caller pays for the request, as ``S3ClientConfig.requester_pays`` for all requests.
        extra_headers: Headers without an argument of their own. They are signed. Names that the client sets itself raise
            S3InvalidArgumentError.
        extra_query: Query parameters without an argument of their own, unencoded.
        timeout: Time that the call may take with all its attempts: seconds, more than 0, or a text such as ``"30s"``. Then it
            raises S3TimeoutError.
    """

    expected_bucket_owner: str | None
    requester_pays: bool | None
    extra_headers: Pairs | None
    extra_query: Pairs | None
    timeout: float | str | None


class ReadOptions(CallOptions, total=False):
    """Keyword arguments of reads: those of :class:`CallOptions`, and headers that S3 returns instead of the stored ones.

    Attributes:
        response_cache_control: ``Cache-Control``. The others likewise. S3 rejects them in unsigned requests.
        response_content_disposition: ``Content-Disposition``, for example ``"attachment"``.
        response_content_encoding: ``Content-Encoding``.
        response_content_language: ``Content-Language``.
        response_content_type: ``Content-Type``.
        response_expires: ``Expires``.
    """

    response_cache_control: str | None
    response_content_disposition: str | None
    response_content_encoding: str | None
    response_content_language: str | None
    response_content_type: str | None
    response_expires: str | None


class ObjectOptions(CallOptions, total=False):
    """Keyword arguments of requests that create an object: those of :class:`CallOptions`, and attributes of the new object.

    Attributes:
        content_type: ``Content-Type``; None: S3's default, ``binary/octet-stream``.
        storage_class: For example ``"STANDARD_IA"``; None: STANDARD.
        metadata: User metadata: names without ``x-amz-meta-`` to values of printable ASCII.
        cache_control: ``Cache-Control``.
        content_encoding: ``Content-Encoding``.
        content_disposition: ``Content-Disposition``.
        content_language: ``Content-Language``.
        expires: ``Expires``.
        website_redirect_location: Target of a redirect by a website bucket.
        tagging: Tags of the object, at most 10.
        acl: A canned ACL, for example ``"bucket-owner-full-control"``. Not with grants.
        grant_full_control: Grantees: ``id="..."``, ``uri="..."`` or ``emailAddress="..."``. The other grants likewise.
        grant_read: Who may read the object.
        grant_read_acp: Who may read its ACL.
        grant_write_acp: Who may write its ACL.
        server_side_encryption: ``"AES256"``, ``"aws:kms"`` or ``"aws:kms:dsse"``; None: the bucket's default.
        sse_kms_key_id: Key of KMS; None: the key that AWS manages for S3.
        sse_kms_encryption_context: Names and values that KMS binds to the encrypted data key.
        bucket_key_enabled: Use a key of the bucket with ``"aws:kms"``.
        sse_customer_key: A key of 32 bytes for SSE-C. Every later read needs it too. Needs https, except to loopback addresses.
        object_lock_mode: ``"GOVERNANCE"`` or ``"COMPLIANCE"``, with `object_lock_retain_until_date`.
        object_lock_retain_until_date: End of the retention.
        object_lock_legal_hold: Put the object under a legal hold.
    """

    content_type: str | None
    storage_class: str | None
    metadata: Pairs | None
    cache_control: str | None
    content_encoding: str | None
    content_disposition: str | None
    content_language: str | None
    expires: Time | None
    website_redirect_location: str | None
    tagging: Pairs | None
    acl: str | None
    grant_full_control: Grantees | None
    grant_read: Grantees | None
    grant_read_acp: Grantees | None
    grant_write_acp: Grantees | None
    server_side_encryption: str | None
    sse_kms_key_id: str | None
    sse_kms_encryption_context: Pairs | None
    bucket_key_enabled: bool | None
    sse_customer_key: bytes | None
    object_lock_mode: str | None
    object_lock_retain_until_date: Time | None
    object_lock_legal_hold: bool | None


class PresignOptions(ReadOptions, ObjectOptions, total=False):
    """Keyword arguments of ``presign``: those of the method whose request is signed, except its data.

    Attributes:
        range: As in ``get``. The others likewise, or as in ``put``, ``delete`` and ``upload_part``.
        version_id: Version.
        part_number: Number of a part.
        upload_id: Id of a multipart upload, of ``"upload_part"``.
        if_match: Condition.
        if_none_match: Condition: an ETag for reads, True for ``"put"``.
        if_modified_since: Condition.
        if_unmodified_since: Condition.
        checksum_algorithm: With `checksum_value`, the URL accepts only that body.
        checksum_value: Base64.
        bypass_governance_retention: Of ``"delete"``.
    """

    range: Range | None
    version_id: str | None
    part_number: int | None
    upload_id: str | None
    if_match: str | None
    if_none_match: str | bool | None
    if_modified_since: Time | None
    if_unmodified_since: Time | None
    checksum_algorithm: str | None
    checksum_value: str | None
    bypass_governance_retention: bool | None
