"""Listings: by page, and by object."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ._objects import ListObjectResult, S3BucketKeyData

if TYPE_CHECKING:
    from . import _core
    from ._client import S3Client


class ListObjectStream:
    """Iterator over the pages of a listing. Fetches the next page while the caller uses the current one.

    Attributes:
        complete: Whether the last page has been returned.
        continuation_token: S3's token for the page after the last returned one; None at the end.
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
        return ListObjectResult(objects, prefixes)


class S3BucketIterable:
    """Iterable over the objects below a prefix, in S3's order. Each iteration lists them again.

    Args:
        page_size: Objects per listing request, 1 to 1000.
    """

    def __init__(self, client: S3Client, bucket: str, prefix: str, page_size: int = 1000) -> None:
        self._client = client
        self._bucket = bucket
        self._prefix = prefix
        self._page_size = page_size

    def __iter__(self) -> Iterator[S3BucketKeyData]:
        return self.every(1, 0)

    def every(self, step: int, first: int) -> Iterator[S3BucketKeyData]:
        """Iterates over the object at index `first` and every `step`-th object after it. Skipped objects cost almost nothing."""
        return self._client._list_items(self._bucket, self._prefix, step, first, self._page_size)

    def as_list(self) -> _core.ObjectList:
        """Lists all objects now, and returns them as a compact sequence."""
        return self._client._list_all(self._bucket, self._prefix, self._page_size)
