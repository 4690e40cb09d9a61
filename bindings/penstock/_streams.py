"""Streams between the C++ core and the readers and writers: one object in order, one upload."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from . import _core
from ._config import DEFAULT_PART_SIZE
from ._objects import HeadObjectResult

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    from ._objects import ObjectInfo
    from ._progress import ProgressCallback, ReadProgress

    Buffer = bytes | bytearray | memoryview
    Checksums = Sequence[tuple[str, str]]
    """By S3's names of the algorithms, ``("crc64nvme", BASE64)``; those of the whole object."""

    class ReadingClient(Protocol):
        """What readers need of S3Client. They look the methods up at each call, since programs replace them."""

        @property
        def core(self) -> _core.Client: ...
        @property
        def part_size(self) -> int | None: ...
        @property
        def parallel_parts(self) -> int | None: ...
        def head_object(self, bucket: str, key: str, *, version_id: str | None = None) -> HeadObjectResult: ...
        def _get_object_stream(
            self, bucket: str, key: str, start: int | None = None, end: int | None = None
        ) -> GetObjectStream: ...


READ_AHEAD_PARTS = 4
# Known ranges in order: with so much under way S3 gives the most where many connections bring small parts.
RANGES_PART_SIZE = 4 * 1024**2
RANGES_AHEAD_BYTES = 96 * 1024**2


def _bare(etag: str) -> str | None:
    return etag.removeprefix("W/").strip('"') or None


class Failure:
    """Bytes that did not come ahead, and why; in the place of those that are still on their way."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def take(self) -> tuple[bytes, int, str]:
        raise self._error


class ObjectSource:
    """Which object, and which version of it once an answer has told: all reads are pinned to that.

    Attributes:
        ahead: The object's first bytes, on their way before anybody asked; None: not fetched ahead, or taken.
        head: Those bytes once they were taken.
        checksums: Of this version, whole, where `head` is its begin and its other bytes will not tell them.
        used: Whether somebody has asked for bytes or size.
        progress: Is told of every byte that is read; None: nobody is.
        version_id: The version that was asked for; empty: the object as it is now.
    """

    __slots__ = ("ahead", "bucket", "checksums", "etag", "head", "key", "progress", "size", "used", "version_id")

    def __init__(self, bucket: str, key: str, version_id: str = "") -> None:
        self.bucket = bucket
        self.key = key
        self.version_id = version_id
        self.size: int | None = None
        self.etag: str | None = None
        self.ahead: _core.Fetch | Failure | None = None
        self.head: bytes | None = None
        self.checksums: Checksums = ()
        self.used = False
        self.progress: ReadProgress | None = None

    def learn(self, size: int, etag: str | None) -> None:
        self.size = size
        if self.progress is not None:
            self.progress.size = size
        if etag:
            self.etag = _bare(etag)

    def learn_of(self, metadata: _core.ObjectMetadata, start: int) -> None:
        """From the answer to a request of the bytes from `start` on."""
        if metadata.size > 0 or start == 0:  # that there is nothing from there on may leave the size out
            self.learn(metadata.size, metadata.etag)

    def is_version(self, info: ObjectInfo | HeadObjectResult) -> bool:
        """Whether `info` is of the version that is read."""
        return info.size == self.size and _bare(info.etag or "") == self.etag

    def brought(self, count: int) -> None:
        """So many bytes more are here."""
        if self.progress is not None and count:
            self.progress.add(count)

    def under_way(self, start: int, end: int | None = 0) -> ProgressCallback | None:
        """For a request of the bytes [start, end) that may take long; None: to the object's end."""
        if self.progress is None:
            return None
        return self.progress.to_the_end(start) if end is None else self.progress.under_way

    def fetch_ahead(self, client: ReadingClient, limit: int) -> None:
        """Starts to fetch the first `limit` bytes."""
        self.ahead = _core.Fetch(
            client.core, self.bucket, self.key, limit, self.size, self.etag, client.part_size, client.parallel_parts,
            self.version_id,
        )  # fmt: skip

    def take_head(self) -> bytes | None:
        """The bytes fetched ahead, waiting for them; None: there are none. After an error the next read asks anew.

        Raises:
            S3Exception: fetching them failed.
        """
        self.used = True
        fetch, self.ahead = self.ahead, None
        if fetch is not None:
            self.head, size, etag = fetch.take()
            self.learn(size, etag)
        return self.head

    def take_whole(self) -> bytes | None:
        """The object, where all of it is here already and nobody is told of its coming."""
        head = self.head
        if head is None or len(head) != self.size or self.progress is not None:
            return None
        self.used = True
        return head


