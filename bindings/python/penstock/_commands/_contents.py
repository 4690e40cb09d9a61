"""Comparison of contents for ``sync --checksum``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import _core
from .._objects import crc_text
from ._urls import Place, S3Url

if TYPE_CHECKING:
    from .._client import S3Client
    from ..requests import ObjectMetadata

_BLOCK = 4 * 1024**2


def crc64nvme_of(path: str) -> str:
    """Returns the CRC64NVME of a file as S3 writes it: base64."""
    import ctypes

    buffer = bytearray(_BLOCK)
    address = ctypes.addressof(ctypes.c_char.from_buffer(buffer))
    crc = 0
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123
        while count := file.readinto(buffer):
            crc = _core.crc64nvme(address, count, crc)
    return crc_text(crc)


def md5_of(path: str) -> str:
    """Returns the MD5 of a file as an ETag, in quotes."""
    import hashlib

    with open(path, "rb") as file:  # noqa: PTH123
        digest = hashlib.md5(usedforsecurity=False)
        while block := file.read(_BLOCK):
            digest.update(block)
    return f'"{digest.hexdigest()}"'


def _is_md5(head: ObjectMetadata) -> bool:
    """Whether the ETag is the MD5 of the content: it is not for uploads in parts, SSE-KMS and SSE-C."""
    return len(head.etag) == 34 and head.encryption in (None, "AES256")


def same_content(client: S3Client, first: Place, second: Place, sse_customer_key: bytes | None) -> bool:
    """Whether a file and an object of the same size, or two objects, have the same content for certain.

    Compares the CRC64NVME of the whole object, else its MD5. An object with neither counts as different.
    """

    def head(url: S3Url) -> ObjectMetadata:
        return client.head(url.bucket, url.key, sse_customer_key=sse_customer_key)

    if isinstance(first, S3Url) and isinstance(second, S3Url):
        one, other = head(first), head(second)
        crcs = one.checksums.get("crc64nvme"), other.checksums.get("crc64nvme")
        if None not in crcs:
            return crcs[0] == crcs[1]
        return one.etag == other.etag and one.encryption == other.encryption and one.encryption in (None, "AES256")
    path, url = (second, first) if isinstance(first, S3Url) else (first, second)
    assert isinstance(path, str) and isinstance(url, S3Url)
    found = head(url)
    if crc := found.checksums.get("crc64nvme"):
        return crc == crc64nvme_of(path)
    return _is_md5(found) and found.etag == md5_of(path)
