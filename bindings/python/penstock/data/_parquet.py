"""Parquet files in S3: their metadata, and row groups whose column chunks are read in advance."""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _core
from .._exceptions import S3DataLossError
from .._objects import S3BucketKeyData
from .._ranges import Extent, RangeBatch, wait_for_all
from ._order import permutation

if TYPE_CHECKING:
    from .._client import S3Client

TAIL_BYTES = 64 * 1024  # of each file that are read for its metadata; a longer one takes a second request
MAX_METADATA_BYTES = 1024**3
MAX_ROW_GROUPS_AHEAD = 64
# Small chunks need more requests at a time than the core chooses, because each waits for its first byte.
IN_FLIGHT_BYTES = 64 * 1024**2
CORE_PARALLEL = 16  # concurrent requests of a RangeReader by default
MAX_PARALLEL = 64
_HEAD_THREADS = 16
_MAGIC = b"PAR1"
_TRAILER_BYTES = 8  # the length of the metadata, and the magic number


class ParquetObject(NamedTuple):
    """A file and its metadata, a ``pyarrow.parquet.FileMetaData``."""

    bucket: str
    key: str
    size: int
    etag: str
    metadata: Any

    @property
    def url(self) -> str:
        return f"s3://{self.bucket}/{self.key}"


class RowGroup(NamedTuple):
    """A row group: a file, and the number of the row group in it."""

    file: ParquetObject
    number: int


class _SparseFile(io.RawIOBase):
    """A file for pyarrow of which some ranges are in memory. Other ranges are fetched when they are read."""

    def __init__(self, client: S3Client, file: ParquetObject, memory: Mapping[Extent, bytes]) -> None:
        self._client = client
        self._file = file
        self._memory = memory
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        self._position = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._file.size}[whence]
        return self._position

    def read(self, size: int = -1, /) -> bytes:
        begin = self._position
        end = self._file.size if size < 0 else min(begin + size, self._file.size)
        self._position = max(begin, end)
        if end <= begin:
            return b""
        for extent, data in self._memory.items():
            if extent.start <= begin and end <= extent.end:
                return data if extent == (begin, end) else data[begin - extent.start : end - extent.start]
        batch = RangeBatch([Extent(begin, end)])
        reader = _core.RangeReader(self._client.core)
        batch.start(reader, self._file.bucket, self._file.key, 0, self._file.etag or None)
        wait_for_all(reader)
        return next(iter(batch.memory.values()))


def _read_tails(client: S3Client, files: Sequence[ParquetObject], lengths: Sequence[int]) -> list[dict[Extent, bytes]]:
    """Reads the last bytes of files, all at a time."""
    reader = _core.RangeReader(client.core)
    batches = []
    for number, (file, length) in enumerate(zip(files, lengths, strict=True)):
        batches.append(RangeBatch([Extent(file.size - length, file.size)]))
        batches[-1].start(reader, file.bucket, file.key, number, file.etag or None)
    wait_for_all(reader)
    return [batch.memory for batch in batches]


def _not_parquet(file: ParquetObject, text: str) -> S3DataLossError:
    error = S3DataLossError(f"{file.url} is not a complete Parquet file: {text}")
    error.bucket, error.key = file.bucket, file.key
    return error


def _metadata_bytes(file: ParquetObject, tail: bytes) -> int:
    """Returns the length of the metadata and what follows it."""
    if tail[-4:] != _MAGIC:
        raise _not_parquet(file, f"its last 4 bytes are {tail[-4:]!r} instead of {_MAGIC!r}")
    length = int.from_bytes(tail[-8:-4], "little") + _TRAILER_BYTES
    if length > min(file.size, MAX_METADATA_BYTES):
        raise _not_parquet(file, f"its metadata would have {length} bytes, but the object has {file.size}")
    return length


