"""``s3torchconnector._s3_bucket_iterable``: iterators over the objects below a prefix."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .._listing import S3BucketIterable
from .._objects import ListObjectResult, S3BucketKeyData
from ._native import ListObjectStream, MountpointS3Client

if TYPE_CHECKING:
    from .._client import S3Client

__all__ = ["S3BucketIterable", "S3BucketIterator"]


class S3BucketIterator:
    """Iterator over the objects below a prefix. Can be pickled during iteration: the copy continues at the same object."""

    def __init__(self, client: S3Client, bucket: str, prefix: str) -> None:
        self._bucket = bucket
        self._stream = _PickleableListObjectStream(client, bucket, prefix)
        self._page: list[S3BucketKeyData] = []  # remaining objects of the current page, in reverse order

    def __iter__(self) -> Iterator[S3BucketKeyData]:
        return self

    def __next__(self) -> S3BucketKeyData:
        while not self._page:
            objects = next(self._stream).object_info
            self._page = [S3BucketKeyData(self._bucket, info.key, info) for info in reversed(objects)]
        return self._page.pop()


class _PickleableListObjectStream:
    """The pages of a listing. A pickled copy continues with the page after the last one returned."""

    def __init__(self, client: S3Client, bucket: str, prefix: str) -> None:
        self._client = client
        self._stream = ListObjectStream(client.core, bucket, prefix, "", 1000)

    def __iter__(self) -> Iterator[ListObjectResult]:
        return self

    def __next__(self) -> ListObjectResult:
        return next(self._stream)

    def __getstate__(self) -> dict[str, Any]:
        stream = self._stream
        return {
            "client": self._client, "bucket": stream.bucket, "prefix": stream.prefix,
            "continuation_token": stream.continuation_token, "complete": stream.complete,
        }  # fmt: skip

    def __setstate__(self, state: dict[str, Any]) -> None:
        client: S3Client = state["client"]
        self._client = client
        native = MountpointS3Client(client.region)
        object.__setattr__(native, "_cached_client", client)
        self._stream = ListObjectStream._from_state(
            native, state["bucket"], state["prefix"], "", 1000, state["continuation_token"], state["complete"]
        )
