"""Streams of object bytes from the C++ core, used by the readers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from . import _core
from ._config import DEFAULT_PART_SIZE
from ._exceptions import S3DataLossError, S3Exception
from ._objects import HeadObjectResult

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    from ._objects import ObjectInfo
    from ._progress import ProgressCallback, ReadProgress

    Buffer = bytes | bytearray | memoryview
    Checksums = Sequence[tuple[str, str]]
    """Checksums of a whole object: pairs of S3's algorithm name and the base64 value, such as ``("crc64nvme", BASE64)``."""

    class ReadingClient(Protocol):
        """The methods of S3Client that readers use. Readers look them up at each call, since programs may replace them."""

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
# For known ranges read in order: with this many bytes in flight, S3 is fastest over many connections with small parts.
RANGES_PART_SIZE = 4 * 1024**2
RANGES_AHEAD_BYTES = 96 * 1024**2


def _bare(etag: str) -> str | None:
    return etag.removeprefix("W/").strip('"') or None


class FailedFetch:
    """Stands in for a prefetch that failed: `take` raises its error."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def take(self) -> tuple[bytes, int, str, Checksums]:
        raise self._error


class ObjectSource:
    """An object to read. The first response determines its version (size and ETag); all later reads are pinned to it.

    Attributes:
        ahead: A running prefetch of the object's first bytes; None: there is none, or `take_head` took its result.
        head: The prefetched first bytes, set by `take_head`.
        checksums: Checksums of the whole object, if known; empty: unknown. The responses to ranges do not have them.
        prefix: Number and CRC of the object's first bytes, as far as they were received in order; None: unknown.
        used: Whether the caller has requested bytes or the size.
        progress: Counts the bytes received; None: they are not counted.
        version_id: The requested version; empty: the current version.
        listed: The object's entry in a listing, if known. The node cache may return that version.
    """

    __slots__ = (
        "ahead", "bucket", "checksums", "etag", "head", "key", "listed", "prefix", "progress", "size", "used", "version_id",
    )  # fmt: skip

    def __init__(self, bucket: str, key: str, version_id: str = "") -> None:
        self.bucket = bucket
        self.key = key
        self.version_id = version_id
        self.size: int | None = None
        self.etag: str | None = None
        self.ahead: _core.Fetch | FailedFetch | None = None
        self.head: bytes | None = None
        self.checksums: Checksums = ()
        self.prefix: tuple[int, int] | None = None
        self.used = False
        self.progress: ReadProgress | None = None
        self.listed: ObjectInfo | HeadObjectResult | None = None

    @property
    def listed_etag(self) -> str | None:
        """The ETag of the listing, if it identifies one version."""
        etag = None if self.listed is None else self.listed.etag
        return None if not etag or etag.startswith("W/") else _bare(etag)

    def set_version(self, size: int, etag: str | None) -> None:
        self.size = size
        if self.progress is not None:
            self.progress.size = size
        if etag:
            self.etag = _bare(etag)

    def set_version_from(self, metadata: _core.ObjectMetadata, start: int) -> None:
        """Sets the version from the response to a request for the bytes from `start` on."""
        if metadata.size > 0 or start == 0:  # the response for an offset at or after the end may lack the size
            self.set_version(metadata.size, metadata.etag)

    @contextmanager
    def doubt_size(self) -> Iterator[None]:
        """Forgets the size if the call raises S3DataLossError: a response with a wrong length may have set it."""
        try:
            yield
        except S3DataLossError:
            self.size = None
            raise

    def crc_before(self, position: int) -> int | None:
        """Returns the CRC of the object's bytes before `position`; None: unknown.

        A request from `position` to the end that is given this CRC compares the whole object with its checksum.
        """
        if not self.checksums or not self.etag:  # without an ETag, the rest may be of another version
            return None
        if position == 0:
            return 0
        if self.prefix is not None and self.prefix[0] == position:
            return self.prefix[1]
        if self.head is not None and len(self.head) == position:
            return _core.prefix_crc(self.checksums, self.head)
        return None

    def set_prefix(self, end: int, crc: int | None) -> None:
        """Keeps the CRC of the bytes before `end`, unless it is unknown."""
        if crc is not None:
            self.prefix = (end, crc)

    def is_version(self, info: ObjectInfo | HeadObjectResult) -> bool:
        """Whether `info` describes the version that reads are pinned to."""
        return info.size == self.size and _bare(info.etag or "") == self.etag

    def count_received(self, count: int) -> None:
        """Adds `count` received bytes to the progress."""
        if self.progress is not None and count:
            self.progress.add(count)

    def progress_callback(self, start: int, end: int | None = 0) -> ProgressCallback | None:
        """Returns the callback for a request of the bytes [start, end); `end` None: to the object's end."""
        if self.progress is None:
            return None
        return self.progress.update_to_end(start) if end is None else self.progress.update

    def fetch_ahead(self, client: ReadingClient, limit: int) -> None:
        """Starts to prefetch the first `limit` bytes."""
        self.ahead = _core.Fetch(
            client.core, self.bucket, self.key, limit, self.size, self.etag, client.part_size, client.parallel_parts,
            self.version_id, self.listed_etag,
        )  # fmt: skip

    def take_head(self) -> bytes | None:
        """Waits for the prefetched first bytes and returns them; None: nothing was prefetched.

        Raises:
            S3Exception: The prefetch failed. The next read sends a new request.
        """
        self.used = True
        fetch, self.ahead = self.ahead, None
        if fetch is not None:
            self.head, size, etag, self.checksums = fetch.take()
            self.set_version(size, etag)
        return self.head

    def take_whole(self) -> bytes | None:
        """Returns the whole object if all of it was prefetched and progress is not reported; otherwise None."""
        head = self.head
        if head is None or len(head) != self.size or self.progress is not None:
            return None
        self.used = True
        return head


