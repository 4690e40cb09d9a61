"""Progress of readers and writers: what a user's callback is told."""

from __future__ import annotations

import time
from collections.abc import Callable

ProgressCallback = Callable[[int, int | None], None]
"""Called with the bytes done and the bytes in all, None while that is unknown."""

INTERVAL = 0.1


class ReadProgress:
    """Adds up what the requests of one reader bring, in order or not, and tells a callback now and then.

    Bytes that are read twice count twice.
    """

    def __init__(self, callback: ProgressCallback) -> None:
        self._callback = callback
        self._done = 0
        self._told: tuple[int, int | None] = (-1, None)
        self._due = time.monotonic() + INTERVAL
        self.size: int | None = None

    def under_way(self, done: int, total: int | None) -> None:
        """A request that still runs has brought `done` bytes."""
        del total  # of that request
        self._tell(self._done + done)

    def to_the_end(self, start: int) -> ProgressCallback:
        """The same for a request of all from offset `start` on, which therefore tells the object's size."""

        def under_way(done: int, total: int | None) -> None:
            if self.size is None and total is not None:
                self.size = start + total
            self.under_way(done, total)

        return under_way

    def add(self, count: int) -> None:
        """A request, or a block of one, is here."""
        self._done += count
        if time.monotonic() >= self._due or self._done == self.size:
            self._tell(self._done)

    def _tell(self, done: int) -> None:
        if (done, self.size) == self._told:
            return
        self._told = (done, self.size)
        self._due = time.monotonic() + INTERVAL
        self._callback(done, self.size)
