"""Listings: pages as S3 sends them, and objects one by one."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from typing import TypeVar

from . import _core
from ._objects import ListObjectResult, S3BucketKeyData, parse_s3_uri
from ._session import Session

log = logging.getLogger(__name__)

T = TypeVar("T")


class ListObjectStream:
    """Iterator over the pages of a listing; the next page is fetched while this one is used.

    Attributes:
        complete: Whether the last page has been returned.
        continuation_token: Where the page after the last returned one begins; None at the end.
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
    """The objects below a prefix in S3's order; each iteration lists anew.

    Args:
        page_size: Objects asked for at a time, 1 to 1000.
    """

    def __init__(self, client: Session, bucket: str, prefix: str, page_size: int = 1000) -> None:
        self._session = client
        self._bucket = bucket
        self._prefix = prefix
        self._page_size = page_size

    def __iter__(self) -> Iterator[S3BucketKeyData]:
        return self.every(1, 0)

    def every(self, step: int, first: int) -> Iterator[S3BucketKeyData]:
        """Object number `first` and every `step`-th after it; the others cost almost nothing."""
        log.debug("ListObjects s3://%s/%s", self._bucket, self._prefix)
        return _core.ObjectItems(self._session.core, self._bucket, self._prefix, step, first, self._page_size)

    def as_list(self) -> _core.ObjectList:
        """All of them, listed now and kept in little memory."""
        bucket, prefix = self._bucket, self._prefix
        log.debug("ListObjects s3://%s/%s", bucket, prefix)
        delimiter = self._session.s3client_config.listing_delimiter or ""
        objects = _core.ObjectList(self._session.core, bucket, prefix, delimiter, self._page_size)
        log.info("Listed %d objects of s3://%s/%s, kept in %d bytes", len(objects), bucket, prefix, objects.memory_bytes)
        return objects


def identity(value: T) -> T:
    """Returns its argument; the default transform, importable so that datasets pickle."""
    return value


def get_objects_from_uris(object_uris: str | Iterable[str], client: Session) -> Iterable[S3BucketKeyData]:
    """The objects of one URI or of several, all parsed before the first is returned."""
    del client  # same signature as get_objects_from_prefix
    uris = [object_uris] if isinstance(object_uris, str) else object_uris
    return [S3BucketKeyData(*parse_s3_uri(uri)) for uri in uris]


def get_objects_from_prefix(s3_uri: str, client: Session) -> Iterable[S3BucketKeyData]:
    """The objects below a prefix, listed anew at each iteration."""
    bucket, prefix = parse_s3_uri(s3_uri)
    return S3BucketIterable(client, bucket, prefix)


class ObjectsFromUris:
    """Picklable ``get_dataset_objects`` of ``from_objects``."""

    def __init__(self, object_uris: str | Iterable[str]) -> None:
        self._uris = object_uris if isinstance(object_uris, str) else None
        self._iterable = None if isinstance(object_uris, str) else object_uris

    def __call__(self, client: Session) -> Iterable[S3BucketKeyData]:
        if self._uris is None:
            if not isinstance(self._iterable, Iterable):
                raise TypeError(f"object_uris is of type {type(self._iterable).__name__}; it takes str or an iterable of str")
            if not isinstance(self._iterable, (list, tuple)):
                self._iterable = list(self._iterable)  # a generator gives its URIs once; keep them for the next epoch
            return get_objects_from_uris(self._iterable, client)
        return get_objects_from_uris(self._uris, client)


class ObjectsFromPrefix:
    """Picklable ``get_dataset_objects`` of ``from_prefix``."""

    def __init__(self, s3_uri: str) -> None:
        self._s3_uri = s3_uri

    def __call__(self, client: Session) -> Iterable[S3BucketKeyData]:
        return get_objects_from_prefix(self._s3_uri, client)