class GetObjectStream:
    """Iterator over the bytes [start, end) of an object, in order, as ``bytes`` blocks.

    :meth:`read_all` returns all bytes at once, and :meth:`readinto` fills memory, both in parallel parts and without a copy.
    Use one of the three per stream. Prefetched bytes are not fetched again.
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
        self._start = self._requested_from = start or 0
        self._end = end if start is not None else None
        self._part_size = part_size
        self._parallel = parallel
        self._stream: _core.Stream | None = None
        self._head_taken = False
        self._exhausted = False
        self._unread: bytes = b""  # a received block whose progress report raised: the next call returns it
        self.first_part: int | None = None
        """Bytes of the first block, if read-ahead should grow with the bytes read; None: full read-ahead from the start."""

    @property
    def bucket(self) -> str:
        return self._source.bucket

    @property
    def key(self) -> str:
        return self._source.key

    @property
    def source(self) -> ObjectSource:
        """The object and the version that reads are pinned to."""
        return self._source

    def pin(self, source: ObjectSource) -> None:
        """Shares the object and its version with the other streams of the same reader."""
        self._source = source

    def tell(self) -> int:
        """Returns the offset of the next byte in the object."""
        return (self._stream.tell() if self._stream is not None else self._start) - len(self._unread)

    def requested_end(self) -> int:
        """Returns the offset at which the bytes end that were received or requested without a gap from `tell()` on."""
        return self._stream.asked_until() if self._stream is not None else self._start

    def take_unread(self) -> bytes:
        """Returns the block that the next call of :meth:`next_block` would return again; empty if there is none."""
        block, self._unread = self._unread, b""
        return block

    def keep_prefix(self) -> None:
        """Keeps the CRC of the object's bytes before :meth:`tell`, for the request that continues this stream."""
        if self._stream is not None and not self._unread:
            self._source.set_prefix(self._stream.tell(), self._stream.prefix_crc)

    def __iter__(self) -> Iterator[bytes]:
        return self

    def _head(self) -> bytes | memoryview:
        """Returns the prefetched bytes at the start of the range; empty if there are none."""
        head = self._source.take_head()
        if head is None or self._start >= len(head):
            return b""
        if self._start == 0 and (self._end is None or self._end >= len(head)):
            return head
        return memoryview(head)[self._start : self._end]

    def _at_end(self, position: int) -> bool:
        """Whether the range is known to end at `position`."""
        size = self._source.size
        return position == self._end or (size is not None and position >= size)

    def __next__(self) -> bytes:
        return self.next_block(0)

    def next_block(self, wanted: int, used: int | None = None) -> bytes:
        """Returns the next block.

        Args:
            wanted: Bytes that the caller is about to read. Read-ahead grows with the bytes read, which include these.
            used: Bytes that the caller has read before; None: all returned bytes.

        Raises:
            StopIteration: The range has no more bytes.
        """
        if self._unread:
            return self.take_unread()
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
                    return self._counted(bytes(head))
            if self._start >= DEFAULT_PART_SIZE and self._requested_from == 0 and (used is None or used >= self._start):
                self.first_part = None  # the prefetched bytes were read in order: so will be the rest
            self._stream = self._open()
        try:
            with source.doubt_size():
                block = self._stream.next_block(wanted, used)
        except StopIteration:
            self._exhausted = True
            self._set_version()
            raise
        self._set_version()
        return self._counted(block)

    def _set_version(self) -> None:
        source, metadata = self._source, self._stream.metadata if self._stream is not None else None
        if metadata is not None:
            source.set_version_from(metadata, self._start)
            if self._start == 0 and self._end is None and not source.checksums:
                source.checksums = metadata.checksums

    def _counted(self, block: bytes) -> bytes:
        """Counts a received block and returns it. If the progress callback raises, the next call returns the block."""
        self._unread = block
        self._source.count_received(len(block))
        self._unread = b""
        return block

    def _open(self) -> _core.Stream:
        source = self._source
        crc = source.crc_before(self._start)
        return _core.Stream(
            self._client, source.bucket, source.key, self._start, self._end, source.size, source.etag,
            self._part_size or DEFAULT_PART_SIZE, READ_AHEAD_PARTS, self.first_part, version_id=source.version_id,
            checksums=() if crc is None else source.checksums, prefix_crc=crc, listed_etag=source.listed_etag,
        )  # fmt: skip

    def read_all(self, before: bytes = b"") -> bytes:
        """Returns `before`, the bytes that precede the range, and all bytes of the range as one ``bytes`` object."""
        source = self._source
        head = self._head()
        reached = self._start + len(head)
        source.count_received(len(head))
        if before:
            head = before + bytes(head) if len(head) else before
        if reached > self._start and self._at_end(reached):
            data = bytes(head)
        else:
            crc = source.crc_before(reached)
            with source.doubt_size():
                data, metadata, crc = self._client.read(
                    source.bucket, source.key, reached, self._end, source.size, source.etag, self._part_size, self._parallel,
                    bytes(head), source.progress_callback(reached, self._end), source.version_id,
                    () if crc is None else source.checksums, crc, source.listed_etag,
                )  # fmt: skip
            received = len(data) - len(head)
            source.set_version_from(metadata, reached)
            source.count_received(received)  # may raise: then the next read begins at `reached` again
            source.set_prefix(reached + received, crc)
        self._exhausted = True
        return data

    def readinto(self, buffer: Buffer) -> int:
        """Fills a writable buffer from the start of the range. Returns the number of bytes, less only at the object's end."""
        source = self._source
        view = memoryview(buffer).cast("B")
        head = self._head()
        count = min(len(head), len(view))
        if count:
            view[:count] = memoryview(head)[:count]
            source.count_received(count)
        reached = self._start + count
        if count == 0 or (count < len(view) and not self._at_end(reached)):
            crc = source.crc_before(reached)
            with source.doubt_size():
                more, metadata, crc = self._client.read_into(
                    source.bucket, source.key, view, reached, source.size, source.etag, self._part_size, self._parallel,
                    source.progress_callback(reached), source.version_id, count, () if crc is None else source.checksums, crc,
                    source.listed_etag,
                )  # fmt: skip
            source.set_version_from(metadata, reached)
            source.count_received(more)  # may raise: then the next read begins at `reached` again
            source.set_prefix(reached + more, crc)
            count += more
        self._exhausted = True
        return count