class GetObjectStream:
    """The bytes [start, end) of an object, in order, as an iterator of ``bytes``.

    Also gives all of them at once (:meth:`read_all`) or into memory (:meth:`readinto`), in parallel parts and without a
    copy. Use one of the three per stream. Bytes that were fetched ahead are not fetched again.
    """

    def __init__(
        self,
        client: _core.Client,
        source: ObjectSource,
        start: int | None,
        end: int | None,
        part_size: int | None,
        parallel: int | None,
    ) -> None:
        self._client = client
        self._source = source
        self._start = start or 0
        self._end = end if start is not None else None
        self._part_size = part_size
        self._parallel = parallel
        self._stream: _core.Stream | None = None
        self._head_taken = False
        self._exhausted = False
        self.first_part: int | None = None
        """Bytes of the first block, where fetching ahead should grow with what is read; None: full from the start."""

    @property
    def bucket(self) -> str:
        return self._source.bucket

    @property
    def key(self) -> str:
        return self._source.key

    @property
    def source(self) -> ObjectSource:
        """What is known of the object's version."""
        return self._source

    def pin(self, source: ObjectSource) -> None:
        """Shares what is known of the object's version with other streams of the same reader."""
        self._source = source

    def tell(self) -> int:
        """Offset in the object of the next byte."""
        return self._stream.tell() if self._stream is not None else self._start

    def asked_until(self) -> int:
        """Where the bytes end that are here or on their way, from the next one on."""
        return self._stream.asked_until() if self._stream is not None else self._start

    @property
    def checksums(self) -> Checksums:
        """Those of the whole object; empty where no answer has told them, as only one for the whole object does."""
        metadata = self._stream.metadata if self._stream is not None else None
        return metadata.checksums if metadata is not None else ()

    def __iter__(self) -> Iterator[bytes]:
        return self

    def _head(self) -> bytes | memoryview:
        """What was fetched ahead of the range, from its start."""
        head = self._source.take_head()
        if head is None or self._start >= len(head):
            return b""
        if self._start == 0 and (self._end is None or self._end >= len(head)):
            return head
        return memoryview(head)[self._start : self._end]

    def _at_end(self, position: int) -> bool:
        """Whether the range is known to end here."""
        size = self._source.size
        return position == self._end or (size is not None and position >= size)

    def __next__(self) -> bytes:
        return self.next_block(0)

    def next_block(self, wanted: int, used: int | None = None) -> bytes:
        """The next bytes. `wanted`: how many are going to be read; they count as read in what is fetched ahead. So do those
        given before, or `used` of them.

        Raises:
            StopIteration: there are none.
        """
        if self._exhausted:
            raise StopIteration
        source = self._source
        if self._stream is None:
            if not self._head_taken:
                self._head_taken = True
                head = self._head()
                if len(head):
                    self._start += len(head)
                    self._exhausted = self._at_end(self._start)
                    source.brought(len(head))
                    return bytes(head)
            self._stream = self._open()
        try:
            block = self._stream.next_block(wanted, used)
        except StopIteration:
            self._exhausted = True
            raise
        finally:
            metadata = self._stream.metadata
            if metadata is not None:
                source.learn_of(metadata, self._start)
        source.brought(len(block))
        return block

    def _open(self) -> _core.Stream:
        source, size = self._source, self._source.size
        whole: dict[str, Any] = {}
        to_the_end = size is not None and (self._end is None or self._end >= size)
        # All that is behind the head: with that it is the object, and held to its checksum.
        if source.checksums and to_the_end and source.head is not None and len(source.head) == self._start != size:
            whole = {"ranges": [(self._start, size)], "checksums": source.checksums, "elsewhere": [(0, source.head)]}
        return _core.Stream(
            self._client, source.bucket, source.key, self._start, self._end, size, source.etag,
            self._part_size or DEFAULT_PART_SIZE, READ_AHEAD_PARTS, self.first_part, version_id=source.version_id, **whole,
        )  # fmt: skip

    def read_all(self, before: bytes = b"") -> bytes:
        """All bytes of the range in one object, after `before`."""
        source = self._source
        head = self._head()
        reached = self._start + len(head)
        source.brought(len(head))
        first, given = source.head, b""
        if source.checksums and first is not None and len(first) == reached == self._start:
            given = first[: len(first) - len(before)]  # was read before: with that it is the object
        if before:
            head = before + bytes(head) if len(head) else before
        if reached > self._start and self._at_end(reached):
            data = bytes(head)
        else:
            data, metadata = self._client.read(
                source.bucket, source.key, reached, self._end, source.size, source.etag, self._part_size, self._parallel,
                bytes(head), source.under_way(reached, self._end), source.version_id, source.checksums, given,
            )  # fmt: skip
            source.learn_of(metadata, reached)
            source.brought(len(data) - len(head))
        self._exhausted = True
        return data

    def readinto(self, buffer: Buffer) -> int:
        """Fills a writable buffer from the start of the range; returns the bytes read, fewer only at the object's end."""
        source = self._source
        view = memoryview(buffer).cast("B")
        head = self._head()
        count = min(len(head), len(view))
        if count:
            view[:count] = memoryview(head)[:count]
            source.brought(count)
        reached = self._start + count
        if count == 0 or (count < len(view) and not self._at_end(reached)):
            more, metadata = self._client.read_into(
                source.bucket, source.key, view, reached, source.size, source.etag, self._part_size, self._parallel,
                source.under_way(reached), source.version_id, count, source.checksums,
            )  # fmt: skip
            source.learn_of(metadata, reached)
            source.brought(more)
            count += more
        self._exhausted = True
        return count


