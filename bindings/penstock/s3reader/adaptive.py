"""AdaptiveS3Reader: the default, which fetches as it sees the object being used."""

from __future__ import annotations

from .._config import DEFAULT_PART_SIZE
from .._exceptions import S3DataLossError
from .._streams import GetObjectStream, ObjectRanges
from .protocol import GetObjectInfoCallable, GetStreamCallable
from .sequential import SequentialS3Reader

WHOLE_BYTES = DEFAULT_PART_SIZE  # objects up to this size come whole, with the first read
FIRST_BYTES = 1024**2  # of a larger object, for a first small read at its start
RANDOM_BYTES = 64 * 1024  # least of a request elsewhere: costs no more time than its answer's first byte
MOST_BYTES = 1 << 62  # no object is so large; beyond 2**64 - 1 there is no range to ask for


class AdaptiveS3Reader(SequentialS3Reader):
    """Reads as the use of the object asks for, and keeps a window of it.

    - An object of up to 8 MiB is one request, at the first read, and stays here.
    - ``read()`` of everything, and a read of 8 MiB or more out of order, is a planned download straight into its result.
    - A read after a seek is a request for what it reads, 64 KiB at least.
    - Reading on in order from there fetches ahead: at most four times what was read is asked for, and 32 MiB ahead. What
      seeks pass over is not read: whoever reads a little of much asks with each read, as after a seek.

    It stands in for :class:`SequentialS3Reader`, of which it is one, and where `get_stream` is not the client's own (a custom
    function of the reference's protocol) it is exactly that. Arguments as in :class:`S3ReaderConstructorProtocol`.
    """

    _LARGE = DEFAULT_PART_SIZE
    _ahead: GetObjectStream | None = None  # in order, from where it tells on
    _opened: int = 0  # where it began
    _reached: int = -1  # where the last read past the window ended
    _reached_with: int = 0  # the bytes that it read
    _lost: S3DataLossError | None = None  # an object read in order was not what its checksum says

    def __init__(self, bucket: str, key: str, get_object_info: GetObjectInfoCallable, get_stream: GetStreamCallable) -> None:
        super().__init__(bucket, key, get_object_info, get_stream)
        self._ranges = get_stream if isinstance(get_stream, ObjectRanges) else None
        if self._ranges is not None:
            self._PAST_WINDOW = self._LARGE

    def prefetch(self) -> None:
        if self._ranges is None:
            super().prefetch()
        elif self._ahead is None and self.tell() == self._end == 0:
            self._ranges.fetch_ahead()

    def _known_size(self) -> int | None:
        """The object's size, where it is known without a request of its own."""
        if self._size is None and self._ranges is not None:
            self._ranges.source.take_head()
            self._size = self._ranges.source.size
        return self._size

    def _get_size(self) -> int:
        size = self._known_size()
        return super()._get_size() if size is None else size

    def _load(self, position: int, wanted: int) -> bool:
        if self._ranges is None:
            return super()._load(position, wanted)
        if self._lost is not None:
            raise self._lost  # asked for anew, a part of the object would come without a checksum
        size = self._known_size()
        if size is not None and position >= size:
            return False
        stream, self._ahead = self._ahead, None  # and stays none if this fails: then the next read asks anew
        self._jump(self.tell())
        if stream is None or not self._goes_on(stream, position, wanted):
            stream = self._ranges(position)
            least = FIRST_BYTES if position == 0 else RANDOM_BYTES
            stream.first_part = max(least, wanted, self._reached_with if position == self._reached else 0)
            self._read, self._opened = 0, position
        try:
            return self._show_first(stream, position, wanted)
        except S3DataLossError as error:
            self._lost = error
            raise

    def _goes_on(self, stream: GetObjectStream, position: int, wanted: int) -> bool:
        """Whether the stream comes to `position` without asking for more than four times what is read of it."""
        asked_until = stream.asked_until()
        if not stream.tell() <= position <= asked_until:
            return False
        if position < asked_until:
            return True
        # The next request is for as much as was read, and for no less than the first.
        read = min(self._read, asked_until - self._opened) + wanted
        return asked_until - self._opened + max(stream.first_part or 0, read) <= 4 * read

    def _show_first(self, stream: GetObjectStream, position: int, wanted: int) -> bool:
        """Make the stream's first block that reaches past `position` the window; False: there is none."""
        while True:
            start = stream.tell()
            try:
                block = stream.next_block(wanted if start == position else 0, self._read)
            except StopIteration:
                return False
            if start + len(block) > position:
                self._ahead = stream
                self._show(block, start, position)
                return True

    def _read_past(self, position: int, count: int) -> bytes:
        assert self._ranges is not None
        if self._in_order(position):
            return self._read_windows(position, count)
        size = self._known_size()
        rest = size is not None and position + count >= size  # asked for as such, the whole object is verified
        data = self._ranges(position, None if rest else position + count).read_all()
        self._reached, self._reached_with = position + len(data), len(data)
        return data

    def _in_order(self, position: int) -> bool:
        if position == 0 and self._known_size() is None:
            return True  # it may be small, and then comes whole
        return position == self._reached or (self._ahead is not None and self._ahead.tell() == position)

    def _read_windows(self, position: int, count: int) -> bytes:
        pieces: list[bytes] = []
        while count > 0 and self._load(position, count):
            pieces.append(self._window.read(count))
            count -= len(pieces[-1])
            position += len(pieces[-1])
        return b"".join(pieces)

    def _readinto_past(self, position: int, view: memoryview) -> int:
        assert self._ranges is not None
        if not self._in_order(position):
            count = self._ranges(position, position + len(view)).readinto(view)
            self._reached, self._reached_with = position + count, count
            return count
        count = 0
        while count < len(view) and self._load(position + count, len(view) - count):
            count += self._window.readinto(view[count:])
        return count

    def _read_rest(self) -> bytes:
        if self._ranges is None:
            return super()._read_rest()
        whole = self._ranges.source.take_whole() if self._end == 0 and not self._window.closed else None
        if whole is not None:
            self._size = len(whole)
            self._show(whole, 0, self._size)
            return whole
        begin, end, size = self.tell(), self._end, self._known_size()
        if size is not None and begin >= size:
            return b""
        head = self._window.read()
        if size is None or end < size:
            self._ahead = None
            try:
                head = self._ranges(end).read_all(head)
            except BaseException:
                self._go(begin)
                raise
        if begin == 0 and len(head) <= WHOLE_BYTES:
            self._show(head, 0, len(head))
        else:
            self._go(begin + len(head))
        return head

    def _clamp(self, target: int) -> int:
        if self._ranges is None:
            return super()._clamp(target)
        if self._listed_to_reach(target):
            return target
        if self._known_size() is None:  # what tells it may as well bring what is probably read next
            self._load(0 if target < FIRST_BYTES else min(target, MOST_BYTES), 1)
            if target >= FIRST_BYTES:
                self._ahead = None  # nobody has read there yet: who does so now, and past this block, is the first
        return min(target, self._get_size())

    def close(self) -> None:
        self._ahead = None
        super().close()
