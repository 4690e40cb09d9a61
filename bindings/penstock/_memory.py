"""The memory limit of the process."""

from __future__ import annotations

from . import _core
from ._config import check_type


def memory_limit() -> int:
    """The limit that applies now, in bytes: see :func:`set_memory_limit`."""
    return _core.memory_usage()["limit"]


def set_memory_limit(limit: int) -> None:
    """Limits the bytes that this process holds at a time for blocks and parts in transfer, for all of its clients.

    Takes effect at once. What you hold yourself (results, tensors, a ``write()`` in progress) is not counted. Before the first
    call the limit is ``PENSTOCK_MEMORY_LIMIT`` (``268435456``, ``256MiB``, ``2GiB``), which is read at the first use, else a
    quarter of the machine's or control group's memory, at most 2 GiB. A forked child starts with the limit of its parent. A
    spawned process does not: call this function there too, or set the environment variable.

    Args:
        limit: Bytes, at least 16 MiB.

    Raises:
        TypeError: `limit` is no int.
        S3InvalidArgumentError: `limit` is below 16 MiB. Also a ValueError.

    Thread safety: safe from any thread.
    """
    check_type("limit", limit, (int,))
    _core.set_memory_limit(max(0, limit))
