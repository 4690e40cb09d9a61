"""Progress reports of readers and writers to the user's callback, and waits that Ctrl-C can interrupt."""

from __future__ import annotations

import time
from collections.abc import Callable

ProgressCallback = Callable[[int, int | None], None]
"""Called with the bytes done and the total number of bytes, None while unknown."""

INTERVAL = 0.1  # seconds between reports

# Wait in a loop with this timeout: a signal that arrives just before the wait begins does not interrupt it.
LONGEST_WAIT_S = 0.25


class ReadProgress:
    """Sums the bytes that the requests of one reader receive, in any order, and reports to a callback every `INTERVAL`.

    Bytes that are fetched twice count twice.
    """

    def __init__(self, callback: ProgressCallback) -> None:
        self._callback = callback
        self._done = 0
        self._reported: tuple[int, int | None] = (-1, None)
        self._due = time.monotonic() + INTERVAL
        self.size: int | None = None

    def update(self, done: int, total: int | None) -> None:
        """Reports that a running request has received `done` bytes."""
        del total  # it is the size of that request, not of the object
        self._report(self._done + done)

    def update_to_end(self, start: int) -> ProgressCallback:
        """Returns `update` for a request from offset `start` to the end: its total also gives the size of the object."""

        def update(done: int, total: int | None) -> None:
            if self.size is None and total is not None:
                self.size = start + total
            self.update(done, total)

        return update

    def add(self, count: int) -> None:
        """Counts `count` received bytes: a whole request, or a block of one."""
        self._done += count
        if time.monotonic() >= self._due or self._done == self.size:
            self._report(self._done)

    def _report(self, done: int) -> None:
        if (done, self.size) == self._reported:
            return
        self._reported = (done, self.size)
        self._due = time.monotonic() + INTERVAL
        self._callback(done, self.size)
