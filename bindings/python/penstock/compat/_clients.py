"""``s3torchconnector._s3client._s3client``: the client, and the functions for clients at a fork.

Penstock's clients need no handling at a fork: a child process opens its own connections.
"""

from __future__ import annotations

import gc
import threading

from .._client import S3Client, log

__all__ = ["S3Client"]

_client_lock = threading.Lock()


def _get_active_s3clients() -> list[S3Client]:
    """Returns the clients that have been used in this process."""
    return [each for each in gc.get_objects() if isinstance(each, S3Client) and each._core_client is not None]


def _reset_active_s3clients() -> None:
    """Makes all clients open new connections at their next use."""
    for client in _get_active_s3clients():
        client._core_client = None


def _before_fork_handler() -> None:
    log.debug("before fork: nothing to do")


def _after_fork_handler() -> None:
    log.debug("after fork: nothing to do")


def __getattr__(name: str) -> object:
    if name == "_active_clients":
        return set(_get_active_s3clients())
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
