"""Where the payload is in an item of a distributed checkpoint, before any of it was read.

An item is a file of torch.save with one tensor. Its records begin at multiples of 64, so that what follows the payload has a
length that depends on the payload's length modulo 64 and on who wrote it (a version of torch, or our own writer), and on nothing
else; and what precedes it is the rest. A prediction is not taken for true: what was fetched says itself where it is
(``_core.TensorArchives``).
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
MOST_AROUND = 4096  # bytes that precede or follow a payload, at most
# From here on zip64 fields make what follows longer; there it is looked at first.
LARGE = 0xFFFF_0000

# dtype, sizes, strides, storage offset, storage bytes
Layout = tuple[str, tuple[int, ...], tuple[int, ...], int, int]
Found = Layout | int | None


@functools.cache
def _tail_of_this_torch(payload: int) -> int:
    """Bytes that this version of torch writes after a payload of so many."""
    file = io.BytesIO()
    torch.save(torch.zeros(payload, dtype=torch.uint8, device="cpu"), file)
    begin = payload_begin(file.getvalue())
    return 0 if begin is None else len(file.getvalue()) - begin - payload


@functools.cache
def _tail_of_our_writer(payload: int) -> int:
    """Bytes that :class:`S3StorageWriter` writes after it: fewer, since it leaves out a record that torch adds."""
    return len(_archive.frame_of(b"", payload).tail)


def payload_begin(item: bytes) -> int | None:
    """Where the payload of a whole item begins; None: it is no plain tensor."""
    address = address_of(item)
    found = _core.TensorArchives().read(array("Q", (address, 0, 0, address, len(item))))[0]
    return found if isinstance(found, int) else None


def address_of(data: bytes) -> int:
    """Where it lies, as long as `data` is held."""
    return ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value or 0


class Tails:
    """How many bytes follow a payload. Starts with what our writer and this version of torch write; learns from what is found."""

    def __init__(self) -> None:
        self._learned: dict[tuple[int, bool], int] = {}

    @staticmethod
    def _kind(payload: int) -> tuple[int, bool]:
        return (payload % ALIGNMENT if payload else -1, payload >= LARGE)

    def fitting(self, payload: int, around: int) -> int | None:
        """Such that a payload with so many bytes around it begins at a multiple of 64. None: it has to be looked at."""
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
        if 0 < tail <= MOST_AROUND:
            self._learned[self._kind(payload)] = tail


def same_layout(found: Layout, expected: Layout) -> bool:
    """Whether both mean the same elements: strides of dimensions that have none to step over say nothing."""
    if found == expected:
        return True
    if (found[0], found[1], *found[3:]) != (expected[0], expected[1], *expected[3:]):
        return False
    return 0 in found[1] or all(
        size == 1 or one == other for size, one, other in zip(found[1], found[2], expected[2], strict=True)
    )
