"""Whole items of a checkpoint in memory: read through a stream, verified, and opened as files."""

from __future__ import annotations

import io
from typing import IO, TYPE_CHECKING, Any, Protocol

from .. import _core
from .._exceptions import S3DataLossError
from ..s3reader import DCPOptimizedS3Reader
from ..s3reader._zip_records import MAGIC, Content, Held, check_archive
from ..s3reader.dcp_optimized import ItemViewBuffer

if TYPE_CHECKING:
    from ._stored import Stored


JOINED_BYTES = 1024**2  # smaller items are joined: torch.load reads one run of memory faster


class Item(Content, Protocol):
    """The stored bytes of an item."""

    def open(self) -> IO[bytes]:
        """A new seekable file over them."""


class Joined(Held):
    """An item in one ``bytes``."""

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
    """An item in the blocks in which it arrived, which are not joined: an item of gigabytes is held once."""

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


def read_item(stream: Any, stored: Stored) -> Item:
    """Reads an item, whole, from a file over its object.

    Raises:
        S3DataLossError: The object ends before the item does.
    """
    stream.seek(stored.begin)
    if isinstance(stream, DCPOptimizedS3Reader) and stored.length > JOINED_BYTES:
        return Blocks(stream.blocks(stored.length))
    data = stream.read(stored.length)
    while len(data) < stored.length and (more := stream.read(stored.length - len(data))):
        data += more
    if len(data) < stored.length:
        raise S3DataLossError(
            f"{stored.path}: the object ends at byte {stored.begin + len(data)}, and {_described(stored)} was saved to bytes"
            f" {stored.begin} to {stored.begin + stored.length}: the object is of another save or was cut; load another save"
        )
    return Joined(data)


def _described(stored: Stored) -> str:
    return f"item {stored.wants[0].request.storage_index.fqn!r}"


def verify_item(stored: Stored, item: Content, size: int) -> None:
    """Compares the records of an item of `size` bytes that is an archive of torch.save with their CRC-32s.

    Other bytes are not verified: only the planner that saved them knows what they are.

    Raises:
        S3DataLossError: They differ.
    """
    if item.read(0, len(MAGIC)) != MAGIC:
        return
    damage = check_archive(item, size).damage
    if damage:
        raise S3DataLossError(
            f"{stored.path}: {_described(stored)}: bytes {stored.begin} to {stored.begin + stored.length} {damage}:"
            " they changed on their way or where they are stored; load again, or another save"
        )