class ObjectHandle:
    """The `get_stream` callable of a reader: opens streams over one object, all of the same version.

    A listed size is a hint: if the object was overwritten since, the new version is read. Once :meth:`get_object_info` has
    returned the listed size, reads are pinned to the listed version, and fail if it has been replaced.
    """

    __slots__ = ("_client", "_object_info", "source")

    def __init__(
        self, client: ReadingClient, source: ObjectSource, object_info: ObjectInfo | HeadObjectResult | None = None
    ) -> None:
        self._client = client
        self.source = source
        self._object_info = source.listed = object_info

    @property
    def listed_size(self) -> int | None:
        """The size from the listing; None: not listed, or the version is known. Reading this does not pin the version."""
        return None if self._object_info is None or self.source.size is not None else self._object_info.size

    def get_object_info(self) -> ObjectInfo | HeadObjectResult:
        """Returns the metadata of the object, from a HEAD request if necessary, and pins reads to this version."""
        source, listed = self.source, self._object_info
        if listed is not None and source.size is None and not isinstance(source.ahead, _core.Fetch):
            source.set_version(listed.size, listed.etag)
            return listed
        source.take_head()
        if source.size is not None:  # known from an earlier response
            if listed is not None and source.is_version(listed):
                return listed
            return HeadObjectResult(f'"{source.etag or ""}"', source.size, 0)
        head = self._client.head_object(source.bucket, source.key, version_id=source.version_id or None)
        source.set_version(head.size, head.etag)
        source.checksums = getattr(head, "checksums", ())  # programs may replace head_object
        return head

    def request_checksums(self) -> None:
        """Requests the object's checksums by a HEAD request, and pins reads to its version if they are not pinned yet.

        Without a usable response there are no checksums, and reads are not compared.
        """
        source = self.source
        try:
            head = self._client.head_object(source.bucket, source.key, version_id=source.version_id or None)
        except S3Exception:
            return  # the next read raises the error of its own request
        if source.size is None:
            source.set_version(head.size, head.etag)
        if source.is_version(head):
            source.checksums = getattr(head, "checksums", ())  # programs may replace head_object

    def current_size(self) -> int:
        """Returns the size of the version that reads are pinned to, else of the current version, ignoring the listing."""
        self.source.take_head()
        if self.source.size is None:
            self._object_info = None
            return self.get_object_info().size
        return self.source.size

    def __call__(self, start: int | None = None, end: int | None = None) -> GetObjectStream:
        stream = self._client._get_object_stream(self.source.bucket, self.source.key, start, end)
        stream.pin(self.source)  # all streams of one reader read the same version
        return stream

    def open_ranges(
        self, ranges: list[tuple[int, int]], checksums: Checksums = (), already_read: list[tuple[int, bytes]] | None = None
    ) -> _core.Stream:
        """Returns a stream that prefetches several ranges in order. The object's size and ETag must be known.

        If `ranges` and the bytes in `already_read` are the whole object, the stream returns the last bytes only if all bytes
        match `checksums`.
        """
        source, part_size = self.source, self._client.part_size or RANGES_PART_SIZE
        return _core.Stream(
            self._client.core, source.bucket, source.key, size=source.size, etag=source.etag, part_size=part_size,
            read_ahead=max(1, RANGES_AHEAD_BYTES // part_size), ranges=ranges, checksums=checksums,
            elsewhere=already_read or [], version_id=source.version_id,
        )  # fmt: skip

    def fetch_ahead(self) -> None:
        """Prefetches the object's first bytes, at most one part. Later calls do nothing."""
        if self.source.ahead is None and not self.source.used:
            self.source.fetch_ahead(self._client, DEFAULT_PART_SIZE)
