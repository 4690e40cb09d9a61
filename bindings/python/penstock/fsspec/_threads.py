"""Runs blocking calls of the core on threads beside an event loop, and waits for coroutines so that Ctrl-C ends the wait.

The threads are daemon threads: the exit of the program does not wait for abandoned requests. A forked child creates new threads.
"""

from __future__ import annotations

import asyncio
import os
import queue
import threading
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import Future, wait
from typing import TYPE_CHECKING, Any, TypeVar

from .._progress import LONGEST_WAIT_S

if TYPE_CHECKING:
    from .._progress import ProgressCallback

T = TypeVar("T")

MAX_THREADS = 32


class CancelledError(Exception):
    """The caller has stopped waiting for this call."""


class _Job(Future[Any]):
    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        super().__init__()
        self.stop = threading.Event()
        self._call = (function, args, kwargs)

    def run(self) -> None:
        if not self.set_running_or_notify_cancel():
            return
        function, args, kwargs = self._call
        _here.stop = self.stop
        try:
            result = function(*args, **kwargs)
        except BaseException as error:
            self.set_exception(error)
        else:
            self.set_result(result)
        finally:
            _here.stop = None
            del self._call


class _Pool:
    """A pool of at most `most` threads, which are started on demand and kept."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._jobs: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        self._idle = threading.Semaphore(0)
        self._lock = threading.Lock()
        self._count = 0

    def submit(self, job: _Job) -> None:
        self._jobs.put(job)
        if self._idle.acquire(blocking=False):
            return
        with self._lock:
            if self._count == self._most:
                return
            self._count += 1
            name = f"penstock-fsspec-{self._count}"
        threading.Thread(target=self._work, name=name, daemon=True).start()

    def _work(self) -> None:
        while True:
            self._jobs.get().run()
            self._idle.release()


_here = threading.local()
_pool = _Pool(MAX_THREADS)


def _after_fork() -> None:
    global _pool  # noqa: PLW0603  (the parent's threads are not in this process)
    _pool = _Pool(MAX_THREADS)


os.register_at_fork(after_in_child=_after_fork)


async def run(function: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """Runs a blocking function on a thread. On cancellation, stops it by :func:`interruption` and does not wait for it."""
    job = _Job(function, args, kwargs)
    _pool.submit(job)
    try:
        result: T = await asyncio.wrap_future(job)
    except asyncio.CancelledError:
        job.stop.set()
        raise
    return result


async def run_each(function: Callable[[T], None], items: Iterable[T], limit: int) -> None:
    """Calls a blocking function with each item, on at most `limit` threads.

    After the first error, and on cancellation, no further item is started. The error is raised when all threads have ended.
    """
    rest = iter(items)
    lock = threading.Lock()
    failed = False

    def work() -> None:
        nonlocal failed
        stop: threading.Event = _here.stop
        while not failed and not stop.is_set():
            with lock:
                try:
                    item = next(rest)
                except StopIteration:
                    return
            try:
                function(item)
            except BaseException:
                failed = True
                raise

    for result in await asyncio.gather(*[run(work) for _ in range(limit)], return_exceptions=True):
        if isinstance(result, BaseException):
            raise result


def interruption(after: Callable[[int, int | None], None] | None = None) -> ProgressCallback | None:
    """Returns a progress callback for a long call of the core. It ends the call if the caller has stopped waiting.

    Args:
        after: Called with the number of bytes that were transferred since its last call, and the size in bytes, None if the core
            does not know it yet.
    """
    stop: threading.Event | None = getattr(_here, "stop", None)
    if stop is None and after is None:
        return None
    reported = 0

    def progress(done: int, total: int | None) -> None:
        nonlocal reported
        if stop is not None and stop.is_set():
            raise CancelledError
        if after is not None and done > reported:
            after(done - reported, total)
            reported = done

    return progress


def sync(loop: asyncio.AbstractEventLoop | None, function: Callable[..., Coroutine[Any, Any, T]], *args: Any, **kwargs: Any) -> T:
    """Runs a coroutine on `loop` and waits for it. An exception during the wait, such as Ctrl-C, cancels the coroutine.

    Raises:
        RuntimeError: `loop` is None, because the file system is asynchronous, or the calling thread runs the loop.
    """
    if loop is None:
        raise RuntimeError(f"this file system was created with asynchronous=True; await {function.__name__}() instead")
    try:
        here: asyncio.AbstractEventLoop | None = asyncio.get_running_loop()
    except RuntimeError:
        here = None
    if here is loop:
        raise RuntimeError(f"{function.__name__}() would block the thread of its own event loop; await it instead")
    future = asyncio.run_coroutine_threadsafe(function(*args, **kwargs), loop)
    try:
        while not wait([future], LONGEST_WAIT_S).done:
            pass
        return future.result()
    except BaseException:
        future.cancel()
        raise