class ObjectRanges:
    """What our readers get as `get_stream`: the client's streams of one object, all of the same version.

    What a listing said of the object is no more than a guess until somebody asks for it: the object may have been overwritten
    since, and then its new version is read. Who was told the listed size by :meth:`get_object_info` reads that version, or none.
    """

    __slots__ = ("_client", "_object_info", "source")

    def __init__(
        self, client: ReadingClient, source: ObjectSource, object_info: ObjectInfo | HeadObjectResult | None = None
    ) -> None:
        self._client = client
        self.source = source
        self._object_info = object_info

    @property
    def listed_size(self) -> int | None:
        """The object's size according to its listing, where no answer has told it yet; asking for this holds nobody to it."""
        return None if self._object_info is None or self.source.size is not None else self._object_info.size

    def get_object_info(self) -> ObjectInfo | HeadObjectResult:
        """What is known of the object, or its HEAD. From then on this version is read."""
        source, listed = self.source, self._object_info
        if listed is not None and source.size is None and not isinstance(source.ahead, _core.Fetch):
            source.learn(listed.size, listed.etag)
            return listed
        source.take_head()
        if source.size is not None:  # an earlier response told it
            if listed is not None and source.is_version(listed):
                return listed
            return HeadObjectResult(f'"{source.etag or ""}"', source.size, 0)
        head = self._client.head_object(source.bucket, source.key, version_id=source.version_id or None)
        source.learn(head.size, head.etag)
        return head

    def present_size(self) -> int:
        """The object's size as it is now, whatever a listing said, or that of the version that is read already."""
        self.source.take_head()
        if self.source.size is None:
            self._object_info = None
            return self.get_object_info().size
        return self.source.size

    def __call__(self, start: int | None = None, end: int | None = None) -> GetObjectStream:
        stream = self._client._get_object_stream(self.source.bucket, self.source.key, start, end)
        stream.pin(self.source)  # all streams of one reader read the same version
        return stream

    def in_order(
        self, ranges: list[tuple[int, int]], checksums: Checksums = (), elsewhere: list[tuple[int, bytes]] | None = None
    ) -> _core.Stream:
        """One stream over several ranges, of an object whose size and ETag are known; fetches them ahead.

        Where `ranges` and `elsewhere`, which was read before, are the whole object, its last bytes come only if all amount to
        `checksums`.
        """
        source, part_size = self.source, self._client.part_size or RANGES_PART_SIZE
        return _core.Stream(
            self._client.core, source.bucket, source.key, size=source.size, etag=source.etag, part_size=part_size,
            read_ahead=max(1, RANGES_AHEAD_BYTES // part_size), ranges=ranges, checksums=checksums, elsewhere=elsewhere or [],
            version_id=source.version_id,
        )  # fmt: skip

    def fetch_ahead(self) -> None:
        """Has the object's first bytes, up to a part, come before they are asked for. Again: nothing."""
        if self.source.ahead is None and not self.source.used:
            self.source.fetch_ahead(self._client, DEFAULT_PART_SIZE)
