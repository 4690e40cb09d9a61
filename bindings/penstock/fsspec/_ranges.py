"""Reads many ranges of many objects in parallel, and coalesces close ranges into one request."""

from __future__ import annotations

import array
import ctypes
from collections.abc import Sequence
from typing import NamedTuple

from .. import _core
from .._exceptions import S3DataLossError, S3Exception
from ._errors import translated
from ._store import Store, split
from ._threads import interruption

Result = bytes | Exception

_new_bytes = ctypes.pythonapi.PyBytes_FromStringAndSize
_new_bytes.restype, _new_bytes.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_ssize_t)
_address_of = ctypes.pythonapi.PyBytes_AsString
_address_of.restype, _address_of.argtypes = ctypes.c_void_p, (ctypes.py_object,)


class Extent(NamedTuple):
    start: int
    end: int


def _without_overlap(extents: set[Extent]) -> list[list[Extent]]:
    """Splits extents into a minimum of lists, each sorted and without overlaps, as a batch requires."""
    lists: list[list[Extent]] = []
    for extent in sorted(extents):
        free = next((given for given in lists if given[-1].end <= extent.start), None)
        if free is None:
            lists.append([extent])
        else:
            free.append(extent)
    return lists


class _Batch:
    """Ranges of one object, and the memory that receives them."""

    def __init__(self, path: str, extents: list[Extent]) -> None:
        self.path = path
        # The new bytes objects have no other reference yet, so they may still be written to.
        self.memory: dict[Extent, bytes] = {extent: _new_bytes(None, extent.end - extent.start) for extent in extents}

    def start(self, reader: _core.RangeReader, token: int) -> None:
        pieces = array.array("Q")
        for extent, memory in self.memory.items():
            pieces.extend((extent.start, _address_of(memory), len(memory)))
        reader.start(*split(self.path), pieces, list(self.memory.values()), token)


def _read_alone(store: Store, path: str, start: int | None, end: int | None) -> Result:
    try:
        return store.read(path, start, end)
    except OSError as error:
        return error


def _failed(store: Store, batch: _Batch, error: Exception) -> dict[Extent, Result]:
    """Returns the results of a failed batch. Ranges beyond the object's end are truncated, like slices."""
    if isinstance(error, S3DataLossError):
        return {extent: _read_alone(store, batch.path, *extent) for extent in batch.memory}
    if isinstance(error, S3Exception):
        error = translated(error, batch.path).with_traceback(None)
    return dict.fromkeys(batch.memory, error)


def read_ranges(
    store: Store,
    paths: Sequence[str],
    starts: Sequence[int | None],
    ends: Sequence[int | None],
    max_gap: int | None = None,
) -> list[Result]:
    """Reads ranges. Returns the bytes of each range, or the exception if reading it failed.

    Each result is a separate ``bytes`` object that receives the data without a copy. Ranges of one object with at most `max_gap`
    bytes between them are read by one request (None: chosen by the core). All bytes of one object are of one version. Bounds
    that are None or negative have the meaning of a slice; such a range is read by separate requests.
    """
    wanted: dict[str, set[Extent]] = {}
    whole = []  # for each range: its extent, or None if it cannot be batched
    for path, start, end in zip(paths, starts, ends, strict=True):
        planned = Extent(start, end) if start is not None and end is not None and 0 <= start < end else None
        whole.append(planned)
        if planned is not None:
            wanted.setdefault(path, set()).add(planned)
    batches = [_Batch(path, extents) for path, found in wanted.items() for extents in _without_overlap(found)]
    reader = _core.RangeReader(store.core, max_gap=max_gap)
    for token, batch in enumerate(batches):
        batch.start(reader, token)
    stopped = interruption()
    landed: dict[tuple[str, Extent], Result] = {}
    while (ended := reader.next()) is not None:
        token, _, error = ended
        got = batches[token].memory if error is None else _failed(store, batches[token], error)
        landed.update({(batches[token].path, extent): data for extent, data in got.items()})
        if stopped is not None:
            stopped(0, None)
    results: list[Result] = []
    given: set[tuple[str, Extent]] = set()
    for path, start, end, planned in zip(paths, starts, ends, whole, strict=True):
        if planned is None:
            results.append(_read_alone(store, path, start, end))
            continue
        data = landed[path, planned]
        if (path, planned) in given and isinstance(data, bytes):
            data = memoryview(data).tobytes()  # a separate copy
        given.add((path, planned))
        results.append(data)
    return results
