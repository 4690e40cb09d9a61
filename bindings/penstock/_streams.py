"""Streams between the C++ core and the readers and writers: one object in order, one upload."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from . import _core
from ._exceptions import S3Exception

if TYPE_CHECKING:
    from collections.abc import Sequence

    Buffer = bytes | bytearray | memoryview
    Metadata = Sequence[tuple[str, str]]

READ_AHEAD_PARTS = 4


class ObjectSource:
    """Which object, and which version of it once the first byte or a listing has told: all reads are pinned to that."""

    def __init__(self, bucket: str, key: str) -> None:
        self.bucket = bucket
        self.key = key
        self.size: int | None = None
        self.etag: str | None = None

    def learn(self, size: int, etag: str | None) -> None:
        self.size = size
        if etag:
            self.etag = etag.removeprefix("W/").strip('"') or None


class GetObjectStream:
    """The bytes [start, end) of an object, in order, as an iterator of ``bytes``.

    Also gives all of them at once (:meth:`read_all`) or into memory (:meth:`readinto`), in parallel parts and without a
    copy. Use one of the three per stream.
    """

    def __init__(
        self,
        client: _core.Client,
        source: ObjectSource,
        start: int | None,
        end: int | None,
        part_size: int,
        parallel: int,
    ) -> None:
        self._client = client
        self._source = source
        self._start = start or 0
        self._end = end if start is not None else None
        self._part_size = part_size
        self._parallel = parallel
        self._stream: _core.Stream | None = None
        self._exhausted = False

    @property
    def bucket(self) -> str:
        return self._source.bucket

    @property
    def key(self) -> str:
        return self._source.key

    def pin(self, source: ObjectSource) -> None:
        """Shares what is known of the object's version with other streams of the same reader."""
        self._source = source

    def tell(self) -> int:
        """Offset in the object of the next byte."""
        return self._stream.tell() if self._stream is not None else self._start

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        if self._exhausted:
            raise StopIteration
        source = self._source
        if self._stream is None:
            self._stream = _core.Stream(
                self._client, source.bucket, source.key, self._start, self._end, source.size, source.etag,
                self._part_size, READ_AHEAD_PARTS,
            )  # fmt: skip
        try:
            block = next(self._stream)
        except StopIteration:
            self._exhausted = True
            raise
        finally:
            metadata = self._stream.metadata
            if metadata is not None:
                source.learn(metadata.size, metadata.etag)
        return block

    def read_all(self) -> bytes:
        """All bytes of the range in one object."""
        source = self._source
        data, metadata = self._client.read(
            source.bucket, source.key, self._start, self._end, source.size, source.etag, self._part_size, self._parallel
        )
        source.learn(metadata.size, metadata.etag)
        self._exhausted = True
        return data

    def readinto(self, buffer: Buffer) -> int:
        """Fills a writable buffer from the start of the range; returns the bytes read, fewer only at the object's end."""
        source = self._source
        count, metadata = self._client.read_into(
            source.bucket, source.key, buffer, self._start, source.size, source.etag, self._part_size, self._parallel
        )
        source.learn(metadata.size, metadata.etag)
        self._exhausted = True
        return count


class PutObjectStream:
    """One upload. :meth:`close` publishes the object; :meth:`abort`, or losing the stream, leaves nothing behind."""

    def __init__(self, client: _core.Client, bucket: str, key: str, storage_class: str | None, part_size: int) -> None:
        self.bucket = bucket
        self.key = key
        self._closed = False
        self._writer = _core.Writer(client, bucket, key, storage_class or "", part_size=part_size, single_put_limit=part_size)

    def write(self, data: Buffer) -> int:
        """Takes all bytes of a buffer and returns their number."""
        if self._closed:
            raise S3Exception("Cannot write to closed object")
        return self._writer.write(data)

    def close(self) -> None:
        if self._closed:
            raise S3Exception("Cannot close object more than once")
        self._closed = True
        self._writer.finish()

    def abort(self) -> None:
        """Gives the upload up; does nothing after a successful close."""
        self._closed = True
        self._writer.abort()
