"""Reads many ranges of many objects in parallel, and coalesces close ranges into one request."""

from __future__ import annotations

from collections.abc import Sequence

from .. import _core
from .._exceptions import S3DataLossError, S3Exception
from .._ranges import Extent, RangeBatch
from ._errors import translated
from ._store import Store, split
from ._threads import interruption

Result = bytes | Exception


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


class _Batch(RangeBatch):
    """Ranges of the object at a path."""

    def __init__(self, path: str, extents: list[Extent]) -> None:
        super().__init__(extents)
        self.path = path


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
        batch.start(reader, *split(batch.path), token)
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
