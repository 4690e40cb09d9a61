"""Attributes of objects: s3fs's names for them, which are botocore's, and those of the requests of S3Client."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import parse_qsl

from ..requests._parts import ENCRYPTION, Attributes


def _pairs(value: Mapping[Any, Any] | Iterable[tuple[Any, Any]]) -> list[tuple[str, str]]:
    return [(str(name), str(text)) for name, text in dict(value).items()]


def _tags(value: Any) -> list[tuple[str, str]]:
    return parse_qsl(value, keep_blank_values=True) if isinstance(value, str) else _pairs(value)


def _grantees(value: Any) -> Any:
    return [one.strip() for one in value.split(",")] if isinstance(value, str) else value


def _is_on(value: Any) -> bool:
    return value in (True, "ON")


_CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "metadata": _pairs,
    "tagging": _tags,
    "object_lock_legal_hold": _is_on,
    **dict.fromkeys(("grant_full_control", "grant_read", "grant_read_acp", "grant_write_acp"), _grantees),
}

# Attributes of writes and of s3_additional_kwargs, with their names in penstock.requests.ObjectOptions.
NAMES = {
    "ACL": "acl",
    "acl": "acl",
    "BucketKeyEnabled": "bucket_key_enabled",
    "CacheControl": "cache_control",
    "ContentDisposition": "content_disposition",
    "ContentEncoding": "content_encoding",
    "ContentLanguage": "content_language",
    "ContentType": "content_type",
    "ExpectedBucketOwner": "expected_bucket_owner",
    "Expires": "expires",
    "GrantFullControl": "grant_full_control",
    "GrantRead": "grant_read",
    "GrantReadACP": "grant_read_acp",
    "GrantWriteACP": "grant_write_acp",
    "Metadata": "metadata",
    "ObjectLockLegalHoldStatus": "object_lock_legal_hold",
    "ObjectLockMode": "object_lock_mode",
    "ObjectLockRetainUntilDate": "object_lock_retain_until_date",
    "SSEKMSKeyId": "sse_kms_key_id",
    "ServerSideEncryption": "server_side_encryption",
    "StorageClass": "storage_class",
    "Tagging": "tagging",
    "WebsiteRedirectLocation": "website_redirect_location",
}
# Unsupported, and must not be ignored. Every later read of an object with SSE-C needs the key too.
_REFUSED = ("SSECustomerAlgorithm", "SSECustomerKey", "SSECustomerKeyMD5", "SSEKMSEncryptionContext")

OF_STREAMS = frozenset(("content_type", "storage_class", "metadata"))  # attributes that PutObjectStream supports
_OF_COPIES = ("acl", "expected_bucket_owner", "storage_class", *ENCRYPTION)


def write_attributes(given: Mapping[str, Any]) -> Attributes:
    """Returns the attributes of an object from `given`. Names that are not attributes, and empty values, are ignored.

    Raises:
        ValueError: `given` contains an unsupported attribute.
    """
    refused = [name for name in _REFUSED if given.get(name)]
    if refused:
        raise ValueError(
            f"penstock.fsspec does not support {', '.join(refused)}; supported: {', '.join(NAMES)}."
            " Use penstock.S3Client.put instead"
        )
    found = {penstock_name: given[name] for name, penstock_name in NAMES.items() if given.get(name)}
    return {penstock_name: _CONVERSIONS.get(penstock_name, lambda same: same)(value) for penstock_name, value in found.items()}


def of_copies(attributes: Attributes) -> Attributes:
    """Returns those attributes that a copy has too: the others are copied from the source."""
    return {name: attributes[name] for name in _OF_COPIES if name in attributes}
