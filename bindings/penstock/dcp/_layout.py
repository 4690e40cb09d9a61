"""Predicts the position of the payload in an item of a distributed checkpoint before the item is read.

An item is a ``torch.save`` archive of one tensor. Its records start at multiples of 64 bytes. The size of the trailer, all bytes
after the payload, therefore depends only on the payload size modulo 64 and on the program that wrote the item: a version of
torch, or Penstock. The header is the rest. The fetched bytes verify each prediction (``_core.TensorArchives``).
"""

from __future__ import annotations

import ctypes
import functools
import io
from array import array

import torch

from .. import _core
from . import _archive

ALIGNMENT = 64
MAX_OVERHEAD = 4096  # bytes before a payload, and after it, at most
LARGE = 0xFFFF_0000  # from this payload size on, zip64 fields enlarge the trailer: read it first

# dtype, sizes, strides, storage offset, storage bytes
Layout = tuple[str, tuple[int, ...], tuple[int, ...], int, int]
Found = Layout | int | None


@functools.cache
def _tail_of_this_torch(payload: int) -> int:
    """Returns the trailer size that this version of torch writes for a payload of `payload` bytes."""
    file = io.BytesIO()
    torch.save(torch.zeros(payload, dtype=torch.uint8, device="cpu"), file)
    begin = payload_begin(file.getvalue())
    return 0 if begin is None else len(file.getvalue()) - begin - payload


@functools.cache
def _tail_of_our_writer(payload: int) -> int:
    """Returns the trailer size that :class:`S3StorageWriter` writes. Smaller, because it omits one record of torch."""
    return len(_archive.frame_of(b"", payload).tail)


def payload_begin(item: bytes) -> int | None:
    """Returns the offset of the payload in a complete item; None if the item is not a plain tensor."""
    address = address_of(item)
    found = _core.TensorArchives().read(array("Q", (address, 0, 0, address, len(item))))[0]
    return found if isinstance(found, int) else None


def address_of(data: bytes) -> int:
    """Returns the memory address of `data`, valid while the caller holds a reference to it."""
    return ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value or 0


class TrailerSizes:
    """Trailer sizes by payload size. Knows those of Penstock and of this version of torch, and learns others from items."""

    def __init__(self) -> None:
        self._learned: dict[tuple[int, bool], int] = {}

    @staticmethod
    def _kind(payload: int) -> tuple[int, bool]:
        return (payload % ALIGNMENT if payload else -1, payload >= LARGE)

    def find(self, payload: int, around: int) -> int | None:
        """Returns the trailer size of an item whose payload starts at a multiple of 64.

        Args:
            payload: Payload size in bytes.
            around: Size of header and trailer together, in bytes.

        Returns:
            The trailer size in bytes; None if it is unknown, and the item must be read first.
        """
        kind = self._kind(payload)
        learned = self._learned.get(kind)
        if learned is not None and around > learned and (around - learned) % ALIGNMENT == 0:
            return learned
        if kind[1]:
            return None
        like = (kind[0] or ALIGNMENT) if payload else 0
        for tail_of in (_tail_of_our_writer, _tail_of_this_torch):
            tail = tail_of(like)
            if around > tail and (around - tail) % ALIGNMENT == 0:
                return tail
        return None

    def learn(self, payload: int, tail: int) -> None:
        if 0 < tail <= MAX_OVERHEAD:
            self._learned[self._kind(payload)] = tail


def same_layout(found: Layout, expected: Layout) -> bool:
    """Whether both layouts describe the same elements. Strides of dimensions of size 1 and of empty tensors do not matter."""
    if found == expected:
        return True
    if (found[0], found[1], *found[3:]) != (expected[0], expected[1], *expected[3:]):
        return False
    return 0 in found[1] or all(
        size == 1 or one == other for size, one, other in zip(found[1], found[2], expected[2], strict=True)
    )
