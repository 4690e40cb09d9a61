"""Listings: by page, and by object."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from . import _core
from ._logs import Logger
from ._objects import ListObjectResult, S3BucketKeyData, parse_s3_uri
from ._session import Session

log = Logger(__name__)

T = TypeVar("T")


class ListObjectStream:
    """Iterator over the pages of a listing. Fetches the next page while the caller uses the current one.

    Attributes:
        complete: Whether the last page has been returned.
        continuation_token: S3's token for the page after the last returned one; None at the end.
    """

    def __init__(self, client: _core.Client, bucket: str, prefix: str, delimiter: str, max_keys: int) -> None:
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

    def __init__(self, client: Session, bucket: str, prefix: str, page_size: int = 1000) -> None:
        self._session = client
        self._bucket = bucket
        self._prefix = prefix
        self._page_size = page_size

    def __iter__(self) -> Iterator[S3BucketKeyData]:
        return self.every(1, 0)

    def every(self, step: int, first: int) -> Iterator[S3BucketKeyData]:
        """Iterates over the object at index `first` and every `step`-th object after it. Skipped objects cost almost nothing."""
        log.debug("ListObjects s3://%s/%s", self._bucket, self._prefix)
        return _core.ObjectItems(self._session.core, self._bucket, self._prefix, step, first, self._page_size)

    def as_list(self) -> _core.ObjectList:
        """Lists all objects now, and returns them as a compact sequence."""
        bucket, prefix = self._bucket, self._prefix
        log.debug("ListObjects s3://%s/%s", bucket, prefix)
        delimiter = self._session.s3client_config.listing_delimiter or ""
        objects = _core.ObjectList(self._session.core, bucket, prefix, delimiter, self._page_size)
        log.info("Listed %d objects below s3://%s/%s in %d bytes of memory", len(objects), bucket, prefix, objects.memory_bytes)
        return objects


def identity(value: T) -> T:
    """Returns its argument. The default transform; a module-level function, so that datasets can be pickled."""
    return value


def get_objects_from_uris(object_uris: str | Iterable[str], client: Session) -> Iterable[S3BucketKeyData]:
    """Returns the objects of one URI or of several. Parses all URIs first."""
    del client  # same signature as get_objects_from_prefix
    uris = [object_uris] if isinstance(object_uris, str) else object_uris
    return [S3BucketKeyData(*parse_s3_uri(uri)) for uri in uris]


def get_objects_from_prefix(s3_uri: str, client: Session) -> Iterable[S3BucketKeyData]:
    """Returns the objects below a prefix. Each iteration lists them again."""
    bucket, prefix = parse_s3_uri(s3_uri)
    return S3BucketIterable(client, bucket, prefix)


class ObjectsFromUris:
    """The ``get_dataset_objects`` callable of ``from_objects``. Picklable."""

    def __init__(self, object_uris: str | Iterable[str]) -> None:
        self._uris = object_uris if isinstance(object_uris, str) else None
        self._iterable = None if isinstance(object_uris, str) else object_uris

    def __call__(self, client: Session) -> Iterable[S3BucketKeyData]:
        if self._uris is None:
            if not isinstance(self._iterable, Iterable):
                raise TypeError(f"object_uris must be str or an iterable of str, not {type(self._iterable).__name__}")
            if not isinstance(self._iterable, (list, tuple)):
                self._iterable = list(self._iterable)  # a generator yields its URIs once; keep them for the next epoch
            return get_objects_from_uris(self._iterable, client)
        return get_objects_from_uris(self._uris, client)


class ObjectsFromPrefix:
    """The ``get_dataset_objects`` callable of ``from_prefix``. Picklable."""

    def __init__(self, s3_uri: str) -> None:
        self._s3_uri = s3_uri

    def __call__(self, client: Session) -> Iterable[S3BucketKeyData]:
        return get_objects_from_prefix(self._s3_uri, client)
