"""Environment variables that direct S3 clients to an emulator and hide any AWS account configured on the machine.

For `penstock_conformance` of the same version. Not a public interface: programs use `emulated_s3`.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from operator import attrgetter

__all__ = ["environment_set", "forget_undone", "offline_environment", "undo_again"]

# Variables that would send a client elsewhere, or change its requests.
_UNSET = (
    "AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL_STS", "AWS_CA_BUNDLE",
    "AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_USE_FIPS_ENDPOINT", "AWS_USE_DUALSTACK_ENDPOINT", "AWS_RETRY_MODE",
    "AWS_MAX_ATTEMPTS", "AWS_REQUEST_CHECKSUM_CALCULATION", "AWS_RESPONSE_CHECKSUM_VALIDATION",
)  # fmt: skip


def offline_environment(access: Mapping[str, str]) -> dict[str, str | None]:
    """Returns the variables to set, or to unset if None, so that clients use an emulator.

    Args:
        access: The result of ``Emulator.environment()``.
    """
    unset: dict[str, str | None] = dict.fromkeys(_UNSET)
    hosts = [host for host in (os.environ.get("NO_PROXY"), os.environ.get("no_proxy"), "127.0.0.1") if host]
    return unset | {
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
        "NO_PROXY": ",".join(hosts),
        "no_proxy": ",".join(hosts),
        **access,
    }


class _Change:
    """One change of the environment that has not been undone: who made it, and the values of before."""

    def __init__(self, variables: Mapping[str, str | None]) -> None:
        self.variables = dict(variables)
        self.before = {name: os.environ.get(name) for name in variables}
        self.outer = _own_change()
        self.active = True
        # Everything that this thread does is inside a change that was made outside an event loop, whatever its context.
        self.thread = None if _in_event_loop() else threading.get_ident()


# The environment is the process's, so the changes of all threads and tasks are in one list, the innermost last.
_lock = threading.Lock()
_changes: list[_Change] = []
_undone: deque[_Change] = deque(maxlen=64)  # the last ones, for `undo_again`
_own: ContextVar[_Change | None] = ContextVar("penstock_environment", default=None)


@contextmanager
def environment_set(variables: Mapping[str, str | None], *, nested_only: bool = False) -> Iterator[None]:
    """Sets and unsets `variables`, and restores the previous values at the end.

    At both changes, clears the clients that boto3 and s3fs cache, since these would keep using the previous credentials.

    Args:
        variables: The values; None: unset.
        nested_only: Refuse the change if another thread or task has changed the environment and not restored it yet.

    Raises:
        RuntimeError: `nested_only`, and another thread or task has changed the environment. No variable was changed.
    """
    with _lock:
        if nested_only:
            _refuse_overlap()
        change = _Change(variables)
        _changes.append(change)
    _own.set(change)
    try:
        _apply(variables)
        _clear_client_caches()
        yield
    finally:
        with _lock:
            _undo(change)
        if _own.get() is change:
            _own.set(change.outer)
        _clear_client_caches()


def undo_again() -> None:
    """Restores variables that have the values of a change which was undone. Another change that was made inside it and undone
    after it, such as one of pytest's ``monkeypatch``, sets these values again.

    Only changes since the last call of this function or of `forget_undone` count.
    """
    with _lock:
        for change in _undone:
            _apply({name: change.before[name] for name, value in change.variables.items() if os.environ.get(name) == value})
        _undone.clear()


def forget_undone() -> None:
    """Excludes the changes until now from `undo_again`."""
    _undone.clear()


def _refuse_overlap() -> None:
    top = _changes[-1] if _changes else None
    if top is None or top is _own_change() or top.thread == threading.get_ident():
        return
    raise RuntimeError(
        "another thread or task of this process has an emulator whose environment variables are set. Calls that overlap share"
        " os.environ, so this one was refused before any variable changed. Run them one after the other, or use"
        " penstock_emulator.Emulator, which sets no variables, and pass its endpoint and access key to the clients"
    )


def _own_change() -> _Change | None:
    """The innermost change that is not undone of those around the code that calls, by its context."""
    change = _own.get()
    while change is not None and not change.active:
        change = change.outer
    return change


def _in_event_loop() -> bool:
    """Whether the code that calls runs in an event loop of asyncio or trio, whose tasks share the thread."""
    for library, current in (("asyncio", "get_running_loop"), ("trio", "lowlevel.current_task")):
        if module := sys.modules.get(library):
            with suppress(RuntimeError):
                attrgetter(current)(module)()
                return True
    return False


def _undo(change: _Change) -> None:
    """Restores the values from before `change`. If a later change of a variable is not undone yet, its undoing restores it."""
    change.active = False
    later = _changes[_changes.index(change) + 1 :]
    _changes.remove(change)
    for name, value in change.before.items():
        over = next((other for other in later if name in other.before), None)
        if over is None:
            _apply({name: value})
        else:
            over.before[name] = value
    _undone.append(change)


def _apply(variables: Mapping[str, str | None]) -> None:
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def _clear_client_caches() -> None:
    if boto3 := sys.modules.get("boto3"):
        boto3.DEFAULT_SESSION = None  # type: ignore[attr-defined]  # the session that boto3.client() caches
    if s3fs := sys.modules.get("s3fs"):
        s3fs.S3FileSystem.clear_instance_cache()
