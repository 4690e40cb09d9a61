"""Observers, retry policies and log lines: Python code for what a client's I/O threads do.

I/O threads never run Python code. They append events to a queue of the process, from which one Python thread calls the callbacks.
"""

from __future__ import annotations

import atexit
import logging
import os
import threading
import time
import weakref
from collections.abc import Callable
from itertools import count
from multiprocessing.util import Finalize, register_after_fork
from typing import Any

from . import _core
from ._config import seconds_of
from ._event_types import Observer, RequestEvent, RetryPolicy, RetryQuestion

log = logging.getLogger(__name__)

EXIT_WAIT = 5.0  # seconds that the end of the process waits for callbacks
_SLICE = 0.1  # seconds between checks for Ctrl-C

_numbers = count(1)
_callbacks: dict[int, tuple[Observer | None, RetryPolicy | None]] = {}


class _State:
    """The thread of this process that calls the callbacks; None: not started."""

    log_handler: Callable[[int, float, str], None] | None = None  # receives level, time and text of log lines

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.lock = threading.Lock()
        self.thread: threading.Thread | None = None


_state = _State()


def register(observer: Observer | None, policy: RetryPolicy | None) -> int:
    """Returns the number of a new client with these callbacks, and starts the thread that calls them."""
    number = next(_numbers)
    with _state.lock:
        _callbacks[number] = (observer, policy)
        _start_once()
    return number


def handle_log(handler: Callable[[int, float, str], None]) -> None:
    """Passes log lines of the core to `handler`, on the thread that calls observers, which is started."""
    with _state.lock:
        _state.log_handler = handler
        _start_once()


def forget_with(client: object, number: int) -> None:
    """Drops the callbacks of a client after its end, when its events have been delivered."""
    weakref.finalize(client, _core.end_events, number).atexit = False


def forget(number: int) -> None:
    """Drops the callbacks of a client that could not be made."""
    _callbacks.pop(number, None)


def flush_events(timeout: float | str = 10.0) -> bool:
    """Waits until the observers of this process have received all attempts that ended before this call.

    Call it before reading what an observer collected, and before ``os._exit``. At the normal end of the process it is not needed.

    Args:
        timeout: Seconds to wait, or a text such as ``"500ms"``.

    Returns:
        Whether all events were delivered in time.

    Raises:
        RuntimeError: An observer or a retry policy called it.
    """
    if threading.current_thread() is _state.thread:
        raise RuntimeError("flush_events() waits for the thread that runs observers, so an observer cannot call it")
    until = time.monotonic() + seconds_of("timeout", timeout)
    while not _core.flush_events(max(0.0, min(_SLICE, until - time.monotonic()))):
        if time.monotonic() >= until:
            return False
    return True


def _start_once() -> None:
    if _state.thread is None:
        atexit.register(_stop)
        _stop_with_multiprocessing(_state)
        register_after_fork(_state, _stop_with_multiprocessing)
        _start()


def _start() -> None:
    _state.thread = threading.Thread(target=_run, name="penstock-events", daemon=True)
    _state.thread.start()


def _run() -> None:
    while (events := _core.take_events()) is not None:
        for client, fields, verdict in events:
            _deliver(client, fields, verdict)
        handled = len(events)
        del events[:]
        _core.events_handled(handled)


def _deliver(client: int, fields: tuple[Any, ...] | None, verdict: _core.Verdict | None) -> None:
    """Calls the callback of one event. Its exceptions are logged, also KeyboardInterrupt and SystemExit: the thread continues."""
    if fields is None:
        _callbacks.pop(client, None)
        return
    if client == 0:
        _deliver_line(*fields)
        return
    observer, policy = _callbacks.get(client, (None, None))
    try:
        if verdict is None:
            if observer is not None:
                observer(RequestEvent(*fields))
        elif policy is not None:
            decision = policy(RetryQuestion(*fields))
            if decision is not None and not isinstance(decision, bool):
                raise TypeError(f"a retry policy must return True, False or None, not {type(decision).__name__}")
            verdict.decide(decision)
    except BaseException:
        what = "an observer" if verdict is None else "a retry policy; the retry mode decides"
        log.exception("exception in %s", what)
    finally:
        if verdict is not None:
            verdict.decide(None)  # no effect after another decision


def _deliver_line(level: int, logged: float, line: str) -> None:
    try:
        if _state.log_handler is not None:
            _state.log_handler(level, logged, line)
    except BaseException:
        log.exception("exception in a handler of log records")


def _stop() -> None:
    """Delivers what is left, and ends the thread. Later attempts are not observed."""
    _core.close_events()
    thread = _state.thread
    if thread is not None and thread is not threading.current_thread():
        thread.join(EXIT_WAIT)


def _stop_with_multiprocessing(_: _State) -> None:
    """Children of multiprocessing, such as the workers of a DataLoader, end without the functions of atexit."""
    Finalize(None, _stop, exitpriority=0)


def _after_fork() -> None:
    """The thread belongs to the parent. The child has a queue of its own."""
    _state.reset()
    if _callbacks or _state.log_handler is not None:
        _start()


os.register_at_fork(after_in_child=_after_fork)
