"""Complete items of a checkpoint in memory: reading from a stream, verification, access as files."""

from __future__ import annotations

import io
from typing import IO, TYPE_CHECKING, Any, Protocol

from .. import _core
from .._exceptions import S3DataLossError
from ..s3reader import DCPOptimizedS3Reader
from ..s3reader._zip_directory import find_directory
from ..s3reader._zip_records import MAGIC, TAIL_BYTES, Content, Held, check_archive
from ..s3reader.dcp_optimized import ItemViewBuffer

if TYPE_CHECKING:
    from ._stored_items import StoredItem


JOINED_BYTES = 1024**2  # smaller items are joined, because torch.load reads contiguous memory faster


class Item(Content, Protocol):
    """The stored bytes of an item."""

    def open(self) -> IO[bytes]:
        """Returns a new seekable file over the bytes."""


class Joined(Held):
    """An item in one ``bytes`` object."""

    def open(self) -> IO[bytes]:
        return io.BytesIO(self.data)


def _buffer_of(blocks: list[memoryview]) -> ItemViewBuffer:
    buffer = ItemViewBuffer()
    for block in blocks:
        buffer.append_view(block)
    return buffer


class _BlocksFile(io.RawIOBase):
    def __init__(self, blocks: list[memoryview]) -> None:
        self._buffer = _buffer_of(blocks)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        return self._buffer.seek(offset, whence)

    def tell(self) -> int:
        return self._buffer.tell()

    def readinto(self, buffer: Any, /) -> int:
        return self._buffer.readinto(buffer)


class Blocks:
    """An item in the blocks in which it was received. The blocks are not joined, so a large item is in memory only once."""

    def __init__(self, blocks: list[memoryview]) -> None:
        self._blocks = blocks
        self._buffer = _buffer_of(blocks)

    def read(self, begin: int, end: int) -> bytes:
        self._buffer.seek(begin)
        return self._buffer.read(end - begin)

    def crc(self, begin: int, end: int) -> int:
        self._buffer.seek(begin)
        crc = 0
        for piece in self._buffer.pieces(end - begin):
            crc = _core.crc32_of(piece, crc)
        return crc

    def open(self) -> IO[bytes]:
        return _BlocksFile(self._blocks)  # type: ignore[return-value]


def read_item(stream: Any, stored: StoredItem) -> Item:
    """Reads a complete item from a file over its object.

    Raises:
        S3DataLossError: The object ends before the end of the item.
    """
    stream.seek(stored.begin)
    if isinstance(stream, DCPOptimizedS3Reader) and stored.length > JOINED_BYTES:
        return Blocks(stream.blocks(stored.length))
    data = stream.read(stored.length)
    while len(data) < stored.length and (more := stream.read(stored.length - len(data))):
        data += more
    if len(data) < stored.length:
        raise S3DataLossError(
            f"{stored.path}: the object ends at byte {stored.begin + len(data)}, but {_described(stored)} was saved to bytes"
            f" {stored.begin} to {stored.begin + stored.length}: it is of another save or truncated; load another checkpoint"
        )
    return Joined(data)


def _described(stored: StoredItem) -> str:
    return f"item {stored.reads[0].request.storage_index.fqn!r}"


def verify_item(stored: StoredItem, item: Content, size: int) -> None:
    """Compares the records of an item of `size` bytes with their CRC-32s, if it is an archive of torch.save.

    Other items have a format of the planner and are not verified.

    Raises:
        S3DataLossError: A record differs, or the archive lacks its first bytes.
    """
    if item.read(0, len(MAGIC)) == MAGIC:
        damage = check_archive(item, size).damage
    elif size > len(MAGIC) and find_directory(item.read(max(0, size - TAIL_BYTES), size), size) is not None:
        damage = f"do not begin like the zip archive that ends there, with {MAGIC!r}"
    else:
        return
    if damage:
        raise _damaged(stored, damage)


def _damaged(stored: StoredItem, damage: str) -> S3DataLossError:
    return S3DataLossError(
        f"{stored.path}: {_described(stored)}: bytes {stored.begin} to {stored.begin + stored.length} {damage}:"
        " the data was corrupted in transfer or in storage; retry, or load another checkpoint"
    )


def archive_damage(stored: StoredItem, error: RuntimeError) -> S3DataLossError | None:
    """Returns the error for an item whose archive torch cannot read; None: `error` is about something else.

    The CRC-32s of an archive cover its records, not the zip structure around them.
    """
    if "PytorchStreamReader" not in str(error):
        return None
    return _damaged(stored, f"are a damaged torch.save archive ({str(error).splitlines()[0]})")
