"""Object metadata as plain values, and parsing of ``s3://`` URIs."""

from __future__ import annotations

from binascii import b2a_base64
from dataclasses import dataclass, field
from types import NoneType
from typing import NamedTuple

from ._config import check_type


def checked_etag(name: str, value: str | None) -> str | None:
    """Returns an ETag without its quotes, as the core expects it. Errors give the parameter `name`."""
    check_type(name, value, (str, NoneType))
    return None if value is None else value.strip('"')


def crc_text(crc: int, size: int = 8) -> str:
    """Returns a CRC of `size` bytes as S3 writes it: big-endian, base64."""
    return b2a_base64(crc.to_bytes(size, "big"), newline=False).decode()


@dataclass(frozen=True)
class RestoreStatus:
    """State of a restore from an archive storage class. `expiry` in milliseconds since the epoch; None while in progress."""

    in_progress: bool
    expiry: int | None = None

    @classmethod
    def from_header(cls, value: str) -> RestoreStatus | None:
        """Parses ``x-amz-restore``. Returns None if the header is empty or cannot be parsed."""
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
    """One object of a listing. `size` in bytes, `last_modified` in seconds since the epoch, `etag` in quotes."""

    key: str
    etag: str
    size: int
    last_modified: int
    storage_class: str | None = None
    restore_status: RestoreStatus | None = None


@dataclass(frozen=True)
class HeadObjectResult:
    """The metadata of an object from a HEAD request. Units as in :class:`ObjectInfo`."""

    etag: str
    size: int
    last_modified: int
    storage_class: str | None = None
    restore_status: RestoreStatus | None = None
    checksums: tuple[tuple[str, str], ...] = field(default=(), compare=False, repr=False)
    """Checksums of the whole object: S3's algorithm name and the base64 value, such as ``("crc64nvme", BASE64)``."""


class ListObjectResult(NamedTuple):
    """One page of a listing."""

    object_info: list[ObjectInfo]
    common_prefixes: list[str]


class S3BucketKeyData(NamedTuple):
    """The bucket and key of an object and, if it comes from a listing, its metadata."""

    bucket: str
    key: str
    object_info: ObjectInfo | None = None


def parse_s3_uri(uri: str) -> tuple[str, str]:
    """Splits ``s3://bucket/key`` into bucket and key. Decodes and normalizes nothing; the key may be empty.

    Raises:
        TypeError: `uri` is not a str.
        ValueError: The scheme is not exactly ``s3://``, or the bucket is empty.
    """
    if not isinstance(uri, str):
        raise TypeError(f"an s3:// URI must be str, not {type(uri).__name__}")
    if not uri.startswith("s3://"):
        raise ValueError(f"Only s3:// URIs are supported, not {uri!r}; write s3://bucket/key")
    bucket, _, key = uri.removeprefix("s3://").partition("/")
    if not bucket:
        raise ValueError(f"Bucket name must be non-empty in {uri!r}; write s3://bucket/key")
    return bucket, key
