"""Directory buckets of the endpoint under test: creation, signing and cleanup."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

from .connection import Response
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

Request = Callable[..., Response]


def is_directory(bucket: str) -> bool:
    """Whether this is the name of a directory bucket."""
    return bucket.endswith("--x-s3")


def signed(spec: dict[str, Any]) -> dict[str, Any]:
    """The request with the service s3express as the default of its `auth`."""
    return {**spec, "auth": {"service": SERVICE, **spec.get("auth", {})}}


def empty(request: Request, bucket: str) -> None:
    """Deletes the objects and uploads of a bucket. `request` sends method, path, query and template values."""
    for _ in range(_MAX_ROUNDS):
        keys = texts(ElementTree.fromstring(request("GET", f"/{bucket}", "list-type=2").body), "Contents/Key")
        for key in keys:
            request("DELETE", "/${bucket}/${key|path}", bucket=bucket, key=key)
        uploads = ElementTree.fromstring(request("GET", f"/{bucket}", "uploads").body)
        pairs = list(zip(texts(uploads, "Upload/Key"), texts(uploads, "Upload/UploadId"), strict=True))
        for key, upload in pairs:
            request("DELETE", "/${bucket}/${key|path}", "uploadId=${upload|url}", bucket=bucket, key=key, upload=upload)
        if not keys and not pairs:
            return
