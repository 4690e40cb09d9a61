"""What S3 says about objects, as plain values, and the grammar of ``s3://`` URIs."""

from __future__ import annotations

from dataclasses import dataclass
from types import NoneType
from typing import NamedTuple

from ._config import check_type


def checked_etag(name: str, value: str | None) -> str | None:
    """An ETag, with its quotes or without, as the core takes it. `name`: of the parameter."""
    check_type(name, value, (str, NoneType))
    return None if value is None else value.strip('"')


@dataclass(frozen=True)
class RestoreStatus:
    """State of a restore from an archive class. `expiry` in milliseconds since the epoch; None while in progress."""

    in_progress: bool
    expiry: int | None = None

    @classmethod
    def from_header(cls, value: str) -> RestoreStatus | None:
        """From ``x-amz-restore``; None: the header was not there, or says nothing that we understand."""
        import re
        from email.utils import parsedate_to_datetime

        ongoing = re.search(r'ongoing-request="(true|false)"', value)
        if ongoing is None:
            return None
        expiry = re.search(r'expiry-date="([^"]*)"', value)
        try:
            until = int(parsedate_to_datetime(expiry[1]).timestamp()) * 1000 if expiry else None
        except ValueError:
            until = None
        return cls(ongoing[1] == "true", until)


class ObjectInfo(NamedTuple):
    """One object of a listing. `size` in bytes, `last_modified` in seconds since the epoch, `etag` with its quotes."""

    key: str
    etag: str
    size: int
    last_modified: int
    storage_class: str | None = None
    restore_status: RestoreStatus | None = None


@dataclass(frozen=True)
class HeadObjectResult:
    """What HEAD says of an object. Units as in :class:`ObjectInfo`."""

    etag: str
    size: int
    last_modified: int
    storage_class: str | None = None
    restore_status: RestoreStatus | None = None


class ListObjectResult(NamedTuple):
    """One page of a listing."""

    object_info: list[ObjectInfo]
    common_prefixes: list[str]


class S3BucketKeyData(NamedTuple):
    """Where an object is and, after a listing, what is known about it."""

    bucket: str
    key: str
    object_info: ObjectInfo | None = None


def parse_s3_uri(uri: str) -> tuple[str, str]:
    """Splits ``s3://bucket/key``. Nothing is decoded or normalised; the key may be empty.

    Raises:
        ValueError: the scheme is not exactly ``s3://``, or there is no bucket.
    """
    if not isinstance(uri, str):
        raise TypeError(f"an s3:// URI is of type {type(uri).__name__}; it takes str")
    if not uri.startswith("s3://"):
        raise ValueError(f"Only s3:// URIs are supported, not {uri!r}; write s3://bucket/key")
    bucket, _, key = uri.removeprefix("s3://").partition("/")
    if not bucket:
        raise ValueError(f"Bucket name must be non-empty in {uri!r}; write s3://bucket/key")
    return bucket, key
