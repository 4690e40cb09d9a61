"""The memory limit of the process for data in transfer."""

from __future__ import annotations

from . import _core
from ._config import check_type
from ._exceptions import S3InvalidArgumentError


def memory_limit() -> int:
    """Returns the current memory limit in bytes. See :func:`set_memory_limit`."""
    return _core.memory_usage()["limit"]


def set_memory_limit(limit: int | str) -> None:
    """Limits the memory that all clients of this process use together for blocks and parts in transfer.

    Takes effect immediately. Memory of the caller (results, tensors, a ``write()`` in progress) does not count. The default is
    ``PENSTOCK_MEMORY_LIMIT`` (for example ``268435456``, ``256MiB`` or ``2GiB``), read at the first use, else a quarter of the
    memory of the machine or control group, at most 2 GiB. A forked child starts with the limit of its parent. A spawned process
    does not: call this function there too, or set the environment variable.

    Args:
        limit: Bytes, at least 16 MiB, as a number or a text such as ``"512MiB"``.

    Raises:
        TypeError: `limit` is neither an int nor a str.
        S3InvalidArgumentError: `limit` is less than 16 MiB, or a text that is no size. Also a ValueError.

    Thread safety: safe from any thread.
    """
    from argparse import ArgumentTypeError

    from ._argument_values import size

    check_type("limit", limit, (int, str))
    try:
        count = size(limit) if isinstance(limit, str) else limit
    except ArgumentTypeError:
        count = -1
    if count < 0:
        error = S3InvalidArgumentError(
            f'the memory limit must be 16777216 bytes (16 MiB) or more, not {limit!r}; give a number or a text such as "512MiB"'
        )
        error.setting = "memory_limit"
        raise error
    _core.set_memory_limit(count)
