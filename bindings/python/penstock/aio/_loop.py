"""The calls in flight of an event loop, and their futures."""

from __future__ import annotations

import asyncio
import atexit
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import _core

if TYPE_CHECKING:
    from weakref import ReferenceType, WeakKeyDictionary

_NO_LOOP = "penstock.aio needs a running asyncio event loop; call it from a coroutine, for example one that asyncio.run() runs"
_NO_READER = (
    "penstock.aio needs an event loop with add_reader(), and {} has none; use asyncio's SelectorEventLoop, the default on Linux, "
    "or uvloop"
)


class CallFuture(asyncio.Future[Any]):
    """The result of one call of the engine.

    ``cancel()`` cancels the call in the engine. The future ends as cancelled when the engine has ended the call and no longer
    uses its memory, also if the call succeeded meanwhile.
    """

    def __init__(self, queue: ReferenceType[_core.LoopQueue], number: int, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop=loop)
        self._queue = queue
        self._number = number
        self._message: Any = None

    def cancel(self, msg: Any = None) -> bool:
        queue = self._queue()
        if self.done() or queue is None:
            return super().cancel(msg)
        self._message = msg
        queue.cancel(self._number)
        return True

    def end_cancelled(self) -> None:
        """Called by the queue when a cancelled call has ended."""
        super().cancel(self._message)


def abandon(future: asyncio.Future[Any]) -> None:
    """Cancels a future whose result no task awaits. Its exception is not logged."""
    if not future.cancel() and not future.cancelled():
        future.exception()


async def until_end(future: asyncio.Future[Any], on_cancel: Callable[[], None] = lambda: None) -> Any:
    """Waits for a future, also if this task is cancelled: then calls `on_cancel`, still waits, and raises the cancellation."""
    cancelled: asyncio.CancelledError | None = None
    while not future.done():
        try:
            await asyncio.wait([future])
        except asyncio.CancelledError as error:
            cancelled = error
            on_cancel()
    if cancelled is not None:
        abandon(future)
        raise cancelled
    return future.result()


# The loop owns its queue: the callback of its reader is the only strong reference, which `loop.close()` drops.
_queues: WeakKeyDictionary[asyncio.AbstractEventLoop, ReferenceType[_core.LoopQueue]] = weakref.WeakKeyDictionary()


def running_loop() -> asyncio.AbstractEventLoop:
    """Returns the loop that runs the caller.

    Raises:
        RuntimeError: No asyncio event loop runs in this thread.
    """
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        raise RuntimeError(_NO_LOOP) from None


def queue_of(loop: asyncio.AbstractEventLoop) -> _core.LoopQueue:
    """Returns the queue of a running loop, which is made at the first call.

    Raises:
        RuntimeError: The loop cannot watch file descriptors.
    """
    known = _queues.get(loop)
    queue = known() if known is not None else None
    if queue is None:
        queue = _make_queue(loop)
        _queues[loop] = weakref.ref(queue)
    return queue


def _make_queue(loop: asyncio.AbstractEventLoop) -> _core.LoopQueue:
    loop_reference = weakref.ref(loop)
    queue_reference: ReferenceType[_core.LoopQueue]

    def make_future(number: int) -> CallFuture:
        running = loop_reference()
        assert running is not None  # the loop's thread starts calls
        return CallFuture(queue_reference, number, running)

    queue = _core.LoopQueue(make_future)
    queue_reference = weakref.ref(queue)
    add_reader: Callable[..., Any] | None = getattr(loop, "add_reader", None)
    try:
        if add_reader is None:
            raise NotImplementedError
        add_reader(queue.fileno(), queue.drain)
    except NotImplementedError:
        raise RuntimeError(_NO_READER.format(type(loop).__name__)) from None
    return queue


@atexit.register
def _close_all() -> None:
    """Ends the calls of loops that were not closed, before the interpreter frees the memory that the engine writes to."""
    for reference in list(_queues.values()):
        queue = reference()
        if queue is not None:
            queue.close()
