"""LookAhead: readers of many objects, in order, whose bytes are already on their way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from . import _core
from ._config import DEFAULT_PART_SIZE
from ._streams import Failure, ObjectSource
from .s3reader import S3ReaderConstructor

if TYPE_CHECKING:
    from ._client import S3Client
    from ._objects import S3BucketKeyData
    from .s3reader import S3Reader, S3ReaderConstructorProtocol

MOST_OBJECTS = 128  # under way at a time, however small
MOST_UNREAD = 4096  # given out and watched
FIRST_GUESS = 1024**2  # fetched of an object of unknown size, until such objects turn out larger

_WHOLE_OBJECT_READERS = ("sequential",)  # a range-based reader is chosen to fetch little


class LookAhead:
    """Iterator of readers, one for each object, in the objects' order.

    Fetches the coming objects, or their first part each, while earlier ones are used: as many as `budget` bytes hold, but
    always one. They come out of the core in chunks. Readers that were given out count as well until their bytes are asked
    for: where too many stay unread, the oldest let go of what was fetched (they fetch it again if they are read after all),
    and nothing is fetched ahead until one is read.

    Errors of the objects' own iterator are raised after the readers that came before. Errors of fetching are raised by
    the reader's first read.

    Thread safety: one user at a time.
    """

    def __init__(
        self,
        client: S3Client,
        objects: Iterable[S3BucketKeyData],
        reader_constructor: S3ReaderConstructorProtocol,
        budget: int,
    ) -> None:
        self._client = client
        self._constructor = reader_constructor
        self._budget = budget
        self._limit = min(client.part_size or DEFAULT_PART_SIZE, max(1, budget))  # of one object
        self._guess = min(FIRST_GUESS, self._limit)
        kind = S3ReaderConstructor.get_reader_type_string(reader_constructor)
        most = MOST_OBJECTS if budget > 0 and kind in _WHOLE_OBJECT_READERS else 0
        self._core: _core.LookAhead | None = _core.LookAhead(
            client.core, iter(objects), budget, self._limit, most, client.part_size, client.parallel_parts
        )
        self._chunk: Iterator[_core.Arrival] = iter(())
        self._suspended = False
        self._given: list[tuple[ObjectSource, int]] = []  # not known to have been read
        self._given_bytes = 0

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
            source.ahead = Failure(error)
        self._given.append((source, reserved))
        self._given_bytes += reserved
        return self._client._reader(source, info, self._constructor)

    def _next_chunk(self) -> _core.Arrival:
        if self._core is None:
            raise StopIteration
        self._forget_read()
        chunk = self._core.next(not self._suspended, self._guess)
        if not chunk:
            raise StopIteration
        self._chunk = iter(chunk)
        return next(self._chunk)

    def _forget_read(self) -> None:
        """Lets go of the readers given out that were read, and of the oldest others while they hold too much."""
        unread = []
        for source, reserved in self._given:
            if source.used:
                self._given_bytes -= reserved
                if source.size is not None and source.size > self._guess:
                    self._guess = min(source.size, self._limit)
            else:
                unread.append((source, reserved))
        if len(unread) < len(self._given):
            self._suspended = False
        forgotten = 0
        while self._given_bytes > self._budget or len(unread) - forgotten > MOST_UNREAD:
            source, reserved = unread[forgotten]
            source.head = source.ahead = None
            source.checksums = ()  # the next read's first answer tells them
            self._given_bytes -= reserved
            self._suspended = True
            forgotten += 1
        self._given = unread[forgotten:]

    def close(self) -> None:
        """Cancels what is under way. There are no further readers."""
        self._core = None
        self._chunk = iter(())