def read_files(client: S3Client, objects: Iterable[S3BucketKeyData]) -> list[ParquetObject]:
    """Reads the metadata of files, in their order.

    Raises:
        S3DataLossError: An object is not a complete Parquet file.
        S3Exception: An object cannot be read.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    def described(item: S3BucketKeyData) -> ParquetObject:
        info = item.object_info or client.head_object(item.bucket, item.key)
        return ParquetObject(item.bucket, item.key, info.size, (info.etag or "").removeprefix("W/").strip('"'), None)

    with ThreadPoolExecutor(_HEAD_THREADS) as pool:
        files = list(pool.map(described, objects))
    for file in files:
        if file.size < 2 * _TRAILER_BYTES:
            raise _not_parquet(file, f"it has {file.size} bytes")
    tails = _read_tails(client, files, [min(file.size, TAIL_BYTES) for file in files])
    lengths = [_metadata_bytes(file, next(iter(tail.values()))) for file, tail in zip(files, tails, strict=True)]
    long = [number for number, length in enumerate(lengths) if length > TAIL_BYTES]
    for number, tail in zip(long, _read_tails(client, [files[n] for n in long], [lengths[n] for n in long]), strict=True):
        tails[number] = tail
    found = []
    for file, tail in zip(files, tails, strict=True):
        try:
            metadata = pq.read_metadata(pa.PythonFile(_SparseFile(client, file, tail), mode="r"))
        except (pa.ArrowException, OSError) as error:
            raise _not_parquet(file, str(error)) from error
        found.append(file._replace(metadata=metadata))
    return found


def column_extents(group: RowGroup, columns: Sequence[str] | None) -> list[Extent]:
    """Returns the ranges of the column chunks of a row group, sorted and without overlaps.

    Raises:
        ValueError: The file has no column with one of the names.
    """
    metadata = group.file.metadata.row_group(group.number)
    chunks = [metadata.column(number) for number in range(metadata.num_columns)]
    extents = []
    found = set()
    for chunk in chunks:
        path = chunk.path_in_schema
        names = {path[:at] for at, character in enumerate(path) if character == "."} | {path}
        if columns is not None and names.isdisjoint(columns):
            continue
        found |= names
        begin = chunk.data_page_offset
        if chunk.dictionary_page_offset:
            begin = min(begin, chunk.dictionary_page_offset)
        if chunk.total_compressed_size > 0:
            extents.append(Extent(begin, begin + chunk.total_compressed_size))
    missing = [name for name in columns or () if name not in found]
    if missing:
        known = ", ".join(dict.fromkeys(chunk.path_in_schema for chunk in chunks))
        raise ValueError(f"{group.file.url} has no column {missing[0]!r}; it has {known}")
    extents.sort()
    for one, following in itertools.pairwise(extents):
        if one.end > following.start:
            raise _not_parquet(group.file, f"the column chunks at offsets {one.start} and {following.start} overlap")
    return extents


class RowGroupStream:
    """The row groups of an order as ``pyarrow.Table``, with those that follow read in advance.

    Args:
        client: Reads the files.
        groups: All row groups of the dataset.
        order: Indices of the row groups of this stream.
        columns: Names of columns; None: all.
        shuffle_key: Numbers that determine the order of the rows, with the index of the row group; None: the order of the file.
        use_threads: Decode columns in parallel.
        budget: Bytes that are read in advance.
        state: The position to continue at; None: the start.
    """

    def __init__(
        self,
        client: S3Client,
        groups: Sequence[RowGroup],
        order: Sequence[int],
        columns: Sequence[str] | None,
        shuffle_key: tuple[int, ...] | None,
        use_threads: bool,
        budget: int,
        state: Mapping[str, Any] | None = None,
    ) -> None:
        self._client = client
        self._groups = groups
        self._order = order
        self._columns = columns
        self._shuffle_key = shuffle_key
        self._use_threads = use_threads
        self._budget = budget
        self.yielded = 0 if state is None else state["yielded"]
        self._reader: _core.RangeReader | None = None
        self._batches: dict[int, RangeBatch] = {}  # by place in the order: started, and not yielded yet
        self._complete: set[int] = set()
        self._started = self.yielded  # the next place to start
        self._bytes = 0  # of `_batches`

    def state_dict(self) -> dict[str, Any]:
        """Returns the number of row groups that were yielded."""
        return {"yielded": self.yielded}

    def next(self) -> Any:
        """Returns the next row group.

        Raises:
            StopIteration: There are no more.
            S3DataLossError: The row group cannot be decoded.
            S3Exception: It cannot be read. The next call tries again.
        """
        if self.yielded == len(self._order):
            raise StopIteration
        try:
            self._start()
            self._wait(self.yielded)
            table = self._table(self._order[self.yielded], self._batches[self.yielded].memory)
        except BaseException:
            self._reader, self._batches, self._complete = None, {}, set()
            self._started, self._bytes = self.yielded, 0
            raise
        done = self._batches.pop(self.yielded)
        self._bytes -= sum(map(len, done.memory.values()))
        self._complete.discard(self.yielded)
        self.yielded += 1
        self._start()  # while the caller uses this one
        return table

    def _start(self) -> None:
        """Starts to read the row groups that fit in the budget, at least the next one."""
        if self._reader is None:
            self._reader = self._open_reader()
        while self._started < len(self._order) and len(self._batches) < MAX_ROW_GROUPS_AHEAD:
            group = self._group(self._started)
            extents = column_extents(group, self._columns)
            size = sum(extent.end - extent.start for extent in extents)
            if self._started > self.yielded and self._bytes + size > self._budget:
                return
            batch = RangeBatch(extents)
            if extents:
                batch.start(self._reader, group.file.bucket, group.file.key, self._started, group.file.etag or None)
            else:
                self._complete.add(self._started)
            self._batches[self._started] = batch
            self._bytes += size
            self._started += 1

    def _open_reader(self) -> _core.RangeReader:
        extents = [] if self.yielded == len(self._order) else column_extents(self._group(self.yielded), self._columns)
        mean = sum(extent.end - extent.start for extent in extents) // max(1, len(extents))
        parallel = min(MAX_PARALLEL, IN_FLIGHT_BYTES // max(1, mean))
        return _core.RangeReader(self._client.core, parallel=parallel if parallel > CORE_PARALLEL else None)

    def _group(self, place: int) -> RowGroup:
        return self._groups[self._order[place]]

    def _wait(self, place: int) -> None:
        assert self._reader is not None
        while place not in self._complete:
            ended = self._reader.next()
            assert ended is not None  # the batch of `place` is running
            token, _, error = ended
            if error is not None:
                raise error
            self._complete.add(token)

    def _table(self, index: int, memory: Mapping[Extent, bytes]) -> Any:
        import pyarrow as pa
        import pyarrow.parquet as pq

        file, number = self._groups[index]
        source = pa.PythonFile(_SparseFile(self._client, file, memory), mode="r")
        try:
            opened = pq.ParquetFile(source, metadata=file.metadata, pre_buffer=False)
            columns = None if self._columns is None else list(self._columns)
            table = opened.read_row_group(number, columns=columns, use_threads=self._use_threads)
        except (pa.ArrowException, OSError) as error:
            damage = S3DataLossError(f"row group {number} of {file.url} cannot be decoded: {error}")
            damage.bucket, damage.key = file.bucket, file.key
            raise damage from error
        if self._shuffle_key is None:
            return table
        return table.take(permutation(table.num_rows, *self._shuffle_key, index).numpy())


def row_groups(files: Iterable[ParquetObject]) -> Iterator[RowGroup]:
    """Yields the row groups of files that have rows."""
    for file in files:
        for number in range(file.metadata.num_row_groups):
            if file.metadata.row_group(number).num_rows:
                yield RowGroup(file, number)
