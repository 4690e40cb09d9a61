"""LookAhead: readers of many objects, in order, whose bytes are already on their way."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ._streams import ObjectSource
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
    always one. Readers that were given out count as well until their bytes are asked for: where too many stay unread, the
    oldest let go of what was fetched (they fetch it again if they are read after all), and nothing is fetched ahead until
    one is read.

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
        self._objects = iter(objects)
        self._constructor = reader_constructor
        self._budget = budget
        self._limit = min(client.s3client_config.part_size, max(1, budget))  # of one object
        self._guess = min(FIRST_GUESS, self._limit)
        kind = S3ReaderConstructor.get_reader_type_string(reader_constructor)
        self._most = MOST_OBJECTS if budget > 0 and kind in _WHOLE_OBJECT_READERS else 0
        self._suspended = False
        self._coming: deque[tuple[S3Reader, ObjectSource, int]] = deque()
        self._coming_bytes = 0
        self._given: deque[tuple[ObjectSource, int]] = deque()
        self._given_bytes = 0
        self._next: S3BucketKeyData | None = None
        self._error: BaseException | None = None  # of the objects' iterator; StopIteration at its end

    def __iter__(self) -> Iterator[S3Reader]:
        return self

    def __next__(self) -> S3Reader:
        self._forget_read()
        self._fill()
        if not self._coming:
            error, self._error = self._error, StopIteration()
            assert error is not None
            raise error
        reader, source, reserved = self._coming.popleft()
        self._coming_bytes -= reserved
        self._given.append((source, reserved))
        self._given_bytes += reserved
        self._fill()  # the network works while the caller uses this one
        return reader

    def _peek(self) -> S3BucketKeyData | None:
        if self._next is None and self._error is None:
            try:
                self._next = next(self._objects)
            except BaseException as error:
                self._error = error
                # An interrupt is not the listing's: it is for now, not for when its turn comes.
                if not isinstance(error, Exception):
                    self._error = None
                    raise
        return self._next

    def _fill(self) -> None:
        most = 0 if self._suspended else self._most
        while len(self._coming) < max(most, 1):
            item = self._peek()
            if item is None:
                return
            reserved = self._guess if item.object_info is None else min(item.object_info.size, self._limit)
            if self._coming and self._coming_bytes + reserved > self._budget:
                return
            self._next = None
            source = ObjectSource(item.bucket, item.key)
            reader = self._client._reader(source, item.object_info, self._constructor)
            if most:
                self._client._fetch_ahead(source, max(1, reserved))
            else:
                reserved = 0
            self._coming.append((reader, source, reserved))
            self._coming_bytes += reserved

    def _forget_read(self) -> None:
        """Lets go of the readers given out that were read, and of the oldest others while they hold too much."""
        given = self._given
        while given and given[-1][0].used:
            self._forget(given.pop())
        while given and (given[0][0].used or self._given_bytes > self._budget or len(given) > MOST_UNREAD):
            self._forget(given.popleft())

    def _forget(self, given: tuple[ObjectSource, int]) -> None:
        source, reserved = given
        self._given_bytes -= reserved
        self._suspended = not source.used
        if self._suspended:
            source.ahead = None
        elif source.size is not None and source.size > self._guess:
            self._guess = min(source.size, self._limit)

    def close(self) -> None:
        """Cancels what is under way."""
        coming, self._coming = self._coming, deque()
        for _, source, _ in coming:
            if source.ahead is not None:
                source.ahead.cancel()

    def __del__(self) -> None:
        if getattr(self, "_coming", None):
            self.close()
