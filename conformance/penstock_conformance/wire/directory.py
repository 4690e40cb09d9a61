"""Directory buckets of the endpoint under test: made, emptied and asked for as S3 Express One Zone wants it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

from .connection import Answer
from .expectation import texts

ZONE = "use1-az4"
SUFFIX = f"--{ZONE}--x-s3"
SERVICE = "s3express"
_MAX_ROUNDS = 50

#: The body of CreateBucket.
DOCUMENT = (
    f"<CreateBucketConfiguration><Location><Type>AvailabilityZone</Type><Name>{ZONE}</Name></Location>"
    "<Bucket><Type>Directory</Type><DataRedundancy>SingleAvailabilityZone</DataRedundancy></Bucket></CreateBucketConfiguration>"
)

Ask = Callable[..., Answer]


def is_directory(bucket: str) -> bool:
    """Whether the name is one of a directory bucket."""
    return bucket.endswith("--x-s3")


def signed(spec: dict[str, Any]) -> dict[str, Any]:
    """The request, signed for directory buckets where it says nothing of the service."""
    return {**spec, "auth": {"service": SERVICE, **spec.get("auth", {})}}


def empty(ask: Ask, bucket: str) -> None:
    """Deletes the objects and open uploads of a bucket; `ask` sends method, path, query and template values."""
    for _ in range(_MAX_ROUNDS):
        keys = texts(ElementTree.fromstring(ask("GET", f"/{bucket}", "list-type=2").body), "Contents/Key")
        for key in keys:
            ask("DELETE", "/${bucket}/${key|path}", bucket=bucket, key=key)
        uploads = ElementTree.fromstring(ask("GET", f"/{bucket}", "uploads").body)
        pairs = list(zip(texts(uploads, "Upload/Key"), texts(uploads, "Upload/UploadId"), strict=True))
        for key, upload in pairs:
            ask("DELETE", "/${bucket}/${key|path}", "uploadId=${upload|url}", bucket=bucket, key=key, upload=upload)
        if not keys and not pairs:
            return
