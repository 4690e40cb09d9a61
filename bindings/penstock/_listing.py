"""Listings: pages as S3 sends them, and objects one by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ._objects import ListObjectResult, ObjectInfo, S3BucketKeyData

if TYPE_CHECKING:
    from . import _core
    from ._client import S3Client


class ListObjectStream:
    """Iterator over the pages of a listing; the next page is fetched while this one is used.

    Attributes:
        complete: Whether the last page has been returned.
        continuation_token: Where the page after the last returned one begins; None at the end.
    """

    def __init__(self, client: _core.Client, bucket: str, prefix: str, delimiter: str, max_keys: int) -> None:
        from . import _core

        self.bucket = bucket
        self.prefix = prefix
        self.delimiter = delimiter
        self.max_keys = max_keys
        self.continuation_token: str | None = None
        self.complete = False
        self._lister = _core.Lister(client, bucket, prefix, delimiter, max_keys)

    def __iter__(self) -> Iterator[ListObjectResult]:
        return self

    def __next__(self) -> ListObjectResult:
        if self.complete:
            raise StopIteration
        objects, prefixes, token = next(self._lister)
        self.continuation_token = token or None
        self.complete = not token
        infos = [
            ObjectInfo(key, f'"{etag}"', size, modified, storage or "STANDARD") for key, etag, size, modified, storage in objects
        ]
        return ListObjectResult(infos, prefixes)


class S3BucketIterable:
    """The objects below a prefix in S3's order; each iteration lists anew."""

    def __init__(self, client: S3Client, bucket: str, prefix: str) -> None:
        self._client = client
        self._bucket = bucket
        self._prefix = prefix

    def __iter__(self) -> Iterator[S3BucketKeyData]:
        for page in self._client.list_objects(self._bucket, self._prefix):
            for info in page.object_info:
                yield S3BucketKeyData(self._bucket, info.key, info)
