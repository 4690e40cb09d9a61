"""Prefetcher: an iterator of readers for many objects that prefetches their bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from . import _core
from ._config import DEFAULT_PART_SIZE
from ._streams import FailedFetch, ObjectSource
from .s3reader import S3ReaderConstructor

if TYPE_CHECKING:
    from ._client import S3Client
    from ._objects import S3BucketKeyData
    from .s3reader import S3Reader, S3ReaderConstructorProtocol

MAX_OBJECTS = 128  # prefetched at a time, however small they are
MAX_UNREAD = 4096  # readers returned and tracked until their first read
INITIAL_ESTIMATE = 1024**2  # bytes fetched of an object of unknown size, until such objects turn out larger

_WHOLE_OBJECT_READERS = ("sequential",)  # users choose range-based readers to fetch only what they read


class Prefetcher:
    """Iterator of readers, one for each object, in the order of the objects.

    Prefetches the next objects, or the first part of each, while the caller uses earlier ones: as many as fit in `budget` bytes,
    but at least one. The core returns them in chunks. Returned readers count against the budget until they are first read. If
    too many stay unread, the oldest drop their prefetched bytes (a later read fetches them again), and prefetching stops until
    a reader is read.

    Errors of the iterable `objects` are raised after the readers of the objects before them. Errors of prefetching are raised by
    the first read of the reader.

    Args:
        client: Reads the objects.
        objects: The objects, in order. Taken before their readers are.
        reader_constructor: Makes the readers.
        budget: The most bytes that are prefetched, but one object at least; 0: nothing is.
        object_limit: The most bytes that are prefetched of one object; None: one part.

    Thread safety: use from one thread at a time.
    """

    def __init__(
        self,
        client: S3Client,
        objects: Iterable[S3BucketKeyData],
        reader_constructor: S3ReaderConstructorProtocol,
        budget: int,
        object_limit: int | None = None,
    ) -> None:
        self._client = client
        self._constructor = reader_constructor
        self._budget = budget
        self._limit = min(object_limit or client.part_size or DEFAULT_PART_SIZE, max(1, budget))
        self._size_estimate = min(INITIAL_ESTIMATE, self._limit)
        kind = S3ReaderConstructor.get_reader_type_string(reader_constructor)
        most = MAX_OBJECTS if budget > 0 and kind in _WHOLE_OBJECT_READERS else 0
        self._core: _core.Prefetcher | None = _core.Prefetcher(
            client.core, iter(objects), budget, self._limit, most, client.part_size, client.parallel_parts
        )
        self._chunk: Iterator[_core.Arrival] = iter(())
        self._suspended = False
        self._unread: list[tuple[ObjectSource, int]] = []  # returned sources with the bytes reserved for each
        self._unread_bytes = 0

    def __iter__(self) -> Iterator[S3Reader]:
        return self

    def __next__(self) -> S3Reader:
        arrival = next(self._chunk, None)
        if arrival is None:
            arrival = self._next_chunk()
        bucket, key, info, head, size, etag, error, reserved, checksums = arrival
        source = ObjectSource(bucket, key)
        source.size, source.etag, source.head, source.checksums = size, etag or None, head, checksums
        if error is not None:
            source.ahead = FailedFetch(error)
        self._unread.append((source, reserved))
        self._unread_bytes += reserved
        return self._client._reader(source, info, self._constructor)

    def _next_chunk(self) -> _core.Arrival:
        if self._core is None:
            raise StopIteration
        self._release()
        chunk = self._core.next(not self._suspended, self._size_estimate)
        if not chunk:
            raise StopIteration
        self._chunk = iter(chunk)
        return next(self._chunk)

    def _release(self) -> None:
        """Releases the budget of readers that were read, and the bytes of the oldest unread ones beyond the budget."""
        unread = []
        for source, reserved in self._unread:
            if source.used:
                self._unread_bytes -= reserved
                if source.size is not None and source.size > self._size_estimate:
                    self._size_estimate = min(source.size, self._limit)
            else:
                unread.append((source, reserved))
        if len(unread) < len(self._unread):
            self._suspended = False
        dropped = 0
        while self._unread_bytes > self._budget or len(unread) - dropped > MAX_UNREAD:
            source, reserved = unread[dropped]
            source.head = source.ahead = None
            self._unread_bytes -= reserved
            self._suspended = True
            dropped += 1
        self._unread = unread[dropped:]

    def close(self) -> None:
        """Cancels prefetching and ends the iteration."""
        self._core = None
        self._chunk = iter(())
