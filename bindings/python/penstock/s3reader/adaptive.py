"""AdaptiveS3Reader: the default reader, which adapts its requests to the access pattern."""

from __future__ import annotations

from .._config import DEFAULT_PART_SIZE
from .._exceptions import S3DataLossError, S3Exception
from .._streams import GetObjectStream, ObjectHandle
from .protocol import GetObjectInfoCallable, GetStreamCallable
from .sequential import SequentialS3Reader

WHOLE_BYTES = DEFAULT_PART_SIZE  # the first read fetches objects up to this size as a whole
FIRST_BYTES = 1024**2  # the first request of a larger object, for a small read at its start
RANDOM_BYTES = 64 * 1024  # smallest request elsewhere: these bytes take no more time than the first byte of the response
MAX_OBJECT_BYTES = 1 << 62  # larger than any object; offsets above 2**64 - 1 cannot be requested


class AdaptiveS3Reader(SequentialS3Reader):
    """Adapts its requests to the access pattern, and keeps a window of the object.

    - The first read fetches an object of up to 8 MiB with one request, and keeps it.
    - ``read()`` of the whole object, and a read of 8 MiB or more that is not sequential, is a parallel download directly into
      the result.
    - A read after a seek requests the bytes that it reads, at least 64 KiB.
    - Sequential reads from there prefetch: at most four times the bytes read are requested, and at most 32 MiB ahead. Bytes that
      seeks skip do not count as read, so sparse reads send one request each, as after a seek.

    A subclass of :class:`SequentialS3Reader`. It behaves exactly like that class if `get_stream` is not the client's own (a
    custom function of the reference connector's protocol). Arguments as in :class:`S3ReaderConstructorProtocol`.
    """

    _LARGE = DEFAULT_PART_SIZE
    _ahead: GetObjectStream | None = None  # the open read-ahead stream
    _ahead_start: int = 0  # the offset at which `_ahead` began
    _direct_end: int = -1  # the end of the last read that bypassed the window
    _direct_size: int = 0  # the bytes of that read
    _data_loss: S3DataLossError | None = None  # raised again by later reads: the object did not match its checksum

    def __init__(self, bucket: str, key: str, get_object_info: GetObjectInfoCallable, get_stream: GetStreamCallable) -> None:
        super().__init__(bucket, key, get_object_info, get_stream)
        self._ranges = get_stream if isinstance(get_stream, ObjectHandle) else None
        if self._ranges is not None:
            self._DIRECT_READ_BYTES = self._LARGE

    def prefetch(self) -> None:
        if self._ranges is None:
            super().prefetch()
        elif self._ahead is None and self.tell() == self._end == 0:
            self._ranges.fetch_ahead()

    def _known_size(self) -> int | None:
        """Returns the object's size if it is known without a separate request; otherwise None."""
        if self._ranges is not None:
            self._ranges.source.take_head()
            self._size = self._ranges.source.size  # None again if a read showed that it may be wrong
        return self._size

    def _get_size(self) -> int:
        size = self._known_size()
        return super()._get_size() if size is None else size

    def _get_size_alone(self) -> int:
        if self._ranges is not None:
            self._size = self._ranges.source.size
        return super()._get_size_alone()

    def _load_window(self, position: int, wanted: int) -> bool:
        if self._ranges is None:
            return super()._load_window(position, wanted)
        if self._data_loss is not None:
            raise self._data_loss  # a new request for the remaining bytes would not verify the checksum
        size = self._known_size()
        if size is not None and position >= size:
            return False
        stream, self._ahead = self._ahead, None  # stays None if a request fails, so that the next read sends a new one
        self._start_run(self.tell())
        if stream is None or not self._can_reach(stream, position, wanted):
            if stream is not None:
                stream.keep_prefix()
            stream = self._ranges(position)
            least = FIRST_BYTES if position == 0 else RANDOM_BYTES
            stream.first_part = max(least, wanted, self._direct_size if position == self._direct_end else 0)
            self._consumed, self._ahead_start = 0, position
        try:
            return self._load_from(stream, position, wanted)
        except S3DataLossError as error:
            self._data_loss = error
            raise
        except S3Exception:
            stream.keep_prefix()
            raise
        except BaseException:
            self._ahead = stream  # a progress callback or Ctrl-C raised: the stream continues where it was
            raise

    def _can_reach(self, stream: GetObjectStream, position: int, wanted: int) -> bool:
        """Whether the stream can reach `position` without requesting more than four times the bytes read from it."""
        requested_end = stream.requested_end()
        if not stream.tell() <= position <= requested_end:
            return False
        if position < requested_end:
            return True
        # The next request is as large as the bytes read so far, but not smaller than the first request.
        read = min(self._consumed, requested_end - self._ahead_start) + wanted
        return requested_end - self._ahead_start + max(stream.first_part or 0, read) <= 4 * read

    def _load_from(self, stream: GetObjectStream, position: int, wanted: int) -> bool:
        """Makes the stream's first block that extends beyond `position` the window. False: there is none."""
        while True:
            start = stream.tell()
            try:
                block = stream.next_block(wanted if start == position else 0, self._consumed)
            except StopIteration:
                return False
            if start + len(block) > position:
                self._ahead = stream
                self._set_window(block, start, position)
                return True

    def _read_direct(self, position: int, count: int) -> bytes:
        assert self._ranges is not None
        if self._is_sequential(position, count):
            return self._read_windows(position, count)
        size = self._known_size()
        rest = size is not None and position + count >= size  # an open end: the client verifies the checksum of a whole object
        data = self._ranges(position, None if rest else position + count).read_all()
        self._direct_end, self._direct_size = position + len(data), len(data)
        return data

    def _is_sequential(self, position: int, count: int) -> bool:
        assert self._ranges is not None
        if position == 0:
            size = self._known_size()
            # The object may be small, and is then fetched as a whole. Else the response of the stream has its checksum.
            return size is None or (count < size and not self._ranges.source.checksums)
        return position == self._direct_end or (self._ahead is not None and self._ahead.tell() == position)

    def _read_windows(self, position: int, count: int) -> bytes:
        pieces: list[bytes] = []
        while count > 0 and self._load_window(position, count):
            pieces.append(self._window.read(count))
            count -= len(pieces[-1])
            position += len(pieces[-1])
        return b"".join(pieces)

    def _readinto_direct(self, position: int, view: memoryview) -> int:
        assert self._ranges is not None
        if not self._is_sequential(position, len(view)):
            count = self._ranges(position, position + len(view)).readinto(view)
            self._direct_end, self._direct_size = position + count, count
            return count
        count = 0
        while count < len(view) and self._load_window(position + count, len(view) - count):
            count += self._window.readinto(view[count:])
        return count

    def _read_rest(self) -> bytes:
        if self._ranges is None:
            return super()._read_rest()
        whole = self._ranges.source.take_whole() if self._end == 0 and not self._window.closed else None
        if whole is not None:
            self._size = len(whole)
            self._set_window(whole, 0, self._size)
            return whole
        begin, end, size = self.tell(), self._end, self._known_size()
        if size is not None and begin >= size:
            return b""
        head = self._window.read()
        if size is None or end < size:
            ahead, self._ahead = self._ahead, None
            if ahead is not None:
                if ahead.tell() == end:
                    head += ahead.take_unread()
                    end = ahead.tell()
                ahead.keep_prefix()  # with it, the client compares the whole object with its checksum
            try:
                head = self._ranges(end).read_all(head)
            except BaseException:
                self._move_to(begin)
                raise
        if begin == 0 and len(head) <= WHOLE_BYTES:
            self._set_window(head, 0, len(head))
        else:
            self._move_to(begin + len(head))
        return head

    def _clamp(self, target: int) -> int:
        if self._ranges is None:
            return super()._clamp(target)
        if self._listed_size_covers(target):
            return target
        if self._known_size() is None:  # learn the size from a request for the bytes that are probably read next
            self._load_window(0 if target < FIRST_BYTES else min(target, MAX_OBJECT_BYTES), 1)
            if target >= FIRST_BYTES:
                self._ahead = None  # nothing was read there yet: a read beyond this block starts new read-ahead
        return min(target, self._get_size())

    def close(self) -> None:
        self._ahead = None
        super().close()
