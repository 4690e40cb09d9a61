"""SampleStream: the samples of some shards in order, through a shuffle buffer whose content is restored from a small state."""

from __future__ import annotations

import io
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _core
from .._config import DEFAULT_PART_SIZE
from .._objects import S3BucketKeyData
from .._ranges import Extent, RangeBatch, wait_for_all
from .._streams import ObjectSource
from ..s3reader import S3ReaderConstructor
from ._epochs import Stopped
from ._order import mix
from ._tar import Archive, Grouping, Sample, read_samples

if TYPE_CHECKING:
    from .._client import S3Client
    from ..s3reader import S3Reader

MAX_READ_AHEAD_BYTES = 31 * 1024**2  # of one shard; malloc maps blocks of 32 MiB anew each time, which is slow
MAX_SHARDS_AHEAD = 128
INITIAL_BUFFER_SAMPLES = 100  # before the first sample is yielded; the shuffle buffer grows with each yielded sample


class Entry(NamedTuple):
    """A sample, and where it is: the index of the shard and the offsets at which its members begin and end."""

    sample: Sample
    shard: int
    begin: int
    end: int


def url_of(shard: S3BucketKeyData) -> str:
    return f"s3://{shard.bucket}/{shard.key}"


class _Shards:
    """Opens shards, and reads the next ones in advance: only their first part unless they are read as a `whole`.

    Attributes:
        versions: Sizes and ETags of the shards that the position depends on, by index.
    """

    def __init__(
        self, client: S3Client, shards: Sequence[S3BucketKeyData], order: Sequence[int], budget: int, whole: bool
    ) -> None:
        self._client = client
        self._shards = shards
        self._order = order
        self._budget = budget
        # The next shard is read while one is used.
        self._limit = min(MAX_READ_AHEAD_BYTES if whole else DEFAULT_PART_SIZE, budget // 2)
        self._constructor = S3ReaderConstructor.default()
        self._ahead: deque[tuple[ObjectSource, int]] = deque()  # the next shards, with the bytes that are read in advance
        self._ahead_at = 0  # the position in the order of the first of them
        self._source: ObjectSource | None = None  # the open shard
        self._largest = DEFAULT_PART_SIZE  # the size that is assumed of a shard that was not listed
        self.versions: dict[int, tuple[int | None, str | None]] = {}

    def open(self, position: int, offset: int) -> S3Reader:
        """Returns a reader at `offset` of the shard at a position of the order: of the known version, unless the offset is 0."""
        following = position + 1 if offset else position
        if self._ahead_at != following:
            self._ahead.clear()
            self._ahead_at = following
        bucket, key, info = self._shards[self._order[position]]
        if offset:
            source, info = ObjectSource(bucket, key), None
            source.size, source.etag = self.versions[self._order[position]]
        else:
            self._read_ahead()
            source, _ = self._ahead.popleft()
            self._ahead_at += 1
        self._source = source
        self._read_ahead()
        reader = self._client._reader(source, info, self._constructor)
        reader.seek(offset)
        return reader

    def _read_ahead(self) -> None:
        """Starts to read the shards that fit in the budget, at least the next one."""
        held = sum(count for _, count in self._ahead)
        for index in self._order[self._ahead_at + len(self._ahead) : self._ahead_at + MAX_SHARDS_AHEAD]:
            bucket, key, info = self._shards[index]
            count = min(self._largest if info is None else info.size, self._limit)
            if self._ahead and held + count > self._budget:
                return
            source = ObjectSource(bucket, key)
            source.listed = info
            if count > 0:
                source.fetch_ahead(self._client, count)
            self._ahead.append((source, count))
            held += count

    def keep_version(self, shard: int) -> None:
        """Keeps the version of the open shard, from which a sample was read."""
        if shard not in self.versions and self._source is not None:
            self.versions[shard] = (self._source.size, self._source.etag)

    def close(self, needed: Iterable[int]) -> None:
        """Drops the open shard, and the versions of all shards that are not `needed`."""
        if self._source is not None and self._source.size is not None:
            self._largest = max(self._largest, self._source.size)
        self._source = None
        self.versions = {shard: self.versions[shard] for shard in sorted(set(needed))}

    def read(self, extents: Mapping[int, Sequence[Extent]]) -> dict[int, RangeBatch]:
        """Reads ranges of shards of known versions, all at once."""
        reader = _core.RangeReader(self._client.core)
        batches = {}
        for shard, wanted in extents.items():
            bucket, key, _ = self._shards[shard]
            batches[shard] = RangeBatch(sorted(wanted))
            batches[shard].start(reader, bucket, key, shard, self.versions[shard][1])
        wait_for_all(reader)
        return batches


class SampleStream:
    """The samples of shards, in order or through a shuffle buffer.

    The sample that leaves the buffer is determined by `key` and the number of samples before it. The state has the positions of
    the samples in the buffer, which are read again when it is loaded.

    Args:
        client: Reads the shards.
        shards: All shards of the dataset.
        order: Indices of the shards of this stream.
        key: Numbers that determine the shuffling.
        buffer: Samples in the shuffle buffer; 0: none.
        grouping: The rules for samples. Its handler is also called for an error of a shard, whose rest is then skipped.
        budget: Bytes that are read in advance.
        state: The position to continue at; None: the start.
    """

    def __init__(
        self,
        client: S3Client,
        shards: Sequence[S3BucketKeyData],
        order: Sequence[int],
        key: tuple[int, ...],
        buffer: int,
        grouping: Grouping,
        budget: int,
        state: Mapping[str, Any] | None = None,
    ) -> None:
        self._shards = shards
        self._order = order
        self._key = key
        self._grouping = grouping
        self._limit = max(1, buffer)
        whole = grouping.suffixes is None and grouping.select_files is None
        self._files = _Shards(client, shards, order, budget, whole)
        self._position = self._offset = 0  # the next sample begins at an offset of the shard at a position of the order
        self._open: Iterator[tuple[Sample, int, int]] | None = None
        self._buffer: list[Entry] = []
        self._saved: list[int] = []  # shard, begin and end of the samples of a loaded buffer that were not read yet
        self.yielded = 0
        if state is not None:
            self._position, self._offset, self.yielded = state["place"], state["offset"], state["yielded"]
            self._saved = list(state["buffer"])
            self._files.versions = {int(shard): (size, etag) for shard, (size, etag) in state["versions"].items()}

    def state_dict(self) -> dict[str, Any]:
        """Returns the position: the next shard and offset, and the positions of the samples in the buffer."""
        positions = self._saved or [number for entry in self._buffer for number in entry[1:]]
        return {
            "place": self._position, "offset": self._offset, "yielded": self.yielded, "buffer": positions,
            "versions": {str(shard): list(version) for shard, version in self._files.versions.items()},
        }  # fmt: skip

    def next(self) -> Sample:
        """Returns the next sample.

        Raises:
            StopIteration: There are no more.
            Exception: A shard cannot be read, and the handler raised. The next call tries again.
        """
        if self._saved:
            self._restore()
        wanted = min(self._limit, INITIAL_BUFFER_SAMPLES + self.yielded)
        while len(self._buffer) < wanted:
            entry = self._read()
            if entry is None:
                break
            self._buffer.append(entry)
        if not self._buffer:
            raise StopIteration
        chosen = mix(*self._key, self.yielded) % len(self._buffer) if len(self._buffer) > 1 else 0
        last = self._buffer.pop()
        if chosen < len(self._buffer):
            last, self._buffer[chosen] = self._buffer[chosen], last
        self.yielded += 1
        return last.sample

    def _read(self) -> Entry | None:
        """Returns the next sample of the shards; None at the end."""
        while self._position < len(self._order):
            try:
                if self._open is None:
                    self._open = self._samples()
                found = next(self._open, None)
            except Stopped:
                self._position = len(self._order)
                return None
            except Exception as error:
                self._open = None
                if not self._grouping.handler(error):
                    self._position = len(self._order)
                    return None
                found = None
            except BaseException:
                self._open = None
                raise
            if found is not None:
                self._offset = found[2]
                self._files.keep_version(self._order[self._position])
                return Entry(found[0], self._order[self._position], *found[1:])
            self._open = None
            self._position, self._offset = self._position + 1, 0
            self._files.close(entry.shard for entry in self._buffer)
        return None

    def _samples(self) -> Iterator[tuple[Sample, int, int]]:
        url = url_of(self._shards[self._order[self._position]])
        reader = self._files.open(self._position, self._offset)
        return read_samples(Archive(reader, url, self._offset), url, self._grouping)

    def _restore(self) -> None:
        """Reads the samples of a loaded buffer."""
        positions = list(zip(self._saved[::3], self._saved[1::3], self._saved[2::3], strict=True))
        extents: dict[int, list[Extent]] = {}
        for shard, begin, end in positions:
            extents.setdefault(shard, []).append(Extent(begin, end))
        batches = self._files.read(extents)
        entries = []
        for shard, begin, end in positions:
            url = url_of(self._shards[shard])
            part = io.BytesIO(batches[shard].memory[Extent(begin, end)])
            samples = list(read_samples(Archive(part, url, begin, part=True), url, self._grouping))
            if [found[1:] for found in samples] != [(begin, end)]:
                raise ValueError(
                    f"the state has a sample at offset {begin} of {url}, but there are {len(samples)} samples: create the"
                    " dataset with the same arguments"
                )
            entries.append(Entry(samples[0][0], shard, begin, end))
        self._buffer, self._saved = entries, []
