"""Runs the transfers of a command on threads, and ends them on Ctrl-C."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Generator

from .._progress import LONGEST_WAIT_S
from . import Abandoned

LIMIT = 32  # weight of the work in progress: about the number of requests in flight
WEIGHT_UNIT = 8 * 1024**2  # bytes: a transfer of this size uses about one request
MAX_WEIGHT = 8  # of one transfer; it chooses its own number of requests

Work = Callable[[], None]


GRACE_S = 2.0  # for the work in progress to end before it is abandoned


class Stopped(Exception):
    """The command ends, so a transfer in progress was given up."""


def weight_of(size: int) -> int:
    """Returns the weight of a transfer of `size` bytes."""
    return max(1, min(MAX_WEIGHT, -(-size // WEIGHT_UNIT)))


class Pool:
    """Runs work in the order in which it is planned, as much at a time as its limit allows.

    Args:
        limit: Weight of the work in progress, and number of threads.
        abandon: Called if work does not end soon after it was told to stop, for example because no byte arrives. Removes what it
            has left if the process may end at once, and returns whether it may.
        meanwhile: Called on the calling thread between its waits; must be quick.

    Attributes:
        stopping: Set when the command ends early; work in progress must then raise :class:`Stopped`.
    """

    def __init__(
        self, limit: int = LIMIT, abandon: Callable[[], bool] = lambda: False, meanwhile: Callable[[], None] = lambda: None
    ) -> None:
        self.stopping = threading.Event()
        self._abandon = abandon
        self._meanwhile = meanwhile
        self._limit = limit
        self._changed = threading.Condition()
        self._queue: queue.SimpleQueue[tuple[int, Work] | None] = queue.SimpleQueue()
        # Counters of the calling thread, and of the work that has ended. A signal handler may raise between any two steps of the
        # calling thread, so that only `_running`, which the threads count, says whether work is in progress.
        self._submitted = self._submitted_weight = self._threads = 0
        self._ended = self._ended_weight = self._running = 0
        self._failure: BaseException | None = None

    def run(self, tasks: Generator[tuple[int, Work]]) -> None:
        """Runs all tasks, given as pairs of weight and work. `tasks` is iterated on the calling thread, and closed.

        If it raises, or a signal handler does (Ctrl-C), the work in progress is stopped and has ended when the exception
        propagates. An exception of the work itself, which should report its errors, does the same.
        """
        try:
            for weight, work in tasks:
                self._submit(min(weight, self._limit), work)
            self._wait(lambda: self._ended == self._submitted)
        except BaseException:
            try:
                tasks.close()  # first: it stops other work of the command
            finally:
                self._stop()
            raise
        finally:
            for _ in range(self._threads):
                self._queue.put(None)

    def _stop(self) -> None:
        """Waits until the work in progress has ended. Queued work is not started any more."""
        due = time.monotonic() + GRACE_S
        with self._changed:
            self.stopping.set()
            while self._running:
                self._changed.wait(LONGEST_WAIT_S)
                if time.monotonic() > due and self._running and self._abandon():
                    raise Abandoned

    @property
    def weight(self) -> int:
        """Weight of the work in progress, for the calling thread. Raises the exception of work that failed."""
        with self._changed:
            if self._failure is not None:
                raise self._failure
            return self._submitted_weight - self._ended_weight

    def _wait(self, done: Callable[[], bool]) -> None:
        """Waits for a condition. Raises the exception of work that failed."""
        while True:
            with self._changed:
                if self._failure is None and not done():
                    self._changed.wait(LONGEST_WAIT_S)  # a short wait: signals are handled between waits
                if self._failure is not None:
                    raise self._failure
                if done():
                    return
            self._meanwhile()

    def _submit(self, weight: int, work: Work) -> None:
        self._wait(lambda: self._submitted_weight - self._ended_weight + weight <= self._limit)
        self._submitted_weight += weight
        self._submitted += 1
        if self._submitted - self._ended > self._threads:
            threading.Thread(target=self._serve, daemon=True).start()
            self._threads += 1
        self._queue.put((weight, work))

    def _serve(self) -> None:
        while (task := self._queue.get()) is not None:
            weight, work = task
            with self._changed:
                if self.stopping.is_set():
                    continue
                self._running += 1
            failure: BaseException | None = None
            try:
                work()
            except Stopped:
                pass
            except BaseException as error:
                failure = error
            with self._changed:
                self._running -= 1
                self._ended += 1
                self._ended_weight += weight
                self._failure = self._failure or failure
                self._changed.notify()
