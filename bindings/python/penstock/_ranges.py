"""Memory for ranges of an object that a RangeReader fills."""

from __future__ import annotations

import array
import ctypes
from collections.abc import Iterable
from typing import NamedTuple

from . import _core

_new_bytes = ctypes.pythonapi.PyBytes_FromStringAndSize
_new_bytes.restype, _new_bytes.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_ssize_t)
_address_of = ctypes.pythonapi.PyBytes_AsString
_address_of.restype, _address_of.argtypes = ctypes.c_void_p, (ctypes.py_object,)


class Extent(NamedTuple):
    start: int
    end: int


class RangeBatch:
    """Ranges of one object, sorted and without overlaps, and the ``bytes`` that receive them without a copy."""

    def __init__(self, extents: Iterable[Extent]) -> None:
        # The new bytes objects have no other reference yet, so they may still be written to.
        self.memory: dict[Extent, bytes] = {extent: _new_bytes(None, extent.end - extent.start) for extent in extents}

    def start(self, reader: _core.RangeReader, bucket: str, key: str, token: int, etag: str | None = None) -> None:
        """Starts to read. :meth:`penstock._core.RangeReader.next` returns `token` once `memory` is complete."""
        pieces = array.array("Q")
        for extent, memory in self.memory.items():
            pieces.extend((extent.start, _address_of(memory), len(memory)))
        reader.start(bucket, key, pieces, list(self.memory.values()), token, etag)


def wait_for_all(reader: _core.RangeReader) -> None:
    """Waits until every started batch is complete.

    Raises:
        S3Exception: A batch failed. The others are cancelled.
    """
    while (ended := reader.next()) is not None:
        error = ended[2]
        if error is not None:
            reader.cancel()
            while reader.next() is not None:
                pass
            raise error
